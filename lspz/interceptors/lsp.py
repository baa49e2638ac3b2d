"""LSP's JSON from lspz's models."""

from __future__ import annotations

from typing import Any

from ..formats.text.positions import Span


def _numbered(words: str) -> dict[int, str]:
    return dict(enumerate(words.split(), 1))


SYMBOL_KINDS = _numbered(
    "file module namespace package class method property field constructor enum interface function variable constant "
    "string number boolean array object key null enum-member struct event operator type-parameter"
)
"""The words for LSP's SymbolKind in the forms that a model reads."""

COMPLETION_KINDS = _numbered(
    "text method function constructor field variable class interface module property unit value enum keyword snippet "
    "color file reference folder enum-member constant struct event operator type-parameter"
)
"""The words for LSP's CompletionItemKind."""

DEPRECATED = 1
"""LSP's SymbolTag.Deprecated and CompletionItemTag.Deprecated."""


def lsp_range(span: Span) -> dict[str, Any]:
    """A range."""
    a, b, c, d = span
    return {"start": {"line": a, "character": b}, "end": {"line": c, "character": d}}


def span_of(range: Any) -> Span:
    """The four numbers of a range, of lsprotocol's type or the mirror of it."""
    start, end = range.start, range.end
    return (start.line, start.character, end.line, end.character)


def is_deprecated(item: Any) -> bool:
    """Whether a symbol or an item says so, in either of LSP's ways."""
    return bool(getattr(item, "deprecated", False) or (item.tags and DEPRECATED in item.tags))
