"""What a tool's answer looks like: in the form that was asked for, never longer than its cap."""

from __future__ import annotations

from typing import Any

import msgspec

from ..agent.results import Answer
from ..tokens import count_tokens

MAX_TOKENS = 4000
"""Tokens of an answer, unless the call asks for fewer."""

_KEPT = 40  # tokens for what is said behind a list that is cut


def rendered(answer: Answer[Any], form: str, cap: int, narrow: str) -> str:
    """An answer in a form. Of what does not fit it is said how much it is, and `narrow` says how to ask for less."""
    whole = _written(answer, form, 0)
    if count_tokens(whole).tokens <= cap:
        return whole
    cut = _written(answer, form, max(cap - _KEPT, 1))
    return clipped(f"{cut}\n(not all: {narrow})", cap)


def _written(answer: Answer[Any], form: str, max_tokens: int) -> str:
    if form == "compact":
        return msgspec.json.encode(answer.compact(max_tokens)).decode()
    return answer.text(max_tokens) if form == "text" else answer.toon(max_tokens)


def clipped(text: str, cap: int) -> str:
    """A text of at most `cap` tokens; what does not fit is cut, and that is said."""
    if count_tokens(text).tokens <= cap:
        return text
    mark = "\n… (cut)"
    low, high = 0, len(text)
    while high - low > 1:
        middle = (low + high) // 2
        if count_tokens(text[:middle] + mark).tokens <= cap:
            low = middle
        else:
            high = middle
    return text[:low] + mark
