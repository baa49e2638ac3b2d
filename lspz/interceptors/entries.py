"""What all forms of diagnostics are made of: entries, each for the diagnostics that are equal but for their range."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

import attrs

from ..formats.text.positions import Span

if TYPE_CHECKING:
    from lsprotocol import types

__all__ = ["SEVERITIES", "TAGS", "CompactDiagnostic", "CompactFile", "Row", "Span", "entries_of", "rows_of"]

SEVERITIES = {1: "error", 2: "warning", 3: "info", 4: "hint"}
"""The words for LSP's severities in the forms that a model reads."""

TAGS = {1: "unnecessary", 2: "deprecated"}
"""The words for LSP's diagnostic tags."""


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
        """The diagnostics it stands for, as lsprotocol has them."""
        from . import wide

        return [wide.read_diagnostic(value) for value in self.to_lsp()]

    def to_lsp(self) -> list[dict[str, Any]]:
        """The diagnostics it stands for, as LSP's JSON, with kept members just as they came."""
        shared: dict[str, Any] = {"message": self.message}
        if self.markup is not None:
            shared["message"] = {"kind": self.markup, "value": self.message}
        if self.severity is not None:
            shared["severity"] = self.severity
        if self.code is not None:
            shared["code"] = self.code
        shared.update(self.fields)
        if self.tags:
            shared["tags"] = list(self.tags)
        return [
            {"range": {"start": {"line": a, "character": b}, "end": {"line": c, "character": d}}, **shared}
            for a, b, c, d in self.ranges
        ]


@attrs.frozen
class CompactFile:
    """One file of a report about several."""

    uri: str
    diagnostics: tuple[CompactDiagnostic, ...] | None = ()
    """None: unchanged since the report of this `result_id`."""
    version: int | None = None
    result_id: str | None = None
    omitted: int = 0
    """How many were left out for a cap."""
    filtered: int = 0
    """How many were left out for their severity, source or code."""
    report: int | None = None
    """The number of the report where reports are numbered (formats.md §6)."""

    def head(self) -> dict[str, Any]:
        """What is said of the file besides its diagnostics, under full names."""
        out: dict[str, Any] = {"uri": self.uri}
        if self.version is not None:
            out["documentVersion"] = self.version
        if self.result_id is not None:
            out["resultId"] = self.result_id
        if self.diagnostics is None:
            out["kind"] = "unchanged"
        return out

    def to_lsp(self) -> dict[str, Any]:
        """The file's report as LSP's JSON, without its URI and version."""
        out: dict[str, Any] = {"kind": "unchanged" if self.diagnostics is None else "full"}
        if self.result_id is not None:
            out["resultId"] = self.result_id
        if self.diagnostics is not None:
            out["items"] = [diagnostic for entry in self.diagnostics for diagnostic in entry.to_lsp()]
        return out


class Row(NamedTuple):
    """One diagnostic: what forms without room for more keep of it."""

    severity: int | None
    code: int | str | None
    tags: tuple[int, ...]
    markup: str | None
    message: str
    span: Span


def rows_of(entries: Iterable[CompactDiagnostic]) -> list[Row]:
    """The diagnostics of entries, one row each."""
    return [Row(e.severity, e.code, e.tags, e.markup, e.message, span) for e in entries for span in e.ranges]


def entries_of(rows: Iterable[Row]) -> tuple[CompactDiagnostic, ...]:
    """Entries of rows, in order of first appearance."""
    merged: dict[Any, list[Span]] = {}
    for *shared, span in rows:
        severity, code, tags, markup, message = shared
        merged.setdefault((message, severity, code, type(code), tags, markup), []).append(span)
    return tuple(
        CompactDiagnostic(message, tuple(sorted(spans)), severity, code, tags, markup)
        for (message, severity, code, _, tags, markup), spans in merged.items()
    )
