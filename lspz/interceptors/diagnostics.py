"""Diagnostics of one document, pushed (`textDocument/publishDiagnostics`) and pulled (`textDocument/diagnostic`).

A reader needs: what is wrong, how bad it is, and where. What repeats is said once. The rules are those of formats.md §1
(compact) and §5 (folded); docs/compact_format.md is for those who write a decoder.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, ClassVar, NamedTuple

import attrs
import msgspec
from lsprotocol import types

from ..errors import CannotCompress
from . import PUBLISH, PULL, core
from .base import Direction, Interceptor, Settings
from .strategies import CompressionConfig
from .wide import (
    WideDiagnostic,
    WideFullReport,
    WidePublishDiagnosticsParams,
    make_diagnostic,
    make_range,
    read_related_documents,
    rewritten,
    write_fields,
    write_related_documents,
)

Span = tuple[int, int, int, int]
"""A range, zero-based: start line, start character, end line, end character."""

ENTRY = frozenset(("m", "s", "r", "c", "t", "n", "mk"))
PARAMS = frozenset(("version", "uri", "documentVersion", "diagnostics", "delta", "format"))
REPORT = frozenset(("version", "kind", "resultId", "diagnostics", "delta", "format", "items"))
"""The members of compact entries, params and reports: a server's own member of such a name has no place there."""


# The compact model


@attrs.frozen
class CompactDiagnostic:
    """What several diagnostics share, and where each of them is."""

    message: str
    ranges: tuple[Span, ...]
    """Absolute and zero-based, sorted; one for each diagnostic."""
    severity: int | None = None
    code: int | str | None = None
    tags: tuple[int, ...] = ()
    markup: str | None = None
    """`markdown` or `plaintext` when the server sent MarkupContent."""
    fields: Mapping[str, Any] = attrs.field(factory=dict)
    """Further members that were kept, by their LSP names, as JSON."""

    @property
    def count(self) -> int:
        """How many diagnostics the entry stands for."""
        return len(self.ranges)

    def expand(self) -> list[types.Diagnostic]:
        """The diagnostics it stands for, as LSP has them."""
        message: str | types.MarkupContent = self.message
        if self.markup is not None:
            message = types.MarkupContent(types.MarkupKind(self.markup), self.message)
        return [
            make_diagnostic(make_range(*span), message, self.severity, self.code, self.tags, dict(self.fields))
            for span in self.ranges
        ]


@attrs.frozen
class CompactDiagnosticsParams:
    """The compact form of `PublishDiagnosticsParams`."""

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

    def expand(self) -> types.PublishDiagnosticsParams:
        """The params as LSP has them: the same diagnostics, in the order of their groups."""
        return WidePublishDiagnosticsParams(
            self.uri, _expand(self.diagnostics), self.document_version, dict(self.unknown)
        )


@attrs.frozen
class CompactDiagnosticReport:
    """The compact form of a full report, the answer to `textDocument/diagnostic`."""

    diagnostics: tuple[CompactDiagnostic, ...]
    result_id: str | None = None
    letters: bool = attrs.field(default=True, eq=False)
    delta: bool = attrs.field(default=True, eq=False)
    unknown: Mapping[str, Any] = attrs.field(factory=dict)
    """Members that the form does not know, as JSON; `relatedDocuments` is one."""

    def expand(self) -> types.RelatedFullDocumentDiagnosticReport:
        """The report as LSP has it."""
        unknown = dict(self.unknown)
        return WideFullReport(
            items=_expand(self.diagnostics),
            result_id=self.result_id,
            related_documents=read_related_documents(unknown.pop("relatedDocuments", None)),
            unknown=unknown,
        )


def _expand(entries: Iterable[CompactDiagnostic]) -> list[types.Diagnostic]:
    return [diagnostic for entry in entries for diagnostic in entry.expand()]


# Grouping: the same for every form


class Group(NamedTuple):
    """Diagnostics that are equal but for their range."""

    first: types.Diagnostic
    """The first of them in the server's order."""
    message: str
    markup: str | None
    severity: int | None
    code: int | str | None
    tags: tuple[int, ...]
    fields: dict[str, Any]
    spans: list[Span]


def group(
    diagnostics: Iterable[types.Diagnostic], strategies: CompressionConfig, by_source: bool = False
) -> list[Group]:
    """Merge what is equal, in order of first appearance (formats.md §1.1).

    Raises CannotCompress for what no form has a place for: a code that is neither string nor integer, and the like.
    """
    keep = strategies.kept
    with_fields = keep is None or not keep <= core.FIELDS
    with_severity, with_code = keep is None or "severity" in keep, keep is None or "code" in keep
    merging = strategies.enable_dedup
    groups: dict[Any, Group] = {}
    fields: dict[str, Any] = {}
    for d in diagnostics:
        start, end = d.range.start, d.range.end
        span = (start.line, start.character, end.line, end.character)
        message: Any = d.message
        markup = None
        if type(message) is not str:
            message, markup = message.value, message.kind.value
        severity: Any = d.severity if with_severity else None
        if severity is not None:
            severity = _integer("severity", severity)
        code = d.code if with_code else None
        if code is not None and type(code) is not str and type(code) is not int:
            raise CannotCompress(f"a code that is neither string nor integer: {code!r}")
        tags = tuple([_integer("tag", tag) for tag in d.tags]) if d.tags else ()
        key: Any = (message, markup, severity, code, tags)
        if with_fields:
            fields = _kept_fields(d, keep)
            key = (key, msgspec.json.encode(fields))
        if by_source:
            key = (key, d.source)
        if not merging:
            key = len(groups)
        known = groups.get(key)
        if known is None:
            groups[key] = Group(d, message, markup, severity, code, tags, fields, [span])
        else:
            known.spans.append(span)
    for found in groups.values():
        if len(found.spans) > 1:
            found.spans.sort()
    return list(groups.values())


