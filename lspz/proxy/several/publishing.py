"""Diagnostics of several servers: published ones merged by document and version, and who a diagnostic comes from."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import attrs
import msgspec

from ...interceptors import PUBLISH
from ...wire.messages import notification
from ...wire.uris import uri_key

log = logging.getLogger("lspz.backend")

PATIENCE = 1.0
"""Seconds that a server's diagnostics wait for the others' of the same version; later ones are sent with them again."""

Raw = msgspec.Raw


class _Position(msgspec.Struct, frozen=True):
    line: int
    character: int


class _Range(msgspec.Struct, frozen=True):
    start: _Position
    end: _Position


class _Diagnostic(msgspec.Struct):
    range: _Range
    message: Raw
    code: Raw = Raw()
    source: Raw = Raw()


Key = tuple[_Range, bytes, bytes]

_read_diagnostic = msgspec.json.Decoder(_Diagnostic).decode


def _key(diagnostic: Raw) -> Key:
    """What stays of a diagnostic when it goes to a client and comes back."""
    read = _read_diagnostic(diagnostic)
    return read.range, bytes(read.message), bytes(read.code)


@attrs.define
class _Published:
    version: int | None
    """As the server says."""
    of: int | None
    """The document's version that it is about, or was when it came."""
    items: list[Raw]


@attrs.define
class _Document:
    uri: str
    version: int | None = None
    """The client's, while it has the document open."""
    published: dict[int, _Published] = attrs.field(factory=dict)
    pulled: dict[int, list[Raw]] = attrs.field(factory=dict)
    sent: int | None = None
    """The version that diagnostics were last sent for."""
    timer: asyncio.TimerHandle | None = None
    members: dict[str, Raw] = attrs.field(factory=dict)
    """The params of the last publish."""

    @property
    def is_idle(self) -> bool:
        """Whether nothing of it need be kept."""
        lists = [*(published.items for published in self.published.values()), *self.pulled.values()]
        return self.version is None and not any(lists)


class Diagnostics:
    """What each server says about each document; `say` takes the messages for the client."""

    def __init__(self, names: Sequence[str], say: Callable[[bytes], None]) -> None:
        self._say = say
        self.names = list(names)
        """What is a diagnostic's source where its server names none, by the servers' numbers."""
        self._alive = set(range(len(names)))
        self._silent: set[int] = set()  # those who answer pulls, or were waited for and have never published
        self._speaks: set[int] = set()  # those who have published
        self._documents: dict[str, _Document] = {}

    # what the client says

    def client_has(self, uri: str, version: int | None) -> None:
        """The client opens a document, or changes it."""
        self._document(uri).version = version

    def client_closes(self, uri: str) -> None:
        """The client closes a document."""
        document = self._document(uri)
        document.version = None
        document.pulled.clear()
        self._drop_idle(document)

    def answers_pulls(self, server: int) -> None:
        """A server need not be waited for: it is asked."""
        self._silent.add(server)

    # what servers say

    def publish(self, server: int, body: bytes) -> None:
        """A server publishes. Raises MsgspecError, KeyError when it is not as LSP has it."""
        members = msgspec.json.decode(msgspec.json.decode(body, type=dict[str, Raw])["params"], type=dict[str, Raw])
        uri = msgspec.json.decode(members["uri"], type=str)
        items = msgspec.json.decode(members["diagnostics"], type=list[Raw])
        version = msgspec.json.decode(members.pop("version", Raw(b"null")), type=int | None)
        self._speaks.add(server)
        document = self._document(uri)
        document.members = members
        document.published[server] = _Published(version, document.version if version is None else version, items)
        if document.version is None or document.sent == document.version or not self._missing(document):
            self._send(document)
        elif document.timer is None:
            document.timer = asyncio.get_running_loop().call_later(PATIENCE, self._give_up, document)

    def _missing(self, document: _Document) -> set[int]:
        """The servers whose diagnostics of the current version are still to come."""
        told = {server for server, said in document.published.items() if said.of == document.version}
        return self._alive - self._silent - told

    def _give_up(self, document: _Document) -> None:
        missing = self._missing(document)
        self._silent |= missing - self._speaks
        self._send(document)

    def _send(self, document: _Document) -> None:
        if document.timer is not None:
            document.timer.cancel()
            document.timer = None
        document.sent = document.version
        versions = {said.version for said in document.published.values()}
        version = {} if len(versions) != 1 or versions == {None} else {"version": versions.pop()}
        merged = [
            item for server, said in sorted(document.published.items()) for item in self.named(server, said.items)
        ]
        self._say(notification(PUBLISH, {**document.members, **version, "diagnostics": merged}))
        self._drop_idle(document)

    def named(self, server: int, items: Iterable[Raw]) -> list[Raw]:
        """A server's diagnostics, each with a source."""
        return [item if _read_diagnostic(item).source else _with_source(item, self.names[server]) for item in items]

    def pulled(self, server: int, uri: str, items: list[Raw]) -> None:
        """A server has answered a pull, or reports of a workspace."""
        self._document(uri).pulled[server] = items

    def known(self, uri: str) -> list[Raw]:
        """What all servers have answered about a document so far."""
        pulled = self._document(uri).pulled
        return [item for server in sorted(pulled) for item in self.named(server, pulled[server])]

    def own(self, server: int, uri: str, items: Sequence[Raw]) -> list[Raw]:
        """Of diagnostics that the client sends back those that a server knows, as it wrote them.

        What no server has said goes to all.
        """
        document = self._documents.get(uri_key(uri)) or _Document(uri)
        owners: dict[Key, dict[int, Raw]] = {}
        for number, said in [*((n, said.items) for n, said in document.published.items()), *document.pulled.items()]:
            for item in said:
                owners.setdefault(_key(item), {})[number] = item
        kept = []
        for item in items:
            of = owners.get(_key(item))
            if of is None or server in of:
                kept.append(item if of is None else of[server])
        return kept

    def forget(self, server: int) -> None:
        """A server is gone, and nobody knows any more whether what it said is still so."""
        self._alive.discard(server)
        for document in list(self._documents.values()):
            document.pulled.pop(server, None)
            was_last = document.timer is not None and not self._missing(document)
            if document.published.pop(server, None) is not None or was_last:
                self._send(document)

    def close(self) -> None:
        """Say nothing more."""
        for document in self._documents.values():
            if document.timer is not None:
                document.timer.cancel()
        self._documents.clear()

    def _document(self, uri: str) -> _Document:
        return self._documents.setdefault(uri_key(uri), _Document(uri))

    def _drop_idle(self, document: _Document) -> None:
        if document.is_idle and document.timer is None:
            self._documents.pop(uri_key(document.uri), None)


def _with_source(item: Raw, name: str) -> Raw:
    members: dict[str, Any] = msgspec.json.decode(item, type=dict[str, Raw])
    members["source"] = name
    return Raw(msgspec.json.encode(members))
