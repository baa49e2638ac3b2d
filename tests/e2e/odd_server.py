"""The server's side of the odd conversation: `odd_server.py TRANSCRIPT` writes down what it receives, byte for byte."""

from __future__ import annotations

import os
import sys
import threading

from odd import STEPS, marker


def write(fd: int, data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(fd, view) :]


def main(path: str) -> int:
    with open(path, "wb") as transcript:

        def read_until(end: bytes) -> None:
            seen = b""
            while end not in seen:
                data = os.read(0, 1 << 20)
                if not data:
                    sys.exit(3)
                transcript.write(data)
                transcript.flush()
                seen = seen[-len(end) :] + data

        for number, step in enumerate(STEPS):
            reading = threading.Thread(target=read_until, args=(marker("client", number),), daemon=True)
            reading.start()
            if not step.stderr:
                reading.join()
            write(2, b"stderr line\n" * (step.stderr // 12))
            for said in step.server:
                write(1, said.raw)
            reading.join()
            body = marker("server", number)
            write(1, b"Content-Length: %d\r\n\r\n" % len(body) + body)
        while data := os.read(0, 1 << 20):
            transcript.write(data)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
