"""How long encoding takes, in CPU time, beside reading and writing the same JSON with Python's `json`."""

from __future__ import annotations

import json
import math
import statistics
import time
from collections import defaultdict
from collections.abc import Callable
from functools import partial
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
FORMS = ("folded", "compact", "toon", "text")
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


class _Work(NamedTuple):
    """One message, and what is done with it."""

    verb: str
    of: str
    form: str
    run: Callable[[], object]
    scale: float = 1.0
    """What makes the time that of as many items as `of` says."""


def measure(folder: Path) -> list[Speed]:
    """Encoding and decoding 100 diagnostics, and encoding a long completion list. Empty without such captures.

    Of each message it is the least of some rounds, and each round takes all messages: what others on the machine add
    for a while is not lspz's. Of several messages it is the median.
    """
    works = _works(*_samples(folder))
    least = [math.inf] * len(works)
    for _ in range(ROUNDS):
        for i, work in enumerate(works):
            least[i] = min(least[i], _time(work.run) * work.scale)
    found: dict[tuple[str, str, str], list[float]] = defaultdict(list)
    for work, milliseconds in zip(works, least, strict=True):
        found[work.verb, work.of, work.form].append(milliseconds)
    medians = {key: statistics.median(times) for key, times in found.items()}
    return [
        Speed(f"{verb} {of}", form, milliseconds, medians["copy", of, "json"])
        for (verb, of, form), milliseconds in medians.items()
        if verb != "copy"
    ]


def _works(publishes: list[Any], items: list[Any]) -> list[_Work]:
    chains = {form: chain_for(lspz.Config(enable_diag_compress=None), form) for form in FORMS}
    works = []
    of = "100 diagnostics"
    for payload in publishes:
        raw = msgspec.json.encode(payload)
        scale = 100 / len(payload["diagnostics"])
        works.append(_Work("copy", of, "json", partial(_copy, raw), scale))
        for form, chain in chains.items():
            works.append(_Work("encode", of, form, partial(_encode, chain, PUBLISH, raw), scale))
        for form in FORMS[1:]:
            written = lspz.compress(PUBLISH, payload, format=form)
            works.append(_Work("decode", of, form, partial(lspz.decompress, PUBLISH, written), scale))
    if items:
        of = f"{len(items):,} completions"
        raw = msgspec.json.encode({"isIncomplete": False, "items": items})
        works.append(_Work("copy", of, "json", partial(_copy, raw)))
        for form in FORMS[1:]:
            works.append(_Work("encode", of, form, partial(_encode, chains[form], COMPLETION, raw)))
    return works


def _encode(chain: Chain, method: str, raw: bytes) -> object:
    """From bytes to bytes, as in the proxy."""
    return run_inline(chain.run(method, raw, Direction.TO_CLIENT))


def _copy(raw: bytes) -> object:
    return json.dumps(json.loads(raw))


def _time(run: Callable[[], object]) -> float:
    """The CPU time of a call, in milliseconds."""
    start = time.process_time_ns()
    run()
    return (time.process_time_ns() - start) / 1e6


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
