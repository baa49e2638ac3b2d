"""Nobody who points an LSP client at lspz notices anything: the bytes of both sides, with lspz and without."""

from __future__ import annotations

import subprocess
import sys
import threading
from pathlib import Path

import pytest

from .odd import STEPS, Said, marker

HERE = Path(__file__).parent
EXIT = b'{"jsonrpc":"2.0","method":"exit"}'
LIMIT = 60.0


def framed(body: bytes) -> bytes:
    return b"Content-Length: %d\r\n\r\n" % len(body) + body


def converse(before: list[str], transcript: Path) -> tuple[list[bytes], bytes, int]:
    """Play the client's side; return what it received by step, what the server received, and the exit status."""
    command = [*before, sys.executable, str(HERE / "odd_server.py"), str(transcript)]
    process = subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, bufsize=0
    )
    assert process.stdin is not None
    assert process.stdout is not None
    assert process.stderr is not None
    stderr = threading.Thread(target=process.stderr.read)
    stderr.start()
    watchdog = threading.Timer(LIMIT, process.kill)
    watchdog.start()
    try:
        received = []
        for number, step in enumerate(STEPS):
            said = b"".join(s.raw for s in step.client) + framed(marker("client", number))
            writing = threading.Thread(target=write, args=(process.stdin, said))
            writing.start()
            received.append(read_until(process.stdout, marker("server", number)))
            writing.join()
        write(process.stdin, framed(EXIT))
        process.stdin.close()
        received[-1] += process.stdout.read()
        status = process.wait(LIMIT)
    finally:
        watchdog.cancel()
        process.kill()
        process.wait()
        stderr.join()
        process.stdout.close()
        process.stderr.close()
    return received, transcript.read_bytes(), status


def write(stream: object, data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[stream.write(view) :]  # type: ignore[attr-defined]


def read_until(stream: object, end: bytes) -> bytes:
    data = bytearray()
    while end not in data[-len(end) - 70_000 :]:
        piece = stream.read(1 << 16)  # type: ignore[attr-defined]
        assert piece, f"the stream ended before {end!r}; it ended in {bytes(data[-200:])!r}"
        data += piece
    return bytes(data)


def joined(said: list[Said], relayed: bool, side: str, number: int) -> bytes:
    return b"".join(s.relayed if relayed else s.raw for s in said) + framed(marker(side, number))


@pytest.mark.parametrize("form", [None, "passthrough", "folded", "compact"])
def test_both_sides_exchange_what_they_exchange_without_lspz(form: str | None, tmp_path: Path) -> None:
    """Byte for byte, in order: only noise is left out and odd headers are spelled plainly.

    In other forms than passthrough the initialize answer says what lspz adds; everything else that cannot be compressed
    is the same, however malformed.
    """
    before = [] if form is None else [sys.executable, "-m", "lspz", "--format", form, "--"]

    received, sent, status = converse(before, tmp_path / "transcript")

    relayed = form is not None
    for number, step in enumerate(STEPS):
        expected = joined(step.server, relayed, "server", number)
        if number == 0 and form in ("folded", "compact"):
            assert b'"experimental":{"lspz":{"version":1,"format":"%b"}}' % form.encode() in received[0]
            assert b'"vendorProvider":{"deep":[1.0,1e3]}' in received[0]
            continue
        assert received[number] == expected, f"step {number}"
    assert sent == b"".join(
        joined(step.client, relayed, "client", number) for number, step in enumerate(STEPS)
    ) + framed(EXIT)
    assert status == 0
