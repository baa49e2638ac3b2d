"""What tables under full names share, for TOON (formats.md §3): ranges, kinds, and columns that are not needed."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

from ..errors import DecodeError
from ..formats.text.positions import Span

_RANGE = re.compile(r"(-?[0-9]+),(-?[0-9]+)-(?:(-?[0-9]+),)?(-?[0-9]+)")


def write_range(span: Span) -> str:
    """A range, zero-based: `10,5-15` on one line, `10,5-12,0` over several. With colons TOON would quote it."""
    a, b, c, d = span
    return f"{a},{b}-{d}" if a == c else f"{a},{b}-{c},{d}"


def read_range(text: str, path: str) -> Span:
    """A range from what `write_range` wrote. Raises DecodeError."""
    found = _RANGE.fullmatch(text)
    if found is None:
        raise DecodeError(path, f"{text!r} is no range")
    a, b, c, d = found.groups()
    return (int(a), int(b), int(a) if c is None else int(c), int(d))


def drop_empty(rows: list[dict[str, Any]], names: Iterable[str]) -> None:
    """Take the columns out of a table in which nothing stands."""
    for name in names:
        if not any(row.get(name) for row in rows):
            for row in rows:
                row.pop(name, None)


def read_kind(value: Any, kinds: Mapping[str, int], path: str) -> int:
    """The number of a kind from its word, or a number. Raises DecodeError."""
    kind = kinds.get(value, value) if isinstance(value, str) else value
    if type(kind) is not int:
        raise DecodeError(path, f"{value!r} is no kind")
    return kind
