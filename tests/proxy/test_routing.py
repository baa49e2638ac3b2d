"""What lspz does with the messages it looks at: forms, code actions, interceptors, answers by their request."""

from __future__ import annotations

import asyncio
import json
import logging
from typing import Any

import pytest
from lsprotocol import types

import lspz
from lspz import Config, Direction, Interceptor

from .memory import session

PUBLISH = "textDocument/publishDiagnostics"
PULL = "textDocument/diagnostic"


def at(a: int, b: int, c: int, d: int) -> dict[str, Any]:
    return {"start": {"line": a, "character": b}, "end": {"line": c, "character": d}}


def unused(line: int, **more: Any) -> dict[str, Any]:
    return {
        "range": at(line, 0, line, 9),
        "severity": 2,
        "code": "F401",
        "source": "ruff",
        "message": "unused import",
        "data": {"fix": line, "exact": 12345678901234567890},
        **more,
    }


PARAMS = {"uri": "file:///a.py", "version": 1, "diagnostics": [unused(1), unused(5)]}
DECIDED = Config(enable_diag_compress=None)


def declared(*formats: str) -> dict[str, Any]:
    return {"experimental": {"lspz": {"version": 1, "formats": list(formats)}}}


@pytest.mark.parametrize(
    ("capabilities", "name", "form"),
    [
        ({}, None, "folded"),
        ({}, "opencode", "folded"),
        ({}, "Neovim", "passthrough"),
        ({}, "Visual Studio Code", "passthrough"),
        ({}, "helix", "passthrough"),
        (declared("compact"), None, "compact"),
        (declared("nonsense", "folded", "compact"), None, "folded"),
        (declared("compact"), "Neovim", "compact"),
        (declared("nonsense"), "Neovim", "passthrough"),
        ({"experimental": {"lspz": "odd"}}, None, "folded"),
        ({"experimental": None}, None, "folded"),
    ],
)
async def test_auto_gives_each_client_its_form(capabilities: Any, name: str | None, form: str) -> None:
    """What the client declares, then what an editor needs, then what breaks nobody."""
    async with session(DECIDED) as s:
        info = {"clientInfo": {"name": name}} if name else {}
        result = await s.initialize(capabilities, **info)
        got = (await s.to_client(method=PUBLISH, params=PARAMS))["params"]

    said = result["capabilities"].get("experimental")
    assert said == (None if form == "passthrough" else {"lspz": {"version": 1, "format": form}})
    if form == "passthrough":
        assert got == PARAMS
    elif form == "folded":
        assert [d["message"] for d in got["diagnostics"]] == ["unused import (+1 more: 6:1)"]
    else:
        assert [e["n"] for e in got["diagnostics"]] == [2]


@pytest.mark.parametrize(
    ("enabled", "form", "compressed"),
    [(False, "compact", False), (True, "auto", True), (None, "compact", True), (True, "passthrough", False)],
)
async def test_the_switch_has_three_states(enabled: bool | None, form: str, compressed: bool) -> None:
    """Off, whatever the form; on, with no form named compact; unset, the form decides."""
    async with session(Config(enable_diag_compress=enabled, format=form)) as s:
        await s.initialize()
        got = (await s.to_client(method=PUBLISH, params=PARAMS))["params"]

    assert (got != PARAMS) == compressed
    if compressed:
        assert "r" in got["diagnostics"][0]


async def test_vendor_fields_of_the_initialize_result_survive() -> None:
    """The server's own experimental capabilities stay beside lspz's, and everything else keeps its bytes."""
    answer = {"capabilities": {"experimental": {"x": 1}, "astProvider": True}, "offsetEncoding": "utf-8"}
    async with session(DECIDED) as s:
        result = await s.initialize(answer=answer)

    assert result["offsetEncoding"] == "utf-8"
    assert result["capabilities"]["astProvider"] is True
    assert result["capabilities"]["experimental"] == {"x": 1, "lspz": {"version": 1, "format": "folded"}}


