"""A server that is started again when it dies, and told all that its predecessor was told.

The client sees one server: its open requests are answered with an error, it is told once what happened, and what it
says meanwhile waits.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from contextlib import suppress

import msgspec

from ..errors import LspzError
from ..transports.base import Channel, Receiver
from ..wire.messages import Envelope, id_key, notification, read_envelope
from .budget import Budget
from .interposed import Interposed, Tap
from .links import Link, gone
from .owed import Owed, request, with_id
from .told import Told

log = logging.getLogger("lspz.backend")

WARNING = 2
"""LSP's MessageType."""

_INITIALIZE = frozenset(("initialize",))


class Restarting(Interposed):
    """A `Link` to a server that is started again, by `reach`, as often as `budget` allows. It is its own channel."""

    def __init__(self, first: Link, reach: Callable[[], Awaitable[Link]], budget: Budget) -> None:
        super().__init__()
        self.ended = asyncio.Event()
        self.exited = asyncio.Event()
        self.exit_code: int | None = None
        self._link = first
        self._reach = reach
        self._budget = budget
        self._told = Told()
        self._owed = Owed()
        self._tap: Tap | None = None
        self._repeated: bytes | None = None  # the id of `initialize`, while a new server has not answered it
        self._waiting: list[bytes] = []  # what the client said while no server could be told
        self._is_leaving = False  # the client, or who uses it, wants no other server
        self._stale: dict[bytes, bytes] = {}  # requests of dead servers that the client has not answered
        self._renamed: dict[bytes, bytes] = {}  # ids as the client knows them, and as the server wrote them
        self._own = 0
        self._lives: asyncio.Task[None] | None = None
        self._reason = ""

    # a link

    @property
    def channel(self) -> Channel:
        """What the server reads and writes, whichever lives."""
        return self

    async def watch(self) -> None:
        """Begin to wait for the first server's end."""
        await self._link.watch()

    def describe_end(self) -> str:
        """How the last server ended, in words."""
        return self._reason or self._link.describe_end()

    async def end(self, grace: float) -> bool:
        """Wait `grace` seconds for the server to end, then end it, and start no other."""
        self._is_leaving = True
        by_itself = await self._link.end(grace)
        if self._lives is not None:
            if self._tap is None:  # it waits for the next one
                self._lives.cancel()
            await asyncio.wait([self._lives])
        return by_itself

    def kill(self) -> None:
        """End the server now, and start no other."""
        self._is_leaving = True
        self._link.kill()

    # its lives

    async def open(self, receiver: Receiver) -> None:
        """Begin to deliver to `receiver`."""
        await super().open(receiver)
        await self._connect()
        self._lives = asyncio.create_task(self._live())

    async def _connect(self) -> None:
        self._owed = Owed()
        self._tap = self.tap(self._link.channel, self._said)
        await self.begin(self._tap, self._link.ended.set)

    async def _live(self) -> None:
        """See one server after another die."""
        try:
            while True:
                await gone(self._link)
                self._reason = self._link.describe_end()
                if self._is_leaving or self._told.is_over:
                    return
                await self._bury()
                if not await self._start_again():
                    return
        except Exception:
            log.exception("restarting failed")
            raise
        finally:
            self.exit_code = self._link.exit_code
            self.finish()
            self.exited.set()

    async def _bury(self) -> None:
        """The server is dead: see to it that nothing of it is left."""
        assert self._tap is not None
        self.hold()
        tap, self._tap = self._tap, None
        self.forget(tap)
        self._repeated = None
        await self._link.end(0)
        await tap.channel.close(0.0)

    async def _start_again(self) -> bool:
        """Start the next server; return whether there is one."""
        now = asyncio.get_running_loop().time
        told = False
        while True:
            self._budget.fail(now())
            if self._budget.is_spent(now()):
                self._reason += f"; it failed {self._budget.failures(now())} times within {self._budget.window:g} s"
                return False
            log.warning("%s; it is started again", self._reason)
            if not told:
                told = True
                self._settle()
            await asyncio.sleep(self._budget.delay(now()))
            if self._is_leaving:
                return False
            try:
                self._link = await self._reach()
                break
            except LspzError as error:
                self._reason = str(error)
        await self._link.watch()
        await self._connect()
        self._introduce()
        return True

    def _settle(self) -> None:
        """Tell the client, once, and see to it that it waits for nothing."""
        owed = self._owed
        registrations = owed.registrations
        for body in owed.settle(self._reason, keep=_INITIALIZE):
            self.say(body)
        if registrations:
            self._own += 1
            raw_id = b'"lspz:restart:%d"' % self._own
            self._stale[raw_id] = raw_id
            self.say(request(raw_id, "client/unregisterCapability", {"unregisterations": registrations}))
        renamed = {original: id_ for id_, original in self._renamed.items()}
        self._stale |= {renamed.get(raw_id, key): raw_id for key, raw_id in owed.asked.items()}
        self._renamed.clear()
        text = f"{self._reason}; it is started again"
        self.say(notification("window/showMessage", {"type": WARNING, "message": text}))

    def _introduce(self) -> None:
        """Tell the new server what the old one knew."""
        assert self._tap is not None
        told = self._told
        if told.initialize is None:  # it was told nothing
            self._go_on()
            return
        self._tap.send(told.initialize)
        envelope = read_envelope(told.initialize)
        assert envelope is not None
        raw_id = bytes(envelope.id)
        if told.is_agreed:
            self._repeated = id_key(raw_id)
        else:  # the client waits for the answer
            self._owed.client_asks(raw_id, "initialize")
            self._go_on()

    def _introduced(self, body: bytes) -> None:
        """The new server has answered `initialize`, which the client need not know."""
        assert self._tap is not None
        self._repeated = None
        answer = msgspec.json.decode(body, type=_Answer)
        if answer.error:
            self._link.kill()
            log.error("the new server refuses to start: %s", bytes(answer.error).decode(errors="replace"))
            return
        self._told.agreed(_encoding(answer))
        for said in self._told.again():
            self._tap.send(said)
        self._go_on()

    def _go_on(self) -> None:
        waiting, self._waiting = self._waiting, []
        for body in waiting:
            self._pass_on(body)
        self.release()

    # what is said

    @property
    def _is_ready(self) -> bool:
        return self._tap is not None and self._repeated is None

    def heard(self, body: bytes) -> None:
        """Take a message of the client's: it goes to the server that lives, or waits for it."""
        if self._is_ready:
            self._pass_on(body)
        else:
            self._waiting.append(body)

    def close_writing(self) -> None:
        """The client is gone: no other server is started."""
        self._is_leaving = True
        super().close_writing()
        if self._tap is None and self._lives is not None:
            self._lives.cancel()

    def _pass_on(self, body: bytes) -> None:
        assert self._tap is not None
        envelope = read_envelope(body)
        if envelope is not None:
            if envelope.method is None:
                answer = self._answer(bytes(envelope.id), body)
                if answer is None:
                    return
                body = answer
            else:
                if envelope.id:
                    self._owed.client_asks(bytes(envelope.id), envelope.method)
                self._told.hear(envelope.method, body)
        self._tap.send(body)

    def _answer(self, raw_id: bytes, body: bytes) -> bytes | None:
        """What the server gets of an answer; None when the one who asked is dead."""
        key = id_key(raw_id)
        if self._stale.pop(key, None) is not None:
            return None
        original = self._renamed.pop(key, None)
        self._owed.client_answers(raw_id if original is None else original)
        return body if original is None else with_id(body, original)

    def _said(self, body: bytes) -> None:
        """Take a message of the server's."""
        envelope = read_envelope(body)
        if envelope is None:
            self.say(body)
        elif envelope.method is None:
            self._server_answers(bytes(envelope.id), body)
        else:
            self._owed.server_says(envelope, body)
            self.say(self._distinct(envelope, body) if envelope.id else body)

    def _server_answers(self, raw_id: bytes, body: bytes) -> None:
        if self._repeated is not None:
            if id_key(raw_id) == self._repeated:
                self._introduced(body)
            return
        if self._owed.server_answers(raw_id) == "initialize":
            with suppress(msgspec.MsgspecError):
                self._told.agreed(_encoding(msgspec.json.decode(body, type=_Answer)))
        self.say(body)

    def _distinct(self, envelope: Envelope, body: bytes) -> bytes:
        """A server's request, under an id that no dead server's open request has."""
        raw_id = bytes(envelope.id)
        if id_key(raw_id) not in self._stale:
            return body
        self._own += 1
        renamed = b'"lspz:restart:%d"' % self._own
        self._renamed[renamed] = raw_id
        return with_id(body, renamed)


class _Answer(msgspec.Struct):
    result: msgspec.Raw = msgspec.Raw(b"null")
    error: msgspec.Raw = msgspec.Raw(b"")


def _encoding(answer: _Answer) -> object:
    result = msgspec.json.decode(answer.result)
    return ((result or {}).get("capabilities") or {}).get("positionEncoding") if isinstance(result, dict) else None
