"""Completion lists as text (text_format.md §5.4).

# method
append : (obj) -> None
 Append object.
clear (deprecated)
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from ..errors import DecodeError
from ..formats.text.lines import Lines, indent, maybe_unquote, quote
from .items import Item, by_kind, share_uris, unshare_uris
from .lsp import COMPLETION_KINDS

_KINDS = {word: number for number, word in COMPLETION_KINDS.items()}
_MARKS = re.compile(r" (?:\+|=>|~>|:|in) | \(deprecated\)| \[doc |[\n\r]")
_FIELD = re.compile(
    r' (?P<mark>\+|=>|~>|:|in) (?P<text>"(?:[^"\\]|\\.)*"|.*?)(?= (?:\+|=>|~>|:|in) | \(deprecated\)| \[doc |$)'
    r"| (?P<deprecated>\(deprecated\))| \[doc (?P<doc>[0-9]+)\]",
    re.DOTALL,
)
_LABEL = re.compile(r'"(?:[^"\\]|\\.)*"|.*?(?= (?:\+|=>|~>|:|in) | \(deprecated\)| \[doc |$)', re.DOTALL)
_NONE_YET = "none (incomplete)"
_SHARED = "data:#n repeats the nth data URI"


def write_completions(items: Sequence[Item], incomplete: bool, omitted: int) -> str:
    """The text of a list."""
    groups = by_kind(items)
    ordered = [item for group in groups.values() for item in group]
    docs = list(dict.fromkeys(item.documentation for item in ordered if item.documentation))
    shared = share_uris(docs)
    spelled = dict(zip(docs, shared or docs, strict=True))
    uses: dict[str, int] = {}
    for item in ordered:
        uses[item.documentation] = uses.get(item.documentation, 0) + 1
    out = ["incomplete"] if incomplete else []
    if not items:
        out = [f"none{' (incomplete)' if incomplete else ''}"]
    if omitted:
        out.append(f"omitted {omitted}")
    if shared:
        out.append(_SHARED)
    numbers: dict[str, int] = {}
    for kind, group in groups.items():
        out.append(f"# {'other' if kind is None else COMPLETION_KINDS.get(kind, kind)}")
        for item in group:
            line, doc = _write_item(item), item.documentation
            if doc and uses[doc] > 1:
                again = doc in numbers
                line += f" [doc {numbers.setdefault(doc, len(numbers) + 1)}]"
                doc = "" if again else doc
            if doc:
                text = spelled[doc]
                line += "\n " + ("|" if text[0] in "\n|" else "") + indent(text)
            out.append(line)
    return "\n".join(out)


def _write_item(item: Item) -> str:
    line = _write_field(item.label)
    if item.signature:
        line += f" + {_write_field(item.signature)}"
    if item.insert is not None:
        line += f" {'~>' if item.snippet else '=>'} {_write_field(item.insert)}"
    if item.detail:
        line += f" : {_write_field(item.detail)}"
    if item.description:
        line += f" in {_write_field(item.description)}"
    return f"{line} (deprecated)" if item.deprecated else line


def _write_field(value: str) -> str:
    plain = value and value[0] not in '"#[ ' and value[-1] != " " and not _MARKS.search(f" {value} ")
    return value if plain else quote(value)


def read_completions(text: str) -> tuple[list[Item], bool, int]:
    """The items, whether the list is incomplete, and how many were omitted. Raises DecodeError."""
    lines = Lines(text)
    none = lines.peek() in ("none", _NONE_YET)
    incomplete = lines.peek() in ("incomplete", _NONE_YET)
    if none or incomplete:
        lines.take()
    omitted = 0
    if (line := lines.peek()) is not None and line.startswith("omitted "):
        lines.take()
        with lines.named():
            omitted = int(line[8:])
    if none:
        lines.end()
        return [], incomplete, omitted
    shared = lines.peek() == _SHARED
    if shared:
        lines.take()
    items: list[Item] = []
    docs: dict[str, str] = {}
    kind: int | None = None
    begun = False
    for line in lines:
        with lines.named():
            if line.startswith("# "):
                kind, begun = _read_kind(line[2:]), True
            elif not begun:
                raise ValueError(f"{line!r:.80} must be a kind")
            else:
                items.append(_read_item(line, kind, docs))
    if not items:
        raise DecodeError("line 1", "no item follows")
    if shared:
        order = list(dict.fromkeys(item.documentation for item in items if item.documentation))
        whole = dict(zip(order, unshare_uris(order), strict=True))
        items = [item._replace(documentation=whole.get(item.documentation, "")) for item in items]
    return items, incomplete, omitted


def _read_kind(word: str) -> int | None:
    return None if word == "other" else _KINDS[word] if word in _KINDS else int(word)


def _read_item(line: str, kind: int | None, docs: dict[str, str]) -> Item:
    first, has_doc, doc = line.partition("\n")
    if has_doc and doc.startswith("|"):
        doc = doc[1:]
    label = _LABEL.match(first)
    assert label is not None
    at = label.end()
    fields: dict[str, str] = {}
    deprecated = False
    while at < len(first):
        found = _FIELD.match(first, at)
        if found is None:
            raise ValueError(f"{first[at:]!r:.80} is no part of an item")
        if found["mark"]:
            if found["mark"] in fields:
                raise ValueError(f"{found['mark']!r} twice in an item")
            fields[found["mark"]] = maybe_unquote(found["text"])
        elif found["deprecated"]:
            deprecated = True
        elif has_doc:
            docs[found["doc"]] = doc
        elif found["doc"] in docs:
            doc = docs[found["doc"]]
        else:
            raise ValueError(f"there is no [doc {found['doc']}] before it")
        at = found.end()
    snippet = "~>" in fields
    return Item(
        maybe_unquote(label[0]),
        kind,
        fields.get(":", ""),
        fields.get("+", ""),
        fields.get("in", ""),
        fields.get("~>" if snippet else "=>"),
        snippet,
        doc,
        deprecated,
    )
