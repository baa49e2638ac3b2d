"""`Proxy`: open files, ask for diagnostics; never "nothing" for a timeout."""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from lspz import Config, Proxy, memory_pair
from lspz.errors import BackendDied, BackendError, BackendNotFound, BackendRefused, DiagnosticsTimeout, DocumentNotOpen
from lspz.transports.memory import MemoryTransport

URI = "file:///a.py"
ONE = {
    "range": {"start": {"line": 1, "character": 2}, "end": {"line": 1, "character": 3}},
    "severity": 1,
    "message": "m" * 80,
    "source": "s",
}
PULLS = {"diagnosticProvider": {"interFileDependencies": False, "workspaceDiagnostics": False}}
Answer = Callable[[dict[str, Any], MemoryTransport], Awaitable[None]]


@asynccontextmanager
async def server(answer: Answer, capabilities: Any = None) -> AsyncIterator[MemoryTransport]:
    """A server in memory: `answer` sees every message but the handshake's."""
    ours, theirs = memory_pair()

    async def serve() -> None:
        while True:
            message = json.loads(await ours.receive())
            if message.get("method") == "initialize":
                await reply(ours, message, {"capabilities": capabilities or {}})
            elif message.get("method") == "shutdown":
                await reply(ours, message, None)
            elif message.get("method") == "exit":
                await ours.close()
                return
            else:
                await answer(message, ours)

    serving = asyncio.create_task(serve())
    try:
        yield theirs
    finally:
        serving.cancel()
        await asyncio.gather(serving, return_exceptions=True)


