"""Completion lists: the answer to `textDocument/completion`, a list with defaults or a bare array.

What is kept of an item: label, its details, kind, detail, documentation, the text that is inserted and whether it is
a snippet, and whether it is deprecated; and whether the list is complete. Equal documentation is written once. Not
kept: the order across kinds, markup kinds, and what only a client that inserts the item needs; lspz puts that back
when the client resolves the item.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar, Self

import attrs

from ..errors import DecodeError
from ..formats import VERSION, spelling
from ..formats.json import count, optional, typed
from . import COMPLETION
from .base import Direction, Settings
from .completion_lists import HANDLE, SNIPPET, ListAnswer, RawList, best, cut, read_items, read_list
from .completion_text import read_completions, write_completions
from .compressor import Compressor
from .items import Item, by_kind, share_uris, unshare_uris
from .lsp import COMPLETION_KINDS, DEPRECATED
from .names import read_kind

_KINDS = {word: number for number, word in COMPLETION_KINDS.items()}


@attrs.frozen
class CompactCompletions:
    """A completion list."""

    items: tuple[Item, ...]
    """By kind in order of appearance, in each kind in the server's order."""
    incomplete: bool = False
    list: int | None = None
    """The number by which a proxy knows the list, if it came through one."""
    omitted: int = 0

    @property
    def size(self) -> int:
        """How many items there are."""
        return len(self.items)

    def first(self, count: int) -> Self:
        """The same with its first `count` items, the others counted as omitted and the list incomplete."""
        left_out = max(self.size - count, 0)
        incomplete = self.incomplete or left_out > 0
        return attrs.evolve(self, items=self.items[:count], incomplete=incomplete, omitted=self.omitted + left_out)

    def envelope(self) -> dict[str, Any]:
        """The list's number, if it has one."""
        return {} if self.list is None else {"list": self.list}

    def to_lsp(self) -> dict[str, Any]:
        """A CompletionList as LSP's JSON; where the list has a number, items carry a handle to be resolved by."""
        items = []
        for group in by_kind(self.items).values():
            for i, item in enumerate(group):
                out = _lsp_item(item)
                if self.list is not None:
                    out["data"] = {HANDLE: [self.list, i]}
                items.append(out)
        return {"isIncomplete": self.incomplete, "items": items}

    # compact: items by kind, a bare label where nothing else is said

    def to_compact(self) -> dict[str, Any]:
        """`{"version":1,"items":{kind: items},"docs":[…]}` (text_format.md §6)."""
        docs: dict[str, int] = {}
        items = {
            str(kind or 0): [_write_item(item, docs) for item in group] for kind, group in by_kind(self.items).items()
        }
        out: dict[str, Any] = {"version": VERSION, **self.envelope()}
        if self.incomplete:
            out["incomplete"] = True
        out["items"] = items
        if docs:
            shared = share_uris(docs)
            out["docs"] = shared or list(docs)
            if shared:
                out["shared"] = True
        return {**out, "omitted": self.omitted} if self.omitted else out

    @classmethod
    def from_compact(cls, value: Mapping[str, Any]) -> Self:
        """Read a compact completion list. Raises DecodeError."""
        docs = optional(value, "docs", list, "docs") or []
        if not all(isinstance(doc, str) for doc in docs):
            raise DecodeError("docs", "must be strings")
        if optional(value, "shared", bool, "shared"):
            docs = unshare_uris(docs)
        items: list[Item] = []
        for kind, group in typed(value, "items", dict, "items").items():
            path = f"items[{kind!r}]"
            if not kind.isdecimal() or not isinstance(group, Sequence) or isinstance(group, str):
                raise DecodeError(path, "must be a list of items under the number of their kind")
            items += [_read_item(item, int(kind) or None, docs, f"{path}[{i}]") for i, item in enumerate(group)]
        return cls(
            tuple(items),
            optional(value, "incomplete", bool, "incomplete") or False,
            optional(value, "list", int, "list"),
            count(value, "omitted"),
        )

    # names: a table for each kind

    def to_names(self) -> dict[str, Any]:
        """A table of items for each kind, and the documentation that several share."""
        uses: dict[str, int] = {}
        for item in self.items:
            uses[item.documentation] = uses.get(item.documentation, 0) + 1
        docs: dict[str, int] = {}
        groups = []
        for kind, group in by_kind(self.items).items():
            rows: list[dict[str, Any]] = []
            for item in group:
                shared = bool(item.documentation) and uses[item.documentation] > 1
                rows.append(
                    {
                        "label": item.label,
                        "signature": item.signature or None,
                        "description": item.description or None,
                        "detail": item.detail or None,
                        "snippet" if item.snippet else "insert": item.insert,
                        "deprecated": item.deprecated or None,
                        "doc": docs.setdefault(item.documentation, len(docs)) if shared else None,
                        "documentation": item.documentation or None if not shared else None,
                    }
                )
            groups.append({"kind": COMPLETION_KINDS.get(kind, kind) if kind else None, "items": _table(rows)})
        out: dict[str, Any] = {"incomplete": True} if self.incomplete else {}
        if docs:
            out["docs"] = list(docs)
        out["kinds"] = groups
        return {**out, "omitted": self.omitted} if self.omitted else out

    @classmethod
    def from_names(cls, value: Mapping[str, Any]) -> Self:
        """Read `to_names`' tables. Raises DecodeError."""
        docs = optional(value, "docs", list, "docs") or []
        items: list[Item] = []
        for i, group in enumerate(typed(value, "kinds", list, "kinds")):
            path = f"kinds[{i}]"
            if not isinstance(group, Mapping):
                raise DecodeError(path, f"must be an object, not {group!r:.80}")
            kind = None if group.get("kind") is None else read_kind(group["kind"], _KINDS, f"{path}.kind")
            rows = typed(group, "items", list, f"{path}.items")
            items += [_read_named(row, kind, docs, f"{path}.items[{j}]") for j, row in enumerate(rows)]
        incomplete = optional(value, "incomplete", bool, "incomplete") or False
        return cls(tuple(items), incomplete, None, count(value, "omitted"))

    # text

    def to_text(self) -> str:
        """The text of text_format.md §5.4."""
        return write_completions(self.items, self.incomplete, self.omitted)

    @classmethod
    def from_text(cls, text: str) -> Self:
        """Read `to_text`'s text. Raises DecodeError."""
        items, incomplete, omitted = read_completions(text)
        return cls(tuple(items), incomplete, None, omitted)


