#!/usr/bin/env python3
"""A language server that does nothing but answer what `scripts/bench_relay` asks, as fast as Python can.

- `bench/echo {"size": n}`: an answer whose body is n bytes.
- `bench/flood {"count": n, "size": m}`: n notifications of m bytes each, then the answer.
- `bench/publish {"count": n, "diagnostics": m}`: n publishes of m diagnostics each, then the answer.

With an argument it first sleeps that many seconds: a server that is slow to start.
"""

import functools
import json
import os
import sys
import time

import content

CHUNK = 64 * 1024


def main() -> None:
    if len(sys.argv) > 1:
        time.sleep(float(sys.argv[1]))
    for message in read_messages():
        method = message.get("method")
        if method == "exit":
            return
        if "id" in message:
            result = ANSWERS.get(method, nothing)(message.get("params") or {})
            write(content.frame(content.answer(b"%d" % message["id"], result)))


def read_messages():
    held = b""
    while data := os.read(0, CHUNK):
        held += data
        while (end := held.find(b"\r\n\r\n")) >= 0:
            start = end + 4
            stop = start + int(held[held.lower().index(b"content-length:") + 15 : end].split(b"\r\n")[0])
            if len(held) < stop:
                break
            body, held = held[start:stop], held[stop:]
            yield json.loads(body)


def write(data: bytes) -> None:
    written = os.write(1, data)
    if written < len(data):
        view = memoryview(data)[written:]
        while view:
            view = view[os.write(1, view) :]


def initialize(params: dict) -> bytes:
    return b'{"capabilities":{"textDocumentSync":1},"serverInfo":{"name":"bench"}}'


def echo(params: dict) -> bytes:
    return result_of(params["size"])


def flood(params: dict) -> bytes:
    repeat(content.notification_of(params["size"]), params["count"])
    return b'"all sent"'


def publish(params: dict) -> bytes:
    repeat(publish_of(params["diagnostics"]), params["count"])
    return b'"all sent"'


def nothing(params: dict) -> bytes:
    return b"null"


def repeat(message: bytes, count: int) -> None:
    at_once = max(1, CHUNK // len(message))
    chunk = message * at_once
    for _ in range(count // at_once):
        write(chunk)
    write(message * (count % at_once))


result_of = functools.cache(content.result_of)
publish_of = functools.cache(content.publish_of)

ANSWERS = {"initialize": initialize, "bench/echo": echo, "bench/flood": flood, "bench/publish": publish}

if __name__ == "__main__":
    main()
