"""A server whose answers are waited for so long and no longer: then the client gets an error in their place."""

from __future__ import annotations

import asyncio
import logging
from typing import NamedTuple

import msgspec

from ..transports.base import Channel, Receiver
from ..wire.messages import error_response, id_key, notification, read_envelope
from .interposed import Interposed, Tap
from .links import Link
from .routing import REQUEST_FAILED

log = logging.getLogger("lspz.backend")

MAX_LATE = 10_000
"""Ids of requests that a server has not answered in time and may still answer; before them the oldest are forgotten."""

HELD_OPEN = frozenset(("workspace/diagnostic",))
"""Requests that a server leaves open until it has something to say, by LSP's leave."""


class _Open(NamedTuple):
    raw_id: bytes
    method: str
    deadline: float


class Hurried(Interposed):
    """A `Link` to `link`, whose answers have `timeout` seconds. It is its own channel."""

    def __init__(self, link: Link, timeout: float) -> None:
        super().__init__()
        self._link = link
        self._timeout = timeout
        self._tap: Tap | None = None
        self._open: dict[bytes, _Open] = {}  # in the order of their deadlines
        self._late: dict[bytes, None] = {}
        self._timer: asyncio.TimerHandle | None = None
        self.watch, self.describe_end, self.end, self.kill = link.watch, link.describe_end, link.end, link.kill
        self.ended, self.exited = link.ended, link.exited

    @property
    def channel(self) -> Channel:
        """What the server reads and writes."""
        return self

    @property
    def exit_code(self) -> int | None:
        """The server's exit status."""
        return self._link.exit_code

    async def open(self, receiver: Receiver) -> None:
        """Begin to deliver to `receiver`."""
        await super().open(receiver)
        self._tap = self.tap(self._link.channel, self._said)
        await self.begin(self._tap, self.finish)

    async def close(self, timeout: float) -> None:
        """Give the channel up; nothing is answered any more."""
        if self._timer is not None:
            self._timer.cancel()
        await super().close(timeout)

    def heard(self, body: bytes) -> None:
        """Take a message of the client's."""
        assert self._tap is not None
        envelope = read_envelope(body)
        if envelope is not None and envelope.id and envelope.method is not None and envelope.method not in HELD_OPEN:
            raw_id = bytes(envelope.id)
            key = id_key(raw_id)
            self._late.pop(key, None)
            self._open.pop(key, None)
            self._open[key] = _Open(raw_id, envelope.method, asyncio.get_running_loop().time() + self._timeout)
            self._wait()
        self._tap.send(body)

    def _said(self, body: bytes) -> None:
        """Take a message of the server's."""
        envelope = read_envelope(body)
        if envelope is not None and envelope.method is None:
            key = id_key(bytes(envelope.id))
            if key in self._late:
                del self._late[key]
                log.info("an answer to %s, which came too late", bytes(envelope.id).decode(errors="replace"))
                return
            self._open.pop(key, None)
        self.say(body)

    def _wait(self) -> None:
        """See to it that somebody looks at the oldest request in time."""
        if self._timer is None and self._open:
            oldest = next(iter(self._open.values()))
            self._timer = asyncio.get_running_loop().call_at(oldest.deadline, self._look)

    def _look(self) -> None:
        self._timer = None
        now = asyncio.get_running_loop().time()
        for key, request in list(self._open.items()):
            if request.deadline > now:
                break
            del self._open[key]
            self._give_up(key, request)
        self._wait()

    def _give_up(self, key: bytes, request: _Open) -> None:
        assert self._tap is not None
        self._late[key] = None
        if len(self._late) > MAX_LATE:
            del self._late[next(iter(self._late))]
        reason = f"the language server has not answered {request.method} within {self._timeout:g} s (request_timeout)"
        log.warning("%s", reason)
        self._tap.send(notification("$/cancelRequest", {"id": msgspec.Raw(request.raw_id)}))
        self.say(error_response(request.raw_id, REQUEST_FAILED, reason))
