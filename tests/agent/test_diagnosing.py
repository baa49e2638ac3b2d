"""Diagnostics of servers that behave in every way that servers do: right, or said not to be known yet."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path
from typing import Any

import pytest

from lspz import Fresh, Pending, Unavailable

from .scripted import NEVER, Refusal, Scripted, diagnostic

PULLS = {"diagnosticProvider": {"identifier": "me", "interFileDependencies": True, "workspaceDiagnostics": False}}


def rewrite(path: Path, text: str) -> None:
    """Write a file as another program does, some time later."""
    path.write_text(text)
    stat = path.stat()
    os.utime(path, ns=(stat.st_atime_ns, stat.st_mtime_ns + 1))


async def test_an_empty_list_first_and_the_real_one_later(root: Path) -> None:
    """The first empty publish is not taken for "clean": the real one comes before that would be known."""
    server = Scripted()

    def opened(method: str, params: Any) -> Any:
        if method == "textDocument/didOpen":
            uri = params["textDocument"]["uri"]
            server.later(0.3, lambda: server.publish(uri, [1, 2], 1))
            return server.publish(uri, [], 1)
        return None

    server.hook = opened
    async with server.handle(root) as agent:
        found = await agent.diagnostics("a.py")

    assert found.state == Fresh(1, 2)
    assert [span[0] for entry in found.entries for span in entry.ranges] == [1, 2]


async def test_a_server_that_never_publishes_is_not_known(root: Path) -> None:
    """Nothing was heard within the limit: pending, never clean, and the text says so."""
    async with Scripted().handle(root, limit=0.3) as agent:
        found = await agent.diagnostics("a.py")

    assert isinstance(found.state, Pending)
    assert not found.is_clean
    assert found.text() == "not ready, ask again: the server has not published diagnostics for version 1"
    assert found.compact()["note"] == found.note


async def test_a_server_that_never_answers_is_not_known(root: Path) -> None:
    """A pull without an answer is pending, and cancelled at the server; any other question raises."""
    server = Scripted(PULLS | {"hoverProvider": True}, textDocument_diagnostic=NEVER, textDocument_hover=NEVER)
    async with server.handle(root, limit=0.3) as agent:
        found = await agent.diagnostics("a.py")
        await server.hears("$/cancelRequest")

    assert isinstance(found.state, Pending)
    assert "no answer to textDocument/diagnostic within" in found.state.reason


async def test_a_server_that_does_not_even_start_is_not_known(root: Path) -> None:
    """`initialize` is never answered: the limit of the question holds, and the answer is pending."""
    async with Scripted(initialize=NEVER).handle(root, limit=0.2) as agent:
        agent_state = (await agent.diagnostics("a.py")).state

    assert isinstance(agent_state, Pending)


@pytest.mark.parametrize("pulls", [True, False])
async def test_a_server_that_indexes_is_waited_for(root: Path, pulls: bool) -> None:
    """While it says that it is at work, what it says is provisional; the answer is that of afterwards."""
    known: list[int] = []
    server = Scripted(PULLS if pulls else {}, textDocument_diagnostic=lambda _: report(known))
    uri = (root / "a.py").as_uri()

    def opened(method: str, params: Any) -> Any:
        if method == "textDocument/didOpen":
            server.later(1.0, indexed)
            return begin()
        return None

    async def begin() -> None:
        await server.progress("begin")
        if not pulls:
            await server.publish(uri, [], 1)

    async def indexed() -> None:
        known.append(1)
        if not pulls:
            await server.publish(uri, [1], 1)
        await server.progress("end")

    server.hook = opened
    async with server.handle(root) as agent:
        early = await agent.diagnostics("a.py", limit=0.4)
        late = await agent.diagnostics("a.py")

    assert early.state == Pending("the server is at work: Indexing")
    assert late.state == Fresh(1, 1)


async def test_a_server_that_only_pushes(root: Path) -> None:
    """It names no versions, and publishes what it knew of the text before the edit first: that does not count."""
    server = Scripted({"documentSymbolProvider": True}, textDocument_documentSymbol=[])
    uri = (root / "a.py").as_uri()

    def told(method: str, params: Any) -> Any:
        if method == "textDocument/didOpen":
            return server.publish(uri, [0])
        if method == "textDocument/didChange":
            server.later(0.3, lambda: server.publish(uri, [0, 1]))
            return server.publish(uri, [])  # still of the text before
        return None

    server.hook = told
    async with server.handle(root) as agent:
        before = await agent.diagnostics("a.py")
        rewrite(root / "a.py", "uno\n")
        after = await agent.diagnostics("a.py")

    assert before.state == Fresh(1, 1)
    assert after.state == Fresh(2, 2)


async def test_a_publish_for_the_version_before_does_not_count(root: Path) -> None:
    """A server that names versions publishes late for the one before the edit: dropped."""
    server = Scripted()
    uri = (root / "a.py").as_uri()

    def told(method: str, params: Any) -> Any:
        if method == "textDocument/didOpen":
            return server.publish(uri, [0], 1)
        if method == "textDocument/didChange":
            server.later(0.2, lambda: server.publish(uri, [2], 2))
            return server.publish(uri, [0, 1], 1)
        return None

    server.hook = told
    async with server.handle(root) as agent:
        assert (await agent.diagnostics("a.py")).state == Fresh(1, 1)
        rewrite(root / "a.py", "uno\n")
        found = await agent.diagnostics("a.py")

    assert found.state == Fresh(2, 1)
    assert found.entries[0].ranges[0][0] == 2


async def test_a_server_that_only_answers_pulls(root: Path) -> None:
    """It is asked, with its identifier and the id of the last report; "unchanged" is what it said before."""
    answers = [report([1], "first"), {"kind": "unchanged", "resultId": "second"}]
    server = Scripted(PULLS, textDocument_diagnostic=lambda _: answers.pop(0))
    async with server.handle(root) as agent:
        first = await agent.diagnostics("a.py")
        again = await agent.diagnostics("a.py")

    assert first.state == again.state == Fresh(1, 1)
    assert server.last("textDocument/diagnostic")["previousResultId"] == "first"
    assert server.last("textDocument/diagnostic")["identifier"] == "me"


async def test_a_server_that_wants_to_be_asked_again_is(root: Path) -> None:
    """ContentModified and ServerCancelled are no answers."""
    answers: list[Any] = [Refusal(-32802, "later"), Refusal(-32801, "modified"), report([1])]
    server = Scripted(PULLS, textDocument_diagnostic=lambda _: answers.pop(0))
    async with server.handle(root) as agent:
        assert (await agent.diagnostics("a.py")).state == Fresh(1, 1)


async def test_what_was_answered_before_a_refresh_is_asked_again(root: Path) -> None:
    """The server says, while it is asked, that what it answers is outdated: the next answer counts."""
    answers = [report([1]), report([1, 2])]
    server = Scripted(PULLS)

    async def pull(_: Any) -> Any:
        answer = answers.pop(0)
        if answers:
            await server.ask("workspace/diagnostic/refresh", None)
        return answer

    server.answers["textDocument/diagnostic"] = pull
    async with server.handle(root) as agent:
        assert (await agent.diagnostics("a.py")).state == Fresh(1, 2)


async def test_what_is_pushed_and_pulled_is_told_once(root: Path) -> None:
    """A server that does both: the union."""
    server = Scripted(PULLS, textDocument_diagnostic=report([1]))
    uri = (root / "a.py").as_uri()
    server.hook = lambda method, _: server.publish(uri, [1, 2], 1) if method == "textDocument/didOpen" else None
    async with server.handle(root) as agent:
        assert (await agent.diagnostics("a.py")).state == Fresh(1, 2)


async def test_a_provider_that_registers_late_is_asked(root: Path) -> None:
    """Diagnostics may be registered after `initialized`."""
    server = Scripted(textDocument_diagnostic=report([1]))
    registration = {"id": "d", "method": "textDocument/diagnostic", "registerOptions": {"identifier": "late"}}

    def told(method: str, params: Any) -> Any:
        if method == "initialized":
            server.later(0.02, lambda: server.ask("client/registerCapability", {"registrations": [registration]}))

    server.hook = told
    async with server.handle(root) as agent:
        assert (await agent.diagnostics("a.py")).state == Fresh(1, 1)
    assert server.last("textDocument/diagnostic")["identifier"] == "late"


async def test_a_server_that_dies_is_unavailable(root: Path) -> None:
    """Whoever waits hears at once that it will not be known."""
    server = Scripted()
    server.hook = lambda method, _: server.die() if method == "textDocument/didOpen" else None
    async with server.handle(root) as agent:
        found = await agent.diagnostics("a.py")

    assert found.state == Unavailable("the connection to the language server was closed")
    assert found.text() == "not known: the connection to the language server was closed"


async def test_a_server_that_refuses_is_unavailable(root: Path) -> None:
    """An error is no empty list."""
    async with Scripted(PULLS, textDocument_diagnostic=Refusal(-32603, "a bug")).handle(root) as agent:
        found = await agent.diagnostics("a.py")

    assert found.state == Unavailable("textDocument/diagnostic: a bug (-32603)")


async def test_another_document_that_changes_is_waited_for(root: Path) -> None:
    """What is known of a document no longer counts when another one changes: the server is made to look again."""
    (root / "b.py").write_text("x\n")
    server = Scripted()
    uri = (root / "a.py").as_uri()

    def told(method: str, params: Any) -> Any:
        if method == "textDocument/didOpen":
            return server.publish(params["textDocument"]["uri"], [0], 1)
        if method == "textDocument/didChange":
            changed = params["textDocument"]["uri"]
            server.later(0.1, lambda: server.publish(changed, [0, 1] if changed == uri else [0], 2))
        return None

    server.hook = told
    async with server.handle(root) as agent:
        assert (await agent.diagnostics("a.py")).state == Fresh(1, 1)
        assert (await agent.diagnostics("b.py")).state == Fresh(1, 1)
        rewrite(root / "b.py", "y\n")
        assert (await agent.diagnostics("b.py")).state == Fresh(2, 1)
        assert (await agent.diagnostics("a.py")).state == Fresh(2, 2)


async def test_caps_and_filters_are_counted(root: Path) -> None:
    """What is left out is said, and a document whose errors are all left out is not clean."""
    found = [diagnostic(0, "a"), diagnostic(1, "b", severity=4), diagnostic(2, "c")]
    server = Scripted(PULLS, textDocument_diagnostic={"kind": "full", "items": found})
    async with server.builder(root).limits(max_diags=1, min_severity=2).build() as agent:
        answer = await agent.diagnostics("a.py")

    assert answer.state == Fresh(1, 3)
    assert (answer.count, answer.omitted) == (1, 2)
    assert not answer.is_clean


async def test_the_workspace_is_pulled_where_that_is_offered(root: Path) -> None:
    """All files, grouped; fresh."""
    other = (root / "b.py").as_uri()
    items = [{"uri": other, "version": None, "kind": "full", "items": [diagnostic(3)]}]
    provider = {"diagnosticProvider": {"interFileDependencies": True, "workspaceDiagnostics": True}}
    async with Scripted(provider, workspace_diagnostic={"items": items}).handle(root) as agent:
        found = await agent.workspace_diagnostics()

    assert found.state == Fresh(None, 1)
    assert list(found.files) == [other]
    assert "b.py" in found.text()
    assert "file:" not in found.text()


async def test_the_workspace_of_a_server_that_reports_on_open_files_is_not_known(root: Path) -> None:
    """What it said of open files is told, and that this is not all."""
    server = Scripted()
    server.hook = lambda method, params: (
        server.publish(params["textDocument"]["uri"], [0], 1) if method == "textDocument/didOpen" else None
    )
    async with server.handle(root) as agent:
        await agent.diagnostics("a.py")
        found = await agent.workspace_diagnostics()

    assert isinstance(found.state, Unavailable)
    assert found.count == 1


async def test_a_uri_in_another_spelling_is_the_same_document(root: Path) -> None:
    """Servers percent-encode as they like: what they publish is not lost for that."""
    (root / "a [1] é.py").write_text("x\n")
    server = Scripted()
    uri = f"{root.as_uri()}/a%20%5B1%5D%20é.py"
    server.hook = lambda method, _: server.publish(uri, [0], 1) if method == "textDocument/didOpen" else None
    async with server.handle(root) as agent:
        found = await agent.diagnostics("a [1] é.py")

    assert server.last("textDocument/didOpen")["textDocument"]["uri"] != uri
    assert found.state == Fresh(1, 1)


async def test_many_ask_at_once(root: Path) -> None:
    """Fifty questions on one document open it once, and all have the same answer."""
    server = Scripted()
    server.hook = lambda method, params: (
        server.publish(params["textDocument"]["uri"], [0], 1) if method == "textDocument/didOpen" else None
    )
    async with server.handle(root) as agent:
        answers = await asyncio.gather(*(agent.diagnostics("a.py") for _ in range(50)))

    assert {answer.state for answer in answers} == {Fresh(1, 1)}
    assert server.starts == 1
    assert server.methods("textDocument/didClose") == ["textDocument/didOpen"]


def report(lines: list[int], result_id: str | None = None) -> dict[str, Any]:
    """A full report with a diagnostic for each of these lines."""
    out: dict[str, Any] = {"kind": "full", "items": [diagnostic(line) for line in lines]}
    return out if result_id is None else {**out, "resultId": result_id}
