"""Lines and words of the text form (text_format.md §1)."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager

from ...errors import DecodeError

_CONTINUATION = re.compile(r"\n(?=[^\n])")
_URI = re.compile(r"[A-Za-z][A-Za-z0-9_+.-]*:\S+")
_SPACE = re.compile(r"\s")
_decode_string = json.JSONDecoder().raw_decode


def indent(value: str) -> str:
    """A value that may span lines: its further lines begin with a space, empty ones stay empty."""
    return _CONTINUATION.sub("\n ", value) if "\n" in value else value


def quote(value: str) -> str:
    """A JSON string, non-ASCII as it is."""
    return json.dumps(value, ensure_ascii=False)


def unquote(text: str) -> str:
    """The value of a text that is one JSON string. Raises ValueError."""
    value = json.loads(text)
    if not isinstance(value, str):
        raise ValueError(f"{text!r} is not a string")
    return value


def maybe_unquote(text: str) -> str:
    """A value that was written bare, or as a JSON string. Raises ValueError."""
    return unquote(text) if text.startswith('"') else text


def take_word(text: str, start: int) -> tuple[str, bool, int]:
    """The word at `start`, whether it was quoted, and where what follows it and one space begins. Raises ValueError."""
    if text[start : start + 1] == '"':
        value, end = _decode_string(text, start)
        return value, True, end + 1
    end = text.find(" ", start)
    if end < 0:
        end = len(text)
    return text[start:end], False, end + 1


def has_space(value: str) -> bool:
    """Whether any white space is in a value."""
    return _SPACE.search(value) is not None


def write_uri(uri: str) -> str:
    """A URI, bare where it can be told from everything else."""
    return uri if is_bare_uri(uri) else quote(uri)


def is_bare_uri(text: str) -> bool:
    """Whether a text is a URI that stands bare (§1.6)."""
    return _URI.fullmatch(text) is not None and not text.endswith(":")


def common_base(uris: Iterable[str]) -> str:
    """The common folder of at least three URIs, or nothing (§1.7)."""
    distinct = list(uris)
    if len(distinct) < 3:
        return ""
    low, high = min(distinct), max(distinct)
    length = next((i for i, (a, b) in enumerate(zip(low, high, strict=False)) if a != b), min(len(low), len(high)))
    base = low[: low.rfind("/", 0, length) + 1]
    return base if base.count("/") > 3 and "\n" not in base else ""


def write_path(uri: str, base: str) -> str:
    """A URI without its base, quoted where it could be taken for something else (§1.7)."""
    rest = uri[len(base) :]
    plain = rest and rest[0] not in '":' and not rest[0].isdigit() and not has_space(rest)
    return rest if plain or (not base and is_bare_uri(uri)) else quote(rest)


def read_path(line: str, base: str) -> str:
    """A URI from what `write_path` wrote. Raises ValueError."""
    if has_space(line) and not line.startswith('"'):
        raise ValueError(f"{line!r} is neither a path nor anything else that stands here")
    return base + maybe_unquote(line)


class Lines:
    """The logical lines of a text, one after the other, for a reader that can say where it is."""

    def __init__(self, text: str, continued: bool = True) -> None:
        """`continued`: a physical line that is empty or begins with a space belongs to the line before it."""
        self.number = 0
        """The physical line at which the current logical line begins, one-based."""
        self._lines = list(_logical(text) if continued else enumerate(text.split("\n"), 1))
        self._next = 0

    def __iter__(self) -> Iterator[str]:
        while (line := self.take()) is not None:
            yield line

    def peek(self) -> str | None:
        """The next line, which stays the next one; None at the end."""
        return self._lines[self._next][1] if self._next < len(self._lines) else None

    def take(self) -> str | None:
        """The next line; None at the end."""
        if self._next == len(self._lines):
            return None
        self.number, line = self._lines[self._next]
        self._next += 1
        return line

    def end(self) -> None:
        """Raise DecodeError when lines are left."""
        if (line := self.take()) is not None:
            raise DecodeError(f"line {self.number}", f"{line!r:.80} does not belong here")

    @contextmanager
    def named(self) -> Iterator[None]:
        """What goes wrong in here is a DecodeError that names the line."""
        try:
            yield
        except DecodeError as error:
            raise error if error.path else DecodeError(f"line {self.number}", error.reason) from error
        except (ValueError, KeyError, IndexError, TypeError, AttributeError, RecursionError) as error:
            raise DecodeError(f"line {self.number}", str(error) or type(error).__name__) from error


def _logical(text: str) -> Iterator[tuple[int, str]]:
    """Logical lines, each with the number of its first physical one (§1.3)."""
    began, parts = 1, list[str]()
    for number, line in enumerate(text.split("\n"), 1):
        if parts and (not line or line[0] == " "):
            parts.append(line[1:])
        else:
            if parts:
                yield began, "\n".join(parts)
            began, parts = number, [line]
    yield began, "\n".join(parts)
