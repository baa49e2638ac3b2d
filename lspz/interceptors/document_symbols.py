"""The outline of a document: the answer to `textDocument/documentSymbol`, a tree or (SymbolInformation) a flat list.

What is kept: order, depth, name, kind, detail (of a tree) or container (of a flat list), range, where the name
begins, and whether it is deprecated. Not kept: where the name ends.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, ClassVar, Self

import attrs
import msgspec

from ..errors import CannotCompress, DecodeError
from ..formats import VERSION, spelling
from ..formats.json import count, numbers, optional, typed
from ..formats.text.lines import Lines, maybe_unquote, write_uri
from .base import Direction, Settings
from .compressor import Compressor, capped
from .core import CorePosition, CoreRange
from .lsp import DEPRECATED, SYMBOL_KINDS, is_deprecated, lsp_range, span_of
from .names import drop_empty, read_kind, read_range, write_range
from .outline import KINDS, Memories, Symbol, read_line, write_line

METHOD = "textDocument/documentSymbol"


@attrs.frozen
class CompactSymbols:
    """An outline, in the order of the server's."""

    symbols: tuple[Symbol, ...]
    uri: str | None = None
    """The document of a flat list; None for a tree."""
    omitted: int = 0

    @property
    def size(self) -> int:
        """How many symbols there are."""
        return len(self.symbols)

    def first(self, count: int) -> Self:
        """The same with its first `count` symbols, and the others counted as omitted."""
        left_out = max(self.size - count, 0)
        return attrs.evolve(self, symbols=self.symbols[:count], omitted=self.omitted + left_out)

    def envelope(self) -> dict[str, Any]:
        """Nothing: the request says which document it is."""
        return {}

    def to_lsp(self) -> list[dict[str, Any]]:
        """A tree, or a flat list, as LSP's JSON; a name ends where it is as long as it is."""
        if self.uri is not None:
            return [_flat_symbol(symbol, self.uri) for symbol in self.symbols]
        roots: list[dict[str, Any]] = []
        path: list[dict[str, Any]] = []
        for symbol in self.symbols:
            item = _tree_symbol(symbol)
            del path[symbol.depth :]
            (path[-1].setdefault("children", []) if path else roots).append(item)
            path.append(item)
        return roots

    # compact: rows, lines relative to the row before

    def to_compact(self) -> dict[str, Any]:
        """`{"version":1,"symbols":rows}` (text_format.md §6)."""
        rows = []
        line = 0
        for depth, kind, name, (a, b, c, d), (at, char), extra, deprecated in self.symbols:
            end = d - char - (len(name) if c == at else 0)
            row = [kind, name, depth, at - line, char, c - at, end, at - a, b - char, extra, int(deprecated)]
            line = at
            while len(row) > 5 and row[-1] in (0, ""):
                row.pop()
            rows.append(row)
        out: dict[str, Any] = {"version": VERSION}
        if self.uri is not None:
            out["uri"] = self.uri
        out["symbols"] = rows
        return {**out, "omitted": self.omitted} if self.omitted else out

    @classmethod
    def from_compact(cls, value: Mapping[str, Any]) -> Self:
        """Read a compact outline. Raises DecodeError."""
        symbols = []
        line = 0
        for i, row in enumerate(typed(value, "symbols", list, "symbols")):
            path = f"symbols[{i}]"
            if not isinstance(row, list | tuple) or not 5 <= len(row) <= 11:
                raise DecodeError(path, f"must be a list of 5 to 11, not {row!r:.80}")
            kind, name, *rest = row
            places = numbers(rest[:7], path) + [0] * (7 - len(rest[:7]))
            extra = rest[7] if len(rest) > 7 else ""
            if not isinstance(name, str) or not isinstance(extra, str) or type(kind) is not int:
                raise DecodeError(path, f"must have a kind, a name and a detail, not {row!r:.80}")
            deprecated = rest[8] if len(rest) > 8 else 0
            if deprecated not in (0, 1):
                raise DecodeError(path, f"must end in 0 or 1, not {deprecated!r}")
            depth, down, char, lines, end, up, left = places
            line += down
            span = (line - up, char + left, line + lines, end + char + (len(name) if lines == 0 else 0))
            symbols.append(Symbol(depth, kind, name, span, (line, char), extra, bool(deprecated)))
        return cls(_checked(symbols), optional(value, "uri", str, "uri"), count(value, "omitted"))

    # names: a table

    def to_names(self) -> dict[str, Any]:
        """A table of symbols, the tree by depth."""
        rows = []
        for symbol in self.symbols:
            line, char = symbol.start
            at_start = symbol.start == symbol.range[:2]
            rows.append(
                {
                    "depth": symbol.depth,
                    "kind": SYMBOL_KINDS.get(symbol.kind, symbol.kind),
                    "name": symbol.name,
                    "range": write_range(symbol.range),
                    "start": None if at_start else f"{line},{char}",
                    "container" if self.uri is not None else "detail": symbol.extra or None,
                    "deprecated": symbol.deprecated or None,
                }
            )
        drop_empty(rows, ("depth", "start", "container", "detail", "deprecated"))
        out: dict[str, Any] = {} if self.uri is None else {"uri": self.uri}
        out["symbols"] = rows
        return {**out, "omitted": self.omitted} if self.omitted else out

    @classmethod
    def from_names(cls, value: Mapping[str, Any]) -> Self:
        """Read `to_names`' table. Raises DecodeError."""
        symbols = []
        for i, row in enumerate(typed(value, "symbols", list, "symbols")):
            path = f"symbols[{i}]"
            if not isinstance(row, Mapping):
                raise DecodeError(path, f"must be a row of a table, not {row!r:.80}")
            span = read_range(typed(row, "range", str, f"{path}.range"), f"{path}.range")
            start = span[:2]
            if row.get("start") is not None:
                line, _, char = str(row["start"]).partition(",")
                if not (line.isdecimal() and char.isdecimal()):
                    raise DecodeError(f"{path}.start", f"{row['start']!r} is no position")
                start = (int(line), int(char))
            extra = row.get("container" if "uri" in value else "detail") or ""
            symbols.append(
                Symbol(
                    depth=optional(row, "depth", int, f"{path}.depth") or 0,
                    kind=read_kind(row.get("kind"), KINDS, f"{path}.kind"),
                    name=typed(row, "name", str, f"{path}.name"),
                    range=span,
                    start=start,
                    extra=str(extra),
                    deprecated=row.get("deprecated") is True,
                )
            )
        return cls(_checked(symbols), optional(value, "uri", str, "uri"), count(value, "omitted"))

    # text: an outline

    def to_text(self) -> str:
        """The text of text_format.md §5.1. Raises CannotCompress."""
        out = [] if self.uri is None else [f"flat {write_uri(self.uri)}"]
        memory: Memories = {}
        for symbol in self.symbols:
            out.append(write_line(symbol, memory))
        if self.omitted:
            out.append(f"omitted {self.omitted}")
        return "\n".join(out) if self.symbols or self.omitted else "none"

    @classmethod
    def from_text(cls, text: str) -> Self:
        """Read `to_text`'s text. Raises DecodeError."""
        if text == "none":
            return cls(())
        lines = Lines(text, continued=False)
        uri = None
        omitted = 0
        symbols: list[Symbol] = []
        memory: Memories = {}
        for line in lines:
            with lines.named():
                if line.startswith("flat ") and lines.number == 1:
                    uri = maybe_unquote(line[5:])
                elif line.startswith("omitted "):
                    omitted = int(line[8:])
                    lines.end()
                else:
                    symbols.append(read_line(line, memory))
                    _checked(symbols[-2:], first=len(symbols) == 1)
        if not symbols and not omitted:
            raise DecodeError("line 1", "no symbol follows")
        return cls(tuple(symbols), uri, omitted)


