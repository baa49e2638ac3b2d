"""The documents that a server is told of, and whether they are what is on disk."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import attrs

from ..errors import DocumentNotOpen
from .freshness import Habits, Judge
from .text import Text, decode_file

RACY = 0.1
"""Seconds. A file that was written so shortly before it was read may be written again without a change of its time."""

Stamp = tuple[int, int, int, int]
"""When a file was written, how long it is, and which file it is."""

UNSURE: Stamp = (0, 0, 0, 0)
"""No file's stamp: read it again."""


@attrs.define(eq=False)
class Document:
    """A document, from when it is first asked about until it is closed; it outlives its server."""

    path: Path
    uri: str
    language: str
    text: str
    version: int = 1
    stamp: Stamp | None = None
    """What the file was when it was read; None where the text is the caller's own, and not that of the file."""
    told: int | None = None
    """The version that the server knows; None where it does not know the document."""
    judge: Judge = attrs.field(factory=Judge)
    published: list[Any] = attrs.field(factory=list)
    """What the server published for this version (JSON)."""
    pulled: list[Any] = attrs.field(factory=list)
    """What it answered for this version (JSON)."""
    result_id: str | None = None
    _lines: Text | None = None

    def lines(self, encoding: str) -> Text:
        """The text by positions."""
        if self._lines is None or self._lines.value is not self.text:
            self._lines = Text(self.text, encoding)
        return self._lines.in_encoding(encoding)

    def change(self, text: str) -> None:
        """There is another text, and another version."""
        self.text = text
        self.version += 1

    def forget(self, habits: Habits) -> None:
        """A server begins that knows nothing yet."""
        self.told = None
        self.judge = Judge(habits)
        self.published, self.pulled, self.result_id = [], [], None


def read(path: Path) -> tuple[str, Stamp]:
    """A file's text, and what the file is. Bytes that are no text become U+FFFD. Raises OSError."""
    stamp = stamp_of(path)
    if abs(time.time() - stamp[0] / 1e9) < RACY:
        stamp = UNSURE
    text, _ = decode_file(path.read_bytes())
    text = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace") if not text.isascii() else text
    return text, stamp


def stamp_of(path: Path) -> Stamp:
    """What tells that a file was written since. Raises OSError."""
    found = path.stat()
    return (found.st_mtime_ns, found.st_size, found.st_ino, found.st_ctime_ns)


def refresh(document: Document) -> bool:
    """Take over what is on disk, if it is not what was read; return whether it was. Raises OSError.

    A document that holds the caller's own text stays as it is.
    """
    if document.stamp is None or stamp_of(document.path) == document.stamp:
        return False
    text, document.stamp = read(document.path)
    if text == document.text:
        return False
    document.change(text)
    return True


def save(document: Document) -> None:
    """Write a document's text to its file, in the encoding and with the permissions that the file has. Raises OSError."""
    encoding = decode_file(document.path.read_bytes() if document.path.exists() else b"")[1]
    document.path.write_bytes(encoding.encode(document.text))
    document.stamp = stamp_of(document.path)


def known(documents: dict[str, Document], key: str, name: object) -> Document:
    """The document under a key. Raises DocumentNotOpen."""
    if key not in documents:
        raise DocumentNotOpen(f"{name}: open it first")
    return documents[key]
