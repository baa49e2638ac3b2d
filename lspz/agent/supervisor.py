"""Sees to it that a server runs when it is needed, is started again when it died, and is stopped when nobody asks."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from ..errors import BackendDied, BackendError
from ..proxy.budget import Budget
from .options import AgentOptions
from .session import ServerSession

log = logging.getLogger("lspz.agent")


class Supervisor:
    """One server, through all its lives. `create` makes a session, `begun` is told of each that started."""

    def __init__(
        self, options: AgentOptions, create: Callable[[], ServerSession], begun: Callable[[ServerSession], None]
    ) -> None:
        self._options = options
        self._create = create
        self._begun = begun
        self._session: ServerSession | None = None
        self._starting: asyncio.Task[ServerSession] | None = None
        self._stopping: asyncio.Task[None] | None = None
        self._idle: asyncio.TimerHandle | None = None
        self._using = 0
        self._budget = Budget(options.restarts, options.restart_window)
        self._last = ""
        self._ending: asyncio.Task[None] | None = None
        self._is_over = False
        self._loop: asyncio.AbstractEventLoop | None = None

    @property
    def session(self) -> ServerSession | None:
        """The server that runs; None where none does."""
        session = self._session
        return None if session is None or session.died is not None or self._stopping is not None else session

    @property
    def is_starting(self) -> bool:
        """Whether one is being started."""
        return self._starting is not None

    @contextmanager
    def use(self) -> Iterator[None]:
        """While something is asked, the server is not idle."""
        self._using += 1
        if self._idle is not None:
            self._idle.cancel()
            self._idle = None
        try:
            yield
        finally:
            self._using -= 1
            if not self._using and self._options.idle_limit and not self._is_over:
                loop = asyncio.get_running_loop()
                self._idle = loop.call_later(self._options.idle_limit, self._stop_idle)

    async def running(self) -> ServerSession:
        """The server, started if it does not run. Whoever asks meanwhile waits for the same start.

        Raises BackendNotFound, BackendRefused, AnswerTimeout, and BackendDied also when it died too often, or after
        `stop`.
        """
        self._use_loop()
        if self._is_over:
            raise BackendDied(f"{self._options.server.name} was stopped for good")
        if (session := self.session) is not None:
            return session
        if self._starting is None:
            self._starting = asyncio.create_task(self._start())
            self._starting.add_done_callback(self._started)
        starting = self._starting
        try:
            return await asyncio.shield(starting)
        except asyncio.CancelledError:
            if starting.cancelled() and self._is_over:  # and not whoever asks
                raise BackendDied(f"{self._options.server.name} was stopped while it was started") from None
            raise

    def _use_loop(self) -> None:
        """A server belongs to the event loop that it was started in: with that it has ended."""
        loop = asyncio.get_running_loop()
        if self._loop is not None and self._loop is not loop:
            if not self._loop.is_closed():
                raise BackendError(f"{self._options.server.name}: this handle is used in another event loop")
            self._session = self._starting = self._stopping = self._idle = None
            self._budget = Budget(self._options.restarts, self._options.restart_window)
        self._loop = loop

    def _started(self, task: asyncio.Task[ServerSession]) -> None:
        self._starting = None
        if not task.cancelled():
            task.exception()  # whoever waits hears of it; perhaps nobody does any more

    async def _start(self) -> ServerSession:
        if self._stopping is not None:
            await self._stopping
        elif (old := self._session) is not None:
            self._session = None
            self._fail(old.died or "")
            await old.close()
        await self._hold_back()
        session = self._create()
        try:
            await session.start()
        except Exception as error:
            self._fail(str(error))
            raise
        self._session = session
        self._begun(session)
        return session

    def _fail(self, reason: str) -> None:
        self._budget.fail(asyncio.get_running_loop().time())
        self._last = reason

    async def _hold_back(self) -> None:
        """Wait before a server that keeps dying is started again. Raises BackendDied when it died too often."""
        budget, now = self._budget, asyncio.get_running_loop().time()
        if budget.is_spent(now):
            failures = budget.failures(now)
            times = "once" if failures == 1 else f"{failures} times"
            raise BackendDied(
                f"{self._options.server.name} failed {times} within {budget.window:g} s, "
                f"and is not started again for {budget.left(now):.0f} s: {self._last}"
            )
        if delay := budget.delay(now):
            await asyncio.sleep(delay)

    def _stop_idle(self) -> None:
        self._idle = None
        if self.session is not None:
            log.info("%s: nothing was asked for %g s", self._options.server.name, self._options.idle_limit)
            self._stopping = asyncio.create_task(self._stop_session())

    async def _stop_session(self) -> None:
        session, self._session = self._session, None
        try:
            if session is not None:
                await session.close()
        finally:
            self._stopping = None

    async def stop(self) -> None:
        """End the server, and start no other. It may be called again; if it is cancelled, the server is killed."""
        self._is_over = True
        self._use_loop()
        if self._ending is None:
            self._ending = asyncio.create_task(self._end())
        try:
            await asyncio.shield(self._ending)
        except asyncio.CancelledError:
            if self._session is not None:
                self._session.kill()
            raise

    async def _end(self) -> None:
        if self._idle is not None:
            self._idle.cancel()
            self._idle = None
        if self._starting is not None:
            self._starting.cancel()
            await asyncio.wait([self._starting])
        if self._stopping is not None:
            await asyncio.wait([self._stopping])
        if self._session is not None:
            await self._session.close()
