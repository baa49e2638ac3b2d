#!/usr/bin/env python3
"""The least a middle process in Python can do: asyncio hands bytes from one pipe to another and reads none of them.

Usage: pump.py COMMAND [ARG ...]. A slow reader stops the other side, as in lspz; nothing else of lspz is here.
"""

import asyncio
import subprocess
import sys


class Source(asyncio.Protocol):
    def __init__(self, ended: asyncio.Event) -> None:
        self.target: asyncio.WriteTransport | None = None
        self.ended = ended

    def data_received(self, data: bytes) -> None:
        self.target.write(data)

    def connection_lost(self, error: Exception | None) -> None:
        self.target.close()
        self.ended.set()


class Target(asyncio.BaseProtocol):
    def __init__(self, source: asyncio.ReadTransport) -> None:
        self.pause_writing = source.pause_reading
        self.resume_writing = source.resume_reading


async def pump(source, target) -> asyncio.Event:
    loop, ended = asyncio.get_running_loop(), asyncio.Event()
    reads, protocol = await loop.connect_read_pipe(lambda: Source(ended), source)
    reads.pause_reading()
    protocol.target, _ = await loop.connect_write_pipe(lambda: Target(reads), target)
    reads.resume_reading()
    return ended


async def main() -> None:
    # asyncio reads into 256 KB; until something larger was freed once, malloc maps and unmaps that for every read,
    # which costs more than all the rest. In a program that does more than this one it has happened long ago.
    bytearray(16 * 1024 * 1024)
    backend = subprocess.Popen(sys.argv[1:], stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0)
    await pump(sys.stdin.buffer, backend.stdin)
    ended = await pump(backend.stdout, sys.stdout.buffer)
    await ended.wait()
    backend.wait()


if __name__ == "__main__":
    asyncio.run(main())
