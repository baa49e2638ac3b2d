"""A small client for tests: raw JSON-RPC with a process over its stdin and stdout."""

from __future__ import annotations

import asyncio
import json
import os
import select
import sys
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from lspz.wire.framing import FrameReader, frame

SCRIPTED = [sys.executable, str(Path(__file__).parent / "scripted_server.py")]
LSPZ = [sys.executable, "-m", "lspz"]
LIMIT = 20.0


class Talk:
    """Messages to and from one process."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self.process = process
        self._frames = FrameReader()
        self._ready: list[dict[str, Any]] = []

    def send(self, method: str, params: object = None, id: object = None) -> None:
        message = {"jsonrpc": "2.0", "method": method, "params": params}
        if id is not None:
            message["id"] = id
        self.write(frame(json.dumps(message).encode()))

    def answer(self, id: object, result: object) -> None:
        self.write(frame(json.dumps({"jsonrpc": "2.0", "id": id, "result": result}).encode()))

    def write(self, data: bytes) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(data)

    async def receive(self) -> dict[str, Any]:
        """The next message; EOFError at the end of the stream."""
        async with asyncio.timeout(LIMIT):
            while not self._ready:
                assert self.process.stdout is not None
                data = await self.process.stdout.read(1 << 16)
                if not data:
                    raise EOFError
                buffer, spans = self._frames.feed(data)
                self._ready += [json.loads(buffer[body:stop]) for _, body, stop in spans]
        return self._ready.pop(0)

    async def until(self, method: str) -> Any:
        """The params of the next notification or request with this method."""
        while (message := await self.receive()).get("method") != method:
            pass
        return message["params"]

    async def ask(self, method: str, params: object = None, id: object = "ask") -> dict[str, Any]:
        """The answer to a request, an error or a result."""
        self.send(method, params, id)
        while True:
            message = await self.receive()
            if "method" not in message and message.get("id") == id:
                return message

    async def initialize(self, **params: object) -> dict[str, Any]:
        answer = await self.ask("initialize", {"capabilities": {}, **params})
        self.send("initialized", {})
        return answer

    async def end(self) -> tuple[int, str]:
        """Wait for the process to end; its exit status and stderr."""
        async with asyncio.timeout(LIMIT):
            assert self.process.stderr is not None
            stderr = await self.process.stderr.read()
            return await self.process.wait(), stderr.decode()


@asynccontextmanager
async def talk(command: Sequence[str], **env: str) -> AsyncIterator[Talk]:
    """Start a process and talk to it; it is ended at the latest here."""
    process = await asyncio.create_subprocess_exec(
        *command,
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
        env={**os.environ, **env},
    )
    try:
        yield Talk(process)
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
        process._transport.close()  # type: ignore[attr-defined]


def lspz(*behaviours: str, options: Sequence[str] = ()) -> list[str]:
    """The command of lspz in front of the scripted server."""
    return [*LSPZ, *options, "--", *SCRIPTED, *behaviours]


def is_gone(pid: int) -> bool:
    """Whether a process has ended, or does so at once; Linux says when."""
    try:
        fd = os.pidfd_open(pid)
    except ProcessLookupError:
        return True
    try:
        return bool(select.select([fd], [], [], 2.0)[0])
    finally:
        os.close(fd)
