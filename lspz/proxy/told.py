"""What a server has been told that its successor must know: the start, the settings, the open documents."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from typing import Any

import attrs
import msgspec

from ..wire.messages import notification
from ..wire.text import ENCODINGS, UTF16, Text
from ..wire.uris import uri_key

log = logging.getLogger("lspz.backend")

_LAST = ("workspace/didChangeConfiguration", "$/setTrace")
"""Notifications of which the last one counts."""


@attrs.define
class _Document:
    item: dict[str, Any]
    """A `TextDocumentItem`, as it was opened."""
    version: Any
    text: str


class Told:
    """What a client has said to a server, as far as it still holds."""

    def __init__(self) -> None:
        self.initialize: bytes | None = None
        """The request, as the client wrote it."""
        self.encoding = UTF16
        """The position encoding of the server that was told."""
        self.is_agreed = False
        """Whether a server has answered it."""
        self.is_over = False
        """Whether the client has asked for the end."""
        self._initialized: bytes | None = None
        self._last: dict[str, bytes] = {}
        self._folders: list[bytes] = []
        self._documents: dict[str, _Document] = {}
        self._notebooks: dict[str, list[bytes]] = {}

    def agreed(self, encoding: Any) -> None:
        """The server says how it counts characters; None: as LSP has it."""
        if encoding is not None and encoding not in ENCODINGS:
            log.warning("the server counts characters in %r, which LSP does not have", encoding)
        self.is_agreed = True
        self.encoding = encoding if encoding in ENCODINGS else UTF16

    def hear(self, method: str, body: bytes) -> None:
        """Take a notification, or a request. What is not as LSP has it is left out."""
        try:
            if method in ("shutdown", "exit"):
                self.is_over = True
            elif method == "initialize":
                self.initialize = body
            elif method == "initialized":
                self._initialized = body
            elif method in _LAST:
                self._last[method] = body
            elif method == "workspace/didChangeWorkspaceFolders":
                self._folders.append(body)
            elif method.startswith("textDocument/did"):
                self._hear_document(method.removeprefix("textDocument/did"), body)
            elif method.startswith("notebookDocument/did"):
                self._hear_notebook(method.removeprefix("notebookDocument/did"), body)
        except (msgspec.MsgspecError, LookupError, TypeError, ValueError, AttributeError) as error:
            log.warning("%s: not as LSP has it (%r); a server that is started again will not know of it", method, error)

    def _hear_document(self, what: str, body: bytes) -> None:
        if what not in ("Open", "Change", "Close"):
            return
        params = msgspec.json.decode(body)["params"]
        item = params["textDocument"]
        key = uri_key(item["uri"])
        if what == "Open":
            self._documents[key] = _Document(item, item.get("version"), item["text"])
        elif what == "Close":
            self._documents.pop(key, None)
        elif (document := self._documents.get(key)) is not None:
            document.version = item.get("version")
            for change in params["contentChanges"]:
                document.text = changed(document.text, change, self.encoding)

    def _hear_notebook(self, what: str, body: bytes) -> None:
        key = uri_key(msgspec.json.decode(body)["params"]["notebookDocument"]["uri"])
        if what == "Open":
            self._notebooks[key] = [body]
        elif what == "Close":
            self._notebooks.pop(key, None)
        elif key in self._notebooks and what == "Change":
            self._notebooks[key].append(body)

    def again(self) -> Iterator[bytes]:
        """What to say to a new server that has answered `initialize`, in order."""
        if self._initialized is None:
            return
        yield self._initialized
        yield from self._last.values()
        yield from self._folders
        for document in self._documents.values():
            item = {**document.item, "version": document.version, "text": document.text}
            yield notification("textDocument/didOpen", {"textDocument": item})
        for bodies in self._notebooks.values():
            yield from bodies


def changed(text: str, change: Any, encoding: str) -> str:
    """A text after a `TextDocumentContentChangeEvent` (JSON). Raises what a wrong one raises."""
    new: str = change["text"]
    if change.get("range") is None:
        return new
    places = Text(text, encoding)
    start, end = (places.offset(**change["range"][name]) for name in ("start", "end"))
    return text[:start] + new + text[end:]
