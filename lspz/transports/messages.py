"""A channel over a transport of whole messages: what such a transport needs to be relayed."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from contextlib import suppress

from ..wire.framing import FrameReader, frame
from .base import Receiver, Transport

log = logging.getLogger("lspz.transport")

HIGH_WATER = 256
"""Messages queued for a slow reader at which the other side is told to stop."""


class MessageChannel:
    """A `Channel` over a `Transport`: frames what it receives, and sends the bodies of the frames written to it."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport
        self._frames = FrameReader()
        self._outgoing: asyncio.Queue[bytes | None] = asyncio.Queue()
        self._may_read = asyncio.Event()
        self._may_read.set()
        self._tasks: list[asyncio.Task[None]] = []
        self._receiver: Receiver | None = None
        self._paused = False
        self._closing = False
        self._close: Callable[[], Awaitable[None]] | None = getattr(transport, "close", None)

    async def open(self, receiver: Receiver) -> None:
        """Begin to deliver to `receiver`."""
        self._receiver = receiver
        self._tasks = [asyncio.create_task(self._read(receiver)), asyncio.create_task(self._send(receiver))]

    async def _read(self, receiver: Receiver) -> None:
        try:
            while True:
                await self._may_read.wait()
                receiver.data_received(frame(await self._transport.receive()))
        except (EOFError, OSError):
            pass
        except Exception:
            log.exception("the transport failed while receiving")
        receiver.eof_received()

    async def _send(self, receiver: Receiver) -> None:
        try:
            while (body := await self._outgoing.get()) is not None:
                await self._transport.send(body)
                if self._paused and self._outgoing.qsize() < HIGH_WATER // 2:
                    self._paused = False
                    receiver.resume_writing()
            await self._close_transport()
        except Exception as error:
            log.info("the transport failed while sending: %s", error)
            self._closing = True
            receiver.write_failed()

    async def _close_transport(self) -> None:
        close, self._close = self._close, None
        if close is not None:
            await close()

    def write(self, data: bytes) -> None:
        """Queue bytes, which may be any piece of a stream of frames."""
        if self._closing:
            return
        buffer, spans = self._frames.feed(data)
        for _, body, stop in spans:
            self._outgoing.put_nowait(buffer[body:stop])
        if not self._paused and self._outgoing.qsize() >= HIGH_WATER and self._receiver is not None:
            self._paused = True
            self._receiver.pause_writing()

    def pause_reading(self) -> None:
        """Deliver nothing until `resume_reading`."""
        self._may_read.clear()

    def resume_reading(self) -> None:
        """Deliver again."""
        self._may_read.set()

    def close_writing(self) -> None:
        """Send what is queued, then close the transport, if it can be; what it received before is still delivered."""
        if not self._closing:
            self._closing = True
            self._outgoing.put_nowait(None)

    async def close(self, timeout: float) -> None:
        """Send what is queued for at most `timeout` seconds, then close the transport."""
        self.close_writing()
        if self._tasks:
            await asyncio.wait([self._tasks[1]], timeout=timeout)
        for task in self._tasks:
            task.cancel()
            with suppress(asyncio.CancelledError):
                await task
        with suppress(OSError):
            await self._close_transport()