def _kept_fields(d: types.Diagnostic, keep: frozenset[str] | None) -> dict[str, Any]:
    fields: dict[str, Any] = d.fields if isinstance(d, WideDiagnostic) else write_fields(d)
    if keep is not None:
        fields = {name: value for name, value in fields.items() if name in keep}
    if not ENTRY.isdisjoint(fields):
        raise CannotCompress(f"a member named like one of the compact form: {ENTRY & fields.keys()}")
    return fields


def _integer(what: str, value: Any) -> int:
    if isinstance(value, int) and not isinstance(value, bool):
        return int(value)
    raise CannotCompress(f"a {what} that is not an integer: {value!r}")


def compact(diagnostics: Sequence[types.Diagnostic], strategies: CompressionConfig) -> tuple[CompactDiagnostic, ...]:
    """The entries of a list of diagnostics. Raises CannotCompress."""
    return tuple(
        [
            CompactDiagnostic(message, tuple(spans), severity, code, tags, markup, fields)
            for _, message, markup, severity, code, tags, fields, spans in group(diagnostics, strategies)
        ]
    )


# folded: standard LSP


def fold(diagnostics: Sequence[types.Diagnostic], strategies: CompressionConfig) -> list[Any]:
    """One diagnostic a group, the positions of the others in its message, 1-based (formats.md §5).

    Raises CannotCompress.
    """
    return [_folded(found, strategies) for found in group(diagnostics, strategies, by_source=True)]


def folded_message(found: Group) -> str:
    """The message of a group's one diagnostic."""
    others = found.spans[1:]
    if not others:
        return found.message
    places = ", ".join([f"{line + 1}:{character + 1}" for line, character, _, _ in others])
    return f"{found.message} (+{len(others)} more: {places})"


def _folded(found: Group, strategies: CompressionConfig) -> Any:
    first, message = found.spans[0], folded_message(found)
    original: Any = found.first
    if isinstance(original, core.CoreDiagnostic):
        return core.CoreDiagnostic(core.make_range(first), message, found.severity, found.code, original.tags)
    return rewritten(original, make_range(*first), message, strategies.kept)


# The interceptor

DiagnosticsMessage = types.PublishDiagnosticsParams | types.DocumentDiagnosticReport


@attrs.frozen
class DiagnosticsCompressor(Interceptor[Any, Any]):
    """Rewrites pushed params and pulled full reports in one form."""

    name: ClassVar[str] = "diagnostics"
    methods: ClassVar[tuple[str, ...]] = (PUBLISH, PULL)
    compresses: ClassVar[bool] = True

    form: str = "compact"
    """`compact` or `folded`."""
    strategies: CompressionConfig = attrs.field(factory=CompressionConfig)

    def reader(self, method: str) -> Callable[[bytes], Any] | None:
        """msgspec's, when nothing but core fields is kept."""
        keep = self.strategies.kept
        if keep is None or not keep <= core.FIELDS:
            return None
        return core.read_params if method == PUBLISH else core.read_report

    async def intercept(self, method: str, params: DiagnosticsMessage, direction: Direction) -> Any:
        """Return a compact model or folded diagnostics. Empty and unchanged reports stay as they are."""
        if method == PUBLISH:
            return self.push(params)
        return self.pull(params) if hasattr(params, "items") else params

    def push(self, params: Any) -> Any:
        """The params in this form. Raises CannotCompress."""
        if not params.diagnostics:
            return params
        unknown = getattr(params, "unknown", {})
        if self.form == "folded":
            folded = fold(params.diagnostics, self.strategies)
            if isinstance(params, core.CoreParams):
                return core.CoreParams(uri=params.uri, version=params.version, diagnostics=folded)
            return WidePublishDiagnosticsParams(params.uri, folded, params.version, unknown)
        if not PARAMS.isdisjoint(unknown):
            raise CannotCompress(f"a member named like one of the compact form: {PARAMS & unknown.keys()}")
        return CompactDiagnosticsParams(
            uri=params.uri,
            diagnostics=compact(params.diagnostics, self.strategies),
            document_version=params.version,
            letters=self.strategies.enable_enum_compression,
            delta=self.strategies.enable_range_delta,
            unknown=unknown,
        )

    def pull(self, report: Any) -> Any:
        """The report in this form. Raises CannotCompress."""
        if not report.items:
            return report
        unknown = getattr(report, "unknown", {})
        if self.form == "folded":
            folded = fold(report.items, self.strategies)
            if isinstance(report, core.CoreReport):
                return core.CoreReport(kind="full", result_id=report.result_id, items=folded)
            return WideFullReport(
                items=folded,
                result_id=report.result_id,
                related_documents=report.related_documents,
                unknown=unknown,
            )
        if not REPORT.isdisjoint(unknown):
            raise CannotCompress(f"a member named like one of the compact form: {REPORT & unknown.keys()}")
        if report.related_documents:
            unknown = {**unknown, "relatedDocuments": write_related_documents(report.related_documents)}
        return CompactDiagnosticReport(
            diagnostics=compact(report.items, self.strategies),
            result_id=report.result_id,
            letters=self.strategies.enable_enum_compression,
            delta=self.strategies.enable_range_delta,
            unknown=unknown,
        )


def create(settings: Settings, form: str) -> DiagnosticsCompressor | None:
    """The compressor for a client that gets `form`; None when diagnostics pass through."""
    if form == "passthrough" or settings.enable_diag_compress is False:
        return None
    return DiagnosticsCompressor(form, settings.compression)
