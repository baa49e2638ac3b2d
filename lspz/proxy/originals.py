"""What the server said before lspz rewrote it, so that nothing is ever out of reach.

Of documents the last diagnostics are kept, of requests the answers, both as the server's own bytes. Code actions get
the server's diagnostics back from here (`restoring`), completion items are resolved as the server's own (`resolving`),
and a client reads what it likes with `lspz/original` (`rereading`).
"""

from __future__ import annotations

from collections import OrderedDict
from typing import Generic, NamedTuple, TypeVar

import msgspec

from ..interceptors import PUBLISH, PULL, WORKSPACE
from ..wire.messages import id_key
from ..wire.uris import uri_key

MAX_BYTES = 32 * 1024 * 1024
"""Bytes of originals that are kept, of documents' diagnostics and of answers each. The oldest is forgotten first; code
actions then go to the server as the client sent them, and `lspz/original` says that it is no longer kept."""

Raw = msgspec.Raw
K = TypeVar("K")


class Original(NamedTuple):
    """Params or a result, as the server sent them."""

    method: str
    payload: bytes
    """JSON."""
    number: int
    """They are numbered as they come."""


class _Kept(OrderedDict[K, Original], Generic[K]):
    """Originals, the oldest first, up to a limit in bytes."""

    def __init__(self, limit: int) -> None:
        super().__init__()
        self._limit = limit
        self._size = 0

    def put(self, key: K, original: Original) -> None:
        self.drop(key)
        self._size += len(original.payload)
        self[key] = original
        while self._size > self._limit:
            self.drop(next(iter(self)))

    def drop(self, key: K) -> None:
        original = self.pop(key, None)
        if original is not None:
            self._size -= len(original.payload)


class Originals:
    """The last diagnostics of each document, and the last answers that were rewritten."""

    def __init__(self, limit: int = MAX_BYTES) -> None:
        self._documents: _Kept[tuple[str, str]] = _Kept(limit)
        self._answers: _Kept[bytes] = _Kept(limit)
        self._count = 0
        self.completions: int | None = None
        """The number of the last completion list; None while the client has the server's own."""

    def _number(self, method: str, payload: bytes) -> Original:
        self._count += 1
        return Original(method, payload, self._count)

    # documents

    def remember(self, uri: str, method: str, payload: bytes) -> None:
        """Keep the params or report (JSON) that came last for a document by this method."""
        self._documents.put((uri_key(uri), method), self._number(method, payload))

    def remember_files(self, payload: bytes) -> None:
        """Keep the reports on single files in a workspace's report (JSON); an unchanged one is kept already."""
        for raw in msgspec.json.decode(payload, type=_Files).items:
            file = msgspec.json.decode(raw, type=_File)
            if file.items is not None:
                self.remember(file.uri, WORKSPACE, bytes(raw))

    def forget(self, uri: str, method: str) -> None:
        """The client got something else by this method: what was kept of the document is out of date."""
        self._documents.drop((uri_key(uri), method))

    def of(self, uri: str) -> list[Raw]:
        """The diagnostics (JSON) of a document."""
        found: list[Raw] = []
        for original in self._of(uri):
            lists = msgspec.json.decode(original.payload, type=_Lists)
            found += lists.diagnostics or lists.items
        return found

    def last_of(self, uri: str) -> Original | None:
        """What came last for a document, by whatever method; None when nothing is kept."""
        return max(self._of(uri), key=lambda original: original.number, default=None)

    def _of(self, uri: str) -> list[Original]:
        kept = [self._documents.get((uri_key(uri), method)) for method in (PUBLISH, PULL, WORKSPACE)]
        return [original for original in kept if original is not None]

    # answers

    def remember_answer(self, raw_id: bytes, method: str, payload: bytes) -> int:
        """Keep the result (JSON) of the client's request with this id; return its number."""
        original = self._number(method, payload)
        self._answers.put(id_key(raw_id), original)
        return original.number

    def answer_to(self, raw_id: bytes) -> Original | None:
        """The result of the client's request with this id; None when it is not kept."""
        return self._answers.get(id_key(raw_id))

    def numbered(self, number: int) -> Original | None:
        """The answer with this number; None when it is not kept."""
        return next((original for original in reversed(self._answers.values()) if original.number == number), None)


class _Lists(msgspec.Struct):
    diagnostics: list[Raw] = []
    items: list[Raw] = []


class _Files(msgspec.Struct):
    items: list[Raw]


class _File(msgspec.Struct):
    uri: str
    items: list[Raw] | None = None
