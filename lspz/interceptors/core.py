"""The members of diagnostics that are kept by default, read by msgspec straight from bytes.

These structs mirror lsprotocol's types, attribute for attribute, at a tenth of the cost; they stand behind the typed
interceptor where nothing else of a diagnostic is needed. A contract test holds both readings to the same result. What
they refuse (any member of params or report that LSP does not know, a value of another type) is read the wide way.
"""

from __future__ import annotations

from typing import Any

import msgspec
from lsprotocol.types import MarkupKind

FIELDS = frozenset(("message", "range", "severity", "code", "tags"))
"""The fields of a diagnostic that a core reading can keep."""


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

    kind: MarkupKind
    value: str


class CoreDiagnostic(msgspec.Struct, gc=False, omit_defaults=True):
    """Mirrors `Diagnostic`, without the members that field pruning leaves out; `source` tells groups apart."""

    range: CoreRange
    message: str | CoreMarkup
    severity: int | None = None
    code: int | str | None = None
    tags: list[int] | None = None
    source: Any = None


class CoreParams(msgspec.Struct, forbid_unknown_fields=True, omit_defaults=True, kw_only=True):
    """Mirrors `PublishDiagnosticsParams`."""

    uri: str
    version: int | None = None
    diagnostics: list[CoreDiagnostic]


class CoreReport(msgspec.Struct, forbid_unknown_fields=True, omit_defaults=True, rename="camel", kw_only=True):
    """Mirrors a full report without related documents."""

    kind: str
    result_id: str | None = None
    items: list[CoreDiagnostic]

    related_documents = None


def make_range(span: tuple[int, int, int, int]) -> CoreRange:
    """A range from its four numbers."""
    return CoreRange(CorePosition(span[0], span[1]), CorePosition(span[2], span[3]))


_params = msgspec.json.Decoder(CoreParams).decode
_report = msgspec.json.Decoder(CoreReport).decode


def read_params(raw: bytes) -> CoreParams | None:
    """The params of `textDocument/publishDiagnostics`; None when they must be read the wide way."""
    try:
        return _params(raw)
    except (msgspec.MsgspecError, RecursionError):
        return None


def read_report(raw: bytes) -> CoreReport | None:
    """A full report; None when it is none, or must be read the wide way."""
    try:
        report = _report(raw)
    except (msgspec.MsgspecError, RecursionError):
        return None
    return None if report.kind == "unchanged" else report


def as_it_is(value: CoreParams | CoreReport) -> CoreParams | CoreReport:
    """What a converter has to do to write one: nothing, since msgspec writes its own structs."""
    return value
