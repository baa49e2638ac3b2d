"""What the channels over asyncio's transports share: pipes (`stdio`) and sockets (`tcp`)."""

from __future__ import annotations

import asyncio

from .base import Receiver
from .waiting import happens

HIGH_WATER = 64 * 1024
"""Bytes queued for a slow reader at which the other side is told to stop: one pipe's capacity."""


class StreamChannel:
    """A `Channel` over one asyncio transport to read from and one to write to, which may be the same."""

    def __init__(self) -> None:
        self._reads: asyncio.ReadTransport | None = None
        self._writes: asyncio.WriteTransport | None = None
        self._early: list[bytes] = []  # written before the channel was open: the other side may be faster
        self._ended = asyncio.Event()
        self._flushed = asyncio.Event()
        self._closing = asyncio.Event()  # nothing more is written, since we said so

    def _opened(self, reads: asyncio.ReadTransport, writes: asyncio.WriteTransport) -> None:
        writes.set_write_buffer_limits(high=HIGH_WATER)
        self._reads, self._writes = reads, writes
        for data in self._early:
            writes.write(data)
        self._early.clear()

    def write(self, data: bytes) -> None:
        """Queue bytes; nothing is raised when the peer is gone."""
        if self._writes is None:
            self._early.append(data)
        elif not self._closing.is_set() and not self._writes.is_closing():
            self._writes.write(data)

    def pause_reading(self) -> None:
        """Deliver nothing until `resume_reading`."""
        if self._reads is not None and self._reads.is_reading():
            self._reads.pause_reading()

    def resume_reading(self) -> None:
        """Deliver again."""
        if self._reads is not None and not self._reads.is_closing() and not self._reads.is_reading():
            self._reads.resume_reading()

    def close_writing(self) -> None:
        """Write what is queued, then tell the peer that nothing more will come. Reading goes on."""
        if self._writes is None or self._writes.is_closing():
            return
        self._closing.set()
        if isinstance(self._writes, asyncio.Transport) and self._writes.can_write_eof():  # a socket: reading goes on
            self._writes.write_eof()
        else:
            self._writes.close()

    async def close(self, timeout: float) -> None:
        """Write what is queued for at most `timeout` seconds, then give up both directions."""
        if self._writes is None or self._reads is None:
            return
        self._closing.set()
        if not self._writes.is_closing():  # a second close breaks asyncio's TLS
            self._writes.close()
        if not await happens(self._flushed, timeout) and self._writes.get_write_buffer_size():
            self._writes.abort()
        if not self._reads.is_closing():
            self._reads.close()


class Reading(asyncio.Protocol):
    """The reading side of a channel, as asyncio sees it."""

    def __init__(self, receiver: Receiver, ended: asyncio.Event) -> None:
        self.data_received = receiver.data_received  # type: ignore[method-assign]
        self._receiver = receiver
        self._ended = ended
        self.has_halves = True  # one may be closed without the other

    def eof_received(self) -> bool:
        """The peer closed its side; the writing half of a socket stays open, where it has halves."""
        self._end()
        return self.has_halves

    def connection_lost(self, error: Exception | None) -> None:
        """The transport is closed, by either side."""
        self._end()

    def _end(self) -> None:
        if not self._ended.is_set():
            self._ended.set()
            self._receiver.eof_received()


class Writing(asyncio.BaseProtocol):
    """The writing side of a channel, as asyncio sees it."""

    def __init__(self, receiver: Receiver, flushed: asyncio.Event, closing: asyncio.Event) -> None:
        self._closing = closing
        self.pause_writing = receiver.pause_writing  # type: ignore[method-assign]
        self.resume_writing = receiver.resume_writing  # type: ignore[method-assign]
        self._receiver = receiver
        self._flushed = flushed

    def connection_lost(self, error: Exception | None) -> None:
        """All is written and the transport closed; unless that was asked for, the peer no longer reads."""
        self._flushed.set()
        if not self._closing.is_set():
            self._receiver.write_failed()


class Both(Reading):
    """Both sides of a socket."""

    def __init__(self, receiver: Receiver, ended: asyncio.Event, flushed: asyncio.Event) -> None:
        super().__init__(receiver, ended)
        self.pause_writing = receiver.pause_writing  # type: ignore[method-assign]
        self.resume_writing = receiver.resume_writing  # type: ignore[method-assign]
        self._flushed = flushed

    def connection_lost(self, error: Exception | None) -> None:
        """The connection is closed in both directions."""
        self._flushed.set()
        self._end()
