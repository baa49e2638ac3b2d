"""Answers as an agent reads them: with paths from the workspace's root in place of URIs, which take thrice the room."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import attrs

from ..errors import PlaceNotFound
from ..interceptors.document_symbols import CompactSymbols
from ..interceptors.locations import CompactLocations
from ..interceptors.reports import CompactDiagnosticsParams
from ..interceptors.workspace_diagnostics import CompactWorkspaceReport
from ..interceptors.workspace_symbols import CompactWorkspaceSymbols
from .locators import path_of


def shown(uri: str, root: Path) -> str:
    """A URI as people read it: a path, from a workspace's root if it is below; what is no file's stays as it is."""
    try:
        path = path_of(uri, root)
    except PlaceNotFound:
        return uri
    return path.relative_to(root).as_posix() if path.is_relative_to(root) else path.as_posix()


def renamed(model: Any, root: Path) -> Any:
    """The same model with paths in place of URIs. Models without URIs stay as they are."""

    def name(uri: str) -> str:
        return shown(uri, root)

    if isinstance(model, CompactLocations):
        return attrs.evolve(model, files={name(uri): places for uri, places in model.files.items()})
    if isinstance(model, CompactSymbols):
        return model if model.uri is None else attrs.evolve(model, uri=name(model.uri))
    if isinstance(model, CompactWorkspaceSymbols):
        return attrs.evolve(model, symbols=tuple(s._replace(uri=name(s.uri)) for s in model.symbols))
    if isinstance(model, CompactDiagnosticsParams):
        return attrs.evolve(model, uri=name(model.uri))
    if isinstance(model, CompactWorkspaceReport):
        return attrs.evolve(model, files=tuple(attrs.evolve(file, uri=name(file.uri)) for file in model.files))
    return model
