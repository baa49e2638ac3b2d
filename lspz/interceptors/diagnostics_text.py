"""Diagnostics as text: a head for what they share, a row for each place (text_format.md §3 and §4).

file:///project/app.py v4
warning unused-import unnecessary: `$1` imported but unused
3:8 os
4 sys
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence
from typing import NamedTuple

from ..errors import CannotCompress
from ..formats.text.lines import (
    Lines,
    indent,
    is_bare_uri,
    quote,
    take_word,
    unquote,
    write_uri,
)
from ..formats.text.positions import Memory, Span, read_positions, take_positions, write_positions
from ..formats.text.templates import (
    count_holes,
    fill,
    find_templates,
    name_length,
    read_arguments,
    read_message,
    write_message,
)
from .entries import SEVERITIES, TAGS, CompactDiagnostic, CompactFile, Row, entries_of

_SEVERITY_NUMBERS = {word: number for number, word in SEVERITIES.items()}
_TAG_NUMBERS = {word: number for number, word in TAGS.items()}
_BARE_CODE = re.compile(r'[-@_]?[A-Za-z][^\s"]*(?<!:)')
_INTEGER = re.compile("-?[0-9]+")
_VERSION = re.compile("v(-?[0-9]+)(?: |$)")
OMITTED = re.compile("(omitted|filtered) ([0-9]+)")


class Head(NamedTuple):
    """What the diagnostics of a group share besides their message."""

    severity: int | None
    code: int | str | None
    tags: tuple[int, ...]
    markup: str | None


class Message(NamedTuple):
    """One line of a group: a message, or the arguments that make it from a template."""

    text: str
    """As it is spelled in the row."""
    name_length: int | None
    message: str


Block = tuple[str | None, list[Message]]
"""A template, if there is one, and its rows."""


# Writing


def write_groups(entries: Iterable[CompactDiagnostic]) -> list[str]:
    """The lines of the groups of one file. Raises CannotCompress."""
    out = []
    for head, messages in by_head(entries, None).items():
        label = write_head(head)
        for template, rows in blocks(messages, alone=()):
            out.append(label if template is None else f"{label}: {indent(template)}")
            label = ""
            memory = Memory()
            for row in sorted(rows, key=lambda row: min(messages[row.message][None])):
                positions = write_positions(messages[row.message][None], row.name_length, memory)
                out.append(f"{positions} {row.text}")
    return out


def by_head(
    entries: Iterable[CompactDiagnostic], place: str | None
) -> dict[Head, dict[str, dict[str | None, list[Span]]]]:
    """The ranges of each message, by what else it shares, and place."""
    groups: dict[Head, dict[str, dict[str | None, list[Span]]]] = {}
    for entry in entries:
        if entry.fields:
            raise CannotCompress(f"text has no place for {', '.join(entry.fields)}")
        messages = groups.setdefault(Head(entry.severity, entry.code, entry.tags, entry.markup), {})
        messages.setdefault(entry.message, {}).setdefault(place, []).extend(entry.ranges)
    return groups


def blocks(messages: Collection[str], alone: Sequence[str]) -> list[Block]:
    """Plain rows first, then templates; those `alone` that share no template are one each, without a hole."""
    templates, rest = find_templates(messages)
    plain = [message for message in rest if message not in alone]
    found: list[Block] = []
    if plain:
        found.append((None, [Message(indent(write_message(m)), name_length(m), m) for m in plain]))
    for template in templates:
        rows = zip(template.rows, template.arguments, template.messages, strict=True)
        found.append((template.text, [Message(indent(row), len(first[0]), m) for row, first, m in rows]))
    found += [(message, [Message("", name_length(message), message)]) for message in rest if message in alone]
    return found


def write_head(head: Head) -> str:
    """The words of a head."""
    severity, code, tags, markup = head
    words = ["unrated" if severity is None else SEVERITIES.get(severity) or f"severity-{severity}"]
    if isinstance(code, int):
        words.append(str(code))
    elif code is not None:
        bare = _BARE_CODE.fullmatch(code) and code not in _TAG_NUMBERS and not code.startswith("tag-")
        words.append(code if bare else quote(code))
    words += [TAGS.get(tag) or f"tag-{tag}" for tag in tags]
    if markup is not None:
        words.append(f"({markup})")
    return " ".join(words)


def write_file(file: CompactFile) -> list[str]:
    """The lines of one file of a workspace report. Raises CannotCompress."""
    body = body_lines(file.diagnostics or (), file.omitted, file.filtered)
    tail = "unchanged" if file.diagnostics is None else "" if body else "clean"
    return [file_head(write_uri(file.uri), file.version, file.result_id, tail, file.report), *body]


def file_head(first: str, version: int | None, result_id: str | None, tail: str, report: int | None = None) -> str:
    """The line that a file's groups follow; `tail` says that there are none, or that only what changed follows."""
    return (
        first
        + (f" v{version}" if version is not None else "")
        + (f" {quote(result_id)}" if result_id is not None else "")
        + (f" #{report}" if report is not None else "")
        + (f": {tail}" if tail else "")
    )


