"""Code actions survive compression: the server gets its own diagnostics back, with `data` and all.

A client sends the diagnostics it knows along with `textDocument/codeAction`. Ours are folded or compact and without
`data`, from which many servers make their quick fixes. So the last list the server sent for each document is
remembered, as its original bytes, and put back into the request.
"""

from __future__ import annotations

from collections import OrderedDict

import msgspec

from ..interceptors import PUBLISH, PULL
from ..wire.uris import uri_key

MAX_BYTES = 32 * 1024 * 1024
"""Bytes of original diagnostics that are remembered, over all documents. The document whose list is oldest is forgotten
first; its code actions then go to the server as the client sent them."""

Raw = msgspec.Raw


class Originals:
    """The last diagnostics of each document, as the server sent them, pushed and pulled."""

    def __init__(self, limit: int = MAX_BYTES) -> None:
        self._limit = limit
        self._size = 0
        self._payloads: OrderedDict[tuple[str, str], bytes] = OrderedDict()

    def remember(self, uri: str, method: str, payload: bytes) -> None:
        """Keep the params or report (JSON) that came last for a document by this method."""
        key = (uri_key(uri), method)
        self._size += len(payload) - len(self._payloads.pop(key, b""))
        self._payloads[key] = payload
        while self._size > self._limit and self._payloads:
            _, oldest = self._payloads.popitem(last=False)
            self._size -= len(oldest)

    def forget(self, uri: str, method: str) -> None:
        """The client got something else by this method: what was kept of the document is out of date."""
        self._size -= len(self._payloads.pop((uri_key(uri), method), b""))

    def of(self, uri: str) -> list[Raw]:
        """The diagnostics (JSON) of a document."""
        found: list[Raw] = []
        for method in (PUBLISH, PULL):
            payload = self._payloads.get((uri_key(uri), method))
            if payload is not None:
                lists = msgspec.json.decode(payload, type=_Lists)
                found += lists.diagnostics or lists.items
        return found


class _Lists(msgspec.Struct):
    diagnostics: list[Raw] = []
    items: list[Raw] = []
