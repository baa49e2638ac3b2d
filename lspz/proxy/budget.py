"""How often what keeps dying is started again, and how soon."""

from __future__ import annotations

BACKOFF = 0.5
"""Seconds before a server is started for the second time again, twice as long each further time."""


class Budget:
    """At most `times` new starts within `window` seconds."""

    def __init__(self, times: int, window: float) -> None:
        self.times = times
        self.window = window
        self._failures: list[float] = []

    def fail(self, now: float) -> None:
        """It died, or could not be started, at a time in seconds."""
        self._failures.append(now)

    def failures(self, now: float) -> int:
        """How often it failed within the window."""
        self._failures = [at for at in self._failures if now - at < self.window]
        return len(self._failures)

    def is_spent(self, now: float) -> bool:
        """Whether it is not started again."""
        return self.failures(now) > self.times

    def left(self, now: float) -> float:
        """Seconds until it may be started again, once the budget is spent."""
        return self._failures[0] + self.window - now if self._failures else 0.0

    def delay(self, now: float) -> float:
        """Seconds to wait before the next start."""
        failures = self.failures(now)
        return BACKOFF * 2 ** (failures - 2) if failures > 1 else 0.0
