"""Pipes: lspz's own stdin and stdout, and those of a backend process."""

from __future__ import annotations

import asyncio
import os
import stat
import sys
from contextlib import suppress
from typing import Any, BinaryIO

from .base import Channel, Receiver
from .streams import Reading, StreamChannel, Writing
from .threads import ThreadChannel

READ = 64 * 1024
"""Bytes that are read at once: a pipe's capacity. For asyncio's 256 KB, of which a pipe fills a quarter, the C library
gives memory back to the system after each read and asks for it again, which costs a small message twice its time."""

USE_THREADS = sys.platform == "win32"
"""Whether all pipes are read by threads: on Windows the event loop cannot wait for those that a program is given."""


class PipeChannel(StreamChannel):
    """A `Channel` over two open files that the event loop can wait for. It owns them: they are closed with it."""

    def __init__(self, source: BinaryIO, target: BinaryIO) -> None:
        super().__init__()
        self._source = source
        self._target = target

    async def open(self, receiver: Receiver) -> None:
        """Begin to deliver to `receiver`."""
        loop = asyncio.get_running_loop()
        writing = Writing(receiver, self._flushed, self._closing)
        writes, _ = await loop.connect_write_pipe(lambda: writing, self._target)
        reads, _ = await loop.connect_read_pipe(lambda: Reading(receiver, self._ended), self._source)
        reads.max_size = READ  # type: ignore[attr-defined]
        self._opened(reads, writes)

    async def close(self, timeout: float) -> None:
        """Write what is queued for at most `timeout` seconds, then give up both directions."""
        await super().close(timeout)
        if self._reads is None:
            self._source.close()
            self._target.close()


def pipe_channel(source: BinaryIO, target: BinaryIO) -> Channel:
    """A `Channel` over two open files of any kind, which it owns."""
    return (ThreadChannel if need_threads(source, target) else PipeChannel)(source, target)


class _OwnPipes:
    """lspz's own stdin and stdout, which it takes for the protocol alone.

    While the channel is open, file descriptor 1 leads to stderr, so that a stray `print` cannot break the protocol, and
    descriptor 0 to the null device. `close` puts both back.
    """

    def __init__(self) -> None:
        sys.stdout.flush()
        self._saved = (os.dup(0), os.dup(1))
        super().__init__(os.fdopen(os.dup(0), "rb", 0), os.fdopen(os.dup(1), "wb", 0))  # type: ignore[call-arg]
        null = os.open(os.devnull, os.O_RDONLY)
        os.dup2(null, 0)
        os.close(null)
        os.dup2(2, 1)

    async def close(self, timeout: float) -> None:
        """Write what is queued for at most `timeout` seconds, then give stdin and stdout back."""
        await super().close(timeout)  # type: ignore[misc]
        for number, saved in enumerate(self._saved):
            with suppress(OSError, AttributeError):  # Windows has no such thing for pipes
                os.set_blocking(saved, True)  # asyncio made it non-blocking, and others may share it
            os.dup2(saved, number)
            os.close(saved)


class _OwnPipeChannel(_OwnPipes, PipeChannel):
    pass


class _OwnThreadChannel(_OwnPipes, ThreadChannel):
    pass


def stdio_channel() -> Channel:
    """A `Channel` over the process's own stdin and stdout, which are the protocol's alone until it is closed."""
    own: Any = _OwnThreadChannel if need_threads(sys.stdin, sys.stdout) else _OwnPipeChannel
    channel: Channel = own()
    return channel


def need_threads(*files: Any) -> bool:
    """Whether the event loop cannot wait for a file: on Windows any, else a regular file, or most devices."""
    return USE_THREADS or any(not _is_stream(os.fstat(file.fileno()).st_mode, file.fileno()) for file in files)


def _is_stream(mode: int, number: int) -> bool:
    return stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode) or (stat.S_ISCHR(mode) and os.isatty(number))
