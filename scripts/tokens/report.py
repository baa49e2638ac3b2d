"""Tables of what was counted, as plain text, as Markdown and as JSON."""

from __future__ import annotations

import importlib.metadata
import os
import platform
import statistics
from collections.abc import Sequence
from datetime import date
from typing import Any

from .measure import DIAGNOSTICS, ENCODINGS, FORMS, OPENCODE, SESSIONS, STREAMED, TODAY, Measured, by_kind, by_server
from .speed import Speed

PACKAGES = ("lspz", "msgspec", "tiktoken", "toon-format")

KINDS = (
    "diagnostics",
    SESSIONS,
    "workspace diagnostics",
    "document symbols",
    "references",
    "definitions and the like",
    "workspace symbols",
    "completion",
    "hover",
)

Table = list[list[str]]


def summary(measured: Measured) -> Table:
    """What each form saves of diagnostics: of each message, by server, and over whole sessions."""
    found = by_kind(measured.counts)
    rows = {DIAGNOSTICS: DIAGNOSTICS, "only what changed in them": SESSIONS}
    table = [["tokens saved", *FORMS]]
    for what, kind in rows.items():
        counts = [found.get((kind, form)) for form in FORMS]
        table.append([what, *("–" if count is None else f"{count.saved():.1f} %" for count in counts)])
    _, *by_name = servers(measured)
    if by_name:
        table.insert(2, [by_name[-1][0], *by_name[-1][-len(FORMS) :]])
    return table


def kinds(measured: Measured) -> Table:
    """Kind by form: messages, tokens, saved in each encoding, worst message, how many became larger."""
    table = [["kind", "form", "messages", "tokens raw", "after", *(f"saved, {name}" for name in ENCODINGS), "worst"]]
    found = by_kind(measured.counts)
    for kind in KINDS:
        for form in FORMS:
            count = found.get((kind, form))
            if count is None:
                continue
            name = f"{form}, only what changed" if kind == SESSIONS else form
            saved = [f"{count.saved(i):.2f} %" for i in range(len(ENCODINGS))]
            worst = f"{count.worst:.1f} %" + (f"; {count.larger} larger" if count.larger else "")
            table.append([kind, name, f"{count.messages:,}", f"{count.raw[0]:,}", f"{count.after[0]:,}", *saved, worst])
    return table


def today(measured: Measured) -> Table:
    """What users have on the same messages, beside text."""
    ways = [*TODAY, OPENCODE, "text"]
    table = [["kind", *ways]]
    found = by_kind(measured.counts)
    for kind in KINDS:
        counts = [found.get((kind, way)) for way in ways]
        if kind != SESSIONS and any(counts):
            table.append([kind, *("" if count is None else f"{count.saved():.1f} %" for count in counts)])
    return table


def servers(measured: Measured) -> Table:
    """Diagnostics by server and form, and the medians."""
    table = [["server", "messages", "tokens raw", *FORMS]]
    found = by_server(measured.counts)
    names = sorted({server for server, _ in found})
    for server in names:
        counts = [found[server, form] for form in FORMS]
        saved = [f"{count.saved():.1f} %" for count in counts]
        table.append([server, f"{counts[0].messages:,}", f"{counts[0].raw[0]:,}", *saved])
    if names:
        medians = [statistics.median(found[server, form].saved() for server in names) for form in FORMS]
        table.append([f"median of {len(names)} servers", "", "", *(f"{median:.1f} %" for median in medians)])
    return table


def opencode(measured: Measured) -> str:
    """What OpenCode's way leaves out, as a sentence."""
    shown, found = measured.opencode
    if not found:
        return ""
    lost = 100 * (1 - shown / found)
    return (
        f"OpenCode's lines (errors only, 20 a file) leave out {found - shown:,} of {found:,} diagnostics: {lost:.1f} %."
    )


def speeds(found: Sequence[Speed]) -> Table:
    """CPU time, and its ratio to Python's `json`."""
    table = [["", "form", "CPU time", "× json.loads + json.dumps"]]
    for speed in found:
        table.append([speed.what, speed.form, f"{speed.milliseconds:.2f} ms", f"{speed.times_json:.2f}"])
    return table


def machine(load: float) -> str:
    """Where and with what the figures were made; `load` is the load average before the run."""
    versions = ", ".join(f"{name} {importlib.metadata.version(name)}" for name in PACKAGES)
    cpu = f"{os.cpu_count()} cores, load {load:.1f} before"
    return f"{date.today()}, Python {platform.python_version()}, {platform.machine()}, {cpu}; {versions}."


def plain(table: Table) -> str:
    """In columns, numbers to the right."""
    widths = [max(len(row[i]) for row in table) for i in range(len(table[0]))]
    texts = _texts(table)
    lines = []
    for row in table:
        cells = [c.ljust(w) if text else c.rjust(w) for c, w, text in zip(row, widths, texts, strict=True)]
        lines.append("  ".join(cells).rstrip())
    return "\n".join(lines)


def markdown(table: Table) -> str:
    """As Markdown has it."""
    rule = "|" + "|".join("---" if text else "--:" for text in _texts(table)) + "|"
    rows = [f"| {' | '.join(row)} |" for row in table]
    return "\n".join([rows[0], rule, *rows[1:]])


def _texts(table: Table) -> list[bool]:
    return [i == 0 or table[0][i] == "form" for i in range(len(table[0]))]


def as_json(measured: Measured, speed: Sequence[Speed], load: float) -> dict[str, Any]:
    """Everything, for programs."""
    return {
        "encodings": ENCODINGS,
        "counts": [
            {"kind": kind, "server": server, "form": form, **count._asdict()}
            for (kind, server, form), count in sorted(measured.counts.items())
        ],
        "opencode": measured.opencode._asdict(),
        "speed": [one._asdict() for one in speed],
        "machine": machine(load),
    }


def charted(measured: Measured) -> dict[str, dict[str, float]]:
    """What the chart shows: percent saved, by kind and form."""
    found = by_kind(measured.counts)
    out: dict[str, dict[str, float]] = {}
    for kind in KINDS:
        forms = STREAMED if kind == SESSIONS else ("compact", "toon", "text")
        values = {form: found[kind, form].saved() for form in forms if (kind, form) in found}
        if values:
            out[kind] = values
    assert DIAGNOSTICS in KINDS
    return out
