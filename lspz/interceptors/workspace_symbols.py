"""Symbols of a whole workspace: the answer to `workspace/symbol`, as SymbolInformation or as WorkspaceSymbol.

What is kept: name, kind, container, URI, range (a WorkspaceSymbol may have none), and whether it is deprecated. Not
kept: the order, which follows files and containers, and `data`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, ClassVar, NamedTuple, Self

import attrs
import msgspec

from ..errors import CannotCompress, DecodeError
from ..formats import VERSION, spelling
from ..formats.json import count, numbers, typed
from ..formats.text.lines import Lines, common_base, maybe_unquote, quote, read_path, write_path
from ..formats.text.positions import Memory, Span, read_positions, take_positions, write_positions
from .base import Direction, Settings
from .compressor import Compressor, capped
from .core import CoreRange
from .lsp import DEPRECATED, SYMBOL_KINDS, is_deprecated, lsp_range, span_of
from .names import drop_empty, read_kind, read_range, write_range

METHOD = "workspace/symbol"

_KINDS = {word: number for number, word in SYMBOL_KINDS.items()}


class Found(NamedTuple):
    """One symbol that was found."""

    uri: str
    container: str
    """Empty when there is none."""
    kind: int
    name: str
    range: Span | None = None
    deprecated: bool = False


@attrs.frozen
class CompactWorkspaceSymbols:
    """What was found, in the server's order."""

    symbols: tuple[Found, ...]
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
        """Nothing: it names its files."""
        return {}

    def to_lsp(self) -> list[dict[str, Any]]:
        """Symbols as LSP's JSON."""
        return [_lsp_symbol(symbol) for symbol in self.symbols]

    def _by_file(self) -> dict[str, dict[str, list[Found]]]:
        """By URI and container, in order of appearance."""
        files: dict[str, dict[str, list[Found]]] = {}
        for symbol in self.symbols:
            files.setdefault(symbol.uri, {}).setdefault(symbol.container, []).append(symbol)
        return files

    # compact: rows by URI and container

    def to_compact(self) -> dict[str, Any]:
        """`{"version":1,"symbols":{uri: rows or {container: rows}}}` (text_format.md §6)."""
        files: dict[str, Any] = {}
        for uri, containers in self._by_file().items():
            rows = {container: [_write_row(s) for s in symbols] for container, symbols in containers.items()}
            files[uri] = rows[""] if list(rows) == [""] else rows
        out: dict[str, Any] = {"version": VERSION, "symbols": files}
        return {**out, "omitted": self.omitted} if self.omitted else out

    @classmethod
    def from_compact(cls, value: Mapping[str, Any]) -> Self:
        """Read compact workspace symbols. Raises DecodeError."""
        symbols = []
        for uri, containers in typed(value, "symbols", dict, "symbols").items():
            path = f"symbols[{uri!r}]"
            for container, rows in (containers if isinstance(containers, dict) else {"": containers}).items():
                if not isinstance(rows, list | tuple):
                    raise DecodeError(path, f"must be a list of rows, not {rows!r:.80}")
                symbols += [_read_row(uri, container, row, f"{path}[{i}]") for i, row in enumerate(rows)]
        return cls(tuple(symbols), count(value, "omitted"))

    # names: a table for each file

    def to_names(self) -> dict[str, Any]:
        """A table of symbols for each file."""
        files = []
        for uri, containers in self._by_file().items():
            rows: list[dict[str, Any]] = [
                {
                    "kind": SYMBOL_KINDS.get(symbol.kind, symbol.kind),
                    "name": symbol.name,
                    "container": symbol.container or None,
                    "range": symbol.range and write_range(symbol.range),
                    "deprecated": symbol.deprecated or None,
                }
                for symbols in containers.values()
                for symbol in symbols
            ]
            drop_empty(rows, ("container", "range", "deprecated"))
            files.append({"uri": uri, "symbols": rows})
        out: dict[str, Any] = {"files": files}
        return {**out, "omitted": self.omitted} if self.omitted else out

    @classmethod
    def from_names(cls, value: Mapping[str, Any]) -> Self:
        """Read `to_names`' tables. Raises DecodeError."""
        symbols = []
        for i, file in enumerate(typed(value, "files", list, "files")):
            path = f"files[{i}]"
            if not isinstance(file, Mapping):
                raise DecodeError(path, f"must be an object, not {file!r:.80}")
            uri = typed(file, "uri", str, f"{path}.uri")
            for j, row in enumerate(typed(file, "symbols", list, f"{path}.symbols")):
                at = f"{path}.symbols[{j}]"
                if not isinstance(row, Mapping):
                    raise DecodeError(at, f"must be a row of a table, not {row!r:.80}")
                kind, name = read_kind(row.get("kind"), _KINDS, f"{at}.kind"), typed(row, "name", str, f"{at}.name")
                span = None if row.get("range") is None else read_range(str(row["range"]), f"{at}.range")
                container = str(row.get("container") or "")
                symbols.append(Found(uri, container, kind, name, span, row.get("deprecated") is True))
        return cls(tuple(symbols), count(value, "omitted"))

    # text: a path, then positions, kinds and names

    def to_text(self) -> str:
        """The text of text_format.md §5.3. Raises CannotCompress."""
        files = self._by_file()
        base = common_base(files)
        out = [f"in {base}"] if base else []
        for uri, containers in files.items():
            out.append(write_path(uri, base))
            for container, symbols in sorted(containers.items(), key=lambda item: item[0] != ""):
                if container:
                    out.append(f": {quote(container) if _is_odd(container) else container}")
                out += _write_lines(symbols)
        if self.omitted:
            out.append(f"omitted {self.omitted}")
        return "\n".join(out) or "none"

    @classmethod
    def from_text(cls, text: str) -> Self:
        """Read `to_text`'s text. Raises DecodeError."""
        if text == "none":
            return cls(())
        symbols: list[Found] = []
        lines = Lines(text, continued=False)
        omitted, base, uri, container = 0, "", None, ""
        memory = Memory()
        for line in lines:
            with lines.named():
                if line.startswith("in ") and lines.number == 1:
                    base = line[3:]
                elif line.startswith("omitted "):
                    omitted = int(line[8:])
                    lines.end()
                elif line.startswith(": "):
                    container, memory = maybe_unquote(line[2:]), Memory()
                elif not line.startswith("- ") and not (line[:1].isascii() and line[:1].isdigit()):
                    uri, container, memory = read_path(line, base), "", Memory()
                elif uri is None:
                    raise ValueError("a symbol that stands in no file")
                else:
                    symbols += _read_line(line, uri, container, memory)
        if not symbols and not omitted:
            raise DecodeError("line 1", "no symbol follows")
        return cls(tuple(symbols), omitted)