def _lsp_item(item: Item) -> dict[str, Any]:
    out: dict[str, Any] = {"label": item.label}
    if item.signature or item.description:
        details = {"detail": item.signature, "description": item.description}
        out["labelDetails"] = {name: text for name, text in details.items() if text}
    if item.kind is not None:
        out["kind"] = item.kind
    if item.deprecated:
        out["tags"] = [DEPRECATED]
    if item.detail:
        out["detail"] = item.detail
    if item.documentation:
        out["documentation"] = item.documentation
    if item.insert is not None:
        out["insertText"] = item.insert
    if item.snippet:
        out["insertTextFormat"] = SNIPPET
    return out


def _write_item(item: Item, docs: dict[str, int]) -> Any:
    out: dict[str, Any] = {"l": item.label}
    if item.detail:
        out["d"] = item.detail
    if item.signature:
        out["s"] = item.signature
    if item.description:
        out["f"] = item.description
    if item.insert is not None:
        out["t" if item.snippet else "i"] = item.insert
    if item.documentation:
        out["o"] = docs.setdefault(item.documentation, len(docs))
    if item.deprecated:
        out["x"] = 1
    return out if len(out) > 1 else item.label


def _read_item(value: Any, kind: int | None, docs: Sequence[str], path: str) -> Item:
    if isinstance(value, str):
        return Item(value, kind)
    if not isinstance(value, Mapping):
        raise DecodeError(path, f"must be a label or an item, not {value!r:.80}")
    texts = {name: optional(value, name, str, f"{path}.{name}") for name in "dsfit"}
    return Item(
        label=typed(value, "l", str, f"{path}.l"),
        kind=kind,
        detail=texts["d"] or "",
        signature=texts["s"] or "",
        description=texts["f"] or "",
        insert=texts["i"] if texts["t"] is None else texts["t"],
        snippet=texts["t"] is not None,
        documentation=_doc(optional(value, "o", int, f"{path}.o"), docs, f"{path}.o"),
        deprecated=bool(optional(value, "x", int, f"{path}.x")),
    )


def _doc(index: int | None, docs: Sequence[str], path: str) -> str:
    if index is None:
        return ""
    if not 0 <= index < len(docs):
        raise DecodeError(path, f"there is no documentation {index}")
    return docs[index]


_COLUMNS = ("label", "signature", "description", "detail", "insert", "snippet", "deprecated", "doc", "documentation")