async def test_a_pulled_report_is_compressed_by_its_request() -> None:
    """Full reports are rewritten, unchanged ones and errors are not; the id goes back as it was written."""
    async with session(Config(format="compact", enable_diag_compress=None)) as s:
        await s.initialize()
        await s.to_server(id=7, method=PULL, params={"textDocument": {"uri": "file:///a.py"}})
        full = await s.to_client(id=7, result={"kind": "full", "resultId": "r", "items": PARAMS["diagnostics"]})
        await s.to_server(id=8, method=PULL, params={"textDocument": {"uri": "file:///a.py"}})
        unchanged = await s.to_client(id=8, result={"kind": "unchanged", "resultId": "r"})
        await s.to_server(id="x", method=PULL, params={"textDocument": {"uri": "file:///a.py"}})
        error = await s.to_client(id="x", error={"code": -32802, "message": "later"})
        await s.to_server(id=10, method=PULL, params={"textDocument": {"uri": "file:///a.py"}})
        nameless = await s.to_client(id=10, result={"kind": "", "items": PARAMS["diagnostics"]})
        other = await s.to_client(id=9, result={"kind": "full", "items": PARAMS["diagnostics"]})

    assert full["id"] == 7
    assert (full["result"]["kind"], full["result"]["resultId"]) == ("full", "r")
    assert full["result"]["diagnostics"][0]["n"] == 2
    assert (nameless["result"]["kind"], nameless["result"]["diagnostics"][0]["n"]) == ("full", 2), "as gopls has it"
    assert unchanged["result"] == {"kind": "unchanged", "resultId": "r"}
    assert error["error"]["code"] == -32802
    assert other["result"]["items"] == PARAMS["diagnostics"], "an answer that belongs to no request is left alone"


async def code_action(s: Any, diagnostics: list[Any], range_: Any, **context: Any) -> list[Any]:
    """The diagnostics that the server gets with a code action request."""
    params = {
        "textDocument": {"uri": "file:///a.py"},
        "range": range_,
        "context": {"diagnostics": diagnostics, **context},
    }
    asked = await s.to_server(id=3, method="textDocument/codeAction", params=params)
    assert {k: v for k, v in asked["params"]["context"].items() if k != "diagnostics"} == context
    found: list[Any] = asked["params"]["context"]["diagnostics"]
    return found


@pytest.mark.parametrize("form", ["folded", "compact"])
@pytest.mark.parametrize("way", ["push", "pull"])
async def test_a_code_action_gets_the_servers_own_diagnostics(form: str, way: str) -> None:
    """With `data` as it was, for the position asked for, also where it stands in another diagnostic's message."""
    alone = unused(9, message="alone", code=0)
    sent = [*PARAMS["diagnostics"], alone]  # type: ignore[misc]
    async with session(Config(format=form, enable_diag_compress=None)) as s:
        await s.initialize()
        if way == "push":
            got = (await s.to_client(method=PUBLISH, params={"uri": "file:///a.py", "diagnostics": sent}))["params"]
        else:
            await s.to_server(id=7, method=PULL, params={"textDocument": {"uri": "file:///a.py"}})
            got = (await s.to_client(id=7, result={"kind": "full", "items": sent}))["result"]
        seen = got["items"] if "items" in got else got["diagnostics"]
        first = await code_action(s, [seen[0]], at(1, 0, 1, 9), only=["quickfix"], triggerKind=1)
        hidden = await code_action(s, [seen[0]], at(5, 2, 5, 2))
        nothing_known = await code_action(s, [], at(5, 0, 5, 0))
        single = await code_action(s, [seen[1]], at(9, 0, 9, 9))
        foreign = await code_action(s, [{"range": at(9, 0, 9, 9), "message": "not the server's"}], at(9, 0, 9, 9))

    assert first == [unused(1)]
    assert hidden == [unused(5)], "not the one that carries the message, whose fix would change another place"
    assert nothing_known == [unused(5)]
    assert single == [alone]
    assert foreign == [{"range": at(9, 0, 9, 9), "message": "not the server's"}]


async def test_a_decoded_compact_diagnostic_is_restored_too() -> None:
    """A client that decodes sends standard diagnostics without `data`; the server gets its own."""
    async with session(Config(format="compact", enable_diag_compress=None)) as s:
        await s.initialize()
        await s.to_client(method=PUBLISH, params=PARAMS)
        decoded = {k: v for k, v in unused(5).items() if k not in ("data", "source")}

        assert await code_action(s, [decoded], at(5, 0, 5, 9)) == [unused(5)]


