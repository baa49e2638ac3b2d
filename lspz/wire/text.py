"""A document's text by LSP's positions: lines from zero, characters in the encoding that was agreed on."""

from __future__ import annotations

import codecs
import re
from copy import copy
from typing import NamedTuple

UTF8, UTF16, UTF32 = "utf-8", "utf-16", "utf-32"

ENCODINGS = (UTF8, UTF16, UTF32)
"""LSP's position encodings: a character is a byte, a 16-bit unit or a code point."""

_LINE_END = re.compile(r"\r\n|\n|\r")


class Place(NamedTuple):
    """A position, zero-based."""

    line: int
    character: int


def units(text: str, encoding: str = UTF16) -> int:
    """How many characters a text has in a position encoding."""
    if encoding == UTF32 or text.isascii():
        return len(text)
    if encoding == UTF16:
        return len(text) + sum(char > "\uffff" for char in text)
    return len(text.encode("utf-8", "surrogatepass"))


class Text:
    """A text, with the places where its lines begin; a line ends in LF, CR LF or CR, as LSP has it."""

    def __init__(self, value: str, encoding: str = UTF16) -> None:
        if encoding not in ENCODINGS:
            raise ValueError(f"encoding={encoding!r}: must be one of {', '.join(ENCODINGS)}")
        self.value = value
        self.encoding = encoding
        ends = list(_LINE_END.finditer(value))
        self._starts = [0, *(end.end() for end in ends)]
        self._ends = [*(end.start() for end in ends), len(value)]

    def in_encoding(self, encoding: str) -> Text:
        """The same text, its characters counted in another encoding."""
        if encoding == self.encoding:
            return self
        other = copy(self)
        other.encoding = encoding
        return other

    @property
    def line_count(self) -> int:
        """How many lines there are; a line end begins another."""
        return len(self._starts)

    @property
    def line_end(self) -> str:
        """What most of its lines end in; LF where there is one line."""
        counts = {end: len(re.findall(pattern, self.value)) for end, pattern in _ENDS.items()}
        return max(counts, key=lambda end: counts[end])

    def line(self, number: int) -> str:
        """A line without its end. Raises IndexError."""
        return self.value[self._starts[number] : self._ends[number]]

    def offset(self, line: int, character: int) -> int:
        """The place of a position in the text, in code points.

        Beyond the end of a line it is the line's end, beyond the last line the text's, as LSP has it; in the middle of
        a code point it is the code point's start. Raises ValueError for a negative number.
        """
        if line < 0 or character < 0:
            raise ValueError(f"a position that is negative: {line}:{character}")
        if line >= len(self._starts):
            return len(self.value)
        start, end = self._starts[line], self._ends[line]
        text = self.value[start:end]
        if self.encoding == UTF32 or text.isascii():
            return min(start + character, end)
        for char in text:
            size = units(char, self.encoding)
            if character < size:
                break
            character -= size
            start += 1
        return start

    def place(self, offset: int) -> Place:
        """The position of a place in the text; between CR and LF it is the end of the line before."""
        low, high = 0, len(self._starts)
        while high - low > 1:
            middle = (low + high) // 2
            if self._starts[middle] <= offset:
                low = middle
            else:
                high = middle
        return Place(low, units(self.value[self._starts[low] : min(offset, self._ends[low])], self.encoding))


_ENDS = {"\n": r"(?<!\r)\n", "\r\n": r"\r\n", "\r": r"\r(?!\n)"}


class FileEncoding(NamedTuple):
    """How a file holds its text. Bytes that are none of its encoding survive."""

    mark: bytes
    name: str
    errors: str

    def encode(self, text: str) -> bytes:
        """The bytes of a file with this text."""
        return self.mark + text.encode(self.name, self.errors)


_FILE_ENCODINGS = (
    FileEncoding(codecs.BOM_UTF16_LE, "utf-16-le", "surrogatepass"),
    FileEncoding(codecs.BOM_UTF16_BE, "utf-16-be", "surrogatepass"),
    FileEncoding(codecs.BOM_UTF8, "utf-8", "surrogateescape"),
    FileEncoding(b"", "utf-8", "surrogateescape"),
)


def decode_file(data: bytes) -> tuple[str, FileEncoding]:
    """A file's text, and how it is held."""
    encoding = next(encoding for encoding in _FILE_ENCODINGS if data.startswith(encoding.mark))
    return data[len(encoding.mark) :].decode(encoding.name, encoding.errors), encoding
