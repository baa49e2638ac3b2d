"""Counts the tokens that were saved, beside the stream and never in its way."""

from __future__ import annotations

import queue
import threading
from contextlib import suppress

from ..tokens import ESTIMATE, count_tokens

FINISH = 2.0
"""Seconds that the end of a session waits for the last counts."""

MAX_WAITING = 10_000
"""Payloads that may wait to be counted; further ones are left out and the line says so."""


class Savings:
    """Tokens before and after, counted in a thread of its own."""

    def __init__(self) -> None:
        self._waiting: queue.Queue[tuple[bytes, bytes] | None] = queue.Queue(MAX_WAITING)
        self._messages = self._before = self._after = self._left_out = 0
        self._encoding = ESTIMATE
        self._thread = threading.Thread(target=self._count, name="lspz-savings", daemon=True)
        self._thread.start()

    def add(self, before: bytes, after: bytes) -> None:
        """A payload of the server's went on as another one."""
        try:
            self._waiting.put_nowait((before, after))
        except queue.Full:
            self._left_out += 1

    def _count(self) -> None:
        while (pair := self._waiting.get()) is not None:
            before, self._encoding = count_tokens(pair[0].decode(errors="replace"))
            after, _ = count_tokens(pair[1].decode(errors="replace"))
            self._before += before
            self._after += after
            self._messages += 1

    def summary(self) -> str:
        """One line for the end of a session."""
        with suppress(queue.Full):
            self._waiting.put(None, timeout=FINISH)
        self._thread.join(FINISH)
        left = self._left_out + (self._waiting.qsize() if self._thread.is_alive() else 0)
        if not self._messages and not left:
            return "no message was rewritten"
        saved = 100 * (1 - self._after / self._before) if self._before else 0.0
        uncounted = f"; {left} more were not counted" if left else ""
        return (
            f"{self._messages} messages rewritten, {self._before} -> {self._after} tokens "
            f"({self._encoding}), {saved:.0f} % saved{uncounted}"
        )
