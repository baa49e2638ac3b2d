"""`completionItem/resolve` keeps working: the server gets its own item in place of what the client got of it.

A client that reads lspz's forms has items without `data` and edits, which servers need to resolve them. In their place
an item carries a handle, the number of its list and its place among those of its kind; an item without one is looked
for by its label in the last list.
"""

from __future__ import annotations

from typing import Any

import msgspec

from ..errors import NotKept
from ..interceptors import COMPLETION
from ..interceptors.completion_lists import find_own, handle_of
from .originals import Originals

Raw = msgspec.Raw


def resolve(body: bytes, originals: Originals, cap: int) -> bytes:
    """The request with the server's own item; the very `body` when the client sent that. Raises NotKept.

    `cap` is how many items of a list the client gets, 0 for all.
    """
    outer = msgspec.json.decode(body, type=dict[str, Raw])
    sent = msgspec.json.decode(outer["params"], type=dict[str, Any])
    handle = handle_of(sent)
    if handle is None and ("data" in sent or originals.completions is None):
        return body
    number, place = handle or (originals.completions or 0, None)
    kept = originals.numbered(number)
    if kept is None or kept.method != COMPLETION:
        if handle is None:
            return body
        raise NotKept(f"the completion list of {sent.get('label')!r} is no longer kept: ask for completion again")
    own = find_own(kept.payload, sent, place, cap)
    if own is None:
        if handle is None:
            return body
        raise NotKept(f"there is no item {sent.get('label')!r} in its completion list: ask for completion again")
    outer["params"] = Raw(msgspec.json.encode(own))
    return msgspec.json.encode(outer)
