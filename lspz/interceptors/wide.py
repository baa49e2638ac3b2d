"""lsprotocol's types for diagnostics, widened where real servers go beyond the specification.

Members that the specification does not know are kept in `unknown`; a severity or tag it does not know stays an integer;
a MarkupContent message stays one. The readers skip lsprotocol's validators, which are most of the cost of structuring
and refuse what servers really send.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Mapping
from typing import Any

import attrs
from lsprotocol import types

_new = object.__new__


@attrs.define
class WideDiagnostic(types.Diagnostic):
    """A `Diagnostic` that loses nothing."""

    unknown: dict[str, Any] = attrs.field(factory=dict)
    fields: dict[str, Any] = attrs.field(factory=dict, eq=False, repr=False)
    """The JSON, as it came, of all members but range, message, severity, code and tags."""


@attrs.define
class WidePublishDiagnosticsParams(types.PublishDiagnosticsParams):
    """`PublishDiagnosticsParams` that lose nothing."""

    unknown: dict[str, Any] = attrs.field(factory=dict)


@attrs.define
class WideFullReport(types.RelatedFullDocumentDiagnosticReport):
    """A full report that loses nothing."""

    unknown: dict[str, Any] = attrs.field(factory=dict)


SEVERITIES: dict[Any, types.DiagnosticSeverity] = {s.value: s for s in types.DiagnosticSeverity}
TAGS: dict[Any, types.DiagnosticTag] = {t.value: t for t in types.DiagnosticTag}


def _setter(cls: type, name: str) -> Callable[[object, Any], None]:
    """Sets a slot without lsprotocol's validators."""
    setter: Callable[[object, Any], None] = getattr(cls, name).__set__
    return setter


_set_line = _setter(types.Position, "line")
_set_character = _setter(types.Position, "character")
_set_start = _setter(types.Range, "start")
_set_end = _setter(types.Range, "end")
_set_range = _setter(types.Diagnostic, "range")
_set_message = _setter(types.Diagnostic, "message")
_set_severity = _setter(types.Diagnostic, "severity")
_set_code = _setter(types.Diagnostic, "code")
_set_code_description = _setter(types.Diagnostic, "code_description")
_set_source = _setter(types.Diagnostic, "source")
_set_tags = _setter(types.Diagnostic, "tags")
_set_related_information = _setter(types.Diagnostic, "related_information")
_set_data = _setter(types.Diagnostic, "data")
_set_unknown = _setter(WideDiagnostic, "unknown")

_set_fields = _setter(WideDiagnostic, "fields")

_CORE = frozenset(("range", "message", "severity", "code", "tags"))
_KNOWN = frozenset(
    ("range", "message", "severity", "code", "codeDescription", "source", "tags", "relatedInformation", "data")
)


def _position(value: Any) -> types.Position:
    line, character = value["line"], value["character"]
    if type(line) is not int or type(character) is not int:
        raise TypeError(f"a position must be two integers, not {value!r}")
    return _make_position(line, character)


def _make_position(line: int, character: int) -> types.Position:
    position = _new(types.Position)
    _set_line(position, line)
    _set_character(position, character)
    return position


def read_range(value: Any) -> types.Range:
    """A range from its JSON. Raises KeyError or TypeError."""
    result = _new(types.Range)
    _set_start(result, _position(value["start"]))
    _set_end(result, _position(value["end"]))
    return result


def make_range(start_line: int, start_character: int, end_line: int, end_character: int) -> types.Range:
    """A range from its four numbers, which may be any integers."""
    result = _new(types.Range)
    _set_start(result, _make_position(start_line, start_character))
    _set_end(result, _make_position(end_line, end_character))
    return result


