"""Answers of several servers as one, a row for each request that goes to all who can answer it.

An item that may come back in a request carries its owner: `data` becomes `{"lspz": SERVER, "data": ...}`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import msgspec

Raw = msgspec.Raw
Members = dict[str, Raw]


class Answer(NamedTuple):
    """One server's result."""

    server: int
    result: Raw
    resolves: bool
    """Whether the server completes items of the result when it is asked about them."""


class _Owned(msgspec.Struct, omit_defaults=True):
    """The `data` of an item that came from one of several servers."""

    lspz: int
    """The server's number."""
    data: Raw = Raw()


def own(item: Raw, answer: Answer) -> Raw:
    """An item of an answer that says whose it is, where this matters."""
    members = msgspec.json.decode(item, type=Members)
    if "data" in members:
        owned = _Owned(answer.server, members["data"])
    elif answer.resolves:
        owned = _Owned(answer.server)
    else:
        return item
    members["data"] = Raw(msgspec.json.encode(owned))
    return Raw(msgspec.json.encode(members))


def owner(item: Raw) -> tuple[int, Raw] | None:
    """Whose item it is, and the item as that server wrote it; None when it does not say."""
    members = msgspec.json.decode(item, type=Members)
    try:
        owned = msgspec.json.decode(members["data"], type=_Owned)
    except (KeyError, msgspec.MsgspecError):
        return None
    if owned.data:
        members["data"] = owned.data
    else:
        del members["data"]
    return owned.lspz, Raw(msgspec.json.encode(members))


# results

Combine = Callable[[Sequence[Answer]], Any]


def _list(result: Raw) -> list[Raw]:
    """A result that is a list, one item or null, as a list."""
    if _begins(result) == b"[":
        return msgspec.json.decode(result, type=list[Raw])
    return [] if bytes(result) == b"null" else [result]


def _begins(raw: Raw) -> bytes:
    return bytes(raw).lstrip()[:1]


def _owned_lists(answers: Sequence[Answer]) -> Any:
    return [own(item, answer) for answer in answers for item in _list(answer.result)]


class _Action(msgspec.Struct):
    command: Raw = Raw()


class _Command(msgspec.Struct):
    command: str


def commands(actions: Raw) -> list[str]:
    """The names of the commands that code actions run."""
    names = []
    for item in _list(actions):
        command = msgspec.json.decode(item, type=_Action).command
        if _begins(command) == b"{":
            names.append(msgspec.json.decode(command, type=_Command).command)
        elif _begins(command) == b'"':
            names.append(msgspec.json.decode(command, type=str))
    return names


def _actions(answers: Sequence[Answer]) -> Any:
    """Code actions; a plain `Command` has no `data`, and is run, not resolved."""
    return [
        item if _begins(msgspec.json.decode(item, type=_Action).command) == b'"' else own(item, answer)
        for answer in answers
        for item in _list(answer.result)
    ]


def _locations(answers: Sequence[Answer]) -> Any:
    """Each place once. Where one server gives links and another locations, locations are made of links."""
    items = [item for answer in answers for item in _list(answer.result)]
    parsed = [msgspec.json.decode(item, type=Members) for item in items]
    if len({"targetUri" in members for members in parsed}) > 1:
        parsed = [_location(members) for members in parsed]
    unique: dict[tuple[bytes, ...], Members] = {}
    for members in parsed:
        places = (_location(members)[name] for name in ("uri", "range"))
        unique.setdefault(
            tuple(msgspec.json.encode(msgspec.json.decode(place), order="sorted") for place in places), members
        )
    return list(unique.values())


def _location(members: Members) -> Members:
    if "targetUri" not in members:
        return members
    return {"uri": members["targetUri"], "range": members.get("targetSelectionRange", members["targetRange"])}


class _CompletionList(msgspec.Struct):
    items: list[Raw]
    isIncomplete: bool = False
    itemDefaults: Members = {}


def _completions(answers: Sequence[Answer]) -> Any:
    """One list; what a server says for all its items is said in each."""
    items, is_incomplete = [], False
    for answer in answers:
        if _begins(answer.result) == b"{":
            part = msgspec.json.decode(answer.result, type=_CompletionList)
        else:
            part = _CompletionList(_list(answer.result))
        is_incomplete |= part.isIncomplete
        for item in part.items:
            members = msgspec.json.decode(item, type=Members)
            for name, value in part.itemDefaults.items():
                if name == "editRange":
                    _with_range(members, value)
                else:
                    members.setdefault(name, value)
            items.append(own(Raw(msgspec.json.encode(members)), answer))
    return {"isIncomplete": is_incomplete, "items": items}


def _with_range(members: Members, ranges: Raw) -> None:
    """Say in an item what `itemDefaults.editRange` said for it."""
    if "textEdit" in members:
        return
    text = members.pop("textEditText", None) or members["label"]
    parts = msgspec.json.decode(ranges, type=Members)
    where = parts if "insert" in parts else {"range": ranges}
    members["textEdit"] = Raw(msgspec.json.encode({"newText": text, **where}))


def _nothing(answers: Sequence[Answer]) -> Any:
    return None


COMBINED: dict[str, Combine] = {
    "shutdown": _nothing,
    "textDocument/codeAction": _actions,
    "textDocument/completion": _completions,
    "textDocument/declaration": _locations,
    "textDocument/definition": _locations,
    "textDocument/implementation": _locations,
    "textDocument/references": _locations,
    "textDocument/typeDefinition": _locations,
    "workspace/symbol": _owned_lists,
}
"""Requests that go to all servers who can answer them."""
