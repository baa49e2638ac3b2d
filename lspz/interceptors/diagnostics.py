"""Diagnostics of one document, pushed (`textDocument/publishDiagnostics`) and pulled (`textDocument/diagnostic`).

A reader needs: what is wrong, how bad it is, and where. What repeats is said once. The rules are those of formats.md §1
(compact) and §5 (folded); docs/compact_format.md is for those who write a decoder.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, ClassVar

import attrs

from ..errors import CannotCompress
from ..formats import spelling
from . import PUBLISH, PULL, core
from .base import Direction, Settings
from .compressor import Compressor
from .entries import CompactFile
from .grouping import compact, fold, select
from .increments import Increment
from .reports import PARAMS, REPORT, CompactDiagnosticReport, CompactDiagnosticsParams
from .strategies import CompressionConfig


@attrs.frozen
class DiagnosticsCompressor(Compressor):
    """Rewrites pushed params and pulled full reports in one form."""

    name: ClassVar[str] = "diagnostics"
    methods: ClassVar[tuple[str, ...]] = (PUBLISH, PULL)

    strategies: CompressionConfig = attrs.field(factory=CompressionConfig)

    def reader(self, method: str) -> Callable[[bytes], Any]:
        """msgspec's, with all members where more than the core of a diagnostic is kept."""
        read = core.read_params if method == PUBLISH else core.read_report
        return (lambda raw: read(raw, True)) if self.strategies.keeps_more else read

    async def intercept(self, method: str, params: Any, direction: Direction) -> Any:
        """Return a compact model, or folded LSP. Empty lists and unchanged reports stay as they are."""
        if method == PUBLISH:
            return self._push(params) if params.diagnostics else params
        if params is None or params.kind == "unchanged" or not _has_any(params):
            return params
        return self._pull(params)

    def model(self, method: str, raw: bytes) -> CompactDiagnosticsParams | CompactDiagnosticReport | None:
        """The model of params or a report (JSON), None of what is no report: null, or unchanged.

        Raises CannotCompress, msgspec.MsgspecError.
        """
        found = self.reader(method)(raw)
        if found is None or (method == PULL and not found.is_full):
            return None
        model: CompactDiagnosticsParams | CompactDiagnosticReport
        model = self._push(found) if method == PUBLISH else self._pull(found)
        return model

    def _push(self, params: Any) -> Any:
        unknown = getattr(params, "unknown", {})
        if self.form == "folded":
            out = {"uri": params.uri} if params.version is None else {"uri": params.uri, "version": params.version}
            return {**out, **unknown, "diagnostics": fold(params.diagnostics, self.strategies, self.limits)}
        kept, omitted, filtered = select(params.diagnostics, self.limits)
        return CompactDiagnosticsParams(
            uri=params.uri,
            diagnostics=compact(kept, self.strategies),
            document_version=params.version,
            letters=self.strategies.enable_enum_compression,
            delta=self.strategies.enable_range_delta,
            unknown=_checked(unknown, PARAMS),
            omitted=omitted,
            filtered=filtered,
        )

    def _pull(self, report: Any) -> Any:
        unknown = getattr(report, "unknown", {})
        related = report.related_documents or {}
        if self.form == "folded":
            folded = {**self._fold(report), **unknown}
            if related:
                folded["relatedDocuments"] = {uri: self._fold(r) for uri, r in related.items()}
            return folded
        kept, omitted, filtered = select(report.items, self.limits)
        return CompactDiagnosticReport(
            diagnostics=compact(kept, self.strategies),
            result_id=report.result_id,
            letters=self.strategies.enable_enum_compression,
            delta=self.strategies.enable_range_delta,
            unknown=_checked(unknown, REPORT),
            related=tuple(self._file(uri, report) for uri, report in related.items()),
            omitted=omitted,
            filtered=filtered,
        )

    def _fold(self, report: Any) -> dict[str, Any]:
        out: dict[str, Any] = {"kind": "unchanged" if report.items is None else "full"}
        if report.result_id is not None:
            out["resultId"] = report.result_id
        if report.items is not None:
            out["items"] = fold(report.items, self.strategies, self.limits)
        return out

    def _file(self, uri: str, report: Any) -> CompactFile:
        if report.items is None:
            return CompactFile(uri, None, result_id=report.result_id)
        kept, omitted, filtered = select(report.items, self.limits)
        entries = compact(kept, self.strategies)
        return CompactFile(uri, entries, None, report.result_id, omitted, filtered)


def _has_any(report: Any) -> bool:
    return report.items is not None and bool(
        report.items or any(related.items for related in (report.related_documents or {}).values())
    )


def _checked(unknown: dict[str, Any], taken: frozenset[str]) -> dict[str, Any]:
    """Members that LSP does not know. Raises CannotCompress for one named like a member of the compact form."""
    if not taken.isdisjoint(unknown):
        raise CannotCompress(f"a member named like one of the compact form: {', '.join(taken & unknown.keys())}")
    return unknown


def create(settings: Settings, form: str) -> DiagnosticsCompressor:
    """The compressor for a client that gets `form`."""
    return DiagnosticsCompressor(form, settings.compression, limits=settings.limits)


def is_ours(value: object) -> bool:
    """Whether params or a report are in a form that is not LSP, as formats.md §1 tells the forms apart."""
    if not isinstance(value, Mapping):
        return False
    if spelling.is_enclosed(value) or ("report" in value and "kept" in value):
        return True
    entries = value.get("diagnostics")
    if "uri" not in value:
        return "items" not in value and value.get("kind") == "full" and ("version" in value or "diagnostics" in value)
    if "omitted" in value or "filtered" in value:
        return True
    if not isinstance(entries, list) or not entries:
        return False
    return isinstance(entries[0], Mapping) and "r" in entries[0] and "range" not in entries[0]


def read(method: str, value: Any) -> CompactDiagnosticsParams | CompactDiagnosticReport | Increment | None:
    """The model of params or a report in one of lspz's forms, None of plain LSP. Raises DecodeError."""
    if not is_ours(value):
        return None
    model: CompactDiagnosticsParams | CompactDiagnosticReport | Increment
    model = spelling.read(Increment if _is_change(value) else model_of(method), value)
    return model


def _is_change(value: Mapping[str, Any]) -> bool:
    """Whether a message says only what changed."""
    text = value.get("text")
    return "kept" in value if not isinstance(text, str) else text.partition("\n")[0].endswith(" kept")


def model_of(method: str) -> type[CompactDiagnosticsParams | CompactDiagnosticReport]:
    """The model of a method's params or result."""
    return CompactDiagnosticsParams if method == PUBLISH else CompactDiagnosticReport