def read_diagnostic(value: Any) -> WideDiagnostic:
    """A diagnostic from its JSON. Raises KeyError or TypeError when range or message are missing or no such thing."""
    get = value.get
    d = _new(WideDiagnostic)
    _set_range(d, read_range(value["range"]))
    message = value["message"]
    if type(message) is not str:
        message = types.MarkupContent(types.MarkupKind(message["kind"]), message["value"])
    _set_message(d, message)
    severity = get("severity")
    _set_severity(d, SEVERITIES.get(severity, severity))
    _set_code(d, get("code"))
    description = get("codeDescription")
    _set_code_description(d, types.CodeDescription(description["href"]) if description else None)
    _set_source(d, get("source"))
    tags = get("tags")
    _set_tags(d, [TAGS.get(tag, tag) for tag in tags] if tags else tags)
    related = get("relatedInformation")
    _set_related_information(d, [_related(item) for item in related] if related else related)
    _set_data(d, get("data"))
    _set_unknown(d, {} if _KNOWN.issuperset(value) else {k: v for k, v in value.items() if k not in _KNOWN})
    _set_fields(d, {k: v for k, v in value.items() if k not in _CORE})
    return d


def _related(value: Any) -> types.DiagnosticRelatedInformation:
    location = value["location"]
    return types.DiagnosticRelatedInformation(
        types.Location(location["uri"], read_range(location["range"])), value["message"]
    )


def rewritten(d: types.Diagnostic, range: types.Range, message: str, keep: Container[str] | None) -> WideDiagnostic:
    """A copy with another range and message; of the other members those named in `keep` (None: all) and the tags."""
    out = _new(WideDiagnostic)
    _set_range(out, range)
    _set_message(out, message)
    _set_severity(out, d.severity if keep is None or "severity" in keep else None)
    _set_code(out, d.code if keep is None or "code" in keep else None)
    _set_code_description(out, d.code_description if keep is None or "codeDescription" in keep else None)
    _set_source(out, d.source if keep is None or "source" in keep else None)
    _set_tags(out, d.tags)
    _set_related_information(out, d.related_information if keep is None or "relatedInformation" in keep else None)
    _set_data(out, d.data if keep is None or "data" in keep else None)
    _set_unknown(out, getattr(d, "unknown", {}) if keep is None else {})
    _set_fields(out, getattr(d, "fields", {}) if keep is None else {})
    return out


def make_diagnostic(
    range: types.Range,
    message: str | types.MarkupContent,
    severity: int | None,
    code: int | str | None,
    tags: tuple[int, ...],
    fields: dict[str, Any],
) -> WideDiagnostic:
    """A diagnostic from what a compact entry holds; `fields` are further members by their LSP names, as JSON."""
    d = read_diagnostic({**fields, "range": _ZERO, "message": ""})
    _set_range(d, range)
    _set_message(d, message)
    _set_severity(d, SEVERITIES.get(severity, severity))
    _set_code(d, code)
    _set_tags(d, [TAGS.get(tag, tag) for tag in tags] or None)
    return d


_ZERO = {"start": {"line": 0, "character": 0}, "end": {"line": 0, "character": 0}}


def write_diagnostic(d: types.Diagnostic) -> dict[str, Any]:
    """The JSON of a diagnostic, with all that is known of it."""
    start, end = d.range.start, d.range.end
    message: Any = d.message
    out: dict[str, Any] = {
        "range": {
            "start": {"line": start.line, "character": start.character},
            "end": {"line": end.line, "character": end.character},
        },
        "message": message if type(message) is str else {"kind": message.kind.value, "value": message.value},
    }
    if d.severity is not None:
        out["severity"] = number(d.severity)
    if d.code is not None:
        out["code"] = d.code
    out.update(write_fields(d))
    if d.tags is not None:
        out["tags"] = [number(tag) for tag in d.tags]
    return out


def write_fields(d: types.Diagnostic) -> dict[str, Any]:
    """The JSON of the members that field pruning may leave out, by their LSP names, and of the unknown ones."""
    out: dict[str, Any] = {}
    if d.code_description is not None:
        out["codeDescription"] = {"href": d.code_description.href}
    if d.source is not None:
        out["source"] = d.source
    if d.related_information is not None:
        out["relatedInformation"] = [
            {
                "location": {"uri": r.location.uri, "range": write_range(r.location.range)},
                "message": r.message,
            }
            for r in d.related_information
        ]
    if d.data is not None:
        out["data"] = d.data
    unknown = getattr(d, "unknown", None)
    if unknown:
        out.update(unknown)
    return out


