"""Diagnostics as tables under full names, for TOON (formats.md §3)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from ..errors import CannotCompress, DecodeError
from ..formats.json import count, optional, typed
from .entries import SEVERITIES, TAGS, CompactDiagnostic, CompactFile
from .names import read_range, write_range

_SEVERITIES = {word: number for number, word in SEVERITIES.items()}
_TAGS = {word: number for number, word in TAGS.items()}

COLUMNS = ("severity", "code", "message", "tags", "markup", "ranges", "count")


def write_table(entries: Iterable[CompactDiagnostic]) -> list[dict[str, Any]]:
    """The rows of a table; columns in which nothing stands are left out. Raises CannotCompress."""
    rows = []
    for entry in entries:
        if entry.fields:
            raise CannotCompress(f"TOON has no place for {', '.join(entry.fields)}")
        rows.append(
            {
                "severity": SEVERITIES.get(entry.severity, entry.severity) if entry.severity is not None else None,
                "code": entry.code,
                "message": entry.message,
                "tags": " ".join(TAGS.get(tag) or str(tag) for tag in entry.tags) or None,
                "markup": entry.markup,
                "ranges": " ".join([write_range(span) for span in entry.ranges]),
                "count": len(entry.ranges) if len(entry.ranges) > 1 else None,
            }
        )
    empty = [name for name in COLUMNS if all(row[name] is None for row in rows)]
    for row in rows:
        for name in empty:
            del row[name]
    return rows


def read_table(rows: Any, path: str) -> tuple[CompactDiagnostic, ...]:
    """Entries from the rows of a table; `path` says where it stands. Raises DecodeError."""
    if not isinstance(rows, list):
        raise DecodeError(path, f"must be a table, not {rows!r:.80}")
    return tuple(_read_row(row, f"{path}[{i}]") for i, row in enumerate(rows))


def _read_row(row: Any, path: str) -> CompactDiagnostic:
    if not isinstance(row, Mapping):
        raise DecodeError(path, f"must be a row of a table, not {row!r:.80}")
    severity, code, tags, markup = (row.get(name) for name in ("severity", "code", "tags", "markup"))
    if isinstance(severity, str) and severity in _SEVERITIES:
        severity = _SEVERITIES[severity]
    if severity is not None and type(severity) is not int:
        raise DecodeError(f"{path}.severity", f"{severity!r} is no severity")
    if code is not None and type(code) not in (int, str):
        raise DecodeError(f"{path}.code", f"must be a string or an integer, not {code!r}")
    if markup not in (None, "markdown", "plaintext"):
        raise DecodeError(f"{path}.markup", f"must be markdown or plaintext, not {markup!r}")
    ranges = typed(row, "ranges", str, f"{path}.ranges").split(" ")
    if (row.get("count") or 1) != len(ranges):
        raise DecodeError(
            f"{path}.count", f"says {row.get('count')!r} diagnostics where there are {len(ranges)} ranges"
        )
    return CompactDiagnostic(
        message=typed(row, "message", str, f"{path}.message"),
        ranges=tuple(read_range(text, f"{path}.ranges") for text in ranges),
        severity=severity,
        code=code,
        tags=_read_tags(tags, f"{path}.tags"),
        markup=markup,
    )


def _read_tags(value: Any, path: str) -> tuple[int, ...]:
    if value is None:
        return ()
    try:
        return tuple(_TAGS[word] if word in _TAGS else int(word) for word in str(value).split(" "))
    except ValueError:
        raise DecodeError(path, f"{value!r} are no tags") from None


# Files


def write_file(file: CompactFile) -> dict[str, Any]:
    """One file of a report about several. Raises CannotCompress."""
    return {**file.head(), **write_body(file.diagnostics, file.omitted, file.filtered)}


def write_body(entries: Sequence[CompactDiagnostic] | None, omitted: int, filtered: int) -> dict[str, Any]:
    """What is found in a file, and how many were left out. Raises CannotCompress."""
    out: dict[str, Any] = {} if entries is None else {"diagnostics": write_table(entries)}
    if omitted:
        out["omitted"] = omitted
    if filtered:
        out["filtered"] = filtered
    return out


def read_file(value: Any, path: str) -> CompactFile:
    """A file from what `write_file` wrote. Raises DecodeError."""
    if not isinstance(value, Mapping):
        raise DecodeError(path, f"must be an object, not {value!r:.80}")
    kind = value.get("kind", "full")
    if kind not in ("full", "unchanged"):
        raise DecodeError(f"{path}.kind", f"must be full or unchanged, not {kind!r}")
    return CompactFile(
        uri=typed(value, "uri", str, f"{path}.uri"),
        diagnostics=None if kind == "unchanged" else read_table(value.get("diagnostics"), f"{path}.diagnostics"),
        version=optional(value, "documentVersion", int, f"{path}.documentVersion"),
        result_id=optional(value, "resultId", str, f"{path}.resultId"),
        omitted=count(value, "omitted"),
        filtered=count(value, "filtered"),
    )
