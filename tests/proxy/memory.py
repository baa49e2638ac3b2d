"""lspz in memory, with a test at both ends: the client's and the server's."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from lspz import Config, LspzBackend, LspzServer, memory_pair
from lspz.transports.memory import MemoryTransport
from lspz.transports.messages import MessageChannel

LIMIT = 10.0


class End:
    """One end: messages as JSON values."""

    def __init__(self, transport: MemoryTransport) -> None:
        self.transport = transport

    async def send(self, **members: Any) -> None:
        await self.send_raw(json.dumps({"jsonrpc": "2.0", **members}).encode())

    async def send_raw(self, body: bytes) -> None:
        await self.transport.send(body)

    async def receive_raw(self) -> bytes:
        return await asyncio.wait_for(self.transport.receive(), LIMIT)

    async def receive(self) -> dict[str, Any]:
        message: dict[str, Any] = json.loads(await self.receive_raw())
        return message


class Session:
    """A client and a server with lspz between them."""

    def __init__(self, server: LspzServer, client: End, backend: End, serving: asyncio.Task[int]) -> None:
        self.server = server
        self.client = client
        self.backend = backend
        self.serving = serving

    async def initialize(self, capabilities: Any = None, answer: Any = None, **params: Any) -> Any:
        """Shake hands; return the result as the client gets it."""
        await self.client.send(id=0, method="initialize", params={"capabilities": capabilities or {}, **params})
        asked = await self.backend.receive()
        assert asked["method"] == "initialize"
        await self.backend.send(id=0, result=answer or {"capabilities": {}})
        return (await self.client.receive())["result"]

    async def to_client(self, **members: Any) -> dict[str, Any]:
        """What the client gets when the server says this."""
        await self.backend.send(**members)
        return await self.client.receive()

    async def to_server(self, **members: Any) -> dict[str, Any]:
        """What the server gets when the client says this."""
        await self.client.send(**members)
        return await self.backend.receive()


@asynccontextmanager
async def session(config: Config | None = None, server: LspzServer | None = None) -> AsyncIterator[Session]:
    """Serve one session in memory; it is ended at the latest here."""
    ours, theirs = memory_pair()
    backend_ours, backend_theirs = memory_pair()
    backend = LspzBackend()
    if server is None:
        server = LspzServer(config, backend)
    else:
        backend = server.backend
    backend.use(backend_theirs)
    serving = asyncio.create_task(server.serve(MessageChannel(theirs)))
    try:
        yield Session(server, End(ours), End(backend_ours), serving)
    finally:
        server.shutdown()
        await asyncio.wait_for(serving, LIMIT)
