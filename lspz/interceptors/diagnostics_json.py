"""The compact form of diagnostics as JSON, written and read (formats.md §1).

In `{"version":1,"uri":…,"diagnostics":[{"m":"unused","s":"W","r":[[1,0,1,4],[2,0,2,0]],"n":2}]}` the second range is a
difference to the first; docs/compact_format.md has the whole of it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ..errors import DecodeError, UnsupportedVersion
from ..formats import VERSION
from .diagnostics import (
    ENTRY,
    PARAMS,
    REPORT,
    CompactDiagnostic,
    CompactDiagnosticReport,
    CompactDiagnosticsParams,
    Span,
)

_LETTERS = {1: "E", 2: "W", 3: "I", 4: "H"}
_NUMBERS = {letter: value for value, letter in _LETTERS.items()}
_TAG_LETTERS = {1: "U", 2: "D"}
_TAG_NUMBERS = {letter: value for value, letter in _TAG_LETTERS.items()}


def write_params(params: CompactDiagnosticsParams) -> dict[str, Any]:
    """The JSON of compact params (formats.md §1)."""
    out: dict[str, Any] = {"version": VERSION, "uri": params.uri}
    if params.document_version is not None:
        out["documentVersion"] = params.document_version
    return _write_entries(out, params)


def write_report(report: CompactDiagnosticReport) -> dict[str, Any]:
    """The JSON of a compact report (formats.md §1)."""
    out: dict[str, Any] = {"version": VERSION, "kind": "full"}
    if report.result_id is not None:
        out["resultId"] = report.result_id
    return _write_entries(out, report)


def _write_entries(out: dict[str, Any], model: CompactDiagnosticsParams | CompactDiagnosticReport) -> dict[str, Any]:
    if not model.delta:
        out["delta"] = False
    out.update(model.unknown)
    out["diagnostics"] = [_write_entry(entry, model.letters, model.delta) for entry in model.diagnostics]
    return out


def _write_entry(entry: CompactDiagnostic, letters: bool, delta: bool) -> dict[str, Any]:
    out: dict[str, Any] = {"m": entry.message}
    if entry.severity is not None:
        out["s"] = _LETTERS.get(entry.severity, entry.severity) if letters else entry.severity
    out["r"] = _deltas(entry.ranges) if delta and len(entry.ranges) > 1 else entry.ranges
    if entry.code is not None:
        out["c"] = entry.code
    if entry.tags:
        out["t"] = ",".join(_TAG_LETTERS.get(t) or str(t) for t in entry.tags) if letters else entry.tags
    if len(entry.ranges) > 1:
        out["n"] = len(entry.ranges)
    if entry.markup is not None:
        out["mk"] = entry.markup
    if entry.fields:
        out.update(entry.fields)
    return out


def _deltas(spans: Sequence[Span]) -> list[Span]:
    a, b, c, d = spans[0]
    out = [spans[0]]
    for e, f, g, h in spans[1:]:
        out.append((e - a, f - b, g - c, h - d))
        a, b, c, d = e, f, g, h
    return out


def expand(value: Mapping[str, Any]) -> dict[str, Any]:
    """Standard LSP (JSON) from compact params or a compact report (JSON), with kept members just as they came.

    Raises DecodeError with position and reason, UnsupportedVersion.
    """
    model: CompactDiagnosticsParams | CompactDiagnosticReport
    if "uri" in value:
        model = read_params(value)
        out: dict[str, Any] = {"uri": model.uri}
        if model.document_version is not None:
            out["version"] = model.document_version
        member = "diagnostics"
    else:
        model = read_report(value)
        out = {"kind": "full"} if model.result_id is None else {"kind": "full", "resultId": model.result_id}
        member = "items"
    out.update(model.unknown)
    out[member] = [diagnostic for entry in model.diagnostics for diagnostic in _expand_entry(entry)]
    return out


def _expand_entry(entry: CompactDiagnostic) -> list[dict[str, Any]]:
    shared: dict[str, Any] = {"message": entry.message}
    if entry.markup is not None:
        shared["message"] = {"kind": entry.markup, "value": entry.message}
    if entry.severity is not None:
        shared["severity"] = entry.severity
    if entry.code is not None:
        shared["code"] = entry.code
    shared.update(entry.fields)
    if entry.tags:
        shared["tags"] = list(entry.tags)
    return [
        {"range": {"start": {"line": a, "character": b}, "end": {"line": c, "character": d}}, **shared}
        for a, b, c, d in entry.ranges
    ]


def is_compact(value: object) -> bool:
    """Whether params or a report are in compact form, as formats.md §1 tells the forms apart."""
    if not isinstance(value, Mapping) or "format" in value:
        return False
    entries = value.get("diagnostics")
    if not isinstance(entries, list):
        return False
    if "uri" not in value:
        return "kind" in value and "items" not in value
    return bool(entries) and isinstance(entries[0], Mapping) and "r" in entries[0] and "range" not in entries[0]


def read_params(value: Mapping[str, Any]) -> CompactDiagnosticsParams:
    """Compact params from their JSON. Raises DecodeError with position and reason, UnsupportedVersion."""
    delta, letters, entries = _read_entries(value)
    return CompactDiagnosticsParams(
        uri=_typed(value, "uri", str, "uri"),
        diagnostics=entries,
        document_version=_typed(value, "documentVersion", int, "documentVersion")
        if "documentVersion" in value
        else None,
        letters=letters,
        delta=delta,
        unknown={name: member for name, member in value.items() if name not in PARAMS},
    )


def read_report(value: Mapping[str, Any]) -> CompactDiagnosticReport:
    """A compact report from its JSON. Raises DecodeError with position and reason, UnsupportedVersion."""
    delta, letters, entries = _read_entries(value)
    if value.get("kind") != "full":
        raise DecodeError("kind", f"must be 'full', not {value.get('kind')!r}")
    return CompactDiagnosticReport(
        diagnostics=entries,
        result_id=_typed(value, "resultId", str, "resultId") if "resultId" in value else None,
        letters=letters,
        delta=delta,
        unknown={name: member for name, member in value.items() if name not in REPORT},
    )


def _read_entries(value: Mapping[str, Any]) -> tuple[bool, bool, tuple[CompactDiagnostic, ...]]:
    version = _typed(value, "version", int, "version")
    if version > VERSION:
        raise UnsupportedVersion(version, VERSION)
    if version < 1:
        raise DecodeError("version", f"there is no format version {version}")
    delta = value.get("delta", True)
    if not isinstance(delta, bool):
        raise DecodeError("delta", f"must be true or false, not {delta!r}")
    entries = _typed(value, "diagnostics", list, "diagnostics")
    read = tuple(read_entry(entry, delta, f"diagnostics[{i}]") for i, entry in enumerate(entries))
    letters = not any(isinstance(e.get("t"), list) or e.get("s") in _LETTERS for e in entries)
    return delta, letters, read


def read_entry(entry: Any, delta: bool = True, path: str = "") -> CompactDiagnostic:
    """A compact entry from its JSON; `path` says where it stands. Raises DecodeError with position and reason."""
    if not isinstance(entry, Mapping):
        raise DecodeError(path, f"must be an object, not {entry!r}")
    spans = _read_spans(_typed(entry, "r", list, f"{path}.r"), delta, f"{path}.r")
    count = entry.get("n", 1)
    if count != len(spans) or isinstance(count, bool):
        raise DecodeError(f"{path}.n", f"says {count!r} diagnostics, but there are {len(spans)} ranges")
    code = entry.get("c")
    if code is not None and (isinstance(code, bool) or not isinstance(code, int | str)):
        raise DecodeError(f"{path}.c", f"must be a string or an integer, not {code!r}")
    markup = entry.get("mk")
    if markup not in (None, "markdown", "plaintext"):
        raise DecodeError(f"{path}.mk", f"must be markdown or plaintext, not {markup!r}")
    return CompactDiagnostic(
        message=_typed(entry, "m", str, f"{path}.m"),
        ranges=spans,
        severity=_read_severity(entry.get("s"), f"{path}.s"),
        code=code,
        tags=_read_tags(entry.get("t"), f"{path}.t"),
        markup=markup,
        fields={name: member for name, member in entry.items() if name not in ENTRY},
    )


def _read_spans(rows: list[Any], delta: bool, path: str) -> tuple[Span, ...]:
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


def _read_severity(value: Any, path: str) -> int | None:
    if value is None or type(value) is int:
        return value
    if value not in _NUMBERS:
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


def _typed(value: Mapping[str, Any], name: str, type_: Callable[..., Any], path: str) -> Any:
    member = value.get(name)
    if type(member) is not type_:
        raise DecodeError(path, "is missing" if name not in value else f"is not of the right type: {member!r}")
    return member
