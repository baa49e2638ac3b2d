"""Only what changed: a report on a document as its difference to the report before (text_format.md §7).

file:///project/app.py v5 #2: 7 kept
gone
warning unused-import unnecessary
3:8 `os` imported but unused
moved +1 from 6
new
error undefined-name
5:1 Undefined name `foo`
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from operator import itemgetter
from typing import Any, NamedTuple, Self

import attrs

from ..errors import DecodeError
from ..formats import VERSION
from ..formats.json import count, numbers, optional, typed
from ..formats.text.lines import Lines, write_uri
from . import diagnostics_json as as_json
from . import diagnostics_text as as_text
from .entries import CompactDiagnostic, Row, Span, entries_of, rows_of
from .reports import counts

MAX_RUNS = 8
"""Moves in one report. More say that the pairing of old and new lines was a bad guess, and cost more than they save."""


class Move(NamedTuple):
    """Lines that moved together."""

    line: int
    """The first of them, as it was numbered before, from 0; they end where the next move begins."""
    by: int

    @property
    def is_possible(self) -> bool:
        """Whether the line is in a document before and after: servers that count below zero are not told by moves."""
        return min(self.line, self.line + self.by) >= 0


@attrs.frozen
class Increment:
    """What changed in the diagnostics of one document since the report before."""

    report: int
    """The number of this report; it applies to the one before and to no other."""
    uri: str | None
    """None in a pulled report: the request says which document it is."""
    kept: int
    """How many diagnostics of the report before are still there, moved or not."""
    gone: tuple[CompactDiagnostic, ...] = ()
    """Those that are not, where they were."""
    moved: tuple[Move, ...] = ()
    new: tuple[CompactDiagnostic, ...] = ()
    document_version: int | None = None
    result_id: str | None = None
    omitted: int = 0
    filtered: int = 0

    @property
    def only_moves(self) -> bool:
        """Whether nothing is gone and nothing new."""
        return not self.gone and not self.new

    def envelope(self) -> dict[str, Any]:
        """What stands beside a text: the URI, so that a client can file it."""
        return {} if self.uri is None else {"uri": self.uri}

    def to_lsp(self) -> Any:
        """Raises DecodeError: by itself it says nothing."""
        raise DecodeError("", as_text.CHANGES_ONLY)

    def apply(self, before: Iterable[CompactDiagnostic]) -> tuple[CompactDiagnostic, ...]:
        """The diagnostics after the change. Raises ValueError when `before` is not what it applies to."""
        left = Counter(rows_of(self.gone))
        kept = []
        for row in rows_of(before):
            if left[row] > 0:
                left[row] -= 1
            else:
                kept.append(_moved(row, self.moved))
        if len(kept) != self.kept or left.total():
            raise ValueError(f"{len(kept)} diagnostics are kept where {self.kept} should be")
        return entries_of([*kept, *rows_of(self.new)])

    # text

    def to_text(self) -> str:
        """The text of text_format.md §7. Raises CannotCompress."""
        first = "full" if self.uri is None else write_uri(self.uri)
        tail = f"{self.kept} kept"
        out = [as_text.file_head(first, self.document_version, self.result_id, tail, self.report)]
        if self.gone:
            out += ["gone", *as_text.write_groups(self.gone)]
        if self.moved:
            out.append("moved " + ", ".join(f"{by:+d} from {line + 1}" for line, by in self.moved))
        if self.new:
            out += ["new", *as_text.write_groups(self.new)]
        return "\n".join(out + as_text.count_lines(self.omitted, self.filtered))

    @classmethod
    def from_text(cls, text: str) -> Self:
        """Read `to_text`'s text. Raises DecodeError."""
        lines = Lines(text)
        with lines.named():
            beginning = lines.take() or ""
            head = as_text.read_file_head(beginning)
            if head.kept is None or head.report is None:
                raise ValueError("does not begin a report on what changed")
            is_pulled = beginning.startswith("full ")  # a document of that name stands in quotes
            if (head.version if is_pulled else head.result_id) is not None:
                raise ValueError("is half of what is pushed, half of what is pulled")
        gone: tuple[CompactDiagnostic, ...] = ()
        new: tuple[CompactDiagnostic, ...] = ()
        moved: tuple[Move, ...] = ()
        if lines.peek() == "gone":
            lines.take()
            gone = as_text.read_groups(lines)
        if (line := lines.peek()) is not None and line.startswith("moved "):
            lines.take()
            with lines.named():
                moved = _read_moves(line.removeprefix("moved "))
        if lines.peek() == "new":
            lines.take()
            new = as_text.read_groups(lines)
        omitted, filtered = as_text.read_counts(lines)
        lines.end()
        uri = None if is_pulled else head.first
        return cls(head.report, uri, head.kept, gone, moved, new, head.version, head.result_id, omitted, filtered)

    # compact

    def to_compact(self) -> dict[str, Any]:
        """`{"version":1,"uri":…,"report":n,"kept":k,"gone":[…],"moved":[[line, by],…],"add":[…]}` (formats.md §6)."""
        out: dict[str, Any] = {"version": VERSION, **self.envelope()}
        if self.document_version is not None:
            out["documentVersion"] = self.document_version
        if self.result_id is not None:
            out["resultId"] = self.result_id
        out |= {"report": self.report, "kept": self.kept}
        if self.gone:
            out["gone"] = as_json.write_entries(self.gone, True, True)
        if self.moved:
            out["moved"] = [list(move) for move in self.moved]
        if self.new:
            out["add"] = as_json.write_entries(self.new, True, True)
        return out | counts(self.omitted, self.filtered)

    @classmethod
    def from_compact(cls, value: Mapping[str, Any]) -> Self:
        """Read `to_compact`'s JSON. Raises DecodeError."""
        moves = []
        for i, item in enumerate(optional(value, "moved", list, "moved") or []):
            move = numbers(item, f"moved[{i}]")
            if len(move) != 2:
                raise DecodeError(f"moved[{i}]", f"must be a line and a number of lines, not {item!r:.80}")
            moves.append(Move(*move))
        return cls(
            report=typed(value, "report", int, "report"),
            uri=optional(value, "uri", str, "uri"),
            kept=count(value, "kept"),
            gone=as_json.read_entries(optional(value, "gone", list, "gone") or [], "gone", True),
            moved=_in_order(moves, "moved"),
            new=as_json.read_entries(optional(value, "add", list, "add") or [], "add", True),
            document_version=optional(value, "documentVersion", int, "documentVersion"),
            result_id=optional(value, "resultId", str, "resultId"),
            omitted=count(value, "omitted"),
            filtered=count(value, "filtered"),
        )


