"""The models of one document's diagnostics: what a server publishes, and what it reports when asked."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Self

import attrs

from ..errors import DecodeError
from ..formats import VERSION
from ..formats.json import count, optional, typed
from ..formats.spelling import check_version
from ..formats.text.lines import Lines
from . import diagnostics_json as as_json
from . import diagnostics_names as as_names
from . import diagnostics_text as as_text
from .entries import CompactDiagnostic, CompactFile, Span

if TYPE_CHECKING:
    from lsprotocol import types

_SHARED = ("version", "diagnostics", "delta", "format", "omitted", "filtered", "report")

PARAMS = frozenset((*_SHARED, "uri", "documentVersion"))
REPORT = frozenset((*_SHARED, "kind", "resultId", "items", "relatedDocuments"))
"""The members of compact params and reports: a server's own member of such a name has no place there."""


def _expand(entries: Iterable[CompactDiagnostic]) -> list[dict[str, Any]]:
    return [diagnostic for entry in entries for diagnostic in entry.to_lsp()]


def first_entries(entries: Sequence[CompactDiagnostic], room: int) -> tuple[CompactDiagnostic, ...]:
    """Entries with the `room` worst diagnostics; without a severity they count as errors."""
    places = [(e.severity or 1, span, i) for i, e in enumerate(entries) for span in e.ranges]
    places.sort()
    kept: dict[int, list[Span]] = {}
    for _, span, i in places[:room]:
        kept.setdefault(i, []).append(span)
    return tuple(attrs.evolve(entries[i], ranges=tuple(kept[i])) for i in sorted(kept))


def size_of(entries: Iterable[CompactDiagnostic] | None) -> int:
    """How many diagnostics entries stand for."""
    return sum(len(entry.ranges) for entry in entries or ())


class _Cut:
    """What params and a report share: they can be cut short."""

    __slots__ = ()

    diagnostics: tuple[CompactDiagnostic, ...]
    omitted: int

    @property
    def size(self) -> int:
        """How many diagnostics it holds, without those of related documents."""
        return size_of(self.diagnostics)

    def first(self, count: int) -> Self:
        """The same with its `count` worst diagnostics, and the others counted as omitted."""
        entries = first_entries(self.diagnostics, count)
        omitted = self.omitted + self.size - size_of(entries)
        return attrs.evolve(self, diagnostics=entries, omitted=omitted)  # type: ignore[misc]


@attrs.frozen
class CompactDiagnosticsParams(_Cut):
    """`PublishDiagnosticsParams`, grouped."""

    uri: str
    diagnostics: tuple[CompactDiagnostic, ...]
    document_version: int | None = None
    """LSP's own `version`, when the server sent one."""
    letters: bool = attrs.field(default=True, eq=False)
    """How severities and tags are written: as letters, or as numbers."""
    delta: bool = attrs.field(default=True, eq=False)
    """How further ranges are written: as differences, or absolute."""
    unknown: Mapping[str, Any] = attrs.field(factory=dict)
    """Members that LSP does not know, as JSON."""
    omitted: int = 0
    """How many diagnostics were left out for a cap."""
    filtered: int = 0
    """How many were left out for their severity, source or code."""
    report: int | None = None
    """The number of the report where reports are numbered (formats.md §6)."""

    def expand(self) -> types.PublishDiagnosticsParams:
        """The params as lsprotocol has them: the same diagnostics, in the order of their groups."""
        from . import wide

        return wide.read_params(self.to_lsp())

    def envelope(self) -> dict[str, Any]:
        """What stands beside a text: the URI, so that a client can file it."""
        return {"uri": self.uri}

    def to_lsp(self) -> dict[str, Any]:
        """The params as LSP's JSON."""
        out: dict[str, Any] = {"uri": self.uri}
        if self.document_version is not None:
            out["version"] = self.document_version
        return {**out, **self.unknown, "diagnostics": _expand(self.diagnostics)}

    def to_compact(self) -> dict[str, Any]:
        """Compact params (formats.md §1)."""
        out: dict[str, Any] = {"version": VERSION, "uri": self.uri}
        if self.document_version is not None:
            out["documentVersion"] = self.document_version
        return {**out, **_compact_body(self)}

    @classmethod
    def from_compact(cls, value: Mapping[str, Any]) -> Self:
        """Read compact params. Raises DecodeError with position and reason, UnsupportedVersion."""
        return cls(
            uri=typed(value, "uri", str, "uri"),
            document_version=optional(value, "documentVersion", int, "documentVersion"),
            **_read_compact_body(value, PARAMS),
        )

    def to_names(self) -> dict[str, Any]:
        """A table of diagnostics."""
        out: dict[str, Any] = {"uri": self.uri}
        if self.document_version is not None:
            out["documentVersion"] = self.document_version
        return {**out, **as_names.write_body(self.diagnostics, self.omitted, self.filtered)}

    @classmethod
    def from_names(cls, value: Mapping[str, Any]) -> Self:
        """Read `to_names`' table. Raises DecodeError."""
        file = as_names.read_file(value, "")
        return cls(file.uri, file.diagnostics or (), file.version, omitted=file.omitted, filtered=file.filtered)

    def to_text(self) -> str:
        """The text of text_format.md §3."""
        file = CompactFile(
            self.uri, self.diagnostics, self.document_version, None, self.omitted, self.filtered, self.report
        )
        return "\n".join(as_text.write_file(file))

    @classmethod
    def from_text(cls, text: str) -> Self:
        """Read `to_text`'s text. Raises DecodeError."""
        lines = Lines(text)
        file = as_text.read_file(lines)
        lines.end()
        if file.diagnostics is None or file.result_id is not None:
            raise DecodeError("line 1", "is of a report, not of published diagnostics")
        return cls(
            file.uri,
            file.diagnostics,
            file.version,
            omitted=file.omitted,
            filtered=file.filtered,
            report=file.report,
        )


