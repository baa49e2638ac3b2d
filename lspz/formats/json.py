"""Reading JSON that may be damaged: what is missing or of another type is named by where it stands."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

from ..errors import DecodeError

T = TypeVar("T")


def typed(value: Mapping[str, Any], name: str, type_: type[T], path: str) -> T:
    """The member `name`, which must be there and of just this type. Raises DecodeError that names `path`."""
    member = value.get(name)
    if type(member) is not type_:
        raise DecodeError(path, "is missing" if name not in value else f"is not of the right type: {member!r:.80}")
    return member


def optional(value: Mapping[str, Any], name: str, type_: type[T], path: str) -> T | None:
    """The member `name`, None when it is missing. Raises DecodeError that names `path`."""
    return typed(value, name, type_, path) if name in value else None


def count(value: Mapping[str, Any], name: str) -> int:
    """A number of things left out, zero when it is missing. Raises DecodeError."""
    number = optional(value, name, int, name)
    if number is not None and number < 0:
        raise DecodeError(name, f"must not be negative: {number}")
    return number or 0


def numbers(value: Any, path: str) -> list[int]:
    """A list of integers. Raises DecodeError that names `path`."""
    if not isinstance(value, list | tuple) or any(type(number) is not int for number in value):
        raise DecodeError(path, f"must be a list of integers, not {value!r:.80}")
    return list(value)
