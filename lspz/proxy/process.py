"""The backend process while it runs and when it ends. It never outlives lspz, nor do its children."""

from __future__ import annotations

import asyncio
import logging
import signal
import subprocess
import threading
from contextlib import suppress
from typing import BinaryIO

from ..transports.stdio import need_threads, pipe_channel
from ..transports.threads import ThreadReader
from ..transports.waiting import happens
from .spawn import KILL, end_group

log = logging.getLogger("lspz.backend")

TERMINATE_GRACE = 2.0
"""Seconds between SIGTERM and SIGKILL: time to write a cache, not to hang."""

MAX_LINE = 4 * 1024
"""Bytes of a line of stderr that are kept for the log and for the error a client gets."""


class BackendProcess:
    """A `Link` to a server process: its channel, its stderr, its end."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        assert process.stdin is not None
        assert process.stdout is not None
        self._process = process
        self.channel = pipe_channel(process.stdout, process.stdin)  # type: ignore[arg-type]
        self.ended = asyncio.Event()
        self.exited = asyncio.Event()
        self._stderr = _Stderr()
        self._over = False  # the group was ended: its number may belong to others by now

    @property
    def pid(self) -> int:
        """The process id, which is also the id of its group."""
        return self._process.pid

    async def watch(self) -> None:
        """Begin to drain stderr and to wait for the end."""
        loop = asyncio.get_running_loop()
        await self._stderr.open(self._process.stderr)  # type: ignore[arg-type]

        def ended() -> None:
            with suppress(RuntimeError):  # the loop is closed: nobody waits any more
                loop.call_soon_threadsafe(self.exited.set)

        def wait() -> None:
            self._process.wait()
            ended()

        threading.Thread(target=wait, name="lspz-backend-exit", daemon=True).start()

    @property
    def exit_code(self) -> int | None:
        """The exit status as a shell would give it: 128 + n for signal n. None before `exited`."""
        code = self._process.returncode
        return 128 - code if code is not None and code < 0 else code

    def describe_end(self) -> str:
        """The exit status in words, with the last line of stderr."""
        code = self._process.returncode
        if code is None:
            how = "closed its output"
        elif code < 0:
            how = f"was killed by {_signal_name(-code)}"
        else:
            how = f"exited with status {code}"
        return f"the language server {how}" + (f": {self._stderr.last}" if self._stderr.last else "")

    def kill(self) -> None:
        """End it and all that it started, now. Once it was stopped, nothing is done."""
        if not self._over:
            end_group(self._process, KILL)

    async def end(self, grace: float) -> bool:
        """Wait `grace` seconds for the process to end, then end it; return whether it ended by itself."""
        by_itself = await happens(self.exited, grace)
        if self._over:
            return by_itself
        if not by_itself:
            log.info("the server did not end within %g s; it is terminated", grace)
            end_group(self._process, signal.SIGTERM)
            if not await happens(self.exited, TERMINATE_GRACE):
                log.warning("the server ignored SIGTERM for %g s; it is killed", TERMINATE_GRACE)
                end_group(self._process, KILL)
                await self.exited.wait()
        self._over = True
        end_group(self._process, KILL)  # whatever it started and left behind
        self._stderr.close()
        return by_itself


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"


class _Stderr(asyncio.Protocol):
    """Reads all of the server's stderr into the log, and remembers its last line."""

    def __init__(self) -> None:
        self._rest = b""
        self._last = b""
        self._source: asyncio.BaseTransport | ThreadReader | None = None

    async def open(self, file: BinaryIO) -> None:
        """Begin to read."""
        if need_threads(file):
            self._source = ThreadReader(file, self.data_received, lambda: None)
        else:
            self._source, _ = await asyncio.get_running_loop().connect_read_pipe(lambda: self, file)

    def data_received(self, data: bytes) -> None:
        *lines, rest = (self._rest + data).split(b"\n")
        self._rest = rest[-MAX_LINE:]
        if log.isEnabledFor(logging.INFO):
            for line in lines:
                log.info("server: %s", line[:MAX_LINE].decode(errors="replace").rstrip())
        for line in reversed(lines):
            if line.strip():
                self._last = line[:MAX_LINE]
                break

    @property
    def last(self) -> str:
        """The last line that is not empty."""
        line = self._rest if self._rest.strip() else self._last
        return line.decode(errors="replace").strip()

    def close(self) -> None:
        """Read no more."""
        if self._source is not None:
            self._source.close()
