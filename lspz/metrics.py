"""What lspz did, in numbers. Plain values, no I/O."""

from __future__ import annotations

import attrs


@attrs.frozen
class MetricsSnapshot:
    """The counters at one moment. Bytes are of payloads: params or results, as JSON."""

    claimed: int = 0
    """Messages that an interceptor saw."""
    rewritten: int = 0
    """Of those, messages that went on in another form."""
    fail_opens: int = 0
    """Messages that went on as they were because an interceptor failed or had no place for something."""
    bytes_before: int = 0
    """Bytes of the rewritten messages' payloads as the server sent them."""
    bytes_after: int = 0
    """The same payloads as the client got them."""


class Metrics:
    """Counts; `snapshot` reads."""

    def __init__(self) -> None:
        self._claimed = self._rewritten = self._fail_opens = self._before = self._after = 0

    def claim(self) -> None:
        """An interceptor sees a message."""
        self._claimed += 1

    def rewrite(self, before: int, after: int) -> None:
        """A payload of `before` bytes goes on as one of `after` bytes."""
        self._rewritten += 1
        self._before += before
        self._after += after

    def fail_open(self) -> None:
        """A message goes on as it was."""
        self._fail_opens += 1

    def snapshot(self) -> MetricsSnapshot:
        """The counters now."""
        return MetricsSnapshot(self._claimed, self._rewritten, self._fail_opens, self._before, self._after)
