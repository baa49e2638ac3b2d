"""Answers: typed and frozen, each renders in every form, counts its tokens, and says what it lacks."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, Self, TypeVar

import attrs
import msgspec

from ..errors import CannotCompress
from ..formats import spelling
from ..interceptors.completion import CompactCompletions
from ..interceptors.compressor import Cappable, fitting
from ..interceptors.document_symbols import CompactSymbols
from ..interceptors.entries import CompactDiagnostic
from ..interceptors.hover import CompactHover
from ..interceptors.items import Item
from ..interceptors.locations import CompactLocations, Place
from ..interceptors.outline import Symbol
from ..interceptors.reports import CompactDiagnosticsParams
from ..interceptors.workspace_diagnostics import CompactWorkspaceReport
from ..interceptors.workspace_symbols import CompactWorkspaceSymbols, Found
from ..tokens import TokenCount, count_tokens
from .edits import AppliedEdit
from .freshness import Fresh, Freshness, Pending, Unavailable
from .listings import Listing
from .naming import renamed

if TYPE_CHECKING:
    from lsprotocol import types

    from .documents import Snapshot

M = TypeVar("M", bound=Cappable)


@attrs.frozen(kw_only=True)
class Answer(Generic[M]):
    """What a server answered, and how far that can be relied on."""

    state: Freshness
    """`Fresh`: it is about the documents as they are. `Pending`: the server was still at work, ask again.
    `Unavailable`: the server will not say."""
    model: M | None
    """What lspz read of it; None where the server said something that LSP does not have, which is in `raw`."""
    raw: bytes = attrs.field(default=b"null", repr=False)
    """The server's result, as JSON. Its characters are counted as the server does."""
    server: str = ""
    """The server's name in lspz's table, or its program."""
    root: Path | None = attrs.field(default=None, repr=False)
    """The folder from which text and tables name files; None: they have URIs."""

    @property
    def is_fresh(self) -> bool:
        """Whether it is about the documents as they are."""
        return isinstance(self.state, Fresh)

    @property
    def note(self) -> str | None:
        """What whoever reads the answer must know, in words; None when it is fresh."""
        if isinstance(self.state, Pending):
            return f"not ready, ask again: {self.state.reason}"
        return f"not known: {self.state.reason}" if isinstance(self.state, Unavailable) else None

    @property
    def lsp(self) -> Any:
        """The server's result, as JSON values."""
        return msgspec.json.decode(self.raw)

    @property
    def count(self) -> int:
        """How many there are: places, symbols, items, diagnostics."""
        return self.model.size if self.model is not None else 0

    @property
    def omitted(self) -> int:
        """How many were left out for a cap or a filter."""
        return getattr(self.model, "omitted", 0) + getattr(self.model, "filtered", 0)

    @property
    def says_something(self) -> bool:
        """Whether there is anything to tell but that all is well."""
        return bool(self.count or self.omitted) or self.note is not None

    def text(self, max_tokens: int = 0) -> str:
        """The fewest tokens, for a model to read (docs/text_format.md): as many rows as `max_tokens` hold (0: all).

        The first line is `note`, where there is one.
        """
        return self._noted("text", max_tokens)

    def toon(self, max_tokens: int = 0) -> str:
        """Tables for a model to read (TOON), after `note`."""
        return self._noted("toon", max_tokens)

    def compact(self, max_tokens: int = 0) -> dict[str, Any]:
        """Short JSON (docs/compact_format.md), with a member `note` where there is one."""
        value = self._spelled("compact", max_tokens)
        out = value if isinstance(value, dict) else {"result": value}
        return out if self.note is None else {**out, "note": self.note}

    def tokens(self, form: str = "text") -> TokenCount:
        """How many tokens it has in a form: `text`, `toon` or `compact`."""
        written = self.compact() if form == "compact" else self._noted(form, 0)
        return count_tokens(written if isinstance(written, str) else msgspec.json.encode(written).decode())

    def _noted(self, form: str, max_tokens: int) -> str:
        if self.note is None:
            return self._written(form, max_tokens)
        if not self.count and (self.model is not None or self.raw == b"null"):
            return self.note
        left = max(max_tokens - count_tokens(f"{self.note}\n").tokens, 1) if max_tokens else 0
        return f"{self.note}\n{self._written(form, left)}"

    def _written(self, form: str, max_tokens: int) -> str:
        value = self._spelled(form, max_tokens)
        if spelling.is_enclosed(value):
            return str(value["text"])
        return msgspec.json.encode(value).decode()

    def _spelled(self, form: str, max_tokens: int) -> Any:
        """What the model is in a form; the server's own JSON where the form has no place for it."""
        if self.model is None:
            return self.lsp
        try:
            return spelling.write(self._model_for(form, max_tokens), form)
        except CannotCompress:
            return self.lsp

    def _model_for(self, form: str, max_tokens: int) -> Any:
        """What is written in a form: as much of the model as there is room for."""
        model: Any = self.model if form == "compact" or self.root is None else renamed(self.model, self.root)
        return fitting(model, form, max_tokens)


@attrs.frozen(kw_only=True)
class Hover(Answer[CompactHover]):
    """What is said about a symbol."""

    @property
    def markdown(self) -> str:
        """The text; empty where there is nothing to say."""
        return self.model.markdown if self.model is not None else ""

    @property
    def count(self) -> int:
        """1, or 0 where there is nothing to say."""
        return int(bool(self.markdown))


@attrs.frozen(kw_only=True)
class Locations(Answer[CompactLocations]):
    """Where something is: references, definitions and the like."""

    @property
    def files(self) -> Mapping[str, tuple[Place, ...]]:
        """The places, by URI."""
        return self.model.files if self.model is not None else {}


