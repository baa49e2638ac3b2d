"""Counting tokens, honestly: the count says which encoding it was really made with."""

from __future__ import annotations

import logging
import threading
from functools import cache
from typing import NamedTuple, Protocol

DEFAULT_ENCODING = "o200k_base"

LOAD_LIMIT = 10.0
"""Seconds that loading a vocabulary may take: tiktoken itself waits for a network for ever."""

log = logging.getLogger("lspz.tokens")

ESTIMATE = "estimate"
"""The name that a count carries when no encoding could be had and it is four bytes to the token."""


class TokenCount(NamedTuple):
    """A number of tokens and what it was counted with."""

    tokens: int
    encoding: str
    """A tiktoken encoding, or `estimate`."""


class _Encoding(Protocol):
    def encode_ordinary(self, text: str) -> list[int]: ...


def count_tokens(text: str, encoding: str = DEFAULT_ENCODING) -> TokenCount:
    """Count the tokens of `text`.

    tiktoken needs its vocabulary: a cache (`TIKTOKEN_CACHE_DIR`) or the network at first use. Without either the count
    is an estimate, and says so. Raises ValueError for an encoding that tiktoken does not know.
    """
    with _loading:
        loaded = _load(encoding)
    if loaded is None:
        return TokenCount((len(text.encode(errors="replace")) + 3) // 4, ESTIMATE)
    return TokenCount(len(loaded.encode_ordinary(text)), encoding)


def preload() -> None:
    """Load the default vocabulary in the background, for somebody who will count and must not wait then."""
    threading.Thread(target=count_tokens, args=("",), name="lspz-preload", daemon=True).start()


_loading = threading.Lock()


@cache
def _load(encoding: str) -> _Encoding | None:
    import tiktoken

    if encoding not in tiktoken.list_encoding_names():
        raise ValueError(f"{encoding!r} is no encoding of tiktoken's: {', '.join(tiktoken.list_encoding_names())}")
    loaded: list[_Encoding] = []

    def load() -> None:
        try:
            loaded.append(tiktoken.get_encoding(encoding))
        except (OSError, ValueError, ImportError) as error:  # no network, a damaged cache
            log.info("%s could not be loaded, tokens are estimated: %s", encoding, error)

    thread = threading.Thread(target=load, name="lspz-tokens", daemon=True)
    thread.start()
    thread.join(LOAD_LIMIT)
    return loaded[0] if loaded else None
