"""What all of lspz's own interceptors have in common: a model is read, and written in the client's form."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar, Protocol, Self, TypeVar

import attrs
import msgspec

from ..formats import spelling
from ..tokens import count_tokens
from .base import Interceptor
from .strategies import Limits


class Cappable(spelling.Spelled, Protocol):
    """A model that can be cut short."""

    @property
    def size(self) -> int:
        """How many rows it has."""

    def first(self, count: int) -> Self:
        """The same with its `count` most important rows, and the others counted as omitted."""


C = TypeVar("C", bound=Cappable)


@attrs.frozen
class Compressor(Interceptor[Any, Any]):
    """Rewrites messages of one kind in one form."""

    compresses: ClassVar[bool] = True

    form: str = "compact"
    """A row of `FORMATS`, but `passthrough`."""
    limits: Limits = attrs.field(factory=Limits, kw_only=True)

    def model(self, method: str, raw: bytes) -> Any:
        """The model of a payload (JSON), cut to its cap; of null and of an empty one a model that is empty.

        Raises CannotCompress for what no model holds, msgspec.MsgspecError for what is not as LSP has it.
        """
        raise NotImplementedError

    def writer(self, method: str) -> Callable[[Any], bytes]:
        """Write LSP that was folded, or a model in the client's form."""
        return self._write

    def _write(self, result: Any) -> bytes:
        if self.form == "folded":
            return msgspec.json.encode(result)
        return msgspec.json.encode(fit(result, self.form, self.limits.max_tokens))


def capped(model: C, cap: int) -> C:
    """The model with at most `cap` rows (0: all)."""
    return model.first(cap) if cap and model.size > cap else model


def fit(model: Cappable, form: str, max_tokens: int) -> Any:
    """The JSON of a model in a form, with as many rows as `max_tokens` tokens hold (0: all). Raises CannotCompress."""
    return spelling.write(fitting(model, form, max_tokens), form)


def fitting(model: C, form: str, max_tokens: int) -> C:
    """The model itself, or as much of it as `max_tokens` tokens hold of its text or compact JSON (0: all).

    Raises CannotCompress.
    """
    if not max_tokens or _tokens(spelling.write(model, form)) <= max_tokens:
        return model
    fits, too_many = 0, model.size
    while too_many - fits > 1:
        middle = (fits + too_many) // 2
        if _tokens(spelling.write(model.first(middle), form)) <= max_tokens:
            fits = middle
        else:
            too_many = middle
    return model.first(fits)


def _tokens(value: Any) -> int:
    text = value["text"] if spelling.is_enclosed(value) else msgspec.json.encode(value).decode()
    return count_tokens(text).tokens
