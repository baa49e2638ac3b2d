"""A handle on one server: when it runs, what it is told, how places are counted, what an edit does."""

from __future__ import annotations

import asyncio
import time
from pathlib import Path
from typing import Any

import attrs
import pytest
from lsprotocol import types

from lspz import AgentHandle, At, Unavailable
from lspz.agent.capabilities import capabilities
from lspz.agent.documents import OPEN_LIMIT
from lspz.converters import get_converter
from lspz.errors import (
    AnswerTimeout,
    BackendDied,
    BackendNotFound,
    BackendRefused,
    ConfigError,
    DocumentNotOpen,
    EditConflict,
    EditRefused,
    NotOffered,
    NotReady,
)
from lspz.proxy import budget

from .scripted import NEVER, Refusal, Scripted
from .test_diagnosing import rewrite

ALL = {
    f"{name}Provider": True
    for name in ("hover", "definition", "references", "documentSymbol", "workspaceSymbol", "rename", "codeAction")
}
HOVER = {"contents": {"kind": "markdown", "value": "**it**"}}


def edit_of(path: Path, text: str, line: int = 0, version: int | None = None) -> dict[str, Any]:
    """A WorkspaceEdit that puts a text at the beginning of a line."""
    place = {"line": line, "character": 0}
    edits = [{"range": {"start": place, "end": place}, "newText": text}]
    return {"documentChanges": [{"textDocument": {"uri": path.as_uri(), "version": version}, "edits": edits}]}


# its life


async def test_the_server_starts_with_the_first_question(root: Path) -> None:
    """Building costs nothing; the server starts once, however many ask at once."""
    server = Scripted(ALL, textDocument_hover=HOVER)
    async with server.handle(root) as agent:
        assert (server.starts, agent.is_running) == (0, False)
        await asyncio.gather(*(agent.hover(At("a.py", 0)) for _ in range(20)))
        assert (server.starts, agent.is_running) == (1, True)
    assert server.methods("textDocument/didOpen", "textDocument/hover") == []
    assert [method for method, _ in server.heard][-2:] == ["shutdown", "exit"]
    with pytest.raises(BackendDied, match="stopped for good"):
        await agent.hover(At("a.py", 0))


async def test_a_server_that_dies_is_started_again(root: Path) -> None:
    """The open question fails, the next one is answered by a new server that knows the documents."""
    server = Scripted(ALL, textDocument_hover=NEVER)
    async with server.handle(root) as agent:
        await agent.open("a.py", "my text\n")
        asking = asyncio.create_task(agent.hover(At("a.py", 0)))
        await server.hears("textDocument/hover")
        await server.die()
        with pytest.raises(BackendDied, match="was closed"):
            await asking
        server.answers["textDocument/hover"] = HOVER
        assert (await agent.hover(At("a.py", 0))).markdown == "**it**"
    assert server.starts == 2
    assert server.last("textDocument/didOpen")["textDocument"]["text"] == "my text\n"


