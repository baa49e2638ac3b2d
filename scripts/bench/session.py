"""A client of one peer, and what the kernel knows about the peer's middle process."""

from __future__ import annotations

import os
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from .content import encode, frame, notification_of
from .peers import Peer

ROOT = Path(__file__).parents[2]
READ = 1024 * 1024
GRACE = 5.0
"""Seconds a peer has to end by itself."""

INITIALIZE = {
    "processId": None,
    "rootUri": None,
    "clientInfo": {"name": "bench"},
    "capabilities": {"textDocument": {"publishDiagnostics": {"versionSupport": True}}},
}


@dataclass(frozen=True)
class Flood:
    """What came of a flood: bytes with the answer, messages without it."""

    size: int
    messages: int


class PeerFailed(Exception):
    """A peer did not do what every peer must."""


class Session:
    """One client on one peer, reading with blocking reads, so that the client adds as little as possible."""

    def __init__(self, peer: Peer, delay: float = 0.0) -> None:
        self.peer = peer
        self.id = 100_000
        self._stderr = tempfile.TemporaryFile()  # noqa: SIM115
        started = time.perf_counter()
        self._process = subprocess.Popen(
            peer.command(delay),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._stderr,
            bufsize=0,
            cwd=ROOT,
            env={name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"},
            start_new_session=True,
        )
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._in = self._process.stdin.fileno()
        self._out = self._process.stdout.fileno()
        try:
            self.ask("initialize", INITIALIZE)
            self.start_time = time.perf_counter() - started
            self._write({"jsonrpc": "2.0", "method": "initialized", "params": {}})
            self.middle = Middle(self._process.pid) if peer.has_middle else None
        except BaseException:
            self.close()
            raise

    def cpu(self) -> float:
        """Seconds of CPU time that the middle process has used; 0 where there is none."""
        return self.middle.cpu() if self.middle else 0.0

    # asking

    def ask(self, method: str, params: object) -> bytes:
        """The body of the answer to a request."""
        self._request(method, params)
        data = self._read()
        while (end := data.find(b"\r\n\r\n")) < 0:
            data += self._read()
        length = _content_length(data[:end])
        parts, have = [data[end + 4 :]], len(data) - end - 4
        while have < length:
            parts.append(self._read())
            have += len(parts[-1])
        return b"".join(parts)

    def time_answer(self, method: str, params: object) -> float:
        """Seconds from a request to the last byte of its answer, whose bytes are counted and thrown away."""
        data = self._prepare(method, params)
        read, out = os.read, self._out
        started = time.perf_counter()
        os.write(self._in, data)
        data = read(out, READ)
        while (end := data.find(b"\r\n\r\n")) < 0:
            data += self._read()
        missing = end + 4 + _content_length(data[:end]) - len(data)
        while missing > 0:
            data = read(out, READ)
            if not data:
                raise self._died()
            missing -= len(data)
        return time.perf_counter() - started

    def begin_flood(self, method: str, params: object) -> None:
        """Ask for many messages and read nothing yet."""
        self._request(method, params)

    def finish_flood(self) -> Flood:
        """Read everything up to the answer."""
        size = messages = 0
        tail = b""
        mark = b"all sent"
        while True:
            data = self._read()
            size += len(data)
            seam = tail[-13:] + data[:13]  # a header name may lie on both sides of it
            messages += data.count(b"Content-Length") + seam.count(b"Content-Length")
            tail = (tail + data)[-200:] if len(data) < 200 else data[-200:]
            if mark in tail and tail.endswith(b"}"):
                return Flood(size, messages - 1)

    def flood_size(self, count: int, size: int) -> int:
        """How many bytes `bench/flood` must bring, with its answer, when they come unchanged."""
        answer = frame(b'{"jsonrpc":"2.0","id":%d,"result":"all sent"}' % self.id)
        return count * len(notification_of(size)) + len(answer)

    def _request(self, method: str, params: object) -> None:
        os.write(self._in, self._prepare(method, params))

    def _prepare(self, method: str, params: object) -> bytes:
        self.id += 1
        return frame(encode({"jsonrpc": "2.0", "id": self.id, "method": method, "params": params}))

    def _write(self, message: object) -> None:
        os.write(self._in, frame(encode(message)))

    def _read(self) -> bytes:
        data = os.read(self._out, READ)
        if not data:
            raise self._died()
        return data

    def _died(self) -> PeerFailed:
        self._stderr.seek(0)
        lines = self._stderr.read().decode(errors="replace").strip().splitlines()
        return PeerFailed("it ended too early" + (f": {lines[-1]}" if lines else ""))

    # the end

    def close(self) -> None:
        """End the peer, its backend, and whatever else they started."""
        process = self._process
        try:
            with suppress(OSError):
                self._write({"jsonrpc": "2.0", "id": self.id + 1, "method": "shutdown"})
                self._write({"jsonrpc": "2.0", "method": "exit"})
            process.stdin.close()
            os.set_blocking(self._out, False)
            deadline = time.monotonic() + GRACE
            while process.poll() is None and time.monotonic() < deadline:
                with suppress(BlockingIOError):
                    os.read(self._out, READ)  # a peer that waits for its reader cannot end
                time.sleep(0.005)
        finally:
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
            process.stdout.close()
            self._stderr.close()

    def __enter__(self) -> Session:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()


def _content_length(header: bytes) -> int:
    at = header.find(b"Content-Length:")
    if at < 0:
        raise PeerFailed(f"not a header: {header!r}")
    return int(header[at + 15 :].split(b"\r\n", 1)[0])


class Middle:
    """The CPU time and memory of a process, from the kernel."""

    def __init__(self, pid: int) -> None:
        self._proc = Path(f"/proc/{pid}")
        self._clock = (~pid << 3) | 2  # what clock_getcpuclockid(3) returns: nanoseconds, where /proc has 10 ms ticks

    def cpu(self) -> float:
        """Seconds of user and system time of all its threads so far."""
        return time.clock_gettime(self._clock)

    def resident(self) -> int:
        """Bytes in memory now."""
        return self._status("VmRSS")

    def peak(self) -> int:
        """The most bytes in memory since `reset_peak`."""
        return self._status("VmHWM")

    def reset_peak(self) -> None:
        (self._proc / "clear_refs").write_text("5")

    def _status(self, name: str) -> int:
        for line in (self._proc / "status").read_text().splitlines():
            if line.startswith(name + ":"):
                return int(line.split()[1]) * 1024
        raise PeerFailed(f"no {name}")

    def wait_until_idle(self, quiet: float = 0.4) -> None:
        """Return when it has used no CPU time for a while."""
        cpu, since = self.cpu(), time.monotonic()
        while time.monotonic() - since < quiet:
            time.sleep(0.05)
            if (now := self.cpu()) - cpu > 0.002:
                cpu, since = now, time.monotonic()


@contextmanager
def limit(seconds: int) -> Iterator[None]:
    """Raise PeerFailed when the block takes longer: a peer that hangs must not hang the benchmark."""

    def too_long(number: int, stack: object) -> None:
        raise PeerFailed(f"no answer within {seconds} s")

    before = signal.signal(signal.SIGALRM, too_long)
    signal.alarm(seconds)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)
