"""The servers that stand as one, and what is known of each."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import attrs
import msgspec

from ..interposed import Tap
from ..links import Link
from .capabilities import Capabilities, offers, registered_as

PULL = "textDocument/diagnostic"


@attrs.define
class Registration:
    """A capability that a server has registered."""

    method: str
    options: Mapping[str, Any]


@attrs.define(eq=False)
class Server:
    """One of the servers."""

    number: int
    link: Link
    name: str
    """What it is called until it says so itself."""
    tap: Tap | None = None
    """Its channel, while it lives."""
    capabilities: Capabilities = attrs.field(factory=dict)
    registrations: dict[str, Registration] = attrs.field(factory=dict)
    refusal: str = ""
    """Why it does not take part."""

    def send(self, body: bytes) -> None:
        """Tell it something, if it lives."""
        if self.tap is not None:
            self.tap.send(body)

    def offers(self, method: str) -> bool:
        """Whether it answers such a request."""
        return self.tap is not None and offers(self.capabilities, self.registered, method)

    @property
    def registered(self) -> set[str]:
        """The methods that it has registered."""
        return {registration.method for registration in self.registrations.values()}

    def register(self, id_: str, method: str, options: Any) -> None:
        """It registers a capability."""
        self.registrations[id_] = Registration(method, options if isinstance(options, dict) else {})

    def commands(self) -> Iterator[str]:
        """The commands that it says it executes."""
        method = "workspace/executeCommand"
        options = [
            registration.options for registration in self.registrations.values() if registration.method == method
        ]
        for provider in (self.capabilities.get("executeCommandProvider"), *options):
            if isinstance(provider, dict) and isinstance(provider.get("commands"), list):
                yield from provider["commands"]

    @property
    def pulls(self) -> dict[str | None, bool]:
        """The identifiers under which it is asked for diagnostics, and whether it said so at the start."""
        found: dict[str | None, bool] = {}
        for registration in self.registrations.values():
            if registration.method == PULL:
                found[_identifier(registration.options)] = False
        provider = self.capabilities.get("diagnosticProvider")
        if provider:
            found[_identifier(provider)] = True
        return found


def _identifier(options: Any) -> str | None:
    identifier = options.get("identifier") if isinstance(options, dict) else None
    return identifier if isinstance(identifier, str) else None


class Group:
    """The servers, in the order in which the user names them: of equals the first counts."""

    def __init__(self, servers: list[Server]) -> None:
        self.servers = servers
        self._delivered: dict[str, Server] = {}

    @property
    def alive(self) -> list[Server]:
        """Those who can be told something."""
        return [server for server in self.servers if server.tap is not None]

    def offering(self, method: str) -> list[Server]:
        """Those who answer such a request."""
        return [server for server in self.alive if server.offers(method)]

    def first(self, method: str) -> Server | None:
        """Who gets a request of which only one server's answer can count; None when all are dead.

        Requests about an item go where the item came from: to the first who gives such items.
        """
        return next(iter(self.offering(registered_as(method)) or self.alive), None)

    def delivers(self, server: Server, command: str) -> None:
        """A server hands the client a command to run."""
        self._delivered[command] = server

    def executing(self, command: str) -> Server | None:
        """Who runs a command: who last handed it to the client, or says that it runs it."""
        server = self._delivered.get(command)
        if server is not None and server.tap is not None:
            return server
        named = (server for server in self.alive if command in server.commands())
        return next(named, None) or self.first("workspace/executeCommand")

    def pulled(self, identifier: str | None) -> dict[Server, str | None]:
        """Who is asked for diagnostics under an identifier of the client's, and the identifier that is theirs.

        Those who have registered under a name are asked under that name. Without a name those are asked who offered
        it at the start, or registered without one.
        """
        pulls = {server: server.pulls for server in self.alive}
        if identifier is not None:
            by_name = {server: identifier for server, own in pulls.items() if identifier in own}
            if by_name:
                return dict(by_name)
        plain: dict[Server, str | None] = {}
        for server, own in pulls.items():
            if any(own.values()):
                plain[server] = next(name for name, at_start in own.items() if at_start)
            elif None in own:
                plain[server] = None
        return plain or {server: next(iter(own)) for server, own in pulls.items() if own}


Say = Callable[[bytes], None]


class Error(msgspec.Struct):
    """The `error` of a response."""

    code: int = 0
    message: str = ""
