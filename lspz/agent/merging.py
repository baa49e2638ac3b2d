"""Answers of several servers as one: what each said stays together, under its name."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Self, TypeVar

import attrs
import msgspec

from ..interceptors.entries import CompactFile
from ..interceptors.workspace_diagnostics import CompactWorkspaceReport
from ..tokens import count_tokens
from .freshness import Fresh, Freshness, Pending, Unavailable
from .listings import Listing
from .naming import shown
from .results import (
    Answer,
    CodeActions,
    Diagnostics,
    WorkspaceDiagnostics,
    WorkspaceSymbols,
)

A = TypeVar("A", bound=Answer[Any])

NAMED = 5
"""Files of which nothing is known that a note names."""


class _Sectioned(Answer[Any]):
    """Renders its parts one after the other, each under its server's name."""

    parts: tuple[Answer[Any], ...]

    def text(self, max_tokens: int = 0) -> str:
        """What each server said, after its name."""
        return self._sections(lambda part, most: part.text(most), max_tokens)

    def toon(self, max_tokens: int = 0) -> str:
        """What each server said, after its name."""
        return self._sections(lambda part, most: part.toon(most), max_tokens)

    def compact(self, max_tokens: int = 0) -> dict[str, Any]:
        """What each server said, under its name."""
        most = max(max_tokens // len(self.parts), 1) if max_tokens else 0
        return {"servers": {part.server: part.compact(most) for part in self.parts}}

    def tokens(self, form: str = "text") -> Any:
        """How many tokens it has in a form: `text`, `toon` or `compact`."""
        written = {"text": self.text, "toon": self.toon, "compact": self.compact}[form]()
        return count_tokens(written if isinstance(written, str) else msgspec.json.encode(written).decode())

    def _sections(self, write: Callable[[Answer[Any], int], str], max_tokens: int) -> str:
        told = [part for part in self.parts if part.says_something]
        if not told:
            return write(self.parts[0], max_tokens)
        out: list[str] = []
        for number, part in enumerate(told):
            head = f"{part.server}:\n"
            most = 0
            if max_tokens:
                used = count_tokens("\n".join([*out, head])).tokens + 1
                most = max((max_tokens - used) // (len(told) - number), 1)
            out.append(head + write(part, most))
        return "\n".join(out)


@attrs.frozen(kw_only=True)
class MergedDiagnostics(_Sectioned, Diagnostics):
    """What several servers find wrong in a document."""

    parts: tuple[Diagnostics, ...]
    """What each found."""

    def at_least(self, severity: int) -> Self:
        """The same without what is milder (1 error to 4 hint), which is counted as left out."""
        parts = tuple(part.at_least(severity) for part in self.parts)
        return attrs.evolve(super().at_least(severity), parts=parts)

    def slim(self, severity: int) -> Self:
        """The same without what is milder, also in what the servers said."""
        return attrs.evolve(super().slim(severity), parts=tuple(part.slim(severity) for part in self.parts))


@attrs.frozen(kw_only=True)
class MergedWorkspaceDiagnostics(_Sectioned, WorkspaceDiagnostics):
    """What several servers find wrong in a workspace."""

    parts: tuple[WorkspaceDiagnostics, ...]
    """What each found."""

    def at_least(self, severity: int) -> Self:
        """The same without what is milder (1 error to 4 hint), which is counted as left out."""
        parts = tuple(part.at_least(severity) for part in self.parts)
        return attrs.evolve(super().at_least(severity), parts=parts)


def merged_diagnostics(parts: Sequence[Diagnostics]) -> Diagnostics:
    """One answer about a document; that of one server as it is."""
    if len(parts) == 1:
        return parts[0]
    models = [part.model for part in parts if part.model is not None]
    model = None
    if models:
        model = attrs.evolve(
            models[0],
            diagnostics=tuple(entry for model in models for entry in model.diagnostics),
            omitted=sum(model.omitted for model in models),
            filtered=sum(model.filtered for model in models),
        )
    said = [{"source": part.server, **diagnostic} for part in parts for diagnostic in part.said]
    return MergedDiagnostics(
        state=_state(parts),
        model=model,
        raw=msgspec.json.encode({"uri": parts[0].uri, "diagnostics": said}),
        server=_servers(parts),
        root=parts[0].root,
        uri=parts[0].uri,
        parts=tuple(parts),
    )


def merged_workspace(parts: Sequence[WorkspaceDiagnostics]) -> WorkspaceDiagnostics:
    """One answer about a workspace."""
    if len(parts) == 1:
        return parts[0]
    models = [part.model for part in parts if part.model is not None]
    model = attrs.evolve(models[0], files=tuple(file for m in models for file in m.files)) if models else None
    items = [item for part in parts for item in (msgspec.json.decode(part.raw, type=_Report | None) or _Report()).items]
    return MergedWorkspaceDiagnostics(
        state=_state(parts),
        model=model,
        raw=msgspec.json.encode({"items": items}),
        server=_servers(parts),
        root=parts[0].root,
        parts=tuple(parts),
    )


def merged_documents(found: Sequence[Diagnostics], root: Path) -> WorkspaceDiagnostics:
    """Answers about many documents as one about a workspace, each server's together."""
    by_server: dict[str, list[Diagnostics]] = {}
    for answer in found:
        for part in getattr(answer, "parts", (answer,)):
            by_server.setdefault(part.server, []).append(part)
    answers = [_documents(parts, root) for parts in by_server.values()]
    return merged_workspace(answers) if len(answers) != 1 else attrs.evolve(answers[0], state=_state(answers))


def _documents(parts: Sequence[Diagnostics], root: Path) -> WorkspaceDiagnostics:
    files, items = [], []
    for part in parts:
        said = msgspec.json.decode(part.raw, type=_Said | None) or _Said()
        items.append({"uri": part.uri, "version": None, "kind": "full", "items": said.diagnostics})
        if (model := part.model) is not None:
            files.append(CompactFile(part.uri, model.diagnostics, None, None, model.omitted, model.filtered))
    return WorkspaceDiagnostics(
        state=_state_of_documents(parts, root),
        model=CompactWorkspaceReport(tuple(files), across=True),
        raw=msgspec.json.encode({"items": items}),
        server=parts[0].server,
        root=root,
    )


class _Said(msgspec.Struct):
    """`PublishDiagnosticsParams`, of which the diagnostics are passed on as they are."""

    diagnostics: msgspec.Raw = msgspec.Raw(b"[]")


def _state_of_documents(parts: Sequence[Diagnostics], root: Path) -> Freshness:
    for kind in (Unavailable, Pending):
        reasons: dict[str, list[str]] = {}
        for part in parts:
            if isinstance(part.state, kind):
                reasons.setdefault(part.state.reason, []).append(shown(part.uri, root))
        if reasons:
            return kind("; ".join(f"{_named(names)}: {reason}" for reason, names in reasons.items()))
    return Fresh(None, sum(part.state.count for part in parts if isinstance(part.state, Fresh)))


def _named(names: Sequence[str]) -> str:
    """A few names, and how many more there are."""
    more = f" and {len(names) - NAMED} more" if len(names) > NAMED else ""
    return ", ".join(names[:NAMED]) + more


class _Report(msgspec.Struct):
    """`WorkspaceDiagnosticReport`, whose items are passed on as they are."""

    items: list[msgspec.Raw] = []


def merged_symbols(parts: Sequence[WorkspaceSymbols]) -> WorkspaceSymbols:
    """One answer to a search for symbols."""
    if len(parts) == 1:
        return parts[0]
    models = [part.model for part in parts if part.model is not None]
    model = attrs.evolve(models[0], symbols=tuple(s for m in models for s in m.symbols)) if models else None
    found = [symbol for part in parts for symbol in part.lsp or ()]
    return WorkspaceSymbols(
        state=_state(parts), model=model, raw=msgspec.json.encode(found), server=_servers(parts), root=parts[0].root
    )


def merged_actions(parts: Sequence[CodeActions]) -> CodeActions:
    """One list of code actions."""
    if len(parts) == 1:
        return parts[0]
    listing = Listing(
        "actions",
        tuple({**row, "server": part.server} for part in parts if part.model for row in part.model.rows),
        tuple(f"{line} | {part.server}" for part in parts if part.model for line in part.model.lines),
    )
    return CodeActions(
        state=_state(parts),
        model=listing,
        raw=msgspec.json.encode([action for part in parts for action in part.lsp or ()]),
        server=_servers(parts),
        root=parts[0].root,
        actions=tuple(action for part in parts for action in part.actions),
    )


def _servers(parts: Sequence[Answer[Any]]) -> str:
    return ", ".join(part.server for part in parts)


def _state(parts: Sequence[Answer[Any]]) -> Freshness:
    """The worst state, with what every server in it says."""
    for kind in (Unavailable, Pending):
        reasons = [f"{part.server}: {part.state.reason}" for part in parts if isinstance(part.state, kind)]
        if reasons:
            return kind("; ".join(reasons))
    fresh = [part.state for part in parts if isinstance(part.state, Fresh)]
    return Fresh(fresh[0].version, sum(state.count for state in fresh))