def _checked(symbols: Iterable[Symbol], first: bool = True) -> tuple[Symbol, ...]:
    """The symbols of an outline. Raises DecodeError for one that is deeper than a child."""
    checked = tuple(symbols)
    allowed = 0 if first else checked[0].depth if checked else 0
    for symbol in checked:
        if not 0 <= symbol.depth <= allowed:
            raise DecodeError("", f"{symbol.name!r} is at depth {symbol.depth}, where at most {allowed} is possible")
        allowed = symbol.depth + 1
    return checked


def _tree_symbol(symbol: Symbol) -> dict[str, Any]:
    (line, char), name = symbol.start, symbol.name
    out: dict[str, Any] = {"name": name}
    if symbol.extra:
        out["detail"] = symbol.extra
    out["kind"] = symbol.kind
    if symbol.deprecated:
        out["tags"] = [DEPRECATED]
    end = min((line, char + len(name)), symbol.range[2:])
    out["range"] = lsp_range(symbol.range)
    out["selectionRange"] = lsp_range((line, char, *max(end, symbol.start)))
    return out


def _flat_symbol(symbol: Symbol, uri: str) -> dict[str, Any]:
    out: dict[str, Any] = {"name": symbol.name, "kind": symbol.kind}
    if symbol.deprecated:
        out["tags"] = [DEPRECATED]
    out["location"] = {"uri": uri, "range": lsp_range(symbol.range)}
    return {**out, "containerName": symbol.extra} if symbol.extra else out


