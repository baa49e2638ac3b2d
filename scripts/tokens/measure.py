"""Counts tokens: of each message in each form, of what users have today, and of whole sessions of diagnostics."""

from __future__ import annotations

import functools
import json
from collections import defaultdict
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any, NamedTuple

import tiktoken
import toon_format

import lspz

from . import captures
from .captures import PULL, Capture

ENCODINGS = ("o200k_base", "cl100k_base")
FORMS = ("folded", "compact", "toon", "text")
STREAMED = ("compact", "text")

OPENCODE_LIMIT = 20
"""Errors that OpenCode shows of a file."""


class Count(NamedTuple):
    """Tokens of one message, or of several, raw and after."""

    messages: int
    raw: tuple[int, ...]
    """In each of `ENCODINGS`."""
    after: tuple[int, ...]
    larger: int = 0
    """How many became larger, in bytes."""
    worst: float = 100.0
    """The least that any one message saved, in percent of its o200k_base tokens."""
    where: str = ""
    """Which one that is."""

    def __add__(self, other: Count) -> Count:  # type: ignore[override]
        least = self if self.worst <= other.worst else other
        return Count(
            self.messages + other.messages,
            tuple(map(sum, zip(self.raw, other.raw, strict=True))),
            tuple(map(sum, zip(self.after, other.after, strict=True))),
            self.larger + other.larger,
            least.worst,
            least.where,
        )

    def saved(self, encoding: int = 0) -> float:
        """Percent."""
        return 100 * (1 - self.after[encoding] / self.raw[encoding]) if self.raw[encoding] else 0.0


Counts = dict[tuple[str, str, str], Count]
"""By kind, server and form."""

DIAGNOSTICS, SESSIONS = "diagnostics", "diagnostics over whole sessions"


class Loss(NamedTuple):
    """Diagnostics that a way of showing them shows, of how many."""

    shown: int
    found: int