def write_range(value: types.Range) -> dict[str, Any]:
    """The JSON of a range."""
    return {
        "start": {"line": value.start.line, "character": value.start.character},
        "end": {"line": value.end.line, "character": value.end.character},
    }


def number(value: Any) -> Any:
    """The number of a severity or tag; a value that is none stays what it is."""
    return int(value) if isinstance(value, int) else value


# params and reports

_PARAMS = frozenset(("uri", "version", "diagnostics"))
_REPORT = frozenset(("kind", "resultId", "items", "relatedDocuments"))

AnyReport = types.FullDocumentDiagnosticReport | types.UnchangedDocumentDiagnosticReport


def read_params(value: Any) -> WidePublishDiagnosticsParams:
    """The params of `textDocument/publishDiagnostics` from their JSON. Raises KeyError or TypeError."""
    diagnostics = _list(value["diagnostics"])
    unknown = {} if _PARAMS.issuperset(value) else {k: v for k, v in value.items() if k not in _PARAMS}
    return WidePublishDiagnosticsParams(
        value["uri"], [read_diagnostic(d) for d in diagnostics], value.get("version"), unknown
    )


def write_params(params: types.PublishDiagnosticsParams) -> dict[str, Any]:
    """The JSON of the params of `textDocument/publishDiagnostics`."""
    out: dict[str, Any] = {"uri": params.uri}
    if params.version is not None:
        out["version"] = params.version
    out.update(getattr(params, "unknown", {}))
    out["diagnostics"] = [write_diagnostic(d) for d in params.diagnostics]
    return out


def is_full(report: Mapping[str, Any]) -> bool:
    """Whether a report (JSON) has diagnostics, whatever its kind is called: gopls 0.23 leaves it empty."""
    return report.get("kind") != "unchanged" and "items" in report


def read_full_report(value: Any) -> WideFullReport:
    """A full report from its JSON. Raises KeyError or TypeError."""
    return WideFullReport(
        items=[read_diagnostic(d) for d in _list(value["items"])],
        result_id=value.get("resultId"),
        related_documents=read_related_documents(value.get("relatedDocuments")),
        unknown={k: v for k, v in value.items() if k not in _REPORT},
    )


def write_full_report(report: types.RelatedFullDocumentDiagnosticReport) -> dict[str, Any]:
    """The JSON of a full report."""
    out: dict[str, Any] = {"kind": "full"}
    if report.result_id is not None:
        out["resultId"] = report.result_id
    out.update(getattr(report, "unknown", {}))
    out["items"] = [write_diagnostic(d) for d in report.items]
    if report.related_documents is not None:
        out["relatedDocuments"] = write_related_documents(report.related_documents)
    return out


def read_related_documents(value: Any) -> dict[str, AnyReport] | None:
    """Reports by URI, from their JSON."""
    if value is None:
        return None
    reports: dict[str, AnyReport] = {}
    for uri, report in value.items():
        if is_full(report):
            reports[uri] = types.FullDocumentDiagnosticReport(
                [read_diagnostic(d) for d in _list(report["items"])], result_id=report.get("resultId")
            )
        else:
            reports[uri] = types.UnchangedDocumentDiagnosticReport(report["resultId"])
    return reports


def write_related_documents(reports: Mapping[str, AnyReport]) -> dict[str, Any]:
    """The JSON of reports by URI."""
    out: dict[str, Any] = {}
    for uri, report in reports.items():
        if isinstance(report, types.FullDocumentDiagnosticReport):
            out[uri] = {"kind": "full", "items": [write_diagnostic(d) for d in report.items]}
            if report.result_id is not None:
                out[uri]["resultId"] = report.result_id
        else:
            out[uri] = {"kind": "unchanged", "resultId": report.result_id}
    return out


def _list(value: Any) -> list[Any]:
    if type(value) is not list:
        raise TypeError(f"diagnostics must be a list, not {value!r:.80}")
    return value
