"""One line of an outline: a symbol as all forms know it, and its text (text_format.md §5.1)."""

from __future__ import annotations

import re
from typing import NamedTuple

from ..errors import CannotCompress
from ..formats.text.lines import maybe_unquote, quote, unquote
from ..formats.text.positions import Span
from .lsp import SYMBOL_KINDS

KINDS = {word: number for number, word in SYMBOL_KINDS.items()}


class Symbol(NamedTuple):
    """One line of an outline."""

    depth: int
    kind: int
    name: str
    range: Span
    start: tuple[int, int]
    """Where the name begins: line and character, zero-based."""
    extra: str = ""
    """The detail in a tree, the container in a flat list."""
    deprecated: bool = False


_LINE = re.compile(
    r"""
    (?P<indent>\ *)(?P<kind>[a-z-]+)\ (?P<name>"(?:[^"\\]|\\.)*"|.*?)
    \ (?P<line>[0-9]+)(?::(?P<char>[0-9]+))?
    (?:-(?:(?P<end_line>[0-9]+):(?P<end_char>[0-9]+)|:(?P<same_line>[0-9]+)|(?P<alone>[0-9]+)))?
    (?:\ from\ (?P<from_line>[0-9]+)?:(?P<from_char>[0-9]+))?
    (?P<deprecated>\ deprecated)?(?:\ (?P<extra>.+))?
    """,
    re.DOTALL | re.VERBOSE,
)
_ODD_NAME = re.compile(r"[\n\r]| [0-9]")


def _write_name(name: str) -> str:
    odd = not name or name != name.strip() or name[0] == '"' or _ODD_NAME.search(name)
    return quote(name) if odd else name


class _Memory:
    """What the lines of one depth and kind leave out."""

    def __init__(self) -> None:
        self.char: int | None = None
        """Where the name before began."""
        self.up_left = (0, 0)
        """Where the range before began, relative to its name: lines up, characters left."""
        self.end_char: int | None = None
        """Where the last range ended that ended on another line than its name."""

    def write(self, symbol: Symbol) -> str:
        """The place of a symbol."""
        (a, b, c, d), (line, char) = symbol.range, symbol.start
        same = char == self.char
        out = str(line + 1) if same else f"{line + 1}:{char + 1}"
        if c != line:
            out += f"-{c + 1}" if same and d == self.end_char else f"-{c + 1}:{d + 1}"
            self.end_char = d
        elif d != char + len(symbol.name):
            out += f"-:{d + 1}" if same else f"-{d + 1}"
        up_left = (line - a, char - b)
        if up_left != self.up_left:
            out += f" from :{b + 1}" if a == line else f" from {a + 1}:{b + 1}"
        self.char, self.up_left = char, up_left
        return out

    def read(self, found: re.Match[str], name: str) -> tuple[Span, tuple[int, int]]:
        """The range of a symbol and where its name begins. Raises ValueError."""
        line = int(found["line"]) - 1
        char = self.char if found["char"] is None else int(found["char"]) - 1
        if char is None:
            raise ValueError("leaves its column to a line before it, and there is none")
        if found["end_line"] is not None:
            end_line, end_char = int(found["end_line"]) - 1, int(found["end_char"]) - 1
            self.end_char = end_char
        elif found["same_line"] is not None:
            end_line, end_char = line, int(found["same_line"]) - 1
        elif found["alone"] is None:
            end_line, end_char = line, char + len(name)
        elif found["char"] is not None:
            end_line, end_char = line, int(found["alone"]) - 1
        elif self.end_char is None:
            raise ValueError("leaves its last column to a line before it, and there is none")
        else:
            end_line, end_char = int(found["alone"]) - 1, self.end_char
        if found["from_char"] is not None:
            up = line - (int(found["from_line"]) - 1) if found["from_line"] is not None else 0
            self.up_left = (up, char - (int(found["from_char"]) - 1))
        self.char = char
        span = (line - self.up_left[0], char - self.up_left[1], end_line, end_char)
        if min(*span, line, char) < 0:
            raise ValueError("positions count from 1")
        return span, (line, char)


Memories = dict[tuple[int, int], _Memory]
"""What is left out, by depth and kind."""


def write_line(symbol: Symbol, memory: Memories) -> str:
    """A symbol's line; `memory` is that of the lines before it. Raises CannotCompress."""
    kind = SYMBOL_KINDS.get(symbol.kind)
    if kind is None or min(*symbol.range, *symbol.start) < 0:
        raise CannotCompress(f"text has no place for a symbol of kind {symbol.kind} at {symbol.range}")
    seen = memory.setdefault((symbol.depth, symbol.kind), _Memory())
    words = [kind, _write_name(symbol.name), seen.write(symbol)]
    if symbol.deprecated:
        words.append("deprecated")
    if symbol.extra:
        odd = "\n" in symbol.extra or symbol.extra.startswith(("from ", "deprecated", '"'))
        words.append(quote(symbol.extra) if odd else symbol.extra)
    return " " * symbol.depth + " ".join(words)


def read_line(line: str, memory: Memories) -> Symbol:
    """A symbol from its line; `memory` is that of the lines before it. Raises ValueError."""
    found = _LINE.fullmatch(line)
    if found is None or found["kind"] not in KINDS:
        raise ValueError(f"{line!r} is no symbol")
    depth, kind, name = len(found["indent"]), KINDS[found["kind"]], maybe_unquote(found["name"])
    extra = found["extra"] or ""
    if extra.startswith('"'):
        extra = unquote(extra)
    span, start = memory.setdefault((depth, kind), _Memory()).read(found, name)
    return Symbol(depth, kind, name, span, start, extra, found["deprecated"] is not None)