def minified(value: Any) -> str:
    """JSON as short as it can be."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def size(text: str) -> int:
    """Bytes; captured JSON may hold lone surrogates."""
    return len(text.encode("utf-8", "surrogatepass"))


def text_of(value: Any) -> str:
    """What a model reads of what a client gets: the text in an envelope, else the JSON."""
    if isinstance(value, dict):
        inner = value["value"] if isinstance(value.get("value"), dict) else value
        if "format" in inner and isinstance(inner.get("text"), str):
            text: str = inner["text"]
            return text
    return minified(value)


@functools.cache
def _encoding(name: str) -> tiktoken.Encoding:
    return tiktoken.get_encoding(name)


@functools.lru_cache(maxsize=16)  # a message as it came is asked for several times in a row
def tokens(text: str) -> tuple[int, ...]:
    """In each of `ENCODINGS`."""
    return tuple(len(_encoding(name).encode_ordinary(text)) for name in ENCODINGS)


def opencode(capture: Capture) -> tuple[str, Loss]:
    """Diagnostics as OpenCode shows them: errors only, at most twenty a file, one line each."""
    found = capture.payload.get("diagnostics") or capture.payload.get("items")
    errors = [d for d in found if d.get("severity", 1) == 1][:OPENCODE_LIMIT]
    lines = []
    for d in errors:
        start, message = d["range"]["start"], d["message"]
        text = message if isinstance(message, str) else message["value"]
        lines.append(f"ERROR [{start['line'] + 1}:{start['character'] + 1}] {text}")
    return "\n".join(lines), Loss(len(errors), len(found))


TODAY: dict[str, Callable[[Capture], str]] = {
    "minified JSON": lambda capture: minified(capture.payload),
    "indented JSON": lambda capture: json.dumps(capture.payload, ensure_ascii=False, indent=2),
    "TOON of the JSON": lambda capture: toon_format.encode(capture.payload),
}
"""What users have today, of any message."""

OPENCODE = "OpenCode's lines"


class Measured(NamedTuple):
    """What was counted of some sessions."""

    counts: Counts
    opencode: Loss


def measure_session(path: Path) -> Measured:
    """Count one session."""
    counts: Counts = {}
    loss = Loss(0, 0)

    def add(capture: Capture, kind: str, form: str, raw: tuple[int, ...], text: str, larger: bool = False) -> None:
        after = tokens(text)
        saved = 100 * (1 - after[0] / raw[0])
        one = Count(1, raw, after, int(larger), saved, f"{capture.session}: {capture.method}")
        key = (kind, capture.server, form)
        counts[key] = counts[key] + one if key in counts else one

    for capture, streamed in _with_streams(path):
        raw = minified(capture.payload)
        raw_tokens = tokens(raw)
        for form, text in streamed.items():
            add(capture, SESSIONS, form, raw_tokens, text)
        if not capture.says_something:
            continue
        for form in FORMS:
            if form != "folded" or DIAGNOSTICS in capture.kind:
                written = lspz.compress(capture.method, capture.payload, format=form)
                larger = size(minified(written)) > size(raw)
                add(capture, capture.kind, form, raw_tokens, text_of(written), larger)
        for way, write in TODAY.items():
            add(capture, capture.kind, way, raw_tokens, write(capture))
        if capture.kind == DIAGNOSTICS:
            text, one = opencode(capture)
            add(capture, capture.kind, OPENCODE, raw_tokens, text)
            loss = Loss(loss.shown + one.shown, loss.found + one.found)
    return Measured(counts, loss)


def _with_streams(path: Path) -> Iterator[tuple[Capture, dict[str, str]]]:
    """Captures, and for reports of diagnostics, empty ones too, what says only what changed."""
    senders = {form: lspz.DiagnosticsSender(form) for form in STREAMED}
    for capture in captures.read(path):
        streamed = {}
        reported = (
            capture.payload is not None and capture.payload.get("kind") != "unchanged"
            if (capture.kind == DIAGNOSTICS)
            else False
        )
        if reported:
            uri = capture.uri if capture.method == PULL else ""
            for form, sender in senders.items():
                streamed[form] = text_of(sender.send(capture.method, capture.payload, uri))
        yield capture, streamed


def measure(folder: Path, progress: Callable[[int, int], None]) -> Measured:
    """Count all sessions of a folder, one process a core; `progress` hears how many of how many are done."""
    paths = captures.sessions(folder)
    counts: dict[tuple[str, str, str], Count] = {}
    loss = Loss(0, 0)
    with ProcessPoolExecutor() as pool:
        by_size = sorted(paths, key=lambda path: -path.stat().st_size)
        for done, found in enumerate(pool.map(measure_session, by_size), 1):
            for key, count in found.counts.items():
                counts[key] = counts[key] + count if key in counts else count
            loss = Loss(loss.shown + found.opencode.shown, loss.found + found.opencode.found)
            progress(done, len(paths))
    return Measured(counts, loss)


def by_kind(counts: Counts) -> dict[tuple[str, str], Count]:
    """Over all servers, by kind and form."""
    return _sum(counts, lambda kind, server, form: (kind, form))


def by_server(counts: Counts) -> dict[tuple[str, str], Count]:
    """Diagnostics alone, by server and form."""
    only = {key: count for key, count in counts.items() if key[0] == DIAGNOSTICS}
    return _sum(only, lambda kind, server, form: (server, form))


def _sum(counts: Counts, key_of: Callable[[str, str, str], tuple[str, str]]) -> dict[tuple[str, str], Count]:
    out: dict[tuple[str, str], Count] = {}
    grouped: dict[tuple[str, str], list[Count]] = defaultdict(list)
    for key, count in counts.items():
        grouped[key_of(*key)].append(count)
    for group, found in grouped.items():
        total = found[0]
        for count in found[1:]:
            total = total + count
        out[group] = total
    return out
