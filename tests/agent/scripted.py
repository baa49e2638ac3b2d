"""A language server in a few lines, at the other end of a memory pair: it does what a test tells it."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

from lspz import AgentHandle, memory_pair
from lspz.agent.options import Builder
from lspz.transports.base import Transport

Answer = Callable[[Any], Any]

QUICK = {"limit": 3.0, "quiet": 0.05, "unversioned_quiet": 0.1, "first_empty_quiet": 0.5}
"""Seconds: a tenth of the usual."""


class Refusal(Exception):
    """Answers a request with an error."""

    def __init__(self, code: int, message: str) -> None:
        super().__init__(message)
        self.code = code


class Scripted:
    """Answers requests with what `answers` holds by method, and remembers everything that it heard.

    An answer is a value, or a function of the params; a coroutine function takes its time. NEVER is no answer.
    """

    def __init__(self, capabilities: dict[str, Any] | None = None, **answers: Any) -> None:
        self.answers: dict[str, Any] = {"initialize": {"capabilities": capabilities or {}}, "shutdown": None}
        self.answers |= {name.replace("_", "/", 1): value for name, value in answers.items()}
        self.heard: list[tuple[str, Any]] = []
        self.starts = 0
        self.hook: Callable[[str, Any], Awaitable[None] | None] = lambda method, params: None
        """Called with each message of the client's, after it was remembered."""
        self._wire: Transport | None = None
        self._own: dict[int, asyncio.Future[Any]] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._news = asyncio.Event()

    async def connect(self) -> Transport:
        """Start, and return the client's end."""
        ours, self._wire = memory_pair()
        self.starts += 1
        self._spawn(self._serve(self._wire))
        return ours

    def handle(self, root: Path, **patience: float) -> AgentHandle:
        """A handle on it, quick by default."""
        return self.builder(root, **patience).build()

    def builder(self, root: Path, **patience: float) -> Builder:
        """The same, to be told more."""
        return AgentHandle.builder().transport(self.connect).workspace_root(root).patience(**{**QUICK, **patience})

    def methods(self, *besides: str) -> list[str]:
        """What was heard, in order, without what every session has."""
        usual = {"initialize", "initialized", "shutdown", "exit", *besides}
        return [method for method, _ in self.heard if method not in usual]

    def last(self, method: str) -> Any:
        """The params that came last with a method."""
        return [params for name, params in self.heard if name == method][-1]

    async def hears(self, method: str, times: int = 1) -> Any:
        """Wait until a method was heard so often, and return its params."""
        async with asyncio.timeout(5):
            while sum(name == method for name, _ in self.heard) < times:
                self._news.clear()
                await self._news.wait()
        return self.last(method)

    async def notify(self, method: str, params: Any) -> None:
        """Tell the client something."""
        await self._send({"method": method, "params": params})

    async def publish(self, uri: str, lines: list[int], version: int | None = None) -> None:
        """Publish a diagnostic for each of these lines."""
        params: dict[str, Any] = {"uri": uri, "diagnostics": [diagnostic(line) for line in lines]}
        if version is not None:
            params["version"] = version
        await self.notify("textDocument/publishDiagnostics", params)

    async def ask(self, method: str, params: Any) -> Any:
        """Ask the client, and return its result. Raises Refusal."""
        number = 1000 + len(self._own)
        answer = self._own[number] = asyncio.get_running_loop().create_future()
        await self._send({"id": number, "method": method, "params": params})
        return await asyncio.wait_for(answer, 5)

    async def progress(self, kind: str, title: str = "Indexing", token: str = "t") -> None:
        """Say that work begins or ends."""
        await self.notify("$/progress", {"token": token, "value": {"kind": kind, "title": title}})

    async def die(self) -> None:
        """Be gone."""
        for task in tuple(self._tasks):
            if task is not asyncio.current_task():
                task.cancel()
        await self._wire.close()  # type: ignore[union-attr]

    def later(self, seconds: float, what: Callable[[], Awaitable[None]]) -> None:
        """Do something after a while."""

        async def wait() -> None:
            await asyncio.sleep(seconds)
            await what()

        self._spawn(wait())

    def _spawn(self, work: Any) -> None:
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _send(self, message: dict[str, Any]) -> None:
        assert self._wire is not None
        await self._wire.send(json.dumps({"jsonrpc": "2.0", **message}).encode())

    async def _serve(self, wire: Transport) -> None:
        with suppress(EOFError):
            while True:
                message = json.loads(await wire.receive())
                if "method" not in message:
                    self._answered(message)
                    continue
                method, params = message["method"], message.get("params")
                self.heard.append((method, params))
                self._news.set()
                if method == "exit":
                    await wire.close()  # type: ignore[attr-defined]
                    return
                waiting = self.hook(method, params)
                if waiting is not None:
                    await waiting
                if "id" in message:
                    self._spawn(self._answer(message["id"], method, params))

    def _answered(self, message: Any) -> None:
        if "error" in message:
            self._own[message["id"]].set_exception(Refusal(message["error"]["code"], message["error"]["message"]))
        else:
            self._own[message["id"]].set_result(message["result"])

    async def _answer(self, number: Any, method: str, params: Any) -> None:
        answer = self.answers.get(method, Refusal(-32601, f"no {method} here"))
        try:
            value = answer(params) if callable(answer) else answer
            if asyncio.iscoroutine(value):
                value = await value
            if isinstance(value, Exception):
                raise value
            if value is not NEVER:
                await self._send({"id": number, "result": value})
        except Refusal as refusal:
            await self._send({"id": number, "error": {"code": refusal.code, "message": str(refusal)}})


NEVER = object()


def diagnostic(line: int, message: str = "wrong", **more: Any) -> dict[str, Any]:
    """An error on the first character of a line."""
    place = {"line": line, "character": 0}
    return {"range": {"start": place, "end": {**place, "character": 1}}, "severity": 1, "message": message, **more}