@attrs.frozen
class CompactDiagnosticReport(_Cut):
    """A full report on one document, grouped: the answer to `textDocument/diagnostic`."""

    diagnostics: tuple[CompactDiagnostic, ...]
    result_id: str | None = None
    letters: bool = attrs.field(default=True, eq=False)
    delta: bool = attrs.field(default=True, eq=False)
    unknown: Mapping[str, Any] = attrs.field(factory=dict)
    """Members that LSP does not know, as JSON."""
    related: tuple[CompactFile, ...] = ()
    """Reports on documents that depend on this one (`relatedDocuments`)."""
    omitted: int = 0
    filtered: int = 0
    report: int | None = None

    def expand(self) -> types.RelatedFullDocumentDiagnosticReport:
        """The report as lsprotocol has it."""
        from . import wide

        return wide.read_full_report(self.to_lsp())

    def envelope(self) -> dict[str, Any]:
        """Nothing: the request says which document it is."""
        return {}

    def to_lsp(self) -> dict[str, Any]:
        """The report as LSP's JSON."""
        out: dict[str, Any] = {"kind": "full"}
        if self.result_id is not None:
            out["resultId"] = self.result_id
        out = {**out, **self.unknown, "items": _expand(self.diagnostics)}
        if self.related:
            out["relatedDocuments"] = {file.uri: file.to_lsp() for file in self.related}
        return out

    def to_compact(self) -> dict[str, Any]:
        """A compact report (formats.md §1)."""
        out: dict[str, Any] = {"version": VERSION, "kind": "full"}
        if self.result_id is not None:
            out["resultId"] = self.result_id
        out |= _compact_body(self)
        if self.related:
            out["relatedDocuments"] = {file.uri: _compact_related(file, self) for file in self.related}
        return out

    @classmethod
    def from_compact(cls, value: Mapping[str, Any]) -> Self:
        """Read a compact report. Raises DecodeError with position and reason, UnsupportedVersion."""
        if value.get("kind") != "full":
            raise DecodeError("kind", f"must be 'full', not {value.get('kind')!r}")
        body = _read_compact_body(value, REPORT)
        related = optional(value, "relatedDocuments", dict, "relatedDocuments") or {}
        return cls(
            result_id=optional(value, "resultId", str, "resultId"),
            related=tuple(_read_compact_related(uri, file, body["delta"]) for uri, file in related.items()),
            **body,
        )

    def to_names(self) -> dict[str, Any]:
        """A table of diagnostics, and one for each related document."""
        out: dict[str, Any] = {"kind": "full"}
        if self.result_id is not None:
            out["resultId"] = self.result_id
        out |= as_names.write_body(self.diagnostics, self.omitted, self.filtered)
        if self.related:
            out["relatedDocuments"] = [as_names.write_file(file) for file in self.related]
        return out

    @classmethod
    def from_names(cls, value: Mapping[str, Any]) -> Self:
        """Read `to_names`' tables. Raises DecodeError."""
        file = as_names.read_file({"uri": "", **value}, "")
        related = optional(value, "relatedDocuments", list, "relatedDocuments") or []
        return cls(
            file.diagnostics or (),
            file.result_id,
            related=tuple(as_names.read_file(item, f"relatedDocuments[{i}]") for i, item in enumerate(related)),
            omitted=file.omitted,
            filtered=file.filtered,
        )

    def to_text(self) -> str:
        """The text of text_format.md §3."""
        body = as_text.body_lines(self.diagnostics, self.omitted, self.filtered)
        lines = [as_text.file_head("full", None, self.result_id, "" if body else "clean", self.report), *body]
        for file in self.related:
            lines += as_text.write_file(file)
        return "\n".join(lines)

    @classmethod
    def from_text(cls, text: str) -> Self:
        """Read `to_text`'s text. Raises DecodeError."""
        lines = Lines(text)
        with lines.named():
            head = as_text.read_file_head(lines.take() or "")
            if head.first != "full" or head.version is not None or head.tail == "unchanged":
                raise ValueError("does not begin a full report")
            if head.kept is not None:
                raise ValueError(as_text.CHANGES_ONLY)
        entries, omitted, filtered = as_text.read_body(lines, head.tail)
        related = []
        while lines.peek() is not None:
            related.append(as_text.read_file(lines))
        return cls(
            entries,
            head.result_id,
            related=tuple(related),
            omitted=omitted,
            filtered=filtered,
            report=head.report,
        )


