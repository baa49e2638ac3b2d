"""LSP's completion lists: read as far as they are kept, cut to a cap, and an item found again for the server.

The structs mirror lsprotocol's types, attribute for attribute.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import msgspec

from ..errors import CannotCompress
from .items import Item, by_kind
from .lsp import is_deprecated

SNIPPET = 2
"""LSP's InsertTextFormat.Snippet."""

HANDLE = "lspz"
"""The member of an item's `data` by which lspz finds the server's own item: `{"lspz": [list, place in its kind]}`."""

_MERGE = 2


class _LabelDetails(msgspec.Struct, gc=False):
    detail: str | None = None
    description: str | None = None


class _Markup(msgspec.Struct, gc=False):
    value: str


class _TextEdit(msgspec.Struct, rename="camel", gc=False):
    new_text: str


class ItemAnswer(msgspec.Struct, rename="camel", kw_only=True):
    """Mirrors `CompletionItem`, as far as it is kept."""

    label: str
    label_details: _LabelDetails | None = None
    kind: int | None = None
    tags: list[int] | None = None
    deprecated: bool | None = None
    detail: str | None = None
    documentation: str | _Markup | None = None
    preselect: bool | None = None
    sort_text: str | None = None
    insert_text: str | None = None
    insert_text_format: int | None = None
    text_edit: _TextEdit | None = None
    text_edit_text: str | None = None


class _Defaults(msgspec.Struct, rename="camel"):
    insert_text_format: int | None = None


class ListAnswer(msgspec.Struct, rename="camel", kw_only=True):
    """Mirrors `CompletionList`."""

    items: list[ItemAnswer]
    is_incomplete: bool = False
    item_defaults: _Defaults | None = None


class RawList(NamedTuple):
    """A completion list that is only cut, not rewritten."""

    answer: ListAnswer
    raw: bytes


_read_list = msgspec.json.Decoder(ListAnswer | list[ItemAnswer] | None).decode


def read_list(raw: bytes) -> ListAnswer | None:
    """A list, a bare array as a list, or None. Raises msgspec.MsgspecError."""
    answer = _read_list(raw)
    return ListAnswer(items=answer) if isinstance(answer, list) else answer


def read_item(item: Any, default_format: int | None = None) -> Item:
    """What is kept of an item, of lsprotocol's type or the mirror of it."""
    label: str = item.label
    edit = item.text_edit
    insert = edit.new_text if edit is not None else item.text_edit_text or item.insert_text
    if not insert or insert == label:
        insert = None
    details, documentation = item.label_details, item.documentation
    text_format = item.insert_text_format or default_format
    return Item(
        label,
        None if item.kind is None else int(item.kind),
        item.detail or "",
        (details.detail or "") if details is not None else "",
        (details.description or "") if details is not None else "",
        insert,
        text_format == SNIPPET and insert is not None and not _PLAIN.isdisjoint(insert),
        documentation if type(documentation) is str else documentation.value if documentation is not None else "",
        is_deprecated(item),
    )


_PLAIN = frozenset("$\\}")


def read_items(answer: Any) -> tuple[Item, ...]:
    """The items of a list, by kind. Raises CannotCompress for a kind below 1, which would read as none."""
    default = answer.item_defaults.insert_text_format if answer.item_defaults is not None else None
    groups = by_kind(read_item(item, default) for item in answer.items)
    if any(kind is not None and kind < 1 for kind in groups):
        raise CannotCompress(f"completion kinds count from 1: {list(groups)}")
    return tuple(item for group in groups.values() for item in group)


def best(items: Sequence[Any], room: int) -> list[int]:
    """The places of the `room` items that a server prefers, in its order: preselected ones, then by sortText."""

    def rank(index: int) -> tuple[bool, str, int]:
        item = items[index]
        return (not item.preselect, item.sort_text or item.label, index)

    return sorted(sorted(range(len(items)), key=rank)[:room])


def cut(raw: bytes, kept: Iterable[int]) -> dict[str, Any]:
    """A list with some of its items, everything else just as it came."""
    value = msgspec.json.decode(raw, type=dict[str, msgspec.Raw] | list[msgspec.Raw])
    outer: dict[str, Any] = {} if isinstance(value, list) else dict(value)
    items = value if isinstance(value, list) else msgspec.json.decode(value["items"], type=list[msgspec.Raw])
    return {**outer, "isIncomplete": True, "items": [items[i] for i in kept]}


# The server's own items


class Handle(NamedTuple):
    """Which item of which list a client means."""

    list: int
    """The list's number."""
    place: int
    """Its place among the items of its kind, from 0."""


def handle_of(item: Mapping[str, Any]) -> Handle | None:
    """The handle in an item (JSON) that was read from one of lspz's forms; None where there is none."""
    data = item.get("data")
    handle = data.get(HANDLE) if isinstance(data, Mapping) else None
    if not isinstance(handle, list) or len(handle) != 2 or any(type(number) is not int for number in handle):
        return None
    return Handle(*handle)


def find_own(payload: bytes, sent: Mapping[str, Any], place: int | None, cap: int) -> dict[str, Any] | None:
    """The server's own item (JSON), with the defaults of its list (`payload`), that a client got as `sent`.

    `place` is its place among those of its kind that the client got, where that is known; `cap` how many of the list
    those were, 0 for all. None when there is no such item.
    """
    answer = read_list(payload)
    if answer is None:
        return None
    default = answer.item_defaults.insert_text_format if answer.item_defaults is not None else None
    places = best(answer.items, cap) if 0 < cap < len(answer.items) else range(len(answer.items))
    same = [i for i in places if (answer.items[i].kind or None) == (sent.get("kind") or None)]
    if place is not None and place < len(same) and answer.items[same[place]].label == sent.get("label"):
        return _own_item(payload, same[place])
    client = read_item(msgspec.convert(sent, ItemAnswer))
    alike = [i for i in same if answer.items[i].label == client.label]
    equal = [i for i in alike if read_item(answer.items[i], default) == client]
    return _own_item(payload, (equal or alike)[0]) if alike else None


def _own_item(payload: bytes, index: int) -> dict[str, Any]:
    value = msgspec.json.decode(payload)
    outer = value if isinstance(value, dict) else {"items": value}
    return with_defaults(outer["items"][index], outer.get("itemDefaults") or {}, outer.get("applyKind") or {})


def with_defaults(item: dict[str, Any], defaults: Mapping[str, Any], apply: Mapping[str, Any]) -> dict[str, Any]:
    """An item (JSON) with what its list says for all of them (`itemDefaults`, `applyKind`), as a client has it."""
    out = dict(item)
    for name in ("insertTextFormat", "insertTextMode"):
        if name in defaults:
            out.setdefault(name, defaults[name])
    if "commitCharacters" in defaults:
        own, shared = out.get("commitCharacters"), defaults["commitCharacters"]
        if own is None:
            out["commitCharacters"] = shared
        elif apply.get("commitCharacters") == _MERGE:
            out["commitCharacters"] = list(dict.fromkeys([*own, *shared]))
    if "data" in defaults:
        own, shared = out.get("data"), defaults["data"]
        if own is None:
            out["data"] = shared
        elif apply.get("data") == _MERGE and isinstance(own, dict) and isinstance(shared, dict):
            out["data"] = {**shared, **own}
    if "editRange" in defaults and out.get("textEdit") is None:
        place = defaults["editRange"]
        place = {"range": place} if "start" in place else place
        out["textEdit"] = {**place, "newText": out.get("textEditText") or out["label"]}
    return out
