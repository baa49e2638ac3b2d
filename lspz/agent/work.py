"""What a server says it is busy with: `$/progress`, rust-analyzer's status, pyright's progress of old."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import suppress
from typing import Any


class Signal:
    """Something may have changed: wakes everybody who waits."""

    def __init__(self) -> None:
        self._event = asyncio.Event()

    def fire(self) -> None:
        """Wake them."""
        self._event.set()
        self._event = asyncio.Event()

    async def wait(self, limit: float) -> None:
        """Wait until something happens, at most `limit` seconds."""
        with suppress(TimeoutError):
            async with asyncio.timeout(limit):
                await self._event.wait()


class Work:
    """What a server is busy with, and since when it is not."""

    def __init__(self, background: tuple[str, ...], clock: Callable[[], float], changed: Callable[[], None]) -> None:
        self._background = background
        self._clock = clock
        self._changed = changed
        self._titles: dict[object, str] = {}
        self._behind: dict[object, str] = {}  # of work that says nothing about the documents that are open
        self._share: dict[object, str] = {}
        self.idle_since = clock()
        self.loaded = 0.0
        """When it said last that it has loaded everything."""

    @property
    def busy(self) -> str | None:
        """What it is busy with, in words; None when it is not."""
        return self.busy_with()

    def busy_with(self, across: bool = False) -> str | None:
        """The same; `across` the whole project, also what it does in the background."""
        titles = {**self._titles, **self._behind} if across else self._titles
        return ", ".join(f"{title}{self._share.get(token, '')}" for token, title in titles.items()) or None

    def progress(self, params: Any) -> None:
        """`$/progress`: of work, or a part of an answer, which is none."""
        token, value = params["token"], params["value"]
        kind = value.get("kind") if isinstance(value, dict) else None
        if kind is None:
            return
        percentage = value.get("percentage")
        if percentage is not None:
            self._share[token] = f" ({percentage} %)"
        if kind == "begin":
            self._begin(token, value.get("title") or "at work")
        elif kind == "end":
            self._end(token)

    def status(self, params: Any) -> None:
        """`experimental/serverStatus`: quiescent means that everything is loaded."""
        if params.get("quiescent", True):
            self.loaded = self._clock()
            self._end("status")
        else:
            self._begin("status", params.get("message") or "loading")

    def began(self, params: Any) -> None:
        """`pyright/beginProgress`."""
        self._begin("pyright", "analyzing")

    def ended(self, params: Any) -> None:
        """`pyright/endProgress`."""
        self._end("pyright")

    def _begin(self, token: object, title: str) -> None:
        (self._behind if token in self._background else self._titles)[token] = title
        self._changed()

    def _end(self, token: object) -> None:
        self._share.pop(token, None)
        if self._titles.pop(token, None) is not None:
            self.idle_since = self._clock()
            self._changed()
        elif self._behind.pop(token, None) is not None:
            self._changed()
