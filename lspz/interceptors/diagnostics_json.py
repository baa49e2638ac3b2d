"""The compact JSON of diagnostics' entries, written and read (formats.md §1).

In `{"m":"unused","s":"W","r":[[1,0,1,4],[2,0,2,0]],"n":2}` the second range is a difference to the first;
docs/compact_format.md has the whole of it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from ..errors import DecodeError
from ..formats.json import typed
from .entries import CompactDiagnostic, Span

ENTRY = frozenset(("m", "s", "r", "c", "t", "n", "mk"))
"""The members of a compact entry: a server's own member of such a name has no place there."""

_LETTERS = {1: "E", 2: "W", 3: "I", 4: "H"}
_NUMBERS = {letter: value for value, letter in _LETTERS.items()}
_TAG_LETTERS = {1: "U", 2: "D"}
_TAG_NUMBERS = {letter: value for value, letter in _TAG_LETTERS.items()}


def write_entries(entries: Iterable[CompactDiagnostic], letters: bool = True, delta: bool = True) -> list[Any]:
    """The JSON of entries.

    `letters`: severities and tags as letters, else as numbers. `delta`: further ranges as differences, else absolute.
    """
    return [write_entry(entry, write_ranges(entry.ranges, delta), len(entry.ranges), letters) for entry in entries]


def write_entry(entry: CompactDiagnostic, places: Any, count: int, letters: bool = True) -> dict[str, Any]:
    """The JSON of an entry for `count` diagnostics, with its places as `write_ranges` or a caller spells them."""
    out: dict[str, Any] = {"m": entry.message}
    if entry.severity is not None:
        out["s"] = _LETTERS.get(entry.severity, entry.severity) if letters else entry.severity
    out["r"] = places
    if entry.code is not None:
        out["c"] = entry.code
    if entry.tags:
        out["t"] = ",".join(_TAG_LETTERS.get(t) or str(t) for t in entry.tags) if letters else entry.tags
    if count > 1:
        out["n"] = count
    if entry.markup is not None:
        out["mk"] = entry.markup
    if entry.fields:
        out.update(entry.fields)
    return out


def write_ranges(ranges: Sequence[Span], delta: bool = True) -> Sequence[Span]:
    """Ranges as they stand in JSON."""
    if not delta or len(ranges) < 2:
        return ranges
    a, b, c, d = ranges[0]
    out = [ranges[0]]
    for e, f, g, h in ranges[1:]:
        out.append((e - a, f - b, g - c, h - d))
        a, b, c, d = e, f, g, h
    return out


def read_entries(value: Any, path: str, delta: bool = True) -> tuple[CompactDiagnostic, ...]:
    """Entries from a list of them (JSON); `path` says where it stands. Raises DecodeError."""
    if not isinstance(value, list | tuple):
        raise DecodeError(path, f"must be a list, not {value!r:.80}")
    return tuple(read_entry(entry, delta, f"{path}[{i}]") for i, entry in enumerate(value))


def read_entry(entry: Any, delta: bool = True, path: str = "") -> CompactDiagnostic:
    """A compact entry from its JSON; `path` says where it stands. Raises DecodeError with position and reason."""
    if not isinstance(entry, Mapping):
        raise DecodeError(path, f"must be an object, not {entry!r}")
    return read_shared(entry, read_ranges(typed(entry, "r", list, f"{path}.r"), delta, f"{path}.r"), path)


def read_shared(entry: Mapping[str, Any], ranges: tuple[Span, ...], path: str) -> CompactDiagnostic:
    """An entry of which the ranges are read already. Raises DecodeError."""
    count = entry.get("n", 1)
    if count != len(ranges) or isinstance(count, bool):
        raise DecodeError(f"{path}.n", f"says {count!r} diagnostics, but there are {len(ranges)} ranges")
    code = entry.get("c")
    if code is not None and (isinstance(code, bool) or not isinstance(code, int | str)):
        raise DecodeError(f"{path}.c", f"must be a string or an integer, not {code!r}")
    markup = entry.get("mk")
    if markup not in (None, "markdown", "plaintext"):
        raise DecodeError(f"{path}.mk", f"must be markdown or plaintext, not {markup!r}")
    return CompactDiagnostic(
        message=typed(entry, "m", str, f"{path}.m"),
        ranges=ranges,
        severity=_read_severity(entry.get("s"), f"{path}.s"),
        code=code,
        tags=_read_tags(entry.get("t"), f"{path}.t"),
        markup=markup,
        fields={name: member for name, member in entry.items() if name not in ENTRY},
    )


def read_ranges(rows: Sequence[Any], delta: bool, path: str) -> tuple[Span, ...]:
    """Ranges from what `write_ranges` wrote. Raises DecodeError."""
    if not rows:
        raise DecodeError(path, "must hold at least one range")
    spans: list[Span] = []
    for i, row in enumerate(rows):
        if not isinstance(row, list | tuple) or len(row) != 4 or any(type(x) is not int for x in row):
            raise DecodeError(f"{path}[{i}]", f"must be four integers, not {row!r}")
        a, b, c, d = row
        if delta and spans:
            e, f, g, h = spans[-1]
            a, b, c, d = a + e, b + f, c + g, d + h
        spans.append((a, b, c, d))
    return tuple(spans)


def are_letters(entries: Iterable[Any]) -> bool:
    """Whether severities and tags of entries (JSON) are letters."""
    return not any(isinstance(e.get("t"), list) or e.get("s") in _LETTERS for e in entries if isinstance(e, Mapping))


def _read_severity(value: Any, path: str) -> int | None:
    if value is None or type(value) is int:
        return value
    if not isinstance(value, str) or value not in _NUMBERS:
        raise DecodeError(path, f"must be a number or one of {', '.join(_NUMBERS)}, not {value!r}")
    return _NUMBERS[value]


def _read_tags(value: Any, path: str) -> tuple[int, ...]:
    if value is None:
        return ()
    words = value.split(",") if isinstance(value, str) else value
    tags = []
    for word in words if isinstance(words, list | tuple) else [words]:
        if type(word) is str:
            try:
                word = _TAG_NUMBERS[word] if word in _TAG_NUMBERS else int(word)
            except ValueError:
                word = None
        if type(word) is not int:
            raise DecodeError(path, f"must be tags, not {value!r}")
        tags.append(word)
    return tuple(tags)