@attrs.frozen(kw_only=True)
class Symbols(Answer[CompactSymbols]):
    """The outline of a document."""

    @property
    def symbols(self) -> tuple[Symbol, ...]:
        """The symbols, in order, each with its depth."""
        return self.model.symbols if self.model is not None else ()


@attrs.frozen(kw_only=True)
class WorkspaceSymbols(Answer[CompactWorkspaceSymbols]):
    """What a search for symbols found."""

    @property
    def symbols(self) -> tuple[Found, ...]:
        """The symbols, and where they are."""
        return self.model.symbols if self.model is not None else ()


@attrs.frozen(kw_only=True)
class Completions(Answer[CompactCompletions]):
    """What may stand at a place."""

    @property
    def items(self) -> tuple[Item, ...]:
        """The items, by kind."""
        return self.model.items if self.model is not None else ()


@attrs.frozen(kw_only=True)
class Diagnostics(Answer[CompactDiagnosticsParams]):
    """What is wrong in a document. An empty list means "clean" only when it `is_fresh`."""

    uri: str

    @property
    def is_clean(self) -> bool:
        """Whether it is known that nothing is wrong. What was left out for a cap or filter counts as wrong."""
        return isinstance(self.state, Fresh) and not self.state.count

    @property
    def entries(self) -> tuple[CompactDiagnostic, ...]:
        """What is wrong, each with all its places."""
        return self.model.diagnostics if self.model is not None else ()

    def slim(self, severity: int) -> Self:
        """The same without what is milder, also in what the server said (`raw`, `said`)."""
        said = [diagnostic for diagnostic in self.said if (diagnostic.get("severity") or 1) <= severity]
        raw = msgspec.json.encode({"uri": self.uri, "diagnostics": said})
        return attrs.evolve(self.at_least(severity), raw=raw)

    def at_least(self, severity: int) -> Self:
        """The same without what is milder (1 error to 4 hint), which is counted as left out."""
        if self.model is None:
            return self
        kept, filtered = _at_least(self.entries, severity)
        model = attrs.evolve(self.model, diagnostics=kept, filtered=self.model.filtered + filtered)
        return attrs.evolve(self, model=model)

    @property
    def diagnostics(self) -> list[types.Diagnostic]:
        """All of them, as lsprotocol has them."""
        from ..interceptors import wide

        return [wide.read_diagnostic(value) for value in self.said]

    @property
    def said(self) -> list[Any]:
        """All of them, as the server sent them (JSON)."""
        found: list[Any] = (self.lsp or {}).get("diagnostics", [])
        return found


def _at_least(entries: Iterable[CompactDiagnostic], severity: int) -> tuple[tuple[CompactDiagnostic, ...], int]:
    """The entries that are not milder, and how many diagnostics the others stand for."""
    kept, filtered = [], 0
    for entry in entries:
        if (entry.severity or 1) <= severity:
            kept.append(entry)
        else:
            filtered += entry.count
    return tuple(kept), filtered


@attrs.frozen(kw_only=True)
class WorkspaceDiagnostics(Answer[CompactWorkspaceReport]):
    """What is wrong in a workspace."""

    @property
    def files(self) -> Mapping[str, tuple[CompactDiagnostic, ...]]:
        """What is wrong, by URI."""
        found: dict[str, tuple[CompactDiagnostic, ...]] = {}
        for file in self.model.files if self.model is not None else ():
            found[file.uri] = (*found.get(file.uri, ()), *(file.diagnostics or ()))  # several servers may have one each
        return found

    def at_least(self, severity: int) -> Self:
        """The same without what is milder (1 error to 4 hint), which is counted as left out."""
        if self.model is None:
            return self
        files = []
        for file in self.model.files:
            kept, filtered = _at_least(file.diagnostics or (), severity)
            files.append(attrs.evolve(file, diagnostics=kept, filtered=file.filtered + filtered))
        return attrs.evolve(self, model=attrs.evolve(self.model, files=tuple(files)))

    @property
    def count(self) -> int:
        """How many diagnostics there are."""
        return sum(entry.count for entries in self.files.values() for entry in entries)

    @property
    def omitted(self) -> int:
        """How many were left out for a cap or a filter."""
        return 0 if self.model is None else sum(file.omitted + file.filtered for file in self.model.files)


@attrs.frozen(kw_only=True)
class Listed(Answer[Listing]):
    """A list: signatures, calls."""

    @property
    def rows(self) -> tuple[Mapping[str, Any], ...]:
        """Plain values under full names."""
        return self.model.rows if self.model is not None else ()


@attrs.frozen
class CodeAction:
    """Something that a server can do to the code."""

    title: str
    kind: str
    preferred: bool
    disabled: str
    """Why it cannot be done now; empty where it can."""
    lsp: Mapping[str, Any] = attrs.field(repr=False)
    """The `CodeAction` or `Command`, as the server sent it."""
    server: str
    """The server's name."""
    root: Path
    """The folder of the server's project."""
    asked: Snapshot | None = attrs.field(default=None, repr=False, eq=False)
    """What the server knew when it offered this."""


@attrs.frozen(kw_only=True)
class CodeActions(Listed):
    """What a server can do to the code at a place; `apply_action` does it."""

    actions: tuple[CodeAction, ...] = ()


@attrs.frozen(kw_only=True)
class Edited(Listed):
    """What an edit did to the files, or would do."""

    applied: AppliedEdit
    edit: Mapping[str, Any] = attrs.field(repr=False)
    """The `WorkspaceEdit`, its characters counted as the server does."""
    is_written: bool
    """Whether the files are changed."""

    def diff(self) -> str:
        """All of it as a unified diff."""
        return self.applied.diff()
