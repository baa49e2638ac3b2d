"""TCP, plain or with TLS: connections, opened and accepted."""

from __future__ import annotations

import asyncio
import logging
from typing import Any

from .access import MAX_TOKEN, TOKEN_LIMIT, Access
from .address import Address
from .base import Channel, Client, Receiver
from .streams import Both, StreamChannel
from .waiting import happens

log = logging.getLogger("lspz.transport")

BACKLOG = 1024
"""Connections that may wait to be accepted: with 100, clients that come at once would wait a second to be heard."""

_NAME = b"authorization:"


class _Connected(StreamChannel):
    """A `Channel` over a transport that is connected already; what has come is kept until it is opened."""

    def __init__(self, transport: asyncio.Transport, early: _Early) -> None:
        super().__init__()
        self._transport = transport
        self._before = early

    async def open(self, receiver: Receiver) -> None:
        """Begin to deliver to `receiver`."""
        both = Both(receiver, self._ended, self._flushed)
        both.has_halves = self._transport.can_write_eof()
        self._transport.set_protocol(both)
        self._opened(self._transport, self._transport)
        before = self._before
        if before.data:
            both.data_received(bytes(before.data))
        if before.lost:
            both.connection_lost(None)
        elif before.ended.is_set():
            both.eof_received()
        else:
            self.resume_reading()

    async def close(self, timeout: float) -> None:
        """Write what is queued for at most `timeout` seconds, then give up both directions."""
        if self._reads is None:
            self._transport.abort()
        await super().close(timeout)


class _Early(asyncio.Protocol):
    """Takes what comes before a channel is opened: the token's line, and whatever is behind it."""

    def __init__(self) -> None:
        self.data = bytearray()
        self.ended = asyncio.Event()
        self.came = asyncio.Event()
        """Set with the first bytes, or when none will come."""
        self.line = asyncio.Event()
        """Set when the first line is there, or cannot come."""
        self.lost = False
        self.transport: asyncio.Transport | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self.transport = transport

    def data_received(self, data: bytes) -> None:
        self.data += data
        self.came.set()
        if b"\n" in self.data or len(self.data) > MAX_TOKEN:
            self.line.set()
            assert self.transport is not None
            self.transport.pause_reading()

    def eof_received(self) -> bool:
        self.ended.set()
        self.came.set()
        self.line.set()
        return self.transport is not None and self.transport.can_write_eof()

    def connection_lost(self, error: Exception | None) -> None:
        self.lost = True
        self.eof_received()

    def take_line(self) -> bytes:
        """What a client showed: the value of the first line, if that is the one with the token; it is taken away."""
        line, end, rest = bytes(self.data).partition(b"\n")
        if not end or not line.lower().startswith(_NAME):
            return b""
        self.data = bytearray(rest)
        return line[len(_NAME) :]


async def connect(address: Address, access: Access) -> Channel:
    """Connect to a server. Raises OSError when nobody listens, ConfigError for a bad file of certificates."""
    context = access.client_context(address)
    transport, early = await asyncio.get_running_loop().create_connection(
        _Early, address.host, address.port, ssl=context
    )
    transport.pause_reading()
    transport.write(access.line)
    return _Connected(transport, early)


async def listen(address: Address, access: Access, client: Client) -> TcpListener:
    """Serve clients at an address. Raises OSError when it is taken, ConfigError for bad files of certificates."""
    context = access.server_context(address)
    listener = TcpListener(access, client)
    listener.server = await asyncio.get_running_loop().create_server(
        listener.protocol, address.host, address.port, ssl=context, backlog=BACKLOG
    )
    return listener


class TcpListener:
    """A `Listener` for TCP."""

    server: asyncio.Server

    def __init__(self, access: Access, client: Client) -> None:
        self._access = access
        self._client = client
        self._tasks: set[asyncio.Task[Any]] = set()
        self._silent: set[_Early] = set()  # who has not shown that it is a client

    def protocol(self) -> asyncio.Protocol:
        """What asyncio asks for with each connection."""
        return _Accepted(self._accepted)

    def _accepted(self, early: _Early) -> None:
        task = asyncio.get_running_loop().create_task(self._serve(early))
        self._tasks.add(task)  # else nobody holds it
        task.add_done_callback(self._tasks.discard)

    async def _serve(self, early: _Early) -> None:
        transport = early.transport
        assert transport is not None
        self._silent.add(early)
        try:
            admitted = await self._admits(early)
        finally:
            self._silent.discard(early)
        if not admitted:
            transport.abort()
            return
        transport.pause_reading()
        await self._client(_Connected(transport, early))

    async def _admits(self, early: _Early) -> bool:
        """Wait for a client's first bytes, so that a server is started for nobody who has nothing to say."""
        if self._access.token is None:
            await early.came.wait()
            return bool(early.data)
        admitted = await happens(early.line, TOKEN_LIMIT) and self._access.admits(early.take_line())
        if not admitted:
            log.warning("a client without the token was turned away")
        return admitted

    @property
    def port(self) -> int:
        """The port, also where the system picked it."""
        return int(self.server.sockets[0].getsockname()[1])

    async def close(self) -> None:
        """Accept nobody any more."""
        self.server.close()
        for early in self._silent:
            if early.transport is not None:
                early.transport.abort()


class _Accepted(_Early):
    def __init__(self, accepted: Any) -> None:
        super().__init__()
        self._accepted = accepted

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        super().connection_made(transport)
        self._accepted(self)
