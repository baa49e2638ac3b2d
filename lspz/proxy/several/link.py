"""A `Link` to several servers: their lives, and what they say."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Sequence
from functools import partial
from typing import Any

import msgspec

from ...interceptors import PUBLISH
from ...transports.base import Channel, Receiver
from ...wire.messages import Envelope, notification, read_envelope
from ..interposed import Interposed
from ..links import Link, gone
from ..owed import request, with_id
from ..restart import WARNING
from .asking import Requests
from .group import PULL, Group, Server
from .naming import LSPZ, Names, registration_id
from .publishing import Diagnostics
from .to_servers import Params, ToServers

log = logging.getLogger("lspz.backend")

Raw = msgspec.Raw
Members = dict[str, Raw]


class Several(Interposed):
    """Servers that stand as one, the first before the others. It is its own channel.

    `links` and `names` belong together; a name is what a server is called that does not say its own.
    """

    def __init__(self, links: Sequence[Link], names: Sequence[str]) -> None:
        super().__init__()
        self.ended = asyncio.Event()
        self.exited = asyncio.Event()
        self._servers = [Server(*about) for about in zip(range(len(links)), links, names, strict=True)]
        self._group = Group(self._servers)
        self._names = Names()
        self._diagnostics = Diagnostics(names, self.say)
        self._requests = Requests(self._group, self.say)
        self._to_servers = ToServers(self._group, self._requests, self._names, self._diagnostics, self.say)
        self._to_servers.refused = self._refused
        self._lives: list[asyncio.Task[None]] = []
        self._reasons: list[str] = []
        self._lost: list[Server] = []  # without whom the others went on

    # a link

    @property
    def channel(self) -> Channel:
        """What the servers read and write."""
        return self

    @property
    def exit_code(self) -> int | None:
        """The exit status of the first that failed of those that lived to the end, once all have ended."""
        codes = [server.link.exit_code for server in self._servers if server not in self._lost]
        return next((code for code in codes if code), codes[0]) if self.exited.is_set() else None

    async def watch(self) -> None:
        """Begin to wait for the servers' ends."""
        for server in self._servers:
            await server.link.watch()

    def describe_end(self) -> str:
        """How the servers ended, in words."""
        return "; ".join(self._reasons) or "the language servers have ended"

    async def end(self, grace: float) -> bool:
        """Wait `grace` seconds for the servers to end, then end them; return whether all did by themselves."""
        self._to_servers.is_leaving = True
        by_themselves = await asyncio.gather(*(server.link.end(grace) for server in self._servers))
        if self._lives:
            await asyncio.wait(self._lives)
        return all(by_themselves)

    def kill(self) -> None:
        """End the servers now."""
        self._to_servers.is_leaving = True
        for server in self._servers:
            server.link.kill()

    async def open(self, receiver: Receiver) -> None:
        """Begin to deliver to `receiver`."""
        await super().open(receiver)
        for server in self._servers:
            server.tap = self.tap(server.link.channel, partial(self._said, server))
        for server in self._servers:
            assert server.tap is not None
            await self.begin(server.tap, server.link.ended.set)
        self._lives = [asyncio.create_task(self._live(server)) for server in self._servers]

    async def close(self, timeout: float) -> None:
        """Give the servers' channels up."""
        self._requests.close()
        self._diagnostics.close()
        await super().close(timeout)

    # their lives

    async def _live(self, server: Server) -> None:
        """See a server die; when all have, so has this."""
        try:
            await gone(server.link)
            reason = server.refusal or server.link.describe_end()
            log.log(logging.INFO if self._to_servers.is_leaving else logging.WARNING, "%s: %s", server.name, reason)
            self._reasons.append(f"{server.name}: {reason}")
            await self._bury(server, reason)
        finally:
            if not self._group.alive:
                self.exited.set()
                self.finish()

    async def _bury(self, server: Server, reason: str) -> None:
        """A server is dead: see to it that nothing of it is left, and that nobody waits for it."""
        assert server.tap is not None
        tap, server.tap = server.tap, None
        self.forget(tap)
        await server.link.end(0)
        await tap.channel.close(0.0)
        if not self._group.alive:  # who uses this link says it of all
            return
        self._requests.died(server, reason)
        for token in self._names.forget(server.number):
            self.say(notification("$/progress", {"token": Raw(token), "value": {"kind": "end"}}))
        if server.registrations:
            gone_ones = [
                {"id": registration_id(server.number, id_), "method": registration.method}
                for id_, registration in server.registrations.items()
            ]
            id_ = self._names.ask(LSPZ, b"null")
            self.say(request(id_, "client/unregisterCapability", {"unregisterations": gone_ones}))
            server.registrations.clear()
        self._diagnostics.forget(server.number)
        if not self._to_servers.is_leaving:
            self._lost.append(server)
            text = f"{server.name}: {reason}; the others go on without it"
            self.say(notification("window/showMessage", {"type": WARNING, "message": text}))

    def _refused(self, server: Server, reason: str) -> None:
        """A server does not start; the others do."""
        server.refusal = reason
        server.link.kill()
        server.link.ended.set()

    # what is said

    def heard(self, body: bytes) -> None:
        """Take a message of the client's."""
        self._to_servers.heard(body)

    def _said(self, server: Server, body: bytes) -> None:
        """Take a message of a server's."""
        envelope = read_envelope(body)
        if envelope is None:
            self.say(body)
        elif envelope.method is None:
            self._requests.answered(server, bytes(envelope.id), body)
        else:
            try:
                said = self._renamed(server, envelope, body)
            except (msgspec.MsgspecError, LookupError, TypeError, ValueError, AttributeError):
                said = body  # not as LSP has it: the client may judge
            if said is not None:
                self.say(with_id(said, self._names.ask(server.number, bytes(envelope.id))) if envelope.id else said)

    def _renamed(self, server: Server, envelope: Envelope, body: bytes) -> bytes | None:
        """A server's request or notification with the names that the client knows; None: nothing to say yet."""
        match envelope.method:
            case method if method == PUBLISH:
                self._diagnostics.publish(server.number, body)
                return None
            case "$/cancelRequest":
                return self._cancelled(server, body)
            case "$/progress":
                return self._progress(server, body)
            case "window/workDoneProgress/create":
                params = _params(body)
                params["token"] = Raw(self._names.token(server.number, bytes(params["token"])))
                return _with_params(body, params)
            case "client/registerCapability" | "client/unregisterCapability":
                return self._registered(server, envelope.method, body)
        return body

    def _cancelled(self, server: Server, body: bytes) -> bytes | None:
        params = _params(body)
        id_ = self._names.cancel(server.number, bytes(params["id"]))
        return None if id_ is None else _with_params(body, {**params, "id": Raw(id_)})

    def _progress(self, server: Server, body: bytes) -> bytes:
        params = _params(body)
        value = msgspec.json.decode(params["value"])
        kind = value.get("kind") if isinstance(value, dict) else None
        raw = bytes(params["token"])
        names = self._names
        name = names.token(server.number, raw) if kind == "begin" else names.known_as(server.number, raw)
        if kind == "end":
            names.end_token(server.number, raw)
        return body if name == raw else _with_params(body, {**params, "token": Raw(name)})

    def _registered(self, server: Server, method: str, body: bytes) -> bytes:
        """Registrations under ids of their own, and kept, since they say who answers what."""
        params = msgspec.json.decode(body)["params"]
        if method == "client/registerCapability":
            for registration in params["registrations"]:
                server.register(registration["id"], registration["method"], registration.get("registerOptions"))
                registration["id"] = registration_id(server.number, registration["id"])
            if PULL in server.registered:
                self._diagnostics.answers_pulls(server.number)
        else:
            for registration in params["unregisterations"]:
                server.registrations.pop(registration["id"], None)
                registration["id"] = registration_id(server.number, registration["id"])
        return _with_params(body, params)


def _params(body: bytes) -> Members:
    return msgspec.json.decode(msgspec.json.decode(body, type=Params).params, type=Members)


def _with_params(body: bytes, params: Any) -> bytes:
    message = msgspec.json.decode(body, type=Members)
    message["params"] = Raw(msgspec.json.encode(params))
    return msgspec.json.encode(message)
