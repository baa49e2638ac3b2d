"""Completion items, as every form knows them."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import NamedTuple

from ..errors import DecodeError


class Item(NamedTuple):
    """One completion; an empty text is one that is not there."""

    label: str
    kind: int | None = None
    detail: str = ""
    signature: str = ""
    """`labelDetails.detail`."""
    description: str = ""
    """`labelDetails.description`."""
    insert: str | None = None
    """The text that is inserted; None: the label."""
    snippet: bool = False
    """Whether that text has places to fill."""
    documentation: str = ""
    deprecated: bool = False


def by_kind(items: Iterable[Item]) -> dict[int | None, list[Item]]:
    """Items by kind, in order of appearance."""
    groups: dict[int | None, list[Item]] = {}
    for item in items:
        groups.setdefault(item.kind, []).append(item)
    return groups


_URI = r"data:[\w/+.-]+;base64,[A-Za-z0-9+/=%]{40,}"
_DATA_URI = re.compile(_URI)
_MARK = re.compile(rf"data:#([0-9]+)|{_URI}")


def share_uris(docs: Iterable[str]) -> list[str] | None:
    """Documentation in which a data URI that comes again is `data:#n`, the nth distinct one (text_format.md §5.4).

    HTML servers put the same icon into every item. None when nothing repeats, or a text holds such a mark already.
    """
    texts = list(docs)
    if any("data:#" in text for text in texts):
        return None
    seen: dict[str, int] = {}
    repeats = False

    def shorten(found: re.Match[str]) -> str:
        nonlocal repeats
        if found[0] in seen:
            repeats = True
            return f"data:#{seen[found[0]]}"
        seen[found[0]] = len(seen) + 1
        return found[0]

    shared = [_DATA_URI.sub(shorten, text) for text in texts]
    return shared if repeats else None


def unshare_uris(docs: Iterable[str]) -> list[str]:
    """The documentation that `share_uris` shortened. Raises DecodeError for a mark of a URI that did not come."""
    seen: list[str] = []

    def restore(found: re.Match[str]) -> str:
        if found[1] is None:
            seen.append(found[0])
            return found[0]
        if not 1 <= int(found[1]) <= len(seen):
            raise DecodeError("", f"{found[0]} repeats a data URI that did not come")
        return seen[int(found[1]) - 1]

    return [_MARK.sub(restore, text) for text in docs]
