"""One session, from its start to its end: both sides end, whichever does first, and nothing is left."""

from __future__ import annotations

import asyncio
import logging
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from ..transports.waiting import happens
from .conversation import Conversation
from .links import DRAIN, EXIT_GRACE
from .relay import Relay
from .session import State

if TYPE_CHECKING:
    from ..config import Config
    from ..metrics import Metrics
    from ..transports.base import Channel
    from .connection import BackendConnection
    from .parties import Parties
    from .savings import Savings

log = logging.getLogger("lspz")

FLUSH = 5.0
"""Seconds that a client has, at the end, to take what is still waiting for it."""


def _savings() -> Savings | None:
    """Tokens are counted only where somebody reads the count."""
    if not log.isEnabledFor(logging.INFO):
        return None
    from .savings import Savings

    return Savings()


class Serving:
    """One session from its start to its end."""

    def __init__(
        self, config: Config, channel: Channel, backend: BackendConnection, parties: Parties, metrics: Metrics
    ) -> None:
        self._backend = backend.link
        self._parties = parties
        self._channel = channel
        self._client_ended = asyncio.Event()
        self._exit = asyncio.Event()
        self._stopped: asyncio.Future[int] = asyncio.get_running_loop().create_future()
        self._savings = _savings()
        self._conversation = Conversation(config, parties, metrics, self._savings, self._exit.set)
        self._relay = Relay(
            channel,
            self._backend.channel,
            self._conversation.from_client,
            self._conversation.from_server,
            self._client_is_gone,
            self._backend.ended.set,
        )

    def _client_is_gone(self) -> None:
        """What the client said last goes to the server, and then the end of its input, as without lspz."""
        self._client_ended.set()
        self._backend.channel.close_writing()

    def stop(self, code: int) -> None:
        """End the session now, with this exit status."""
        if not self._stopped.done():
            self._stopped.set_result(code)

    async def run(self) -> int:
        """Relay until either side ends; then see to it that the other side does."""
        relay, backend = self._relay, self._backend
        self._conversation.answer = relay.to_client.send
        self._parties.facade.connect(relay.to_client.send)
        self._parties.backend.connect(relay.to_server.send)
        try:
            await backend.watch()
            await relay.start()
            await self._first_of(self._client_ended, self._exit, backend.ended, backend.exited)
            return await self._end()
        finally:
            await self._release()

    async def _first_of(self, *events: asyncio.Event) -> None:
        waits: list[asyncio.Future[Any]] = [asyncio.ensure_future(event.wait()) for event in events]
        await asyncio.wait([*waits, self._stopped], return_when=asyncio.FIRST_COMPLETED)
        for wait in waits:
            wait.cancel()

    async def _end(self) -> int:
        """Both sides end; which did first decides how."""
        session, backend = self._conversation.session, self._backend
        if self._stopped.done():
            await backend.end(0)
            return self._stopped.result()
        if not self._client_ended.is_set() and not self._exit.is_set():
            await self._drain()
            if self._client_ended.is_set() or self._exit.is_set():
                pass  # both at once: no crash
            elif session.state is not State.SHUTTING_DOWN or any(session.open_requests()):
                return await self._crash()
        ending: asyncio.Future[Any] = asyncio.ensure_future(backend.end(EXIT_GRACE))
        await asyncio.wait([ending, self._stopped], return_when=asyncio.FIRST_COMPLETED)
        if not ending.done():  # a signal while waiting: no more patience
            ending.cancel()
            with suppress(asyncio.CancelledError):
                await ending
            await backend.end(0)
            return self._stopped.result()
        if ending.result() and backend.exit_code is not None:
            await self._drain()
            return backend.exit_code
        return 0 if session.shutdown_seen else 1

    async def _drain(self) -> None:
        """Let what a server said last reach the client, and see how it ended."""
        await happens(self._backend.ended, DRAIN)
        await happens(self._backend.exited, DRAIN)

    async def _crash(self) -> int:
        """The server is gone while it was needed: say so to everybody who waits, in LSP."""
        reason = self._backend.describe_end()
        log.error("%s", reason)
        self._relay.server_lane.pad()
        for body in self._conversation.session.backend_died(reason):
            self._relay.to_client.send(body)
        self._parties.backend.disconnect(reason)
        code = self._backend.exit_code
        await self._backend.end(0)
        return code or 1

    async def _release(self) -> None:
        """Nothing outlives the session."""
        await self._backend.end(0)
        self._parties.facade.disconnect("the session has ended")
        self._parties.backend.disconnect("the session has ended")
        await self._channel.close(0.0 if self._client_ended.is_set() and self._stopped.done() else FLUSH)
        await self._backend.channel.close(0.0)
        if self._savings is not None:
            log.info("%s", await asyncio.to_thread(self._savings.summary))
