"""Nobody who points an LSP client at lspz notices anything: the bytes of both sides, with lspz and without."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from lspz.transports import SECURE, TRANSPORTS
from lspz.wire.framing import FrameReader, frame

from ..certificates import certificates
from .odd import STEPS, Said, marker
from .talk import LSPZ

HERE = Path(__file__).parent
EXIT = b'{"jsonrpc":"2.0","method":"exit"}'
LIMIT = 60.0


def framed(body: bytes) -> bytes:
    return b"Content-Length: %d\r\n\r\n" % len(body) + body


def odd(transcript: Path) -> list[str]:
    """The server's command; it writes down what it receives."""
    return [sys.executable, str(HERE / "odd_server.py"), str(transcript)]


def converse(command: list[str], transcript: Path) -> tuple[list[bytes], bytes, int]:
    """Play the client's side; return what it received by step, what the server received, and the exit status."""
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
    before = [] if form is None else [*LSPZ, "--format", form, "--"]
    transcript = tmp_path / "transcript"

    received, sent, status = converse([*before, *odd(transcript)], transcript)

    relayed = form is not None
    for number, step in enumerate(STEPS):
        expected = joined(step.server, relayed, "server", number)
        if number == 0 and form in ("folded", "compact"):
            assert b'"experimental":{"lspz":{"version":1,"format":"%b"}}' % form.encode() in received[0]
            assert b'"vendorProvider":{"deep":[1.0,1e3]}' in received[0]
            continue
        assert received[number] == expected, f"step {number}"
    assert sent == said(relayed)
    assert status == 0


def said(relayed: bool) -> bytes:
    """All that the client says."""
    return b"".join(joined(step.client, relayed, "client", number) for number, step in enumerate(STEPS)) + framed(EXIT)


def as_relayed(received: list[bytes], sent: bytes, spelled: Callable[[bytes], bytes] = bytes) -> None:
    """Assert that both sides got what the other said, as a relay passes it on."""
    for number, step in enumerate(STEPS):
        expected = spelled(joined(step.server, True, "server", number))
        assert received[number] == expected, f"step {number}"
    assert sent == spelled(said(True))


def plainly(data: bytes) -> bytes:
    """The same messages with plain headers, as they come from a transport that carries bodies alone."""
    buffer, spans = FrameReader().feed(data)
    return b"".join(frame(buffer[body:stop]) for _, body, stop in spans)


@contextmanager
def listening(scheme: str, *command: str) -> Iterator[str]:
    """lspz at an address in front of a server; yields the address. It must end with the signal, and with nothing left.

    The token and the certificates are in its environment.
    """
    options = ["--format", "passthrough", "--listen", f"{scheme}://localhost:0"]
    process = subprocess.Popen([*LSPZ, *options, "--", *command], stderr=subprocess.PIPE, env=environment(scheme))
    assert process.stderr is not None
    try:
        line = process.stderr.readline().decode()
        assert line.startswith("lspz: listening on "), line
        yield line.split()[-1]
    finally:
        process.send_signal(signal.SIGTERM)
        watchdog = threading.Timer(LIMIT, process.kill)
        watchdog.start()
        rest = process.stderr.read().decode()
        process.stderr.close()
        status = process.wait()
        watchdog.cancel()
    assert status == 128 + signal.SIGTERM
    for line in rest.splitlines():  # what is odd in the conversation, and nothing else
        assert line.endswith(("cannot be read; it goes on as it is", "belong to no message; they are left out")), rest


def environment(*schemes: str) -> dict[str, str]:
    """What lspz needs in order to listen and to connect."""
    variables = {**os.environ, "LSPZ_TOKEN": "s3cret"}
    if SECURE & {*schemes}:
        authority, certificate, key = certificates()
        variables |= {"LSPZ_TLS_CA": authority, "LSPZ_TLS_CERT": certificate, "LSPZ_TLS_KEY": key}
    return variables


@pytest.mark.parametrize(("near", "far"), [("tcp", "tcp"), ("tcp", "ws"), ("ws", "tcp"), ("ws", "ws"), ("tls", "wss")])
def test_every_transport_carries_the_same(near: str, far: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Through three of lspz: from stdio to one transport, from that to another, and from that to stdio again.

    A WebSocket carries bodies, so that what comes out of it has plain headers; nothing else may differ.
    """
    transcript = tmp_path / "transcript"
    for name, value in environment(near, far).items():
        monkeypatch.setenv(name, value)
    with listening(far, *odd(transcript)) as server, listening(near, server) as middle:
        received, sent, _ = converse([*LSPZ, "--format", "passthrough", "--", middle], transcript)
    as_relayed(received, sent, plainly if "websocket" in (TRANSPORTS[near], TRANSPORTS[far]) else bytes)


THREADS = """
import sys
from lspz.cli import main
from lspz.transports import stdio
stdio.USE_THREADS = True
sys.exit(main())
"""


def test_threads_carry_the_same(tmp_path: Path) -> None:
    """Where the event loop cannot wait for a pipe, as on Windows, threads read and write all of them."""
    transcript = tmp_path / "transcript"
    lspz = [sys.executable, "-c", THREADS, "--format", "passthrough", "--"]
    received, sent, status = converse([*lspz, *odd(transcript)], transcript)
    as_relayed(received, sent)
    assert status == 0
