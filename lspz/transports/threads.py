"""Pipes and files that an event loop cannot wait for: threads read and write them.

That is every pipe on Windows, and elsewhere a regular file or a device in the place of a pipe.
"""

from __future__ import annotations

import asyncio
import os
import queue
import threading
from collections.abc import Callable
from contextlib import suppress
from typing import BinaryIO

from .base import Receiver
from .streams import HIGH_WATER
from .waiting import happens

READ = 64 * 1024
"""Bytes that are read at once: a pipe's capacity."""


class ThreadReader:
    """Reads a file in a thread, and delivers on the event loop's; a piece is read when the one before was taken."""

    def __init__(self, file: BinaryIO, received: Callable[[bytes], None], ended: Callable[[], None]) -> None:
        self._file = file
        self._received = received
        self._ended = ended
        self._loop = asyncio.get_running_loop()
        self._may_read = threading.Event()
        self._may_read.set()
        self._paused = False
        self._closed = False
        self._kept: bytes | None = None  # came while reading was paused
        threading.Thread(target=self._read, name="lspz-reader", daemon=True).start()

    def _read(self) -> None:
        data = b"?"
        while data and not self._closed:
            self._may_read.wait()
            try:
                data = os.read(self._file.fileno(), READ)
            except (OSError, ValueError):  # a broken pipe; closed
                data = b""
            self._may_read.clear()
            try:
                self._loop.call_soon_threadsafe(self._deliver, data)
            except RuntimeError:  # the loop is closed: nobody listens any more
                break
        with suppress(OSError):
            self._file.close()

    def _deliver(self, data: bytes) -> None:
        if self._closed:
            self._may_read.set()
        elif self._paused:
            self._kept = data
        elif data:
            self._received(data)
            if not self._paused:
                self._may_read.set()
        else:
            self._ended()

    def pause(self) -> None:
        """Deliver nothing until `resume`."""
        self._paused = True

    def resume(self) -> None:
        """Deliver again."""
        if not self._paused:
            return
        self._paused = False
        kept, self._kept = self._kept, None
        if kept is not None:
            self._loop.call_soon(self._deliver, kept)
        else:
            self._may_read.set()

    def close(self) -> None:
        """Deliver nothing more. A read that is going on ends with the next byte, or with the process."""
        self._closed = True
        self._may_read.set()


class ThreadWriter:
    """Writes a file in a thread."""

    def __init__(self, file: BinaryIO, receiver: Receiver) -> None:
        self._file = file
        self._receiver = receiver
        self._loop = asyncio.get_running_loop()
        self._queue: queue.SimpleQueue[bytes | None] = queue.SimpleQueue()
        self._waiting = 0
        self._paused = False
        self._closing = False
        self.flushed = asyncio.Event()
        """Set when all is written, or nothing more can be."""
        threading.Thread(target=self._write, name="lspz-writer", daemon=True).start()

    def _write(self) -> None:
        failed = False
        with suppress(RuntimeError):  # the loop is closed: nobody listens any more
            while (data := self._queue.get()) is not None:
                view = memoryview(data)
                try:
                    while view and not failed:
                        view = view[os.write(self._file.fileno(), view) :]
                except (OSError, ValueError):
                    failed = True
                    self._loop.call_soon_threadsafe(self._failed)
                self._loop.call_soon_threadsafe(self._written, len(data))
        with suppress(OSError):
            self._file.close()
        with suppress(RuntimeError):
            self._loop.call_soon_threadsafe(self.flushed.set)

    def write(self, data: bytes) -> None:
        """Queue bytes."""
        if self._closing:
            return
        self._queue.put(data)
        self._waiting += len(data)
        if self._waiting > HIGH_WATER and not self._paused:
            self._paused = True
            self._receiver.pause_writing()

    def _written(self, size: int) -> None:
        self._waiting -= size
        if self._paused and self._waiting <= HIGH_WATER // 4:
            self._paused = False
            self._receiver.resume_writing()

    def _failed(self) -> None:
        if not self._closing:
            self._closing = True
            self._queue.put(None)
            self._receiver.write_failed()

    def close(self) -> None:
        """Write what is queued, then close the file."""
        if not self._closing:
            self._closing = True
            self._queue.put(None)


class ThreadChannel:
    """A `Channel` over two open files. It owns them: they are closed with the channel."""

    def __init__(self, source: BinaryIO, target: BinaryIO) -> None:
        self._source = source
        self._target = target
        self._reader: ThreadReader | None = None
        self._writer: ThreadWriter | None = None
        self._early: list[bytes] = []

    async def open(self, receiver: Receiver) -> None:
        """Begin to deliver to `receiver`."""
        self._writer = ThreadWriter(self._target, receiver)
        for data in self._early:
            self._writer.write(data)
        self._early.clear()
        self._reader = ThreadReader(self._source, receiver.data_received, receiver.eof_received)

    def write(self, data: bytes) -> None:
        """Queue bytes; nothing is raised when the peer is gone."""
        if self._writer is None:
            self._early.append(data)
        else:
            self._writer.write(data)

    def pause_reading(self) -> None:
        """Deliver nothing until `resume_reading`."""
        if self._reader is not None:
            self._reader.pause()

    def resume_reading(self) -> None:
        """Deliver again."""
        if self._reader is not None:
            self._reader.resume()

    def close_writing(self) -> None:
        """Write what is queued, then tell the peer that nothing more will come. Reading goes on."""
        if self._writer is not None:
            self._writer.close()

    async def close(self, timeout: float) -> None:
        """Write what is queued for at most `timeout` seconds, then give up both directions."""
        if self._writer is None or self._reader is None:
            self._source.close()
            self._target.close()
            return
        self._writer.close()
        await happens(self._writer.flushed, timeout)
        self._reader.close()
