"""Names that servers choose independently of each other, kept apart: ids of requests, registrations, progress."""

from __future__ import annotations

from typing import Any, NamedTuple

import msgspec

from ...wire.messages import id_key

Raw = msgspec.Raw


LSPZ = -1
"""In place of a server's number: lspz asks the client itself, and the answer goes nowhere."""


class Asked(NamedTuple):
    """A request of a server's that the client has not answered."""

    server: int
    raw_id: bytes
    """As the server wrote it."""


class Names:
    """What the client knows under another name than the server that chose it. Servers are numbered from zero."""

    def __init__(self) -> None:
        self._asked: dict[bytes, Asked] = {}
        self._number = 0
        self._tokens: dict[bytes, Asked] = {}  # progress, by the client's name for it
        self._renamed: dict[Asked, bytes] = {}  # and the other way round

    # requests of servers

    def ask(self, server: int, raw_id: bytes) -> bytes:
        """The id under which the client gets a request."""
        self._number += 1
        new = b"%d" % self._number
        self._asked[new] = Asked(server, raw_id)
        return new

    def answered(self, raw_id: bytes) -> Asked | None:
        """The client answers; None when nothing was asked under this id."""
        return self._asked.pop(id_key(raw_id), None)

    def cancel(self, server: int, raw_id: bytes) -> bytes | None:
        """The id by which the client knows a request of a server's that takes it back."""
        key = id_key(raw_id)
        return next((id_ for id_, (who, raw) in self._asked.items() if who == server and id_key(raw) == key), None)

    # progress

    def token(self, server: int, raw: bytes) -> bytes:
        """The client's name for progress of a server's: the server's own, unless another has that one."""
        own = Asked(server, id_key(raw))
        if (known := self._renamed.get(own)) is not None:
            return known
        name = own.raw_id
        if name in self._tokens:
            name = msgspec.json.encode(f"{server}:{msgspec.json.decode(raw)}")
        self._tokens[name] = own
        self._renamed[own] = name
        return name

    def known_as(self, server: int, raw: bytes) -> bytes:
        """The client's name for a token of a server's; the server's own where no other is known."""
        return self._renamed.get(Asked(server, id_key(raw)), raw)

    def owner(self, raw: bytes) -> Asked | None:
        """Whose progress it is, and its name there."""
        return self._tokens.get(id_key(raw))

    def end_token(self, server: int, raw: bytes) -> None:
        """The progress is over."""
        name = self._renamed.pop(Asked(server, id_key(raw)), None)
        if name is not None:
            self._tokens.pop(name, None)

    # a server that is gone

    def forget(self, server: int) -> list[bytes]:
        """A server is gone; return the client's names for its progress. Answers to it go nowhere."""
        self._asked = {id_: asked for id_, asked in self._asked.items() if asked.server != server}
        names = [name for name, own in self._tokens.items() if own.server == server]
        for name in names:
            del self._renamed[self._tokens.pop(name)]
        return names


def registration_id(server: int, id_: Any) -> str:
    """The id under which the client knows a registration."""
    return f"{server}:{id_}"
