"""The summary as a picture: bars of what each form saves, by kind of message."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

COLOURS = {"compact": "#98a4b3", "toon": "#5b9bd5", "text": "#d9822b"}
INK = "#808890"
"""Like the colours, readable on a light page and on a dark one."""


def draw(saved: Mapping[str, Mapping[str, float]], path: Path) -> None:
    """Write an SVG, or what else the path's ending says; the same figures give the same bytes."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    matplotlib.rcParams.update(
        {
            "svg.hashsalt": "lspz",
            "svg.fonttype": "none",
            "font.family": "sans-serif",
            "font.size": 10,
            "text.color": INK,
            "axes.labelcolor": INK,
            "xtick.color": INK,
            "ytick.color": INK,
        }
    )
    kinds = list(saved)
    figure, axes = pyplot.subplots(figsize=(8, 0.55 * len(kinds) + 0.9))
    height = 0.26
    for i, (form, colour) in enumerate(COLOURS.items()):
        places = [row + (i - 1) * height for row, kind in enumerate(kinds) if form in saved[kind]]
        values = [saved[kind][form] for kind in kinds if form in saved[kind]]
        bars = axes.barh(places, values, height * 0.92, color=colour, label=form)
        axes.bar_label(bars, labels=[f"{value:.0f} %" for value in values], padding=3, fontsize=8, color=INK)
    axes.set_yticks(range(len(kinds)), kinds)
    axes.invert_yaxis()
    axes.set_xlim(0, 108)
    axes.set_xticks(range(0, 101, 20), [f"{tick} %" for tick in range(0, 101, 20)])
    axes.set_title("tokens saved, against the server's own JSON", fontsize=11, color=INK)
    axes.legend(loc="lower right", frameon=False)
    axes.tick_params(length=0)
    for spine in axes.spines.values():
        spine.set_visible(False)
    axes.grid(axis="x", color=INK, alpha=0.25)
    axes.set_axisbelow(True)
    figure.tight_layout()
    figure.savefig(path, transparent=True, metadata={"Date": None} if path.suffix == ".svg" else None)
    pyplot.close(figure)
