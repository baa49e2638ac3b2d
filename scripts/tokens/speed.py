"""How long encoding takes, in CPU time, beside reading and writing the same JSON with Python's `json`."""

from __future__ import annotations

import json
import statistics
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

import lspz
from lspz.codec import chain_for
from lspz.interceptors.base import Direction, run_inline
from lspz.interceptors.chain import Chain

from . import captures
from .captures import PUBLISH

COMPLETION = "textDocument/completion"
ROUNDS = 15
PATIENCE = 1.0
"""Seconds after which three rounds must do."""
SAMPLE = 12
"""Captured messages of diagnostics that are timed."""
ITEMS = 10_000


class Speed(NamedTuple):
    """CPU time of one thing."""

    what: str
    form: str
    milliseconds: float
    json_milliseconds: float
    """What `json.loads` and `json.dumps` of the same message need."""

    @property
    def times_json(self) -> float:
        """The ratio, which is the same on machines of any speed."""
        return self.milliseconds / self.json_milliseconds


def measure(folder: Path) -> list[Speed]:
    """Encoding and decoding 100 diagnostics, and encoding a long completion list. Empty without such captures."""
    config = lspz.Config(enable_diag_compress=None)
    publishes, items = _samples(folder)
    per_hundred = [100 / len(payload["diagnostics"]) for payload in publishes]
    raws = [msgspec.json.encode(payload) for payload in publishes]
    plain = _median(_time(_copy, raw) * scale for raw, scale in zip(raws, per_hundred, strict=True))
    listed = msgspec.json.encode({"isIncomplete": False, "items": items})
    plain_listed = _time(_copy, listed)
    out = []
    for form in ("folded", "compact", "toon", "text"):
        chain = chain_for(config, form)
        written = [lspz.compress(PUBLISH, payload, format=form) for payload in publishes]
        if publishes:
            spent = _median(_time(_encode, chain, PUBLISH, raw) * n for raw, n in zip(raws, per_hundred, strict=True))
            out.append(Speed("encode 100 diagnostics", form, spent, plain))
        if publishes and form != "folded":
            decoded = zip(written, per_hundred, strict=True)
            spent = _median(_time(lspz.decompress, PUBLISH, value) * scale for value, scale in decoded)
            out.append(Speed("decode 100 diagnostics", form, spent, plain))
        if items and form != "folded":
            spent = _time(_encode, chain, COMPLETION, listed)
            out.append(Speed(f"encode {ITEMS:,} completions", form, spent, plain_listed))
    return out


def _encode(chain: Chain, method: str, raw: bytes) -> object:
    """From bytes to bytes, as in the proxy."""
    return run_inline(chain.run(method, raw, Direction.TO_CLIENT))


def _copy(raw: bytes) -> object:
    return json.dumps(json.loads(raw))


def _time(run: Callable[..., object], *arguments: Any) -> float:
    """The least CPU time of a call, in milliseconds: what others on the machine add is not lspz's."""
    spent = []
    began = time.monotonic()
    while len(spent) < ROUNDS and (len(spent) < 3 or time.monotonic() - began < PATIENCE):
        start = time.process_time_ns()
        run(*arguments)
        spent.append((time.process_time_ns() - start) / 1e6)
    return min(spent)


def _median(values: Iterable[float]) -> float:
    found = list(values)
    return statistics.median(found) if found else 0.0


def _samples(folder: Path) -> tuple[list[Any], list[Any]]:
    """Publishes nearest to 100 diagnostics, one a server; the items of captured lists, up to `ITEMS`, none twice."""
    nearest: dict[str, tuple[int, Any]] = {}
    items: dict[str, Any] = {}
    for path in captures.sessions(folder):
        for capture in captures.read(path):
            if capture.method == PUBLISH:
                away = abs(len(capture.payload["diagnostics"]) - 100)
                if away < nearest.get(capture.server, (50, None))[0]:
                    nearest[capture.server] = (away, capture.payload)
            elif capture.method == COMPLETION and capture.payload and len(items) < ITEMS:
                found = capture.payload if isinstance(capture.payload, list) else capture.payload["items"]
                items |= {json.dumps(item): item for item in found}
    kept = list(items.values())[:ITEMS]
    if kept:
        kept = [
            {**kept[i % len(kept)], "label": f"{kept[i % len(kept)]['label']}{i // len(kept) or ''}"}
            for i in range(ITEMS)
        ]
    return [payload for _, payload in sorted(nearest.values(), key=lambda pair: pair[0])[:SAMPLE]], kept
