"""A handle or a pool for scripts without an event loop: the same methods, each returning when it is done."""

from __future__ import annotations

import asyncio
import atexit
import functools
import inspect
import threading
from collections.abc import Callable, Coroutine
from concurrent.futures import CancelledError
from types import TracebackType
from typing import Any, Generic, Self, TypeVar

from ..errors import LspzError
from .questions import Questions

Q = TypeVar("Q", bound=Questions)
T = TypeVar("T")


class Blocking(Generic[Q]):
    """A handle or a pool, without `await`. ::

        with Blocking(AgentPool.builder().workspace_root(".").build()) as pool:
            print(pool.diagnostics("src/app.py").text())

    It has every method of what it is given (`asked`); they may be called from any thread. An event loop runs in a
    thread of its own, until `stop` or the end of the program.
    """

    def __init__(self, asked: Q) -> None:
        self.asked = asked
        """The handle or pool itself; its coroutines belong to the loop of this object: see `run`."""
        self._is_over = False
        self._stopping = threading.Lock()
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="lspz-agent", daemon=True)
        self._thread.start()
        atexit.register(self.stop)

    def __dir__(self) -> list[str]:
        return sorted({*super().__dir__(), *(name for name in dir(self.asked) if not name.startswith("_"))})

    def __getattr__(self, name: str) -> Any:
        value = getattr(self.asked, name)
        if not inspect.iscoroutinefunction(value):
            return value

        @functools.wraps(value)
        def call(*args: Any, **kwargs: Any) -> Any:
            return self.run(lambda: value(*args, **kwargs))

        return call

    def run(self, ask: Callable[[], Coroutine[Any, Any, T]]) -> T:
        """What a coroutine function returns, awaited in the loop: several questions at once, typed."""
        if threading.current_thread() is self._thread:
            raise LspzError("this is the loop's own thread: await the handle or pool itself (`asked`)")
        if self._is_over or not self._thread.is_alive():
            raise LspzError("it was stopped: make another")
        return self._await(ask())

    def _await(self, question: Coroutine[Any, Any, T]) -> T:
        future = asyncio.run_coroutine_threadsafe(question, self._loop)
        try:
            return future.result()
        except CancelledError:
            raise LspzError("it was stopped while this was asked") from None
        except BaseException:
            future.cancel()
            raise

    def stop(self) -> None:
        """End the servers and the loop. It may be called again, and from any thread; all wait until it is done."""
        atexit.unregister(self.stop)
        self._is_over = True
        with self._stopping:
            if not self._thread.is_alive():
                return
            try:
                self._await(self._stop())
            finally:
                self._loop.call_soon_threadsafe(self._loop.stop)
                self._thread.join()
                self._loop.close()

    async def _stop(self) -> None:
        await self.asked.stop()
        open_ones = asyncio.all_tasks() - {asyncio.current_task()}
        for task in open_ones:
            task.cancel()
        if open_ones:
            await asyncio.wait(open_ones)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()
