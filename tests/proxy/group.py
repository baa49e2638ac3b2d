"""Several servers as one, in memory: a test plays the client and each of the servers."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import Any

from lspz import memory_pair
from lspz.proxy.links import Connected
from lspz.proxy.several.link import Several
from lspz.transports.messages import MessageChannel
from lspz.wire.framing import FrameReader, frame

from .memory import LIMIT, End

INITIALIZE = "initialize"
Json = Any


class Client:
    """What the relay is to the servers: it takes what they say, and says what the client says."""

    def __init__(self, several: Several) -> None:
        self._several = several
        self._frames = FrameReader()
        self.heard: asyncio.Queue[dict[str, Json] | None] = asyncio.Queue()

    def data_received(self, data: bytes) -> None:
        buffer, spans = self._frames.feed(data)
        for _, body, stop in spans:
            self.heard.put_nowait(json.loads(buffer[body:stop]))

    def eof_received(self) -> None:
        self.heard.put_nowait(None)

    def write_failed(self) -> None: ...

    def pause_writing(self) -> None: ...

    def resume_writing(self) -> None: ...

    def send(self, **members: Json) -> None:
        self._several.write(frame(json.dumps({"jsonrpc": "2.0", **members}).encode()))

    async def receive(self) -> dict[str, Json]:
        message = await asyncio.wait_for(self.heard.get(), LIMIT)
        assert message is not None
        return message


class Trio:
    """A client and its servers."""

    def __init__(self, several: Several, client: Client, servers: list[End]) -> None:
        self.several = several
        self.client = client
        self.servers = servers

    async def initialize(self, *capabilities: Json, client: Json = None) -> Json:
        """Shake hands; each server answers with its capabilities. Return the result as the client gets it."""
        self.client.send(id=0, method=INITIALIZE, params={"capabilities": client or {}})
        for server, own in zip(self.servers, capabilities, strict=True):
            assert (await server.receive())["method"] == INITIALIZE
            await server.send(id=0, result={"capabilities": own})
        return (await self.client.receive())["result"]

    async def to_all(self, **members: Json) -> list[Json]:
        """What each server gets when the client says this."""
        self.client.send(**members)
        return [await server.receive() for server in self.servers]

    async def quiet(self) -> None:
        """See that nothing else was said to anybody."""
        self.client.send(method="$/mark")
        for number, server in enumerate(self.servers):
            if self.several._servers[number].tap is not None:
                assert (await server.receive())["method"] == "$/mark"
        assert self.client.heard.empty()


@asynccontextmanager
async def group(count: int = 2) -> AsyncIterator[Trio]:
    """Servers in memory that stand as one; all are ended at the latest here."""
    pairs = [memory_pair() for _ in range(count)]
    channels = [MessageChannel(theirs) for _, theirs in pairs]
    several = Several([Connected(channel) for channel in channels], NAMES[:count])
    client = Client(several)
    await several.watch()
    await several.open(client)
    servers = [End(ours) for ours, _ in pairs]
    try:
        yield Trio(several, client, servers)
    finally:
        for server in servers:
            await server.transport.close()
        await several.end(LIMIT)
        await several.close(0.0)


NAMES: Sequence[str] = ("alpha", "beta", "gamma")
