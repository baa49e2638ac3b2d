"""Where in a file something is asked about: by numbers, or by the text that stands there."""

from __future__ import annotations

import os
import re
from pathlib import Path
from urllib.parse import urlsplit
from urllib.request import url2pathname

import attrs

from ..errors import PlaceNotFound
from ..wire.text import Text

LISTED = 8
"""Places that an error names, where a locator fits several."""

_OTHER_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+:/")

File = str | os.PathLike[str]
"""A path, absolute or from the workspace's root, or a `file:` URI."""


def path_of(file: File, root: Path) -> Path:
    """The path that a path or URI names. Raises PlaceNotFound for a URI that is no file's."""
    name = os.fspath(file)
    if "\0" in name:
        raise PlaceNotFound(f"{name!r}: no file has such a name")
    if name.startswith("file:"):
        try:
            return Path(url2pathname(urlsplit(name).path))
        except ValueError as error:
            raise PlaceNotFound(f"{name}: is no URI: {error}") from None
    if _OTHER_SCHEME.match(name):
        raise PlaceNotFound(f"{name}: is no file")
    return root / name


@attrs.frozen
class At:
    """A place in a file. ::

        At("src/app.py", 10, 4)                                  # zero-based, as in LSP
        At("src/app.py", 11, 5, one_based=True)                  # as people and models count
        At("src/app.py", text="total = add(1, 2)", symbol="add") # nobody counts

    `text` is a line, or a part of one or several; `symbol` a name in it. A line without a character is its first
    character that is no space, a line with a symbol that symbol in it.
    """

    file: File
    line: int | None = None
    character: int | None = None
    text: str | None = attrs.field(default=None, kw_only=True)
    symbol: str | None = attrs.field(default=None, kw_only=True)
    one_based: bool = attrs.field(default=False, kw_only=True)

    def offset(self, document: Text) -> int:
        """Where it is in a document, in code points from its start.

        Raises PlaceNotFound where the text is not there or in several places, or the line does not exist.
        """
        first = 1 if self.one_based else 0
        line = None if self.line is None else self.line - first
        if line is not None and self.text is None and not 0 <= line < document.line_count:
            last = document.line_count - 1 + first
            raise PlaceNotFound(f"{self.file}: there is no line {self.line}: they are {first} to {last}")
        if self.character is not None and (self.text is not None or self.symbol is not None):
            raise PlaceNotFound(f"{self.file}: say a character, or a text and a symbol, not both")
        if self.character is not None:
            if line is None or self.character < first:
                raise PlaceNotFound(f"{self.file}: character {self.character} needs a line, and is {first} at least")
            return document.offset(line, self.character - first)
        if self.text is not None:
            start, end = self._find_text(document, line)
        elif line is not None:
            start, end = _stripped(document, line)
        elif self.symbol is not None:
            start, end = 0, len(document.value)
        else:
            raise PlaceNotFound(f"{self.file}: say where: a line and a character, a text, or a symbol")
        return start if self.symbol is None else self._find_symbol(document, start, end)

    def _find_text(self, document: Text, line: int | None) -> tuple[int, int]:
        """Start and end of the one place that fits: a whole line rather than a part, the nearest to a line."""
        wanted = (self.text or "").strip()
        if not wanted:
            raise PlaceNotFound(f"{self.file}: the text to look for is empty")
        pattern = r"\s+".join(re.escape(word) for word in wanted.split())
        found = [match.span() for match in re.finditer(pattern, document.value)]
        whole = [span for span in found if span == _stripped(document, document.place(span[0]).line)]
        found = whole or found
        if line is not None and found:
            return min(found, key=lambda span: abs(document.place(span[0]).line - line))
        return self._only(document, found, f"the text {wanted!r}")

    def _find_symbol(self, document: Text, start: int, end: int) -> int:
        symbol = (self.symbol or "").strip()
        name = re.split(r"\.|::|->", symbol)[-1]
        if not name:
            raise PlaceNotFound(f"{self.file}: the symbol to look for is empty")
        for wanted in (symbol, name):  # where it is defined, a qualified name has its last part alone
            pattern = re.compile(rf"(?<!\w){re.escape(wanted)}(?!\w)")
            found = [(match.end() - len(name), match.end()) for match in pattern.finditer(document.value, start, end)]
            if found:
                break
        if found and (self.text is not None or self.line is not None):
            return found[0][0]
        return self._only(document, found, f"the symbol {symbol!r}")[0]

    def _only(self, document: Text, found: list[tuple[int, int]], what: str) -> tuple[int, int]:
        if not found:
            where = "that text" if self.text is not None and what.startswith("the symbol") else "it"
            raise PlaceNotFound(f"{self.file}: {what} is not in {where}; has the file changed?")
        if len(found) > 1:
            first = 1 if self.one_based else 0
            lines = [str(document.place(start).line + first) for start, _ in found]
            more = f" and {len(lines) - LISTED} more" if len(lines) > LISTED else ""
            raise PlaceNotFound(
                f"{self.file}: {what} is in it {len(lines)} times: say which line: {', '.join(lines[:LISTED])}{more}"
            )
        return found[0]


def _stripped(document: Text, line: int) -> tuple[int, int]:
    """Start and end of a line without the spaces around it."""
    text = document.line(line)
    start = document.offset(line, 0)
    return start + len(text) - len(text.lstrip()), start + len(text.rstrip())