async def test_the_rest_of_a_code_action_request_keeps_its_bytes() -> None:
    """Numbers, escapes and vendor members that a re-encode would change."""
    async with session(Config(format="folded", enable_diag_compress=None)) as s:
        await s.initialize()
        await s.to_client(method=PUBLISH, params=PARAMS)
        await s.client.send_raw(
            b'{"jsonrpc":"2.0","id":1e0,"method":"textDocument/codeAction","params":{"vendor":"\\u00fc\\/",'
            b'"textDocument":{"uri":"file:///a.py","n":1.0},'
            b'"range":{"start":{"line":5,"character":0},"end":{"line":5,"character":0}},'
            b'"context":{"diagnostics":[ ],"x":1e2}}}'
        )
        got = await s.backend.receive_raw()

    for kept in (b'"id":1e0', b'"vendor":"\\u00fc\\/"', b'"n":1.0', b'"x":1e2', b'"exact": 12345678901234567890'):
        assert kept in got


async def test_what_cannot_be_compressed_is_logged_and_goes_on(caplog: pytest.LogCaptureFixture) -> None:
    """A clear line that names method and reason; the metrics count it."""
    async with session(Config(format="compact", enable_diag_compress=None)) as s:
        await s.initialize()
        broken = {"uri": "u", "diagnostics": [{"message": "m"}]}
        with caplog.at_level(logging.WARNING, "lspz"):
            got = await s.to_client(method=PUBLISH, params=broken)
        metrics = s.server.metrics

    assert got["params"] == broken
    assert f"{PUBLISH}: not as LSP has it (ValidationError: Object missing required field `range`" in caplog.text
    assert (metrics.claimed, metrics.rewritten, metrics.fail_opens) == (1, 0, 1)


class Shout(Interceptor[types.Hover, types.Hover]):
    """Waits for something, then changes a hover."""

    name = "shout"
    methods = ("textDocument/hover",)

    def __init__(self) -> None:
        self.gate = asyncio.Event()

    async def intercept(self, method: str, params: types.Hover, direction: Direction) -> types.Hover:
        await self.gate.wait()
        assert isinstance(params.contents, types.MarkupContent)
        params.contents.value = params.contents.value.upper()
        return params


async def test_an_interceptor_may_wait_and_order_is_kept() -> None:
    """Messages behind it wait with it; members that LSP does not know survive its typed result."""
    shout = Shout()
    async with session(Config.builder().interceptor(shout).build()) as s:
        await s.initialize()
        await s.to_server(id=1, method="textDocument/hover", params={})
        hover = {"contents": {"kind": "plaintext", "value": "quiet", "vendor": 1}, "extra": [1.5]}
        await s.backend.send(id=1, result=hover)
        for n in range(3):
            await s.backend.send(method="behind", params=[n])
        shout.gate.set()
        got = [await s.client.receive() for _ in range(4)]

    assert got[0]["result"] == {"contents": {"kind": "plaintext", "value": "QUIET", "vendor": 1}, "extra": [1.5]}
    assert [m["params"] for m in got[1:]] == [[0], [1], [2]]


class Picky(Interceptor[Any, Any]):
    """Drops, changes, or fails, in both directions."""

    name = "picky"
    methods = ("vendor/note", "vendor/ask")

    def applies_to(self, method: str, direction: Direction) -> bool:
        return method in self.methods

    async def intercept(self, method: str, params: Any, direction: Direction) -> Any:
        if params == "fail":
            raise RuntimeError("on purpose")
        return None if params == "drop" else {"was": params, "direction": direction.name}


async def test_an_interceptor_sees_both_directions_and_unknown_methods() -> None:
    """It may drop a notification, but neither a request nor an answer; what it raises changes nothing."""
    async with session(Config.builder().interceptor(Picky()).build()) as s:
        await s.initialize()
        assert (await s.to_server(method="vendor/note", params=1))["params"] == {"was": 1, "direction": "TO_SERVER"}
        assert (await s.to_client(method="vendor/note", params=2))["params"] == {"was": 2, "direction": "TO_CLIENT"}
        assert (await s.to_server(method="vendor/note", params="fail"))["params"] == "fail"
        await s.client.send(method="vendor/note", params="drop")
        assert (await s.to_server(id=5, method="vendor/ask", params="drop"))["params"] == "drop"
        assert (await s.to_client(id=5, result="drop"))["result"] == "drop"
        await s.to_server(id=6, method="vendor/ask", params=3)
        assert (await s.to_client(id=6, result=4))["result"] == {"was": 4, "direction": "TO_CLIENT"}


