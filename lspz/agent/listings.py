"""A list that has no compact form of its own: signatures, calls, code actions. Rows of plain values, a line each."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self

import attrs

from ..formats import VERSION


@attrs.frozen
class Listing:
    """Rows, and how each reads as a line of text."""

    name: str
    """What the rows are."""
    rows: tuple[Mapping[str, Any], ...]
    """Plain values under full names."""
    lines: tuple[str, ...]
    omitted: int = 0
    """How many were left out for a cap."""

    @property
    def size(self) -> int:
        """How many rows there are."""
        return len(self.rows)

    def first(self, count: int) -> Self:
        """The same with its first `count` rows, and the others counted as omitted."""
        left_out = max(self.size - count, 0)
        return attrs.evolve(self, rows=self.rows[:count], lines=self.lines[:count], omitted=self.omitted + left_out)

    def envelope(self) -> dict[str, Any]:
        """Nothing."""
        return {}

    def to_compact(self) -> dict[str, Any]:
        """The rows."""
        return {"version": VERSION, **self.to_names()}

    def to_names(self) -> dict[str, Any]:
        """The rows, under their name."""
        out: dict[str, Any] = {self.name: [dict(row) for row in self.rows]}
        return {**out, "omitted": self.omitted} if self.omitted else out

    def to_text(self) -> str:
        """The lines."""
        more = [f"omitted {self.omitted}"] if self.omitted else []
        return "\n".join([*self.lines, *more]) or "none"
