"""The table: figures, ratios, targets, and the machine they come from."""

from __future__ import annotations

import importlib.metadata
import os
import platform
import statistics
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from .measures import Results
from .peers import COMPACT, DIRECT, FOLDED, LSPZ, PUMP, RASS, Peer

PACKAGES = ("lspz", "pygls", "lsprotocol", "msgspec", "cattrs", "rassumfrassum")


@dataclass(frozen=True)
class Target:
    """What a figure must reach: `of` takes the figures of one round, by peer, to the number that `limit` bounds."""

    text: str
    needs: tuple[Peer, ...]
    of: Callable[..., float]
    limit: float
    at_least: bool = False

    def verdict(self, rounds: Sequence[Sequence[float]]) -> str:
        """`ok` or `missed`, by the median over the rounds."""
        if not rounds:
            return "not measured"
        value = statistics.median(self.of(*figures) for figures in rounds)
        return "ok" if (value >= self.limit if self.at_least else value <= self.limit) else "missed"


def times_pump(limit: float) -> Target:
    return Target(f"≤ {limit:g} × pump", (LSPZ, PUMP), lambda lspz, pump: lspz / pump, limit)


def share_of_pump(limit: float) -> Target:
    return Target(f"≥ {limit:.0%} of pump", (LSPZ, PUMP), lambda lspz, pump: lspz / pump, limit, at_least=True)


def times_less_than_rass(limit: float) -> Target:
    return Target(f"≥ {limit:g} × less than rass", (LSPZ, RASS), lambda lspz, rass: rass / lspz, limit, at_least=True)


def at_most(limit: float, unit: str, scale: float, peer: Peer = LSPZ) -> Target:
    return Target(f"≤ {limit:g} {unit}", (peer,), lambda value: value * scale, limit)


def adds_at_most(milliseconds: float, peer: Peer = LSPZ) -> Target:
    return Target(
        f"≤ {milliseconds:g} ms more than direct",
        (peer, DIRECT),
        lambda lspz, direct: (lspz - direct) * 1e3,
        milliseconds,
    )


@dataclass(frozen=True)
class Row:
    """One line of the table; `lspz` is the peer in lspz's column."""

    figure: str
    label: str
    unit: str
    scale: float
    targets: tuple[Target, ...] = ()
    lspz: Peer = field(default=LSPZ)


def _publish(count: int, *targets: float) -> list[Row]:
    return [
        Row(
            f"publish {count}",
            f"{count} diagnostics published, {peer.name.split()[1]}: CPU",
            "ms",
            1e3,
            tuple(at_most(limit, "ms", 1e3, peer) for limit in targets),
            peer,
        )
        for peer in (COMPACT, FOLDED)
    ]


ROWS = [
    Row("latency 200 B", "200 B round trip", "µs", 1e6, (times_pump(1.2),)),
    Row("latency 10 KB", "10 KB", "µs", 1e6),
    Row("latency 100 KB", "100 KB", "ms", 1e3),
    Row("latency 1 MB", "1 MB", "ms", 1e3, (times_pump(1.15),)),
    Row("latency 10 MB", "10 MB", "ms", 1e3),
    Row("cpu 200 B", "200 B: CPU", "µs", 1e6),
    Row("cpu 10 KB", "10 KB: CPU", "µs", 1e6),
    Row("cpu 100 KB", "100 KB: CPU", "ms", 1e3),
    Row("cpu 1 MB", "1 MB: CPU", "ms", 1e3, (times_pump(1.3), times_less_than_rass(40))),
    Row("cpu 10 MB", "10 MB: CPU per MB", "ms", 1e2),
    Row("flood", "200 B notifications, thousands a second", "k/s", 1e-3, (share_of_pump(0.4),)),
    Row("cpu flood", "200 B notifications: CPU for each", "µs", 1e6),
    *_publish(10),
    *_publish(100, 1.0),
    *_publish(1000, 12.0),
    Row("start", "start to `initialize` answered, passthrough", "ms", 1e3, (adds_at_most(80),)),
    Row("start", "start to `initialize` answered, compact", "ms", 1e3, (adds_at_most(80, COMPACT),), COMPACT),
    Row("memory 10 MB", "memory added by a message of 10 MB", "MB", 1e-6, (at_most(4, "MB", 1e-6),)),
    Row("memory waiting", "memory added while 100 MB wait for the client", "MB", 1e-6, (at_most(5, "MB", 1e-6),)),
]

HEAD = ["", "unit", "direct", "pump", "lspz", "rassumfrassum", "lspz / pump", "rassumfrassum / lspz", "target", ""]


def table(results: Results) -> list[list[str]]:
    """The rows that were measured, as text."""
    lines = []
    for row in ROWS:
        if any(results.of(row.figure, peer.name) for peer in (DIRECT, PUMP, row.lspz, RASS)):
            values = [results.median(row.figure, peer.name) for peer in (DIRECT, PUMP, row.lspz, RASS)]
            lines.append(
                [
                    row.label,
                    row.unit,
                    *[_number(value, row.scale) for value in values],
                    _ratio(results, row.figure, row.lspz, PUMP),
                    _ratio(results, row.figure, RASS, row.lspz),
                    ", ".join(target.text for target in row.targets),
                    ", ".join(target.verdict(_rounds(results, row.figure, target.needs)) for target in row.targets),
                ]
            )
    return lines


def _rounds(results: Results, figure: str, peers: Sequence[Peer]) -> list[tuple[float, ...]]:
    """The figures of several peers, round by round."""
    return list(zip(*[results.of(figure, peer.name) for peer in peers], strict=False))


def _ratio(results: Results, figure: str, one: Peer, other: Peer) -> str:
    """The median of the rounds' ratios: what slows both down in one round does not count."""
    ratios = [a / b for a, b in _rounds(results, figure, (one, other)) if b > 0]
    return _digits(statistics.median(ratios)) if ratios else "–"


def _number(value: float | None, scale: float) -> str:
    return "–" if value is None else _digits(value * scale)


def _digits(value: float) -> str:
    """Three significant digits, no exponent."""
    if abs(value) >= 100:
        return f"{value:.0f}"
    return f"{value:.1f}" if abs(value) >= 10 else f"{value:.2f}"


def plain(results: Results) -> str:
    lines = [HEAD, *table(results)]
    widths = [max(len(line[i]) for line in lines) for i in range(len(HEAD))]
    left = (0, 1, 8, 9)
    return "\n".join(
        "  ".join(
            f"{cell:<{width}}" if i in left else f"{cell:>{width}}"
            for i, (cell, width) in enumerate(zip(line, widths, strict=True))
        ).rstrip()
        for line in lines
    )


def markdown(results: Results) -> str:
    rule = ["---", "---", *["---:"] * 6, "---", "---"]
    return "\n".join("| " + " | ".join(line) + " |" for line in [HEAD, rule, *table(results)])


def machine(load: float) -> str:
    """What the figures depend on; `load` is the load average before the run."""
    release = ".".join(platform.release().split(".")[:2])
    system = f"{platform.system()} {release} {platform.machine()}"
    return " · ".join(
        [
            f"{platform.python_implementation()} {platform.python_version()}",
            system,
            f"{_cpu()}, {os.cpu_count()} cores, load {load:.1f} before",
            ", ".join(f"{name} {version}" for name in PACKAGES if (version := _version(name))),
        ]
    )


def _cpu() -> str:
    for line in Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            return line.split(":", 1)[1].strip()
    return platform.processor() or "unknown processor"


def _version(package: str) -> str:
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return ""
