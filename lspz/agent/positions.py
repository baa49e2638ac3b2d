"""Answers whose characters are counted in another way than the caller counts."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import attrs

from ..formats.text.positions import Span
from ..interceptors.document_symbols import CompactSymbols
from ..interceptors.entries import CompactDiagnostic
from ..interceptors.hover import CompactHover
from ..interceptors.locations import CompactLocations, Place
from ..interceptors.reports import CompactDiagnosticsParams
from ..interceptors.workspace_diagnostics import CompactWorkspaceReport
from ..interceptors.workspace_symbols import CompactWorkspaceSymbols

Respan = Callable[[str | None, Span], Span]
"""A range in a document (by URI; None: the one that was asked about) as the caller counts."""


def respanned(model: Any, respan: Respan) -> Any:
    """The same model with its ranges as the caller counts. Models without ranges stay as they are."""
    if isinstance(model, CompactHover):
        return model if model.range is None else attrs.evolve(model, range=respan(None, model.range))
    if isinstance(model, CompactLocations):
        files = {uri: tuple(_place(place, uri, respan) for place in places) for uri, places in model.files.items()}
        return attrs.evolve(model, files=files)
    if isinstance(model, CompactSymbols):
        symbols = []
        for symbol in model.symbols:
            line, character, *_ = respan(model.uri, (*symbol.start, *symbol.start))
            span = respan(model.uri, symbol.range)
            symbols.append(symbol._replace(range=span, start=(line, character)))
        return attrs.evolve(model, symbols=tuple(symbols))
    if isinstance(model, CompactWorkspaceSymbols):
        found = [s if s.range is None else s._replace(range=respan(s.uri, s.range)) for s in model.symbols]
        return attrs.evolve(model, symbols=tuple(found))
    if isinstance(model, CompactDiagnosticsParams):
        return attrs.evolve(model, diagnostics=_entries(model.diagnostics, model.uri, respan))
    if isinstance(model, CompactWorkspaceReport):
        reports = [
            file
            if file.diagnostics is None
            else attrs.evolve(file, diagnostics=_entries(file.diagnostics, file.uri, respan))
            for file in model.files
        ]
        return attrs.evolve(model, files=tuple(reports))
    return model


def _place(place: Place, uri: str, respan: Respan) -> Place:
    target = None if place.target is None else respan(uri, place.target)
    return Place(respan(uri, place.range), target)


def _entries(entries: tuple[CompactDiagnostic, ...], uri: str, respan: Respan) -> tuple[CompactDiagnostic, ...]:
    return tuple(attrs.evolve(entry, ranges=tuple(respan(uri, span) for span in entry.ranges)) for entry in entries)
