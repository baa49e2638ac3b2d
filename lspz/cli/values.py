"""Values of options that several commands have, for argparse."""

from __future__ import annotations

import argparse


def seconds(text: str) -> float:
    """A time above nothing. Raises ArgumentTypeError."""
    try:
        value = float(text)
    except ValueError:
        value = 0.0
    if not 0 < value < float("inf"):
        raise argparse.ArgumentTypeError(f"{text!r}: must be a number of seconds above 0")
    return value
