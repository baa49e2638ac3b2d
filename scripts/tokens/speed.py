"""How long encoding takes, in CPU time, beside reading and writing the same JSON with Python's `json`."""

from __future__ import annotations

import json
import statistics
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

import lspz
from lspz.codec import chain_for
from lspz.interceptors.base import Direction, run_inline

from . import captures
from .captures import PUBLISH

COMPLETION = "textDocument/completion"
ROUNDS = 15
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
    out = []
    for form in ("folded", "compact", "toon", "text"):
        chain = chain_for(config, form)
        encoding, decoding, plain = [], [], []
        for payload in publishes:
            per_hundred = 100 / len(payload["diagnostics"])
            raw = msgspec.json.encode(payload)
            encoding.append(per_hundred * _time(lambda raw=raw: run_inline(chain.run(PUBLISH, raw, Direction.TO_CLIENT))))
            plain.append(per_hundred * _time(lambda raw=raw: json.dumps(json.loads(raw))))
            written = lspz.compress(PUBLISH, payload, format=form)
            decoding.append(per_hundred * _time(lambda written=written: lspz.decompress(PUBLISH, written)))
        if publishes:
            as_json = statistics.median(plain)
            out.append(Speed("encode 100 diagnostics", form, statistics.median(encoding), as_json))
            if form != "folded":
                out.append(Speed("decode 100 diagnostics", form, statistics.median(decoding), as_json))
        if items and form != "folded":
            raw = msgspec.json.encode({"isIncomplete": False, "items": items})
            spent = _time(lambda: run_inline(chain.run(COMPLETION, raw, Direction.TO_CLIENT)), rounds=3)
            out.append(Speed(f"encode {ITEMS:,} completions", form, spent, _time(lambda: json.dumps(json.loads(raw)), 3)))
    return out


def _time(run: Callable[[], Any], rounds: int = ROUNDS) -> float:
    """The median CPU time of a call, in milliseconds."""
    run()
    spent = []
    for _ in range(rounds):
        start = time.process_time_ns()
        run()
        spent.append((time.process_time_ns() - start) / 1e6)
    return statistics.median(spent)


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
        kept = [{**kept[i % len(kept)], "label": f"{kept[i % len(kept)]['label']}{i // len(kept) or ''}"} for i in range(ITEMS)]
    return [payload for _, payload in sorted(nearest.values(), key=lambda pair: pair[0])[:SAMPLE]], kept
