"""TOON, as the library `toon-format` writes and reads it (formats.md §3)."""

from __future__ import annotations

from typing import Any

from ..errors import CannotCompress, DecodeError

DELIMITER = "\t"
"""Between the cells of a table: messages hold commas, and would be quoted for them."""


def encode(value: dict[str, Any]) -> str:
    """The TOON of plain values. Raises CannotCompress for a lone surrogate, which TOON does not have."""
    import toon_format

    text = toon_format.encode(value, delimiter=DELIMITER)
    try:
        text.encode()
    except UnicodeEncodeError:
        raise CannotCompress("TOON has no place for a lone surrogate") from None
    return text


def decode(text: str) -> dict[str, Any]:
    """The values in a TOON text. Raises DecodeError."""
    import toon_format

    try:
        value = toon_format.decode(text)
    except (toon_format.ToonDecodeError, ValueError, RecursionError) as error:
        raise DecodeError("", f"is no TOON: {error}") from error
    if not isinstance(value, dict):
        raise DecodeError("", "must be an object")
    return value
