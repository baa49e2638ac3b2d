"""Positions in the text form: one-based, and short (text_format.md §2).

`72:9-14 103 106 75:9-17` are four ranges: columns 9 to 14 on the lines 72, 103 and 106, and 9 to 17 on line 75. An end
is left out when the range is as long as the row's name or, in rows without one, as long as the range before it.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable

from ...errors import CannotCompress

Span = tuple[int, int, int, int]
"""A range, zero-based: start line, start character, end line, end character."""

_COLUMN = "[0-9]+(?:-[0-9]+)?"
_POSITION = re.compile(rf"[0-9]+:[0-9]+-[0-9]+:[0-9]+|[0-9]+:{_COLUMN}(?:,{_COLUMN})*|[0-9]+")
_SEVERAL_LINES = re.compile("([0-9]+):([0-9]+)-([0-9]+):([0-9]+)")
_END_OF_WORD = re.compile("[ \n]|$")


class Memory:
    """What the positions of one group leave out: the columns before, and the last length."""

    __slots__ = ("columns", "length")

    def __init__(self) -> None:
        self.columns: tuple[tuple[int, int | None], ...] = ()  # start and length; None: as long as the name
        self.length = 0


def is_position(word: str) -> bool:
    """Whether a word could be read as a position."""
    return _POSITION.fullmatch(word) is not None


def begins_with_position(text: str) -> bool:
    """Whether a text's first word, up to a space or line end, could be read as a position."""
    end = _END_OF_WORD.search(text)
    assert end is not None
    return _POSITION.fullmatch(text, 0, end.start()) is not None


def write_positions(spans: Collection[Span], name_length: int | None, memory: Memory) -> str:
    """Ranges in their shortest spelling. Raises CannotCompress for negative numbers, which it does not have."""
    if len(spans) == 1:
        ((a, b, c, d),) = spans
        if a == c and a >= 0 and b >= 0 and d >= 0:  # nearly all: what follows, for one of them
            key: tuple[tuple[int, int | None], ...] = ((b, None if d - b == name_length else d - b),)
            if key == memory.columns:
                return str(a + 1)
            memory.columns = key
            return f"{a + 1}:{_write_columns(key, name_length, memory)}"
    by_line: dict[int, list[tuple[int, int | None]]] = {}
    several = []
    for a, b, c, d in sorted(spans):
        if a < 0 or b < 0 or c < 0 or d < 0:
            raise CannotCompress(f"a range with a negative number: {(a, b, c, d)}")
        if a == c:
            length = d - b
            by_line.setdefault(a, []).append((b, None if length == name_length else length))
        else:
            several.append(f"{a + 1}:{b + 1}-{c + 1}:{d + 1}")
    by_columns: dict[tuple[tuple[int, int | None], ...], list[int]] = {}
    for line, columns in by_line.items():
        by_columns.setdefault(tuple(columns), []).append(line)
    words = []
    for key, lines in by_columns.items():
        for line in lines:
            if key == memory.columns:
                words.append(str(line + 1))
            else:
                words.append(f"{line + 1}:{_write_columns(key, name_length, memory)}")
                memory.columns = key
    return " ".join(words + several)


def _write_columns(columns: tuple[tuple[int, int | None], ...], name_length: int | None, memory: Memory) -> str:
    spelled = []
    for start, length in columns:
        if length is None or (name_length is None and length == memory.length):
            spelled.append(str(start + 1))
        else:
            spelled.append(f"{start + 1}-{start + 1 + length}")
        if length is not None:
            memory.length = length
        elif name_length is not None:
            memory.length = name_length
    return ",".join(spelled)


def take_positions(text: str) -> tuple[list[str], str]:
    """The positions at the start of a row, as words, and the rest of it."""
    words = []
    start = 0
    while start <= len(text):
        found = _END_OF_WORD.search(text, start)
        assert found is not None
        end = found.start()
        if _POSITION.fullmatch(text, start, end) is None:
            break
        words.append(text[start:end])
        if text[end : end + 1] == "\n":
            return words, text[end:]
        start = end + 1
    return words, text[start:]


def read_positions(words: Iterable[str], name_length: int | None, memory: Memory) -> list[Span]:
    """The ranges that words of positions stand for. Raises ValueError."""
    spans: list[Span] = []
    for word in words:
        over_lines = _SEVERAL_LINES.fullmatch(word)
        if over_lines is not None:
            a, b, c, d = (int(number) - 1 for number in over_lines.groups())
            spans.append((a, b, c, d))
        else:
            number, _, columns = word.partition(":")
            if columns:
                memory.columns = tuple(_read_column(column, name_length, memory) for column in columns.split(","))
            elif not memory.columns:
                raise ValueError(f"position {word!r} leaves its columns to one before it, and there is none")
            line = int(number) - 1
            for start, length in memory.columns:
                if length is None:
                    length = name_length
                if length is None:
                    raise ValueError(f"position {word!r} is as long as a name, and the row has none")
                spans.append((line, start, line, start + length))
    for span in spans:
        if min(span) < 0:
            raise ValueError("positions count from 1")
    return spans


def _read_column(column: str, name_length: int | None, memory: Memory) -> tuple[int, int | None]:
    start, _, end = column.partition("-")
    default = memory.length if name_length is None else None
    length = int(end) - int(start) if end else default
    memory.length = length if length is not None else name_length or 0
    return int(start) - 1, length
