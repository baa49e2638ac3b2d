"""Diagnostics read by msgspec straight from bytes.

These structs mirror lsprotocol's types, attribute for attribute, at a tenth of the cost and without loading
lsprotocol. A contract test holds both readings to the same result.
"""

from __future__ import annotations

from typing import Any, Literal

import msgspec

CORE_FIELDS = frozenset(("message", "range", "severity", "code", "tags"))
"""The members of a diagnostic that every form has a place for."""


class CorePosition(msgspec.Struct, gc=False):
    """Mirrors `Position`."""

    line: int
    character: int


class CoreRange(msgspec.Struct, gc=False):
    """Mirrors `Range`."""

    start: CorePosition
    end: CorePosition


class CoreMarkup(msgspec.Struct, gc=False):
    """Mirrors `MarkupContent`."""

    kind: Literal["markdown", "plaintext"]
    value: str


class CoreDiagnostic(msgspec.Struct, gc=False, omit_defaults=True):
    """Mirrors `Diagnostic`, without the members that field pruning leaves out; `source` tells groups apart."""

    range: CoreRange
    message: str | CoreMarkup
    severity: int | None = None
    code: int | str | None = None
    tags: list[int] | None = None
    source: Any = None


class FullDiagnostic(CoreDiagnostic, kw_only=True):
    """A `Diagnostic` with all its members, where more than the core of it is kept."""

    original: dict[str, Any] = {}
    """The JSON as it came."""


class CoreParams(msgspec.Struct, forbid_unknown_fields=True, kw_only=True):
    """Mirrors `PublishDiagnosticsParams`."""

    uri: str
    version: int | None = None
    diagnostics: list[CoreDiagnostic]


class CoreReport(msgspec.Struct, rename="camel", kw_only=True):
    """Mirrors every report, of one document or as one of a workspace's. It is full when it has items."""

    kind: str = ""
    result_id: str | None = None
    items: list[CoreDiagnostic] | None = None
    related_documents: dict[str, CoreReport] | None = None
    uri: str = ""
    version: int | None = None

    @property
    def is_full(self) -> bool:
        """Whether it has diagnostics, whatever its kind is called: gopls 0.23 leaves it empty."""
        return self.kind != "unchanged" and self.items is not None


class CoreWorkspaceReport(msgspec.Struct):
    """Mirrors `WorkspaceDiagnosticReport`, and its partial results."""

    items: list[CoreReport]


class OpenParams(CoreParams, forbid_unknown_fields=False, kw_only=True):
    """`PublishDiagnosticsParams` with members that LSP does not know."""

    unknown: dict[str, Any] = {}


class OpenReport(CoreReport, kw_only=True):
    """A report of one document with members that LSP does not know."""

    unknown: dict[str, Any] = {}


def make_range(span: tuple[int, int, int, int]) -> CoreRange:
    """A range from its four numbers."""
    return CoreRange(CorePosition(span[0], span[1]), CorePosition(span[2], span[3]))


_params = msgspec.json.Decoder(CoreParams).decode
_workspace = msgspec.json.Decoder(CoreWorkspaceReport).decode

_PARAMS = frozenset(("uri", "version", "diagnostics"))
_REPORT = frozenset(("kind", "resultId", "items", "relatedDocuments"))


class _KnownReport(CoreReport, forbid_unknown_fields=True):
    pass


_report = msgspec.json.Decoder(_KnownReport | None).decode


def read_params(raw: bytes, whole: bool = False) -> CoreParams:
    """The params of `textDocument/publishDiagnostics`; `whole`: with all members. Raises msgspec.MsgspecError."""
    if not whole:
        try:
            return _params(raw)
        except msgspec.ValidationError:
            pass  # members that LSP does not know, or what LSP does not allow
    value = msgspec.json.decode(raw)
    params = msgspec.convert({**value, "unknown": _without(value, _PARAMS)}, OpenParams)
    if whole:
        params.diagnostics = _whole(params.diagnostics, value["diagnostics"])
    return params


def read_report(raw: bytes, whole: bool = False) -> CoreReport | None:
    """A report on one document, None where the answer is null; `whole`: with all members.

    Raises msgspec.MsgspecError.
    """
    if not whole:
        try:
            return _report(raw)
        except msgspec.ValidationError:
            pass
    value = msgspec.json.decode(raw)
    if value is None:
        return None
    report = msgspec.convert({**value, "unknown": _without(value, _REPORT)}, OpenReport)
    if whole:
        _make_whole(report, value)
        for uri, related in (report.related_documents or {}).items():
            _make_whole(related, value["relatedDocuments"][uri])
    return report


def read_workspace(raw: bytes, whole: bool = False) -> CoreWorkspaceReport:
    """A report on a workspace; `whole`: with all members of its diagnostics. Raises msgspec.MsgspecError."""
    workspace = _workspace(raw)
    if whole:
        for report, value in zip(workspace.items, msgspec.json.decode(raw)["items"], strict=True):
            _make_whole(report, value)
    return workspace


def _without(value: dict[str, Any], known: frozenset[str]) -> dict[str, Any]:
    return {name: member for name, member in value.items() if name not in known}


def _make_whole(report: CoreReport, value: dict[str, Any]) -> None:
    if report.items is not None:
        report.items = _whole(report.items, value["items"])


def _whole(diagnostics: list[CoreDiagnostic], values: list[dict[str, Any]]) -> list[CoreDiagnostic]:
    return [
        FullDiagnostic(
            range=d.range,
            message=d.message,
            severity=d.severity,
            code=d.code,
            tags=d.tags,
            source=d.source,
            original=value,
        )
        for d, value in zip(diagnostics, values, strict=True)
    ]
