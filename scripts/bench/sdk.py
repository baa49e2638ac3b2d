"""What the agent SDK adds to a server's own time, and what it keeps."""

from __future__ import annotations

import asyncio
import json
import statistics
import subprocess
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lspz import AgentHandle, At

SERVER = ("basedpyright-langserver", "--stdio")

SOURCE = '''\
class Point:
    """A place on a line."""

    def double(self) -> int:
        """Twice x."""
        return 2


print(Point().double())
'''

PLACE = {"line": 8, "character": 15}

ROUNDS = 400
"""Hovers of each kind, in turns."""


@dataclass(frozen=True)
class Row:
    """One figure beside its target."""

    what: str
    figure: str
    target: str
    is_met: bool


class Bare:
    """A client that does the least: it writes a request, and reads what comes until its answer."""

    def __init__(self, root: Path) -> None:
        self._process = subprocess.Popen(SERVER, stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=root)
        self._number = 0
        self.ask("initialize", {"processId": None, "rootUri": root.as_uri(), "capabilities": {}})
        self._send({"method": "initialized", "params": {}})
        item = {"uri": (root / "main.py").as_uri(), "languageId": "python", "version": 1, "text": SOURCE}
        self._send({"method": "textDocument/didOpen", "params": {"textDocument": item}})

    def ask(self, method: str, params: Any) -> Any:
        """The result."""
        self._number += 1
        self._send({"id": self._number, "method": method, "params": params})
        while True:
            message = self._receive()
            if message.get("id") == self._number and "method" not in message:
                return message.get("result")
            if "id" in message:
                count = len(message["params"].get("items", ())) if message.get("params") else 0
                self._send({"id": message["id"], "result": [None] * count or None})

    def _send(self, message: dict[str, Any]) -> None:
        assert self._process.stdin is not None
        body = json.dumps({"jsonrpc": "2.0", **message}).encode()
        self._process.stdin.write(b"Content-Length: %d\r\n\r\n" % len(body) + body)
        self._process.stdin.flush()

    def _receive(self) -> Any:
        stream = self._process.stdout
        assert stream is not None
        length = 0
        while (line := stream.readline()) != b"\r\n":
            if line.lower().startswith(b"content-length:"):
                length = int(line.split(b":")[1])
        return json.loads(stream.read(length))

    def stop(self) -> None:
        """End the server."""
        self.ask("shutdown", None)
        self._send({"method": "exit"})
        self._process.wait(10)


async def measure(root: Path, questions: int) -> list[Row]:
    """All figures."""
    (root / "main.py").write_text(SOURCE)
    at = At("main.py", PLACE["line"], PLACE["character"])
    bare = Bare(root)
    builder = AgentHandle.builder().backend(*SERVER).workspace_root(root)
    try:
        async with builder.build() as agent:
            return [*await _hovers(bare, agent, at), await _at_once(agent, at), await _memory(agent, at, questions)]
    finally:
        bare.stop()


async def _hovers(bare: Bare, agent: AgentHandle, at: At) -> list[Row]:
    params = {"textDocument": {"uri": (agent.root / "main.py").as_uri()}, "position": PLACE}

    async def directly() -> Any:
        return bare.ask("textDocument/hover", params)["contents"]["value"]

    async def through() -> Any:
        return (await agent.hover(at)).markdown

    async def as_text() -> Any:
        return (await agent.hover(at)).text()

    assert "double" in await directly()
    assert "double" in await through()
    kinds: list[Callable[[], Awaitable[Any]]] = [directly, through, as_text]
    times: list[list[float]] = [[] for _ in kinds]
    for _ in range(ROUNDS):
        for kind, found in zip(kinds, times, strict=True):
            started = time.perf_counter()
            await kind()
            found.append(time.perf_counter() - started)
    own, asked, written = (statistics.median(found) * 1e3 for found in times)
    return [
        Row("warm hover, the server's own answer", f"{own:.2f} ms", "", True),
        Row(
            "the same through `AgentHandle.hover`",
            f"{asked:.2f} ms ({asked - own:+.2f})",
            "≤ 1 ms more",
            asked - own <= 1,
        ),
        Row("and written as text", f"{written:.2f} ms ({written - own:+.2f})", "", True),
    ]


async def _at_once(agent: AgentHandle, at: At) -> Row:
    started = time.perf_counter()
    answers = await asyncio.gather(*(agent.hover(at) for _ in range(50)))
    took = (time.perf_counter() - started) * 1e3
    right = sum("double" in answer.markdown for answer in answers)
    return Row("50 questions at once", f"{right} answered in {took:.0f} ms", "50 answered", right == 50)


async def _memory(agent: AgentHandle, at: At, questions: int) -> Row:
    warm = questions // 10
    for _ in range(warm):
        await agent.hover(at)
    before = _resident()
    for number in range(questions - warm):
        await (agent.hover(at) if number % 2 else agent.diagnostics("main.py"))
    after = _resident()
    grown = after / before - 1
    figure = f"{before:.1f} → {after:.1f} MB ({grown:+.1%})"
    return Row(f"memory after {warm:,} and {questions:,} questions", figure, "flat: ≤ 2 % more", grown <= 0.02)


def _resident() -> float:
    """Megabytes of this process that are in memory."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith("VmRSS:"):
            return int(line.split()[1]) / 1024
    raise RuntimeError("/proc/self/status has no VmRSS")


def table(rows: list[Row], markdown: bool) -> str:
    """The figures as a table."""
    cells = [("what", "measured", "target", ""), *((r.what, r.figure, r.target, _verdict(r)) for r in rows)]
    if markdown:
        lines = ["| " + " | ".join(row) + " |" for row in cells]
        return "\n".join([lines[0], "|---|---|---|---|", *lines[1:]])
    widths = [max(len(row[column]) for row in cells) for column in range(4)]
    return "\n".join(
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in cells
    )


def _verdict(row: Row) -> str:
    return "" if not row.target else "ok" if row.is_met else "missed"
