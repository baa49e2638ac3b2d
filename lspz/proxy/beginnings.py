"""How frames begin that nobody had to see: in a flood, looking that up is all that is done with a message.

A frame's beginning, up to the params, holds its length and its method. Where both are as in a frame that was forwarded
unseen, so is this one.
"""

from __future__ import annotations

import re
from collections.abc import Container

from ..wire.framing import Span

MAX_PLAIN = 4096
"""Beginnings of frames that are remembered; a server uses some hundred."""

BEGINNING = 200
"""Bytes in which a frame's params must begin for its beginning to be remembered."""

_PARAMS = b',"params":'
_PLAIN = re.compile(rb'\{"jsonrpc":"2\.0","method":"[^"\\]*"')  # a method behind the params would not be known


class Beginnings:
    """The beginnings that were learned while the same methods were watched."""

    def __init__(self) -> None:
        self._sizes: dict[bytes, int] = {}  # bytes of the whole frame, by its beginning
        self._watched: Container[str] | None = None

    def are_known(self, watched: Container[str]) -> bool:
        """Whether there are any, and they were learned while `watched` was watched."""
        return self._watched is watched and bool(self._sizes)

    def skim(self, data: bytes) -> int:
        """How many bytes at the start of `data` are whole frames with known beginnings."""
        known, find, end = self._sizes, data.find, len(data)
        position = 0
        while (params := find(_PARAMS, position, position + BEGINNING)) > 0:
            size = known.get(data[position:params])
            if size is None or position + size > end:
                break
            position += size
        return position

    def learn(self, watched: Container[str], buffer: bytes, span: Span) -> None:
        """Remember how an unwatched notification (or request, where those need no ledger) begins."""
        if self._watched is not watched:
            self._watched = watched
            self._sizes.clear()
        start, body, stop = span
        params = buffer.find(_PARAMS, body, start + BEGINNING)
        if params > 0 and start < body and len(self._sizes) < MAX_PLAIN and _PLAIN.fullmatch(buffer, body, params):
            self._sizes[buffer[start:params]] = stop - start