_MOVE = re.compile(r"([+-][0-9]+) from ([0-9]+)")


def _read_moves(text: str) -> tuple[Move, ...]:
    moves = []
    for word in text.split(", "):
        found = _MOVE.fullmatch(word)
        if found is None:
            raise ValueError(f"{word!r} is no move")
        moves.append(Move(int(found[2]) - 1, int(found[1])))
    return _in_order(moves, "")


def _in_order(moves: Sequence[Move], path: str) -> tuple[Move, ...]:
    if any(a.line >= b.line for a, b in pairwise(moves)):
        raise DecodeError(path, "the moves must go down the document")
    if not all(move.is_possible for move in moves):
        raise DecodeError(path, "a line cannot move to before the first")
    return tuple(moves)


def _moved(row: Row, moves: Sequence[Move]) -> Row:
    if not moves:
        return row
    a, b, c, d = row.span
    return row._replace(span=(a + _shift(a, moves), b, c + _shift(c, moves), d))


def _shift(line: int, moves: Sequence[Move]) -> int:
    at = bisect_right(moves, line, key=itemgetter(0))
    return moves[at - 1].by if at else 0


# Finding out what changed


def changes(before: Sequence[CompactDiagnostic], after: Sequence[CompactDiagnostic]) -> list[dict[str, Any]]:
    """Ways to say what changed, as `kept`, `gone`, `moved` and `new` of an increment.

    One takes every line to be where it was, and unless that says it all one more has the moves that seem likely. Each
    is exact: what a move gets wrong is gone and new.
    """
    old, now = rows_of(before), rows_of(after)
    found = [_change(old, now, ())]
    if found[0]["gone"] and found[0]["new"] and (moves := _likely_moves(old, now)):
        found.append(_change(old, now, moves))
    return found


def _change(old: Sequence[Row], now: Sequence[Row], moves: tuple[Move, ...]) -> dict[str, Any]:
    left = Counter(now)
    gone = []
    for row in old:
        moved = _moved(row, moves)
        if left[moved] > 0:
            left[moved] -= 1
        else:
            gone.append(row)
    return {
        "kept": len(old) - len(gone),
        "gone": entries_of(gone),
        "moved": moves,
        "new": entries_of(row for row, times in left.items() for _ in range(times)),
    }


def _likely_moves(old: Sequence[Row], now: Sequence[Row]) -> tuple[Move, ...]:
    """Diagnostics that are equal but for their lines, and as many as before, are paired; each old line takes a vote."""
    before, after = _lines(old), _lines(now)
    votes: dict[int, Counter[int]] = {}
    for what, was in before.items():
        are = after.get(what, ())
        if len(was) != len(are):
            continue
        for lines_then, lines_now in zip(sorted(was), sorted(are), strict=True):
            for then, line in zip(lines_then, lines_now, strict=True):
                votes.setdefault(then, Counter())[line - then] += 1
    moves: list[Move] = []
    current = 0
    for line in sorted(votes):
        ((by, _),) = votes[line].most_common(1)
        if by != current:
            moves.append(Move(line, by))
            current = by
    return tuple(moves) if len(moves) <= MAX_RUNS and all(move.is_possible for move in moves) else ()


def _lines(rows: Sequence[Row]) -> dict[tuple[Any, ...], list[tuple[int, int]]]:
    """First and last lines, by all else that a diagnostic says."""
    found: dict[tuple[Any, ...], list[tuple[int, int]]] = {}
    for row in rows:
        span: Span = row.span
        found.setdefault((*row[:-1], span[1], span[3]), []).append((span[0], span[2]))
    return found