async def reply(transport: MemoryTransport, message: dict[str, Any], result: Any) -> None:
    await transport.send(json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": result}).encode())


async def publish(transport: MemoryTransport, version: int | None, *diagnostics: Any) -> None:
    params = {"uri": URI, "diagnostics": diagnostics, **({} if version is None else {"version": version})}
    message = {"jsonrpc": "2.0", "method": "textDocument/publishDiagnostics", "params": params}
    await transport.send(json.dumps(message).encode())


async def test_a_publish_for_an_older_version_does_not_count() -> None:
    """Only the open version's list is an answer, be it empty."""
    versions = []

    async def answer(message: dict[str, Any], transport: MemoryTransport) -> None:
        if message["method"] not in ("textDocument/didOpen", "textDocument/didChange"):
            return
        version = message["params"]["textDocument"]["version"]
        versions.append(version)
        await publish(transport, 1, ONE, ONE)
        if version == 2:
            await publish(transport, 2)

    async with server(answer) as transport, Proxy(Config(), transport) as proxy:
        await proxy.open_file(URI, "one")
        first = await proxy.diagnostics(URI)
        await proxy.open_file(URI, "two")
        second = await proxy.diagnostics(URI)

    assert versions == [1, 2]
    assert (first.document_version, [d.count for d in first.diagnostics]) == (1, [2])
    assert (second.document_version, second.diagnostics) == (2, ())


async def test_a_server_that_can_be_asked_is_asked() -> None:
    """The pulled report becomes the same model."""

    async def answer(message: dict[str, Any], transport: MemoryTransport) -> None:
        if message["method"] == "textDocument/diagnostic":
            await reply(transport, message, {"kind": "full", "items": [ONE, ONE]})

    async with server(answer, PULLS) as transport, Proxy(Config(), transport) as proxy:
        await proxy.open_file(URI, "one", "python")
        found = await proxy.diagnostics(URI)

    assert (found.uri, found.document_version) == (URI, 1)
    assert found.diagnostics[0].ranges == ((1, 2, 1, 3), (1, 2, 1, 3))


async def test_an_empty_list_is_believed_only_when_nothing_follows() -> None:
    """Some servers publish an empty list before they have looked; a file is not called clean for that."""

    async def answer(message: dict[str, Any], transport: MemoryTransport) -> None:
        if message["method"] == "textDocument/didOpen":
            await publish(transport, 1)
            await publish(transport, 1, ONE)

    async with server(answer) as transport, Proxy(Config(), transport) as proxy:
        await proxy.open_file(URI, "one")
        found = await proxy.diagnostics(URI)

    assert [d.count for d in found.diagnostics] == [1]


async def test_a_server_may_say_later_that_it_can_be_asked() -> None:
    """It registers for pulling, which is honoured even while somebody waits for it to publish."""

    async def answer(message: dict[str, Any], transport: MemoryTransport) -> None:
        if message.get("method") == "textDocument/didOpen":
            registration = {"id": "r", "method": "textDocument/diagnostic"}
            params = {"registrations": [registration]}
            request = {"jsonrpc": "2.0", "id": 1, "method": "client/registerCapability", "params": params}
            await transport.send(json.dumps(request).encode())
        elif message.get("method") == "textDocument/diagnostic":
            await reply(transport, message, {"kind": "full", "items": [ONE]})

    async with server(answer) as transport, Proxy(Config(), transport) as proxy:
        await proxy.open_file(URI, "one")
        found = await proxy.diagnostics(URI)

    assert [d.count for d in found.diagnostics] == [1]


async def test_a_server_that_wants_to_be_asked_again_is() -> None:
    """A pull that the server cancels is no answer, and no refusal either."""
    asked = []

    async def answer(message: dict[str, Any], transport: MemoryTransport) -> None:
        if message["method"] != "textDocument/diagnostic":
            return
        asked.append(message["id"])
        if len(asked) == 1:
            error = {"code": -32802, "message": "cancelled", "data": {"retriggerRequest": True}}
            await transport.send(json.dumps({"jsonrpc": "2.0", "id": message["id"], "error": error}).encode())
        else:
            await reply(transport, message, {"kind": "full", "items": []})

    async with server(answer, PULLS) as transport, Proxy(Config(), transport) as proxy:
        await proxy.open_file(URI, "one")
        assert (await proxy.diagnostics(URI)).diagnostics == ()

    assert len(asked) == 2


async def silent(message: dict[str, Any], transport: MemoryTransport) -> None:
    """Answers nothing."""


@pytest.mark.parametrize("capabilities", [{}, PULLS])
async def test_a_timeout_is_no_empty_list(capabilities: Any) -> None:
    """A server that says nothing within the limit: a named error, on both ways."""
    async with server(silent, capabilities) as transport, Proxy(Config(), transport) as proxy:
        await proxy.open_file(URI, "one")
        with pytest.raises(DiagnosticsTimeout, match=r"version 1 within 0.05 s"):
            await proxy.diagnostics(URI, limit=0.05)


async def test_a_server_that_refuses_or_dies_is_named() -> None:
    """An error answer, and a connection that ends, are no lists either."""

    async def answer(message: dict[str, Any], transport: MemoryTransport) -> None:
        if message["method"] == "textDocument/diagnostic":
            error = {"code": -32803, "message": "cannot do that"}
            await transport.send(json.dumps({"jsonrpc": "2.0", "id": message["id"], "error": error}).encode())
        elif message["method"] == "textDocument/didChange":
            await transport.close()

    async with server(answer, PULLS) as transport, Proxy(Config(), transport) as proxy:
        await proxy.open_file(URI, "one")
        with pytest.raises(BackendRefused, match="cannot do that"):
            await proxy.diagnostics(URI)
        await proxy.open_file(URI, "two")
        with pytest.raises(BackendDied):
            await proxy.diagnostics(URI)


async def test_questions_out_of_order_are_refused(tmp_path: Path) -> None:
    """Before a document is open, before there is a server, for a command that does not exist."""
    async with server(silent) as transport, Proxy(Config(), transport) as proxy:
        with pytest.raises(DocumentNotOpen):
            await proxy.diagnostics(URI)
        with pytest.raises(FileNotFoundError):
            await proxy.open_file((tmp_path / "missing.py").as_uri())
        await proxy.open_file(URI, "one")
    with pytest.raises(BackendDied, match="was shut down"):
        await proxy.diagnostics(URI)
    with pytest.raises(BackendError, match="no server"):
        await Proxy(Config()).start()
    with pytest.raises(BackendNotFound, match="command not found"):
        await Proxy(Config.builder().backend("no-such-server --stdio").build()).start()
    with pytest.raises(BackendDied, match="exited with status 3"):
        await Proxy(Config.builder().backend(sys.executable, "-c", "raise SystemExit(3)").build()).start()