def _compact_body(model: CompactDiagnosticsParams | CompactDiagnosticReport) -> dict[str, Any]:
    out: dict[str, Any] = {} if model.delta else {"delta": False}
    if model.report is not None:
        out["report"] = model.report
    out.update(model.unknown)
    out["diagnostics"] = as_json.write_entries(model.diagnostics, model.letters, model.delta)
    return {**out, **counts(model.omitted, model.filtered)}


def counts(omitted: int, filtered: int) -> dict[str, int]:
    """The members that say what was left out."""
    return ({"omitted": omitted} if omitted else {}) | ({"filtered": filtered} if filtered else {})


def _read_compact_body(value: Mapping[str, Any], known: frozenset[str]) -> dict[str, Any]:
    check_version(value)
    if "kept" in value and "diagnostics" not in value:
        raise DecodeError("kept", as_text.CHANGES_ONLY)
    delta = value.get("delta", True)
    if not isinstance(delta, bool):
        raise DecodeError("delta", f"must be true or false, not {delta!r}")
    entries = typed(value, "diagnostics", list, "diagnostics")
    return {
        "diagnostics": as_json.read_entries(entries, "diagnostics", delta),
        "letters": as_json.are_letters(entries),
        "delta": delta,
        "unknown": {name: member for name, member in value.items() if name not in known},
        "omitted": count(value, "omitted"),
        "filtered": count(value, "filtered"),
        "report": optional(value, "report", int, "report"),
    }


def _compact_related(file: CompactFile, report: CompactDiagnosticReport) -> dict[str, Any]:
    out: dict[str, Any] = {"kind": "unchanged" if file.diagnostics is None else "full"}
    if file.result_id is not None:
        out["resultId"] = file.result_id
    if file.diagnostics is not None:
        out["diagnostics"] = as_json.write_entries(file.diagnostics, report.letters, report.delta)
    return {**out, **counts(file.omitted, file.filtered)}


def _read_compact_related(uri: str, value: Any, delta: bool) -> CompactFile:
    path = f"relatedDocuments[{uri!r}]"
    if not isinstance(value, Mapping) or value.get("kind") not in ("full", "unchanged"):
        raise DecodeError(path, f"must be a report, not {value!r:.80}")
    unchanged = value["kind"] == "unchanged"
    return CompactFile(
        uri,
        None if unchanged else as_json.read_entries(value.get("diagnostics"), f"{path}.diagnostics", delta),
        result_id=optional(value, "resultId", str, f"{path}.resultId"),
        omitted=count(value, "omitted"),
        filtered=count(value, "filtered"),
    )