def _table(rows: list[dict[str, Any]]) -> list[Any]:
    """Rows that all have the same columns; plain labels where nothing else is said."""
    used = [name for name in _COLUMNS if any(row.get(name) is not None for row in rows)]
    if used == ["label"]:
        return [row["label"] for row in rows]
    return [{name: row.get(name) for name in used} for row in rows]


def _read_named(row: Any, kind: int | None, docs: Sequence[Any], path: str) -> Item:
    if isinstance(row, str):
        return Item(row, kind)
    if not isinstance(row, Mapping):
        raise DecodeError(path, f"must be a label or a row of a table, not {row!r:.80}")
    texts = {
        name: row.get(name) for name in ("signature", "description", "detail", "insert", "snippet", "documentation")
    }
    for name, text in texts.items():
        if text is not None and not isinstance(text, str):
            raise DecodeError(f"{path}.{name}", f"must be a string, not {text!r:.80}")
    doc = row.get("doc")
    if doc is not None and type(doc) is not int:
        raise DecodeError(f"{path}.doc", f"must be a number, not {doc!r:.80}")
    return Item(
        label=typed(row, "label", str, f"{path}.label"),
        kind=kind,
        detail=texts["detail"] or "",
        signature=texts["signature"] or "",
        description=texts["description"] or "",
        insert=texts["insert"] if texts["snippet"] is None else texts["snippet"],
        snippet=texts["snippet"] is not None,
        documentation=texts["documentation"] or _doc(doc, docs, f"{path}.doc"),
        deprecated=row.get("deprecated") is True,
    )


@attrs.frozen
class CompletionCompressor(Compressor):
    """Rewrites completion lists in one form; `folded` is LSP cut to the cap, and then incomplete."""

    name: ClassVar[str] = "completion"
    methods: ClassVar[tuple[str, ...]] = (COMPLETION,)

    def reader(self, method: str) -> Callable[[bytes], Any]:
        """msgspec's."""
        if self.form == "folded":
            return lambda raw: () if (answer := read_list(raw)) is None else RawList(answer, raw)
        return lambda raw: read_list(raw) or ()

    def model(self, method: str, raw: bytes) -> CompactCompletions:
        """The items, cut to the cap."""
        return self._model(_list(read_list(raw)))

    async def intercept(self, method: str, params: Any, direction: Direction) -> Any:
        """Return the compact model, or a list cut to the cap. An empty list stays as it is."""
        answer = _list(params.answer if isinstance(params, RawList) else params)
        if not answer.items:
            return params
        if isinstance(params, RawList):
            left_out = self._left_out(answer)
            return cut(params.raw, best(answer.items, self.limits.max_completions)) if left_out else params
        return self._model(answer)

    def _left_out(self, answer: Any) -> int:
        cap = self.limits.max_completions
        return max(len(answer.items) - cap, 0) if cap else 0

    def _model(self, answer: Any) -> CompactCompletions:
        left_out = self._left_out(answer)
        if left_out:
            kept = [answer.items[i] for i in best(answer.items, self.limits.max_completions)]
            answer = ListAnswer(items=kept, is_incomplete=True, item_defaults=answer.item_defaults)
        return CompactCompletions(read_items(answer), bool(answer.is_incomplete), omitted=left_out)


def _list(answer: Any) -> Any:
    """The answer as a list with defaults, whichever of LSP's shapes it came in."""
    if not answer:
        return ListAnswer(items=[])
    return ListAnswer(items=list(answer)) if isinstance(answer, Sequence) else answer


def create(settings: Settings, form: str) -> CompletionCompressor | None:
    """The compressor for a client that gets `form`; None where the form leaves lists alone."""
    if form == "folded" and not settings.limits.max_completions:
        return None
    return CompletionCompressor(form, limits=settings.limits)


def numbered(written: bytes, number: int) -> bytes:
    """A list that was written in one of lspz's forms, with the number by which a proxy knows it; other LSP as it is."""
    beginning = b'{"version":%d,' % VERSION
    return (
        b'%b"list":%d,%b' % (beginning, number, written[len(beginning) :]) if written.startswith(beginning) else written
    )


def read(method: str, value: Any) -> CompactCompletions | None:
    """The model of a completion list in one of lspz's forms, None of plain LSP. Raises DecodeError."""
    if not spelling.is_ours(value):
        return None
    model: CompactCompletions = spelling.read(CompactCompletions, value)
    return attrs.evolve(model, list=optional(value, "list", int, "list"))