# Reading


class FileHead(NamedTuple):
    """What `file_head` wrote."""

    first: str
    version: int | None
    result_id: str | None
    tail: str
    report: int | None = None
    kept: int | None = None


_TAIL = re.compile(r"(?: #([0-9]+))?(?:: (?:(clean|unchanged)|([0-9]+) kept))?$")


def read_file_head(line: str) -> FileHead:
    """Read the line that a file's groups follow. Raises ValueError."""
    ending = _TAIL.search(line)
    assert ending is not None
    report, tail, kept = ending.groups()
    line = line[: ending.start()]
    first, _, at = take_word(line, 0)
    rest = line[at:]
    version = _VERSION.match(rest)
    if version is not None:
        rest = rest[version.end() :]
    return FileHead(
        first,
        int(version[1]) if version else None,
        unquote(rest) if rest else None,
        tail or "",
        None if report is None else int(report),
        None if kept is None else int(kept),
    )


def begins_file(line: str) -> bool:
    """Whether a line is a file's, not a head: a head's first word holds no colon and no quote (§3.1)."""
    return line.startswith('"') or is_bare_uri(line.split(" ", 1)[0].removesuffix(":"))


def read_file(lines: Lines) -> CompactFile:
    """The next file of a workspace report. Raises DecodeError."""
    line = lines.take()
    assert line is not None
    with lines.named():
        head = read_file_head(line)
        if head.kept is not None:
            raise ValueError(CHANGES_ONLY)
    entries, omitted, filtered = read_body(lines, head.tail)
    unchanged = head.tail == "unchanged"
    diagnostics = None if unchanged else entries
    return CompactFile(head.first, diagnostics, head.version, head.result_id, omitted, filtered, head.report)


CHANGES_ONLY = "says only what changed since the report before: read it with a DiagnosticsReceiver"


def read_body(lines: Lines, tail: str) -> tuple[tuple[CompactDiagnostic, ...], int, int]:
    """What follows a file's line: its entries, and how many were omitted and filtered. Raises DecodeError."""
    entries = read_groups(lines)
    omitted, filtered = read_counts(lines)
    with lines.named():
        if bool(tail) == bool(entries or omitted or filtered):
            raise ValueError("a file must have diagnostics, or say that it is clean or unchanged")
    return entries, omitted, filtered


def body_lines(entries: Sequence[CompactDiagnostic], omitted: int, filtered: int) -> list[str]:
    """What follows a file's line. Raises CannotCompress."""
    return write_groups(entries) + count_lines(omitted, filtered)


def count_lines(omitted: int, filtered: int) -> list[str]:
    """The lines that say how many were left out."""
    return [f"{word} {count}" for word, count in (("omitted", omitted), ("filtered", filtered)) if count]