def _lsp_symbol(symbol: Found) -> dict[str, Any]:
    location: dict[str, Any] = {"uri": symbol.uri}
    if symbol.range is not None:
        location["range"] = lsp_range(symbol.range)
    out: dict[str, Any] = {"name": symbol.name, "kind": symbol.kind, "location": location}
    if symbol.container:
        out["containerName"] = symbol.container
    if symbol.deprecated:
        out["tags"] = [DEPRECATED]
    return out


def _write_row(symbol: Found) -> list[Any]:
    row: list[Any] = [symbol.kind, symbol.name]
    if symbol.range is not None:
        a, b, c, d = symbol.range
        row += [a, b, c - a, d - (b + len(symbol.name) if a == c else 0)]
    if symbol.deprecated:
        return [*row, 1]  # nothing is left out then: 3 or 7 entries
    while len(row) > 4 and row[-1] == 0:
        row.pop()
    return row


def _read_row(uri: str, container: str, row: Any, path: str) -> Found:
    if not isinstance(row, list | tuple) or len(row) not in (2, 3, 4, 5, 6, 7) or not isinstance(row[1], str):
        raise DecodeError(path, f"must be a kind, a name and a place, not {row!r:.80}")
    deprecated = len(row) in (3, 7)
    kind, name, *place = row[:-1] if deprecated else row
    if type(kind) is not int or (deprecated and row[-1] != 1):
        raise DecodeError(path, f"must begin with a kind, and end in 1 if it is deprecated, not {row!r:.80}")
    if not place:
        return Found(uri, container, kind, name, None, deprecated)
    a, b, lines, end = [*numbers(place, path), 0, 0][:4]
    span = (a, b, a + lines, end + (b + len(name) if lines == 0 else 0))
    return Found(uri, container, kind, name, span, deprecated)