@pytest.mark.parametrize("form", ["passthrough", "folded", "compact"])
async def test_a_user_interceptor_sees_what_the_server_said(form: str) -> None:
    """Typed and uncompressed, in every form, so that a filter of one's own needs no JSON; then lspz compresses."""

    class NoHints(Interceptor[types.PublishDiagnosticsParams, types.PublishDiagnosticsParams]):
        name = "no-hints"
        methods = (PUBLISH,)

        async def intercept(self, method: str, params: Any, direction: Direction) -> Any:
            params.diagnostics = [d for d in params.diagnostics if d.severity != types.DiagnosticSeverity.Hint]
            return params

    hint = unused(2, severity=4, vendor={"kept": True})
    config = Config.builder().format(form).interceptor(NoHints()).build()
    async with session(config) as s:
        await s.initialize()
        odd = unused(3, vendor={"kept": True})
        params = {"uri": "u", "diagnostics": [hint, odd], "isClear": False}
        got = (await s.to_client(method=PUBLISH, params=params))["params"]

    if form == "passthrough":
        assert got == {"uri": "u", "diagnostics": [odd], "isClear": False}
    else:
        assert got == lspz.compress(PUBLISH, {**params, "diagnostics": [odd]}, format=form)


async def test_document_text_is_logged_at_debug_only(caplog: pytest.LogCaptureFixture) -> None:
    """What a user edits stays out of logs that people send around."""
    with caplog.at_level(logging.INFO):
        async with session(Config(format="compact", enable_diag_compress=None)) as s:
            await s.initialize()
            text = {"uri": "u", "languageId": "x", "version": 1, "text": "s3cret"}
            await s.to_server(method="textDocument/didOpen", params={"textDocument": text})
            await s.client.send_raw(b'{"method":"x","params":"s3cret"')
            await s.backend.receive_raw()

    assert "s3cret" not in caplog.text
    assert "cannot be read" in caplog.text
    assert json.dumps(PARAMS) not in caplog.text


async def test_originals_are_found_under_another_spelling_of_the_uri() -> None:
    """basedpyright escapes brackets that its client does not; the quick fix needs `data` all the same."""
    async with session(Config(format="folded", enable_diag_compress=None)) as s:
        await s.initialize()
        await s.to_client(method=PUBLISH, params={**PARAMS, "uri": "file:///%5Bid%5D%2Ba.py"})
        params = {
            "textDocument": {"uri": "file:///[id]+a.py"},
            "range": at(5, 0, 5, 9),
            "context": {"diagnostics": []},
        }
        asked = await s.to_server(id=3, method="textDocument/codeAction", params=params)

    assert asked["params"]["context"]["diagnostics"] == [unused(5)]


async def test_originals_are_forgotten_when_the_client_gets_the_servers_own() -> None:
    """Data of an older list never replaces that of the one the client has."""
    newer = [unused(1, code={"odd": True}, data="new")]
    async with session(Config(format="folded", enable_diag_compress=None)) as s:
        await s.initialize()
        await s.to_client(method=PUBLISH, params=PARAMS)
        await s.to_client(method=PUBLISH, params={**PARAMS, "diagnostics": newer})

        assert await code_action(s, newer, at(1, 0, 1, 9)) == newer


async def test_a_code_action_that_is_none_goes_on_with_one_clear_line(caplog: pytest.LogCaptureFixture) -> None:
    """Without a context there is nothing to put back; no traceback at the default level."""
    async with session(Config(format="folded", enable_diag_compress=None)) as s:
        await s.initialize()
        with caplog.at_level(logging.WARNING, "lspz"):
            asked = await s.to_server(id=3, method="textDocument/codeAction", params={"range": 5})

    assert asked["params"] == {"range": 5}
    (record,) = [r for r in caplog.records if r.name == "lspz.relay"]
    assert "textDocument/codeAction" in record.getMessage()
    assert record.exc_info is None