async def test_a_server_that_keeps_dying_is_given_up_for_a_while(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """So many restarts within so many seconds; then the error says so, and for how long."""
    monkeypatch.setattr(budget, "BACKOFF", 0.01)
    server = Scripted(ALL)
    server.hook = lambda method, _: server.die() if method == "textDocument/hover" else None
    async with server.builder(root).restarts(2, within=0.5).build() as agent:
        for _ in range(3):
            with pytest.raises(BackendDied, match="was closed"):
                await agent.hover(At("a.py", 0))
        with pytest.raises(
            BackendDied, match=r"failed 3 times within 0.5 s, and is not started again for \d s: .*closed"
        ):
            await agent.hover(At("a.py", 0))
        assert server.starts == 3
        server.hook, server.answers["textDocument/hover"] = lambda *_: None, HOVER
        await asyncio.sleep(0.5)
        assert (await agent.hover(At("a.py", 0))).markdown == "**it**"


async def test_a_server_that_is_not_there_is_named(root: Path) -> None:
    """With what to do about it."""
    async with AgentHandle.builder().backend("no-such-server --stdio").workspace_root(root).build() as agent:
        with pytest.raises(BackendNotFound, match="no-such-server: command not found; is it installed"):
            await agent.diagnostics("a.py")


async def test_idle_servers_are_stopped_and_start_again(root: Path) -> None:
    """Ten servers that nobody asks are stopped after the limit; the next question starts each, documents and all."""
    servers = [Scripted(ALL, textDocument_hover=HOVER) for _ in range(10)]
    agents = [server.builder(root).idle_limit(0.2).build() for server in servers]
    (root / "b.py").write_text("b\n")
    try:
        await asyncio.gather(*(agent.open("b.py", "mine\n") for agent in agents))
        await asyncio.gather(*(agent.hover(At("a.py", 0)) for agent in agents))
        await asyncio.gather(*(server.hears("exit") for server in servers))
        assert not any(agent.is_running for agent in agents)
        found = await asyncio.gather(*(agent.hover(At("a.py", 0)) for agent in agents))
    finally:
        await asyncio.gather(*(agent.stop() for agent in agents))

    assert {answer.markdown for answer in found} == {"**it**"}
    for server in servers:
        assert server.starts == 2
        opened = [params["textDocument"] for method, params in server.heard if method == "textDocument/didOpen"]
        assert [(item["uri"][-4:], item["text"]) for item in opened] == [
            ("b.py", "mine\n"),
            ("a.py", "one\ntwo\nthree\n"),
        ] * 2


async def test_a_server_that_is_asked_is_not_idle(root: Path) -> None:
    """A question that takes longer than the limit keeps its server."""

    async def slow(_: Any) -> Any:
        await asyncio.sleep(0.3)
        return HOVER

    server = Scripted(ALL, textDocument_hover=slow)
    async with server.builder(root).idle_limit(0.1).build() as agent:
        assert (await agent.hover(At("a.py", 0))).markdown == "**it**"
    assert server.starts == 1


async def test_cancellation_at_every_await_leaves_a_handle_that_works(root: Path) -> None:
    """A question given up after each of its steps, the start of the server among them: the next is answered."""
    server = Scripted({**ALL, "diagnosticProvider": {}}, textDocument_hover=HOVER)
    server.answers["textDocument/diagnostic"] = {"kind": "full", "items": []}
    for steps in (*range(1, 40), 60, 100):
        async with server.handle(root) as agent:
            for question in (agent.diagnostics("a.py"), agent.hover(At("a.py", 0))):
                task = asyncio.create_task(question)
                for _ in range(steps):
                    await asyncio.sleep(0)
                task.cancel()
                await asyncio.wait([task])
            async with asyncio.timeout(2):
                assert (await agent.hover(At("a.py", 0))).markdown == "**it**"
    assert server.heard[-1][0] == "exit"


async def test_a_question_that_is_given_up_is_cancelled_at_the_server(root: Path) -> None:
    """By its limit, or by cancellation."""
    server = Scripted(ALL, textDocument_hover=NEVER)
    async with server.handle(root) as agent:
        with pytest.raises(AnswerTimeout, match="no answer to textDocument/hover within"):
            await agent.hover(At("a.py", 0), limit=0.1)
        await server.hears("$/cancelRequest")
        task = asyncio.create_task(agent.hover(At("a.py", 0)))
        await server.hears("textDocument/hover", 2)
        task.cancel()
        await server.hears("$/cancelRequest", 2)


async def test_what_is_not_offered_is_said(root: Path) -> None:
    """An error that names the method, not an empty answer; and a server's error is passed on."""
    async with Scripted({"hoverProvider": True}, textDocument_hover=Refusal(-32603, "a bug")).handle(root) as agent:
        with pytest.raises(NotOffered, match="server does not offer textDocument/definition"):
            await agent.definition(At("a.py", 0))
        with pytest.raises(BackendRefused, match=r"textDocument/hover: a bug \(-32603\)"):
            await agent.hover(At("a.py", 0))


# what the server is told


async def test_the_server_is_told_what_changed_on_disk(root: Path) -> None:
    """Before each question; a file written twice in one moment, too, and with a new version each time."""
    server = Scripted({**ALL, "textDocumentSync": {"openClose": True, "change": 1, "save": {"includeText": True}}})
    server.answers["textDocument/hover"] = HOVER
    async with server.handle(root) as agent:
        await agent.hover(At("a.py", 0))
        for number in range(3):
            (root / "a.py").write_text(f"new {number}\n")
            await agent.hover(At("a.py", 0))
        await agent.hover(At("a.py", 0))
    changes = [params for method, params in server.heard if method == "textDocument/didChange"]
    assert [c["textDocument"]["version"] for c in changes] == [2, 3, 4]
    assert [c["contentChanges"] for c in changes] == [[{"text": f"new {number}\n"}] for number in range(3)]
    assert server.last("textDocument/didSave")["text"] == "new 2\n"


async def test_a_file_that_is_deleted_is_closed(root: Path) -> None:
    """And to ask about it is an error."""
    (root / "b.py").write_text("b\n")
    server = Scripted(ALL, textDocument_hover=HOVER)
    async with server.handle(root) as agent:
        await agent.hover(At("a.py", 0))
        await agent.hover(At("b.py", 0))
        (root / "a.py").unlink()
        await agent.hover(At("b.py", 0))
        assert server.last("textDocument/didClose")["textDocument"]["uri"] == (root / "a.py").as_uri()
        with pytest.raises(FileNotFoundError):
            await agent.hover(At("a.py", 0))


async def test_text_of_the_callers_own(root: Path) -> None:
    """`open`, `change`, `save`, `close`: the file is written by `save` alone, in its own encoding."""
    (root / "a.py").write_bytes(b"\xef\xbb\xbfone\r\n")
    server = Scripted({**ALL, "textDocumentSync": {"openClose": True, "change": 2, "save": True}})
    async with server.handle(root) as agent:
        with pytest.raises(DocumentNotOpen, match=r"a\.py: open it first"):
            await agent.change("a.py", "x")
        await agent.open("a.py")
        await agent.change("a.py", "two\r\n")
        assert (root / "a.py").read_bytes() == b"\xef\xbb\xbfone\r\n"
        await agent.save("a.py")
        assert (root / "a.py").read_bytes() == b"\xef\xbb\xbftwo\r\n"
        await agent.close("a.py")
        await agent.close("a.py")
    assert server.methods() == [f"textDocument/did{what}" for what in ("Open", "Change", "Save", "Close")]
    assert server.heard[2][1]["textDocument"]["text"] == "one\r\n"


async def test_documents_that_were_only_asked_about_are_closed_when_they_are_many(root: Path) -> None:
    """Those asked about longest ago; what the caller opened stays."""
    server = Scripted(ALL, textDocument_hover=HOVER)
    async with server.handle(root) as agent:
        await agent.open("a.py")
        for number in range(OPEN_LIMIT + 3):
            (root / f"f{number}.py").write_text("x\n")
            await agent.hover(At(f"f{number}.py", 0))
    closed = [params["textDocument"]["uri"] for method, params in server.heard if method == "textDocument/didClose"]
    assert closed == [(root / f"f{number}.py").as_uri() for number in range(3)]


async def test_the_server_gets_answers(root: Path) -> None:
    """Settings by section, folders, registration, progress, refreshes; a method that lspz does not know is an error."""
    server = Scripted(ALL, textDocument_hover=HOVER)
    builder = server.builder(root).settings({"py": {"a": {"b": 1}}}).initialization_options({"x": [1]})
    async with builder.build() as agent:
        await agent.start()
        items = [{"section": "py"}, {"section": "py.a.b"}, {"section": "py.none"}, {}]
        assert await server.ask("workspace/configuration", {"items": items}) == [
            {"a": {"b": 1}},
            1,
            None,
            {"py": {"a": {"b": 1}}},
        ]
        assert await server.ask("workspace/workspaceFolders", None) == [{"uri": root.as_uri(), "name": root.name}]
        for method in ("window/workDoneProgress/create", "workspace/semanticTokens/refresh"):
            assert await server.ask(method, {"token": 1}) is None
        asked = await server.ask("window/showMessageRequest", {"type": 3, "message": "?", "actions": [{"title": "ok"}]})
        assert asked is None
        assert (await server.ask("workspace/applyEdit", {"edit": {}}))["applied"] is False
        with pytest.raises(Refusal, match="does not answer foo/bar"):
            await server.ask("foo/bar", None)
    introduced = server.last("initialize")
    assert introduced["initializationOptions"] == {"x": [1]}
    assert introduced["rootUri"] == root.as_uri()
    assert server.last("workspace/didChangeConfiguration") == {"settings": {"py": {"a": {"b": 1}}}}


def test_the_capabilities_are_lsps() -> None:
    """What lspz says it can do is read by lsprotocol, and nothing of it is lost."""
    said = capabilities("utf-8")
    read = get_converter().structure(said, types.ClientCapabilities)
    again = get_converter().unstructure(read, types.ClientCapabilities)

    assert again == said
    assert said["general"]["positionEncodings"] == ["utf-8", "utf-16", "utf-32"]


def test_what_makes_no_handle_is_named() -> None:
    """Every mistake is a ConfigError that says what is allowed."""
    with pytest.raises(ConfigError, match=r"no server: name one with backend\(...\) or server"):
        AgentHandle.builder().build()
    with pytest.raises(ConfigError, match="server='nonsense': must be one of basedpyright"):
        AgentHandle.builder().server("nonsense").build()
    with pytest.raises(ConfigError, match="positions='utf-7': must be one of"):
        AgentHandle.builder().server("ruff").positions("utf-7").build()
    with pytest.raises(ConfigError, match="backend=' ': must be a command"):
        AgentHandle.builder().backend(" ")


# places


@pytest.mark.parametrize("server_counts", ["utf-8", "utf-16", "utf-32"])
@pytest.mark.parametrize("caller_counts", ["utf-8", "utf-16", "utf-32"])
async def test_places_are_counted_as_each_side_does(root: Path, server_counts: str, caller_counts: str) -> None:
    """An emoji is four bytes, two units or one code point: both sides see the same place."""
    (root / "a.py").write_text("x = '😀é' + name\n")
    column = {"utf-8": 15, "utf-16": 12, "utf-32": 11}
    span = {"start": {"line": 0, "character": column[server_counts]}}
    span["end"] = {"line": 0, "character": column[server_counts] + 4}
    server = Scripted({**ALL, "positionEncoding": server_counts})
    server.answers["textDocument/definition"] = [{"uri": (root / "a.py").as_uri(), "range": span}]
    async with server.builder(root).positions(caller_counts).build() as agent:
        for at in (
            At("a.py", 0, column[caller_counts]),
            At("a.py", symbol="name"),
            At("a.py", text="+ name", symbol="name"),
        ):
            found = await agent.definition(at)
            assert server.last("textDocument/definition")["position"] == span["start"]
            assert found.files[(root / "a.py").as_uri()][0].range[:2] == (0, column[caller_counts])
        one_based = await agent.definition(At("a.py", 1, column[caller_counts] + 1, one_based=True))
        assert server.last("textDocument/definition")["position"] == span["start"]
    assert one_based.text() == f"a.py\n1:{column[caller_counts] + 1}-{column[caller_counts] + 5}"


# edits


async def test_a_rename_is_written_and_told(root: Path) -> None:
    """The files are changed, open ones are told to the server; a dry run changes nothing, and both have a diff."""
    (root / "b.py").write_text("b\n")
    edit = {"documentChanges": [*edit_of(root / "a.py", "new ", 1, 1)["documentChanges"]]}
    edit["documentChanges"] += edit_of(root / "b.py", "new ")["documentChanges"]
    server = Scripted({**ALL, "textDocumentSync": {"openClose": True, "change": 1, "save": True}})
    server.answers["textDocument/rename"] = edit
    async with server.handle(root) as agent:
        dry = await agent.rename(At("a.py", 1), "new", apply=False)
        assert (root / "b.py").read_text() == "b\n"
        done = await agent.rename(At("a.py", 1), "new")
    assert (root / "a.py").read_text() == "one\nnew two\nthree\n"
    assert (root / "b.py").read_text() == "new b\n"
    assert (dry.is_written, done.is_written) == (False, True)
    assert dry.diff() == done.diff()
    assert "+new two" in done.diff()
    assert done.text() == "edited a.py\nedited b.py"
    assert server.methods("textDocument/rename") == [f"textDocument/did{what}" for what in ("Open", "Change", "Save")]


async def test_a_rename_waits_until_the_server_is_ready(root: Path) -> None:
    """Half a rename would break the project: while the server is at work it is refused."""
    server = Scripted(ALL, textDocument_rename={})
    server.hook = lambda method, _: server.progress("begin") if method == "textDocument/didOpen" else None
    async with server.handle(root, limit=0.3) as agent:
        with pytest.raises(NotReady, match="the server is at work: Indexing"):
            await agent.rename(At("a.py", 1), "new")


async def test_edits_that_are_not_for_what_is_there_are_refused(root: Path) -> None:
    """For an older version, outside the workspace, for text that is not saved: no file changes."""
    server = Scripted(ALL, textDocument_hover=HOVER)
    async with server.handle(root) as agent:
        await agent.hover(At("a.py", 0))
        rewrite(root / "a.py", "changed\n")
        with pytest.raises(EditConflict, match="for version 1, and 2 is open"):
            await agent.apply_edit(edit_of(root / "a.py", "x", version=1))
        with pytest.raises(EditRefused, match="outside"):
            await agent.apply_edit(edit_of(root.parent / "a.py", "x"))
        await agent.open("a.py", "mine\n")
        with pytest.raises(EditConflict, match="holds text that is not saved"):
            await agent.apply_edit(edit_of(root / "a.py", "x"))
    assert (root / "a.py").read_text() == "changed\n"


async def test_files_that_are_made_moved_and_deleted_are_told(root: Path) -> None:
    """Documents that are gone are closed; servers that want to know hear of the operations and of the changes."""
    (root / "b.py").write_text("b\n")
    operations = {"fileOperations": {"didCreate": {}, "didRename": {}, "didDelete": {}}}
    server = Scripted({**ALL, "workspace": operations}, textDocument_hover=HOVER)
    a, b, c, d = ((root / name).as_uri() for name in ("a.py", "b.py", "c.py", "d.py"))
    changes = [
        {"kind": "rename", "oldUri": a, "newUri": c},
        {"kind": "delete", "uri": b},
        {"kind": "create", "uri": d},
    ]
    async with server.builder(root).watch(False).build() as agent:
        await agent.hover(At("a.py", 0))
        watchers = [{"globPattern": {"baseUri": root.as_uri(), "pattern": "**/*.py"}}]
        registration = {
            "id": "w",
            "method": "workspace/didChangeWatchedFiles",
            "registerOptions": {"watchers": watchers},
        }
        await server.ask("client/registerCapability", {"registrations": [registration]})
        done = await agent.apply_edit({"documentChanges": changes})
        await server.hears("workspace/didChangeWatchedFiles")
    assert done.text() == "renamed a.py -> c.py\ndeleted b.py\ncreated d.py"
    assert server.last("textDocument/didClose")["textDocument"]["uri"] == a
    assert server.last("workspace/didRenameFiles") == {"files": [{"oldUri": a, "newUri": c}]}
    assert server.last("workspace/didDeleteFiles") == {"files": [{"uri": b}]}
    assert server.last("workspace/didCreateFiles") == {"files": [{"uri": d}]}
    told = {(change["uri"], change["type"]) for change in server.last("workspace/didChangeWatchedFiles")["changes"]}
    assert told == {(a, 3), (c, 1), (b, 3), (d, 1)}


async def test_a_code_action_is_resolved_and_its_command_may_edit(root: Path) -> None:
    """An action without an edit is resolved; what its command has the server ask for is applied, and told."""
    server = Scripted({**ALL, "codeActionProvider": {"resolveProvider": True}, "executeCommandProvider": {}})
    action = {"title": "fix", "kind": "quickfix", "isPreferred": True}
    server.answers["textDocument/codeAction"] = [action, {"title": "no", "disabled": {"reason": "not here"}}]
    resolved = {
        **action,
        "edit": edit_of(root / "a.py", "first "),
        "command": {"title": "c", "command": "do", "arguments": [1]},
    }
    server.answers["codeAction/resolve"] = resolved

    async def execute(params: Any) -> Any:
        assert params == {"command": "do", "arguments": [1]}
        return await server.ask("workspace/applyEdit", {"edit": edit_of(root / "a.py", "second ", 1)})

    server.answers["workspace/executeCommand"] = execute
    server.hook = lambda method, params: (
        server.publish(params["textDocument"]["uri"], [0, 2], 1) if method == "textDocument/didOpen" else None
    )
    async with server.handle(root) as agent:
        found = await agent.code_actions(At("a.py", 0), only=["quickfix"])
        done = await agent.apply_action(found.actions[0])
        with pytest.raises(EditRefused, match="no: cannot be done now: not here"):
            await agent.apply_action(found.actions[1])
    assert found.text() == "fix | quickfix | preferred\nno | not now: not here"
    context = server.last("textDocument/codeAction")["context"]
    assert [d["range"]["start"]["line"] for d in context["diagnostics"]] == [0]
    assert context["only"] == ["quickfix"]
    assert (root / "a.py").read_text() == "first one\nsecond two\nthree\n"
    assert done.is_written


# the rest


async def test_anything_can_be_asked(root: Path) -> None:
    """`send_raw` passes params and result as they are."""
    async with Scripted(my_method=lambda params: {"got": params}).handle(root) as agent:
        assert await agent.send_raw("my/method", [1, None]) == {"got": [1, None]}


async def test_an_answer_that_lsp_does_not_have_is_passed_on(root: Path) -> None:
    """A server's own shape is no error: the JSON is there, in every form."""
    server = Scripted(ALL, textDocument_definition={"odd": [1]})
    async with server.handle(root) as agent:
        found = await agent.definition(At("a.py", 0))
    assert found.lsp == {"odd": [1]}
    assert '{"odd":[1]}' in found.text()


async def test_the_limit_of_a_question_holds_while_the_server_is_at_work(root: Path) -> None:
    """References of a server that indexes: what it found so far, and that this may not be all."""
    place = {"line": 0, "character": 0}
    found = [{"uri": (root / "a.py").as_uri(), "range": {"start": place, "end": place}}]
    server = Scripted(ALL, textDocument_references=found)
    server.hook = lambda method, _: server.progress("begin") if method == "textDocument/didOpen" else None
    async with server.handle(root) as agent:
        started = time.monotonic()
        answer = await agent.references(At("a.py", 0), limit=0.3)
    assert time.monotonic() - started < 1
    assert answer.note == "not ready, ask again: the server is at work: Indexing"
    assert answer.count == 1


# what goes wrong


async def test_an_edit_for_what_has_changed_meanwhile_is_a_conflict(root: Path) -> None:
    """While the server thinks, or between an offer and its acceptance: no line is hit that is not meant."""
    server = Scripted({**ALL, "documentFormattingProvider": True})
    uri = (root / "a.py").as_uri()
    server.hook = lambda method, _: server.publish(uri, [0], 1) if method == "textDocument/didOpen" else None
    edits = [{"range": {"start": {"line": 0, "character": 0}, "end": {"line": 0, "character": 3}}, "newText": "ONE"}]

    async def slow(_: Any) -> Any:
        await asyncio.sleep(0.2)
        return edits

    server.answers["textDocument/formatting"] = slow
    server.answers["textDocument/codeAction"] = [{"title": "fix", "edit": {"changes": {uri: edits}}}]
    async with server.handle(root) as agent:
        formatting = asyncio.create_task(agent.formatting("a.py"))
        await server.hears("textDocument/formatting")
        (root / "a.py").write_text("zero\none\n")
        with pytest.raises(EditConflict, match=r"a\.py: has changed since the server was asked: ask again"):
            await formatting
        server.hook = lambda method, _: server.publish(uri, [0]) if method == "textDocument/didChange" else None
        actions = await agent.code_actions(At("a.py", 0), limit=1)
        (root / "a.py").write_text("one\nzero\n")
        with pytest.raises(EditConflict, match="has changed since"):
            await agent.apply_action(actions.actions[0])
    assert (root / "a.py").read_text() == "one\nzero\n"


async def test_files_that_servers_count_in_their_own_way_are_opened_first(root: Path) -> None:
    """With a byte order mark, or bytes that are no text: what the server is told it counts as lspz does."""
    (root / "b.py").write_bytes(b"\xef\xbb\xbfone\n")
    (root / "c.py").write_bytes(b"\xe2\x82 one\n")
    server = Scripted(ALL)

    def rename(_: Any) -> Any:
        opened = [params["textDocument"]["uri"][-4:] for method, params in server.heard if method.endswith("didOpen")]
        places = {"b.py": 0 if "b.py" in opened else 1, "c.py": 3 if "c.py" in opened else 2}
        changes = {}
        for name, column in places.items():
            span = {"start": {"line": 0, "character": column}, "end": {"line": 0, "character": column + 3}}
            changes[(root / name).as_uri()] = [{"range": span, "newText": "two"}]
        return {"changes": changes}

    server.answers["textDocument/rename"] = rename
    async with server.handle(root) as agent:
        await agent.rename(At("a.py", 0), "two")
    assert (root / "b.py").read_bytes() == b"\xef\xbb\xbftwo\n"
    assert (root / "c.py").read_bytes() == b"\xe2\x82 two\n"


@pytest.mark.parametrize(
    ("method", "answer", "ask"),
    [
        ("initialize", None, lambda agent: agent.start()),
        ("initialize", {"capabilities": 5}, lambda agent: agent.start()),
        ("textDocument/signatureHelp", [1], lambda agent: agent.signature_help(At("a.py", 0))),
        ("textDocument/signatureHelp", {"signatures": [{}]}, lambda agent: agent.signature_help(At("a.py", 0))),
        ("textDocument/codeAction", [{}], lambda agent: agent.code_actions(At("a.py", 0), limit=0.4)),
        ("textDocument/prepareCallHierarchy", [{}], lambda agent: agent.incoming_calls(At("a.py", 0))),
        ("textDocument/rename", "x", lambda agent: agent.rename(At("a.py", 0), "x")),
    ],
)
async def test_answers_that_lsp_does_not_have_are_the_servers_fault(
    root: Path, method: str, answer: Any, ask: Any
) -> None:
    """A named error with the method, whatever is wrong with them."""
    server = Scripted({**ALL, "signatureHelpProvider": {}, "callHierarchyProvider": True})
    server.answers |= {method: answer, "callHierarchy/incomingCalls": [1]}
    async with server.handle(root) as agent:
        with pytest.raises((BackendRefused, EditRefused), match=r"not as LSP has it|no WorkspaceEdit|is no list"):
            await ask(agent)


@pytest.mark.parametrize("answer", [None, {}, [], "x", {"kind": "full", "items": None}, {"kind": "unchanged"}])
async def test_a_report_that_is_none_is_not_clean(root: Path, answer: Any) -> None:
    """What the server did not say is not known."""
    async with Scripted({"diagnosticProvider": {}}, textDocument_diagnostic=answer).handle(root) as agent:
        found = await agent.diagnostics("a.py")
    assert isinstance(found.state, Unavailable)
    assert "with what is no report" in found.text()


async def test_whoever_waits_for_a_server_that_is_stopped_hears_so(root: Path) -> None:
    """An error, and no cancellation that nobody asked for; and two that stop it both wait until it has ended."""
    server = Scripted(ALL, initialize=NEVER)
    agent = server.handle(root)
    waiting = asyncio.create_task(agent.hover(At("a.py", 0)))
    await server.hears("initialize")
    await asyncio.gather(agent.stop(), agent.stop())
    with pytest.raises(BackendDied, match="was stopped while it was started"):
        await waiting


def test_a_handle_in_two_event_loops_one_after_the_other(root: Path) -> None:
    """Its server ended with the first; in the second it is started again."""
    server = Scripted(ALL, textDocument_hover=HOVER)
    agent = server.handle(root)
    for _ in range(2):
        assert asyncio.run(agent.hover(At("a.py", 0))).markdown == "**it**"
    asyncio.run(agent.stop())
    assert server.starts == 2


async def test_a_file_that_is_no_text_harms_no_other(root: Path) -> None:
    """Half a UTF-16 file is read as far as it goes."""
    (root / "b.py").write_text("b\n")
    server = Scripted(ALL, textDocument_hover=HOVER)
    async with server.handle(root) as agent:
        await agent.hover(At("a.py", 0))
        (root / "a.py").write_bytes(b"\xff\xfea")
        assert (await agent.hover(At("b.py", 0))).markdown == "**it**"


async def test_what_the_caller_opened_stays_open_while_its_file_is_away(root: Path) -> None:
    """As in a checkout of another branch and back."""
    server = Scripted(ALL, textDocument_hover=HOVER)
    (root / "b.py").write_text("b\n")
    async with server.handle(root) as agent:
        await agent.open("a.py")
        (root / "a.py").unlink()
        await agent.hover(At("b.py", 0))
        (root / "a.py").write_text("back\n")
        await agent.hover(At("b.py", 0))
        assert server.last("textDocument/didOpen")["textDocument"]["text"] == "back\n"
        await agent.change("a.py", "mine\n")


async def test_a_command_whose_edit_is_refused_is_an_error(root: Path) -> None:
    """Not a success that did nothing; and an action that comes to nothing is one, too."""
    server = Scripted({**ALL, "codeActionProvider": {"resolveProvider": True}})
    server.answers["codeAction/resolve"] = {"title": "empty"}

    async def execute(params: Any) -> Any:
        return await server.ask("workspace/applyEdit", {"edit": edit_of(root.parent / "b.py", "x")})

    server.answers["workspace/executeCommand"] = execute
    server.answers["textDocument/codeAction"] = [{"title": "run", "command": "go"}, {"title": "empty"}]
    async with server.handle(root, limit=1.0) as agent:
        run, empty = (await agent.code_actions(At("a.py", 0))).actions
        with pytest.raises(EditRefused, match="is outside"):
            await agent.apply_action(run)
        with pytest.raises(EditRefused, match="empty: the server says no edit"):
            await agent.apply_action(empty)


async def test_code_actions_of_a_whole_line(root: Path) -> None:
    """Where no more is said than the line, all that is wrong in it counts."""
    server = Scripted(ALL, textDocument_codeAction=[])
    uri = (root / "a.py").as_uri()
    server.hook = lambda method, _: server.publish(uri, [1], 1) if method == "textDocument/didOpen" else None
    async with server.handle(root) as agent:
        await agent.code_actions(At("a.py", 1))
        assert server.last("textDocument/codeAction")["range"]["end"] == {"line": 1, "character": 3}
        await agent.code_actions(At("a.py", 1, 2))
        assert server.last("textDocument/codeAction")["range"]["end"] == {"line": 1, "character": 2}
        assert server.last("textDocument/codeAction")["context"]["diagnostics"] == []


async def test_the_limit_holds_for_opening_too(root: Path) -> None:
    """A server that never answers initialize."""
    async with Scripted(ALL, initialize=NEVER).handle(root, limit=0.2) as agent:
        with pytest.raises(AnswerTimeout, match="is starting, and has not answered"):
            await agent.open("a.py")


async def test_actions_of_a_server_that_has_no_diagnostics(root: Path) -> None:
    """Half of the time is kept for the question itself."""
    async with Scripted(ALL, textDocument_codeAction=[{"title": "x"}]).handle(root, limit=0.6) as agent:
        assert (await agent.code_actions(At("a.py", 0))).text() == "x"


async def test_an_edit_may_go_wherever_the_workspace_does(root: Path) -> None:
    """A server's project may be a part of it."""
    (root / "part").mkdir()
    (root / "part" / "b.py").write_text("b\n")
    options = attrs.evolve(Scripted(ALL).builder(root / "part").build()._options, workspace=root)
    agent = AgentHandle(options)
    done = await agent.apply_edit(edit_of(root / "a.py", "new "))
    assert done.text() == "edited a.py"
    with pytest.raises(EditRefused, match="is outside"):
        await agent.apply_edit(edit_of(root.parent / "a.py", "new "))
