"""Pipes: lspz's own stdin and stdout, and those of a backend process."""

from __future__ import annotations

import asyncio
import os
import stat
import sys
import threading
from contextlib import suppress
from typing import BinaryIO

from . import Receiver
from .streams import Reading, StreamChannel, Writing

READ = 64 * 1024
"""Bytes that are read at once: a pipe's capacity. For asyncio's 256 KB, of which a pipe fills a quarter, the C library
gives memory back to the system after each read and asks for it again, which costs a small message twice its time."""


class PipeChannel(StreamChannel):
    """A `Channel` over two open files. It owns them: they are closed with the channel."""

    def __init__(self, source: BinaryIO, target: BinaryIO) -> None:
        super().__init__()
        self._source = source
        self._target = target

    async def open(self, receiver: Receiver) -> None:
        """Begin to deliver to `receiver`."""
        loop = asyncio.get_running_loop()
        source = _readable(self._source)
        target = _writable(self._target)
        writes, _ = await loop.connect_write_pipe(lambda: Writing(receiver, self._flushed, self._closing), target)
        reads, _ = await loop.connect_read_pipe(lambda: Reading(receiver, self._ended), source)
        reads.max_size = READ  # type: ignore[attr-defined]
        self._opened(reads, writes)


class StdioChannel(PipeChannel):
    """lspz's own stdin and stdout, which it takes for the protocol alone.

    While it is open, file descriptor 1 leads to stderr, so that a stray `print` cannot break the protocol, and
    descriptor 0 to the null device. `close` puts both back.
    """

    def __init__(self) -> None:
        sys.stdout.flush()
        self._saved = (os.dup(0), os.dup(1))
        super().__init__(os.fdopen(os.dup(0), "rb", 0), os.fdopen(os.dup(1), "wb", 0))
        null = os.open(os.devnull, os.O_RDONLY)
        os.dup2(null, 0)
        os.close(null)
        os.dup2(2, 1)

    async def close(self, timeout: float) -> None:
        """Write what is queued for at most `timeout` seconds, then give stdin and stdout back."""
        await super().close(timeout)
        for number, saved in enumerate(self._saved):
            with suppress(OSError):
                os.set_blocking(saved, True)  # asyncio made it non-blocking, and others may share it
            os.dup2(saved, number)
            os.close(saved)


def _needs_thread(file: BinaryIO) -> bool:
    """Whether the event loop cannot wait for this file: a regular file, or a device that is not a terminal."""
    mode = os.fstat(file.fileno()).st_mode
    if stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode):
        return False
    return not (stat.S_ISCHR(mode) and os.isatty(file.fileno()))


def _readable(file: BinaryIO) -> BinaryIO:
    if not _needs_thread(file):
        return file
    read, write = os.pipe()
    threading.Thread(target=_copy, args=(file, os.fdopen(write, "wb", 0)), daemon=True).start()
    return os.fdopen(read, "rb", 0)


def _writable(file: BinaryIO) -> BinaryIO:
    if not _needs_thread(file):
        return file
    read, write = os.pipe()
    # not a daemon: what has been written must reach the file before the process ends
    threading.Thread(target=_copy, args=(os.fdopen(read, "rb", 0), file)).start()
    return os.fdopen(write, "wb", 0)


def _copy(source: BinaryIO, target: BinaryIO) -> None:
    with suppress(OSError), source, target:
        while data := source.read(64 * 1024):
            view = memoryview(data)
            while view:
                view = view[target.write(view) :]