# LSP's shapes


class _Location(msgspec.Struct, gc=False):
    uri: str
    range: CoreRange


class SymbolAnswer(msgspec.Struct, rename="camel", kw_only=True):
    """Mirrors `DocumentSymbol`, or a `SymbolInformation` with its location."""

    name: str
    kind: int
    detail: str | None = None
    tags: list[int] | None = None
    deprecated: bool | None = None
    range: CoreRange | None = None
    selection_range: CoreRange | None = None
    children: list[SymbolAnswer] | None = None
    location: _Location | None = None
    container_name: str | None = None


_read = msgspec.json.Decoder(list[SymbolAnswer] | None).decode


def read_symbols(answer: Iterable[Any]) -> CompactSymbols:
    """An outline, of lsprotocol's types or of mirrors of them. Raises CannotCompress for one of several documents."""
    symbols, uris = [], set()
    for symbol, uri in _walk(answer, 0):
        symbols.append(symbol)
        uris.add(uri)
    if len(uris) > 1:
        raise CannotCompress("an outline of several documents")
    return CompactSymbols(tuple(symbols), uris.pop() if uris else None)


def _walk(items: Iterable[Any], depth: int) -> Iterator[tuple[Symbol, str | None]]:
    for item in items:
        kind, deprecated = int(item.kind), is_deprecated(item)
        location = getattr(item, "location", None)
        if location is not None:
            span = span_of(location.range)
            yield Symbol(depth, kind, item.name, span, span[:2], item.container_name or "", deprecated), location.uri
        elif item.range is None or item.selection_range is None:
            raise CannotCompress("a symbol without a range")
        else:
            start: CorePosition = item.selection_range.start
            at = (start.line, start.character)
            yield Symbol(depth, kind, item.name, span_of(item.range), at, item.detail or "", deprecated), None
            yield from _walk(item.children or (), depth + 1)


@attrs.frozen
class SymbolsCompressor(Compressor):
    """Rewrites outlines in one form. Folded, they stay as they are."""

    name: ClassVar[str] = "document-symbols"
    methods: ClassVar[tuple[str, ...]] = (METHOD,)

    def reader(self, method: str) -> Callable[[bytes], Any]:
        """msgspec's."""
        return lambda raw: _read(raw) or ()

    def model(self, method: str, raw: bytes) -> CompactSymbols:
        """The symbols, cut to the cap."""
        return capped(read_symbols(_read(raw) or ()), self.limits.max_symbols)

    async def intercept(self, method: str, params: Any, direction: Direction) -> Any:
        """Return the compact model, cut to the cap. An empty outline stays as it is."""
        if not params:
            return params
        return capped(read_symbols(params), self.limits.max_symbols)


def create(settings: Settings, form: str) -> SymbolsCompressor | None:
    """The compressor for a client that gets `form`; None where the form leaves outlines alone."""
    return None if form == "folded" else SymbolsCompressor(form, limits=settings.limits)


def read(method: str, value: Any) -> CompactSymbols | None:
    """The model of an outline in one of lspz's forms, None of plain LSP. Raises DecodeError."""
    return spelling.read(CompactSymbols, value) if spelling.is_ours(value) else None
