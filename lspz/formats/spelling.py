"""How a model is written in each form and read back. A form that is not the kind's own JSON travels in an envelope.

A kind of message says what it is in three ways: as short JSON (compact), as plain values under full names, and as text.
A further form takes one of them, and is one row of `WRITERS` and `READERS`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Protocol, Self

from ..errors import DecodeError, UnsupportedVersion
from . import VERSION, toon


class Spelled(Protocol):
    """What can be written as compact and as text."""

    def to_compact(self) -> dict[str, Any]:
        """The kind's own short JSON."""

    def to_text(self) -> str:
        """Text for a model to read."""

    def envelope(self) -> dict[str, Any]:
        """What stands beside a text, so that it can be told whose it is."""


class Decoded(Protocol):
    """What was read of a message in any form."""

    def to_lsp(self) -> Any:
        """The message as LSP has it, as JSON."""


class Model(Spelled, Decoded, Protocol):
    """What was read of one message: a frozen class that knows how it is spelled."""

    def to_names(self) -> dict[str, Any]:
        """Plain values under full names; lists of equal dicts are tables."""

    @classmethod
    def from_compact(cls, value: Mapping[str, Any]) -> Self:
        """Read `to_compact`'s JSON. Raises DecodeError."""

    @classmethod
    def from_names(cls, value: Mapping[str, Any]) -> Self:
        """Read `to_names`' values. Raises DecodeError."""

    @classmethod
    def from_text(cls, text: str) -> Self:
        """Read `to_text`'s text. Raises DecodeError."""


WRITERS: dict[str, Callable[[Any], Any]] = {
    "compact": lambda model: model.to_compact(),
    "toon": lambda model: _enclosed("toon", toon.encode(model.to_names()), model),
    "text": lambda model: _enclosed("text", model.to_text(), model),
}
"""The forms that are no LSP, and what writes them."""

READERS: dict[str, Callable[[type[Any], str], Any]] = {
    "toon": lambda kind, text: kind.from_names(toon.decode(text)),
    "text": lambda kind, text: kind.from_text(text),
}
"""The forms that travel in an envelope, and what reads them."""


def write(model: Spelled, form: str) -> Any:
    """The JSON that goes out for a model in one of `WRITERS`' forms. Raises CannotCompress."""
    return WRITERS[form](model)


def _enclosed(form: str, text: str, model: Spelled) -> dict[str, Any]:
    return {"version": VERSION, **model.envelope(), "format": form, "length": len(text), "text": text}


def is_ours(value: object) -> bool:
    """Whether an answer (JSON) is in one of lspz's forms: they have a version, and LSP's answers have none."""
    return isinstance(value, Mapping) and "version" in value


def is_enclosed(value: object) -> bool:
    """Whether a value (JSON) is an envelope."""
    return isinstance(value, Mapping) and "format" in value and "text" in value


def read(kind: type[Any], value: Mapping[str, Any]) -> Any:
    """The model in a value (JSON), which is an envelope or the kind's compact JSON. Raises DecodeError."""
    check_version(value)
    try:
        return _read_enclosed(kind, value) if is_enclosed(value) else kind.from_compact(value)
    except DecodeError:
        raise
    except ValueError as error:  # a number of more digits than Python reads
        raise DecodeError("", str(error)) from error


def _read_enclosed(kind: type[Any], value: Mapping[str, Any]) -> Any:
    form, text, length = value["format"], value["text"], value.get("length")
    reader = READERS.get(form) if isinstance(form, str) else None
    if reader is None:
        raise DecodeError("format", f"must be one of {', '.join(READERS)}, not {form!r}")
    if not isinstance(text, str):
        raise DecodeError("text", f"must be a string, not {text!r:.80}")
    if length != len(text):
        raise DecodeError("text", f"has {len(text)} characters where {length!r} were sent: it was cut or changed")
    try:
        return reader(kind, text)
    except DecodeError as error:
        raise DecodeError(f"text, {error.path}" if error.path else "text", error.reason) from error


def check_version(value: Mapping[str, Any]) -> None:
    """Raise UnsupportedVersion for a newer format version, DecodeError for none."""
    version = value.get("version")
    if type(version) is not int:
        raise DecodeError("version", "is missing" if version is None else f"is not of the right type: {version!r}")
    if version > VERSION:
        raise UnsupportedVersion(version, VERSION)
    if version < 1:
        raise DecodeError("version", f"there is no format version {version}")
