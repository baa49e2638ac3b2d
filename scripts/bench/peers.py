"""The ways from client to server that are compared."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).parent
PYTHON = sys.executable


@dataclass(frozen=True)
class Peer:
    """A way to the server: what is put in front of the backend's command."""

    name: str
    prefix: tuple[str, ...]
    needs: str = ""
    """The package it cannot run without."""
    exact: bool = True
    """Every byte must arrive as it was sent; else the same JSON will do."""
    effort: float = 1.0
    """The share of the usual repetitions: one fiftieth of them takes a slow peer as long."""

    @property
    def has_middle(self) -> bool:
        """Whether there is a process between client and backend."""
        return bool(self.prefix)

    @property
    def is_installed(self) -> bool:
        return not self.needs or importlib.util.find_spec(self.needs) is not None

    def command(self, delay: float = 0.0) -> list[str]:
        """The command line, with a backend that takes `delay` seconds to start."""
        arguments = [str(delay)] if delay else []
        return [*self.prefix, PYTHON, "-S", "-E", str(HERE / "backend.py"), *arguments]

    def times(self, repetitions: int) -> int:
        return max(1, round(repetitions * self.effort))


def _lspz(name: str, form: str) -> Peer:
    return Peer(name, (PYTHON, "-m", "lspz", "--format", form, "--"), needs="lspz", exact=form == "passthrough")


DIRECT = Peer("direct", ())
PUMP = Peer("pump", (PYTHON, str(HERE / "pump.py")))
LSPZ = _lspz("lspz", "passthrough")
COMPACT = _lspz("lspz compact", "compact")
FOLDED = _lspz("lspz folded", "folded")
RASS = Peer(
    "rassumfrassum",
    # its quietest and fastest: by default it also writes every message to stderr
    (PYTHON, "-m", "rassumfrassum", "--quiet-server", "--log-level", "silent", "--"),
    needs="rassumfrassum",
    exact=False,
    effort=0.05,
)


def installed(peers: Sequence[Peer]) -> list[Peer]:
    """Those of `peers` that can run here."""
    return [peer for peer in peers if peer.is_installed]
