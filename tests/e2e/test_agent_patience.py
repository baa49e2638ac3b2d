"""Servers that keep a client waiting, at the pace at which real ones do, and lspz as patient as it is by default."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

from lspz import AgentHandle, Fresh, Pending
from tests.agent.scripted import NEVER, Scripted


def handle(server: Scripted, root: Path) -> AgentHandle:
    """A handle that waits as long as it does by default."""
    return AgentHandle.builder().transport(server.connect).workspace_root(root).build()


async def test_servers_that_keep_a_client_waiting(tmp_path: Path) -> None:
    """Empty first and real three seconds later; one that never answers; one that indexes for twenty seconds, pushing or
    pulled: the answer is right, or says that it is not there yet, and no other comes from any of them."""
    root = tmp_path.resolve()
    (root / "a.py").write_text("x\n")
    uri = (root / "a.py").as_uri()

    async def empty_first() -> None:
        server = Scripted()

        def opened(method: str, params: Any) -> Any:
            if method == "textDocument/didOpen":
                server.later(3.0, lambda: server.publish(uri, [0]))
                return server.publish(uri, [])
            return None

        server.hook = opened
        async with handle(server, root) as agent:
            assert isinstance((await agent.diagnostics("a.py", limit=2)).state, Pending)
            assert (await agent.diagnostics("a.py")).state == Fresh(1, 1)

    async def silent() -> None:
        async with handle(Scripted(), root) as agent:
            assert isinstance((await agent.diagnostics("a.py", limit=6)).state, Pending)

    async def deaf() -> None:
        server = Scripted({"diagnosticProvider": {}}, textDocument_diagnostic=NEVER)
        async with handle(server, root) as agent:
            assert isinstance((await agent.diagnostics("a.py", limit=6)).state, Pending)

    async def indexing(pulls: bool) -> None:
        known: list[Any] = []
        server = Scripted({"diagnosticProvider": {}} if pulls else {})
        server.answers["textDocument/diagnostic"] = lambda _: {"kind": "full", "items": list(known)}

        async def end() -> None:
            place = {"line": 0, "character": 0}
            known.append({"range": {"start": place, "end": place}, "message": "wrong"})
            if not pulls:
                await server.publish(uri, [0], 1)
            await server.progress("end")

        async def begin() -> None:
            await asyncio.sleep(0.3)  # servers take a moment to say that they have begun
            await server.progress("begin")
            if not pulls:
                await server.publish(uri, [], 1)
            server.later(20.0, end)

        server.hook = lambda method, _: begin() if method == "textDocument/didOpen" else None
        async with handle(server, root) as agent:
            early = await agent.diagnostics("a.py", limit=10)
            assert early.state == Pending("the server is at work: Indexing")
            assert (await agent.diagnostics("a.py")).state == Fresh(1, 1)

    await asyncio.gather(empty_first(), silent(), deaf(), indexing(True), indexing(False))