def read_counts(lines: Lines) -> tuple[int, int]:
    """How many were omitted and filtered, if the next lines say so."""
    counts = {"omitted": 0, "filtered": 0}
    while (line := lines.peek()) is not None and (found := OMITTED.fullmatch(line)) is not None:
        lines.take()
        counts[found[1]] = int(found[2])
    return counts["omitted"], counts["filtered"]


def read_groups(lines: Lines) -> tuple[CompactDiagnostic, ...]:
    """The groups that follow, up to the end, a count, the next file or part of a report. Raises DecodeError."""
    reader = GroupReader()
    while (line := lines.peek()) is not None:
        if OMITTED.fullmatch(line) or line in PARTS or line.startswith("moved ") or begins_file(line):
            break
        lines.take()
        with lines.named():
            reader.read(line)
    return entries_of(row for _, row in reader.rows)


PARTS = ("gone", "new")
"""Lines that begin a part of an incremental report; no head is such a word."""


class GroupReader:
    """Reads the lines of groups; `rows` are the diagnostics, each with its file where that is said."""

    def __init__(self) -> None:
        self.rows: list[tuple[str | None, Row]] = []
        self._head: Head | None = None
        self._template: str | None = None
        self._holes = 0
        self._memory = Memory()
        self._file: str | None = None

    def begin_file(self, uri: str) -> None:
        """The rows that follow are of this file."""
        self._file = uri
        self._memory = Memory()

    def read(self, line: str) -> None:
        """A head, a template or a row. Raises ValueError."""
        if line[:1].isdigit() and line[0].isascii():
            self._read_row(line)
            return
        if line.startswith(": "):
            self._template = line[2:]
        else:
            self._head, self._template = _read_head(line)
        self._holes = 0 if self._template is None else count_holes(self._template)
        self._memory = Memory()
        self._file = None

    def _read_row(self, line: str) -> None:
        if self._head is None:
            raise ValueError("a row before any head")
        words, rest = take_positions(line)
        if not words:
            raise ValueError(f"a row must begin with a position: {line!r}")
        length: int | None
        if self._template is None:
            message = read_message(rest)
            length = name_length(message)
        elif not self._holes:
            if rest:
                raise ValueError(f"a row with arguments under a template without holes: {line!r}")
            message = self._template
            length = name_length(message)
        else:
            arguments = read_arguments(rest, self._holes)
            message = fill(self._template, arguments)
            length = len(arguments[0])
        self.rows += [(self._file, Row(*self._head, message, s)) for s in read_positions(words, length, self._memory)]


def _read_head(line: str) -> tuple[Head, str | None]:
    """The words of a head, and its template if it has one. Raises ValueError."""
    severity: int | None = None
    code: int | str | None = None
    tags: list[int] = []
    markup: str | None = None
    at, first, ended = 0, True, False
    while at < len(line) and not ended:
        word, quoted, end = take_word(line, at)
        if quoted and line[end - 1 : end] == ":":
            ended, end = True, end + 1
        elif not quoted and word.endswith(":"):
            ended, word = True, word[:-1]
        if first:
            severity, first = _read_severity(word), False
        elif not quoted and word in _TAG_NUMBERS:
            tags.append(_TAG_NUMBERS[word])
        elif not quoted and word.startswith("tag-"):
            tags.append(int(word[4:]))
        elif not quoted and word in ("(markdown)", "(plaintext)"):
            markup = word[1:-1]
        elif code is None and not tags and markup is None and (quoted or _BARE_CODE.fullmatch(word)):
            code = word
        elif code is None and not tags and markup is None and _INTEGER.fullmatch(word):
            code = int(word)
        else:
            raise ValueError(f"{word!r} is no part of a head")
        at = end
    return Head(severity, code, tuple(tags), markup), line[at:] if ended else None


def _read_severity(word: str) -> int | None:
    if word in _SEVERITY_NUMBERS:
        return _SEVERITY_NUMBERS[word]
    if word == "unrated":
        return None
    if not word.startswith("severity-"):
        raise ValueError(f"{word!r} is no severity")
    return int(word[9:])
