"""A client that asks for what changed gets that, and can always get everything."""

from __future__ import annotations

from typing import Any

import pytest

from lspz import Config, DiagnosticsReceiver, Direction, Interceptor
from lspz.errors import ReportLost

from .. import keys
from .memory import session

PUBLISH = "textDocument/publishDiagnostics"
PULL = "textDocument/diagnostic"
URI = "file:///a.py"


def asks(*formats: str) -> dict[str, Any]:
    return {"experimental": {"lspz": {"version": 1, "formats": list(formats), "incremental": True}}}


def diagnostics(*lines: int) -> list[dict[str, Any]]:
    return [
        {
            "range": {"start": {"line": line, "character": 4}, "end": {"line": line, "character": 9}},
            "severity": 1,
            "message": f"message {line}, which is not short",
            "data": {"fix": line},
        }
        for line in lines
    ]


@pytest.mark.parametrize("form", ["text", "compact"])
async def test_a_client_that_asks_gets_what_changed(form: str) -> None:
    """Pushed and pulled, in its form; the capabilities say so; an original in between counts."""
    receiver = DiagnosticsReceiver()
    config = Config(enable_diag_compress=None)
    async with session(config) as s:
        result = await s.initialize(asks(form))
        assert result["capabilities"]["experimental"]["lspz"] == {"version": 1, "format": form, "incremental": True}
        sizes = []
        for id, said in enumerate(
            [diagnostics(*range(9)), diagnostics(*range(1, 9)), [{"message": 1}], [], diagnostics(3)]
        ):
            params = {"uri": URI, "version": id, "diagnostics": said}
            got = (await s.to_client(method=PUBLISH, params=params))["params"]
            back = receiver.receive(PUBLISH, got)
            assert back == params if id in (2, 3) else keys.key(PUBLISH, back) == keys.key(PUBLISH, params)
            sizes.append("kept" in str(got))

            report = {"kind": "full", "resultId": str(id), "items": said}
            await s.to_server(id=id, method=PULL, params={"textDocument": {"uri": URI}})
            got = (await s.to_client(id=id, result=report))["result"]
            back = receiver.receive(PULL, got, URI)
            assert back == report if id in (2, 3) else keys.key(PULL, back) == keys.key(PULL, report)
            sizes.append("kept" in str(got))
    assert sizes == [False, False, True, True] + [False] * 6


async def test_after_a_lost_report_the_original_helps() -> None:
    """It has everything, and the next report is full."""
    receiver = DiagnosticsReceiver()
    async with session(Config(enable_diag_compress=None)) as s:
        await s.initialize(asks("text"))
        for n in range(3):
            params = {"uri": URI, "diagnostics": diagnostics(*range(n, n + 9))}
            got = (await s.to_client(method=PUBLISH, params=params))["params"]
            if n == 0:
                receiver.receive(PUBLISH, got)
        with pytest.raises(ReportLost):
            receiver.receive(PUBLISH, got)
        await s.client.send(id=1, method="lspz/original", params={"uri": URI})
        assert (await s.client.receive())["result"] == {"method": PUBLISH, "params": params}
        got = (await s.to_client(method=PUBLISH, params=params))["params"]
        assert keys.key(PUBLISH, receiver.receive(PUBLISH, got)) == keys.key(PUBLISH, params)


@pytest.mark.parametrize(
    ("capabilities", "options"),
    [
        (asks("toon"), {}),
        (asks("folded"), {}),
        (asks("text"), {"enable_diag_compress": False}),
        ({"experimental": {"lspz": {"formats": ["text"], "incremental": "yes"}}}, {}),
    ],
)
async def test_nobody_else_gets_changes(capabilities: Any, options: dict[str, Any]) -> None:
    """Not in a form that cannot say it, not where diagnostics are left alone, not unasked."""
    async with session(Config(**{"enable_diag_compress": None, **options})) as s:
        result = await s.initialize(capabilities)
        assert "incremental" not in result["capabilities"]["experimental"]["lspz"]
        for _ in range(2):
            params = {"uri": URI, "diagnostics": diagnostics(*range(9))}
            got = (await s.to_client(method=PUBLISH, params=params))["params"]
            assert "kept" not in got
            assert "#" not in str(got)


class DropsEveryOther(Interceptor[Any, Any]):
    """Drops what it is asked about, every second time."""

    name = "drops-every-other"
    methods = (PUBLISH, PULL)

    def __init__(self) -> None:
        self.seen = 0

    async def intercept(self, method: str, params: Any, direction: Direction) -> Any:
        self.seen += 1
        return params if self.seen % 2 else None


async def test_what_a_users_interceptor_drops_is_no_report() -> None:
    """A publish that is dropped takes no number. An answer cannot be dropped: it goes on as it came, and takes one."""
    receiver = DiagnosticsReceiver()
    config = Config(enable_diag_compress=None, interceptors=(DropsEveryOther(),))
    async with session(config) as s:
        await s.initialize(asks("text"))
        for n in range(5):
            report = {"kind": "full", "items": diagnostics(*range(n // 4, 9))}
            await s.to_server(id=n, method=PULL, params={"textDocument": {"uri": URI}})
            got = (await s.to_client(id=n, result=report))["result"]
            assert keys.key(PULL, receiver.receive(PULL, got, URI)) == keys.key(PULL, report)
            assert (got == report) == bool(n % 2)
    assert got["text"].startswith("full #5\n"), "after an original everything is said"

    config = Config(enable_diag_compress=None, interceptors=(DropsEveryOther(),))
    async with session(config) as s:
        await s.initialize(asks("text"))
        for n in range(5):
            params = {"uri": "file:///b.py", "diagnostics": diagnostics(*range(n // 4, 9))}
            await s.backend.send(method=PUBLISH, params=params)
            if n % 2 == 0:
                got = (await s.client.receive())["params"]
                assert keys.key(PUBLISH, receiver.receive(PUBLISH, got)) == keys.key(PUBLISH, params)
    assert got["text"].startswith("file:///b.py #3: 8 kept\n")


async def test_what_does_not_even_say_its_document_goes_on(caplog: pytest.LogCaptureFixture) -> None:
    """With one line in the log, and what follows is told as before."""
    receiver = DiagnosticsReceiver()
    async with session(Config(enable_diag_compress=None)) as s:
        await s.initialize(asks("text"))
        many = {"uri": URI, "diagnostics": diagnostics(*range(9))}
        for params in (many, {"diagnostics": []}, None, many):
            got = (await s.to_client(method=PUBLISH, params=params))["params"]
            if params is many:
                assert keys.key(PUBLISH, receiver.receive(PUBLISH, got)) == keys.key(PUBLISH, params)
            else:
                assert got == params
    assert got["text"] == f"{URI} #2: 9 kept"
    assert len([record for record in caplog.records if record.levelname == "WARNING"]) == 2