def _is_odd(value: str) -> bool:
    return "\n" in value or value.startswith('"')


def _write_lines(symbols: Iterable[Found]) -> list[str]:
    """A line for all symbols of one container that share kind and name."""
    same: dict[tuple[int, bool, str], list[Span | None]] = {}
    for symbol in symbols:
        same.setdefault((symbol.kind, symbol.deprecated, symbol.name), []).append(symbol.range)
    out, memory = [], Memory()
    for (kind, deprecated, name), ranges in same.items():
        if kind not in SYMBOL_KINDS:
            raise CannotCompress(f"text has no place for a symbol of kind {kind}")
        odd = not name or _is_odd(name) or name.startswith("deprecated ")
        what = f"{SYMBOL_KINDS[kind]}{' deprecated' if deprecated else ''} {quote(name) if odd else name}"
        placed = [span for span in ranges if span is not None]
        if placed:
            out.append(f"{write_positions(placed, len(name), memory)} {what}")
        out += [f"- {what}"] * (len(ranges) - len(placed))
    return out


def _read_line(line: str, uri: str, container: str, memory: Memory) -> list[Found]:
    words, rest = ([], line[2:]) if line.startswith("- ") else take_positions(line)
    word, _, name = rest.partition(" ")
    if word not in _KINDS or not name:
        raise ValueError(f"{rest!r} is no kind and name")
    deprecated = name.startswith("deprecated ")
    name = maybe_unquote(name.removeprefix("deprecated ") if deprecated else name)
    spans: list[Span | None] = [None]
    if words:
        spans = [*read_positions(words, len(name), memory)]
    return [Found(uri, container, _KINDS[word], name, span, deprecated) for span in spans]


# LSP's shapes


class _Location(msgspec.Struct, gc=False):
    uri: str
    range: CoreRange | None = None


class FoundAnswer(msgspec.Struct, rename="camel", kw_only=True):
    """Mirrors `SymbolInformation` and `WorkspaceSymbol`."""

    name: str
    kind: int
    location: _Location
    container_name: str | None = None
    tags: list[int] | None = None
    deprecated: bool | None = None


_read = msgspec.json.Decoder(list[FoundAnswer] | None).decode


def read_symbols(answer: Iterable[Any]) -> CompactWorkspaceSymbols:
    """Symbols of lsprotocol's types or of mirrors of them."""
    return CompactWorkspaceSymbols(tuple(_found(item) for item in answer))


def _found(item: Any) -> Found:
    place = getattr(item.location, "range", None)
    return Found(
        item.location.uri,
        item.container_name or "",
        int(item.kind),
        item.name,
        None if place is None else span_of(place),
        is_deprecated(item),
    )


@attrs.frozen
class WorkspaceSymbolsCompressor(Compressor):
    """Rewrites what a search for symbols found, in one form. Folded, it stays as it is."""

    name: ClassVar[str] = "workspace-symbols"
    methods: ClassVar[tuple[str, ...]] = (METHOD,)

    def reader(self, method: str) -> Callable[[bytes], Any]:
        """msgspec's."""
        return lambda raw: _read(raw) or ()

    def model(self, method: str, raw: bytes) -> CompactWorkspaceSymbols:
        """The symbols, cut to the cap."""
        return capped(read_symbols(_read(raw) or ()), self.limits.max_symbols)

    async def intercept(self, method: str, params: Any, direction: Direction) -> Any:
        """Return the compact model, cut to the cap. Nothing found stays as it is."""
        if not params:
            return params
        return capped(read_symbols(params), self.limits.max_symbols)


def create(settings: Settings, form: str) -> WorkspaceSymbolsCompressor | None:
    """The compressor for a client that gets `form`; None where the form leaves symbols alone."""
    return None if form == "folded" else WorkspaceSymbolsCompressor(form, limits=settings.limits)


def read(method: str, value: Any) -> CompactWorkspaceSymbols | None:
    """The model of symbols in one of lspz's forms, None of plain LSP. Raises DecodeError."""
    return spelling.read(CompactWorkspaceSymbols, value) if spelling.is_ours(value) else None
