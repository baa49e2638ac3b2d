"""Runs interceptors over a message's params or result."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

import msgspec

from .base import Direction, Interceptor

if TYPE_CHECKING:
    import cattrs


class Chain:
    """Interceptors in their order.

    `converter` makes the converter that structures lsprotocol's types and unstructures compact ones; it is called when
    the first message needs it, as lsprotocol and the converter take longer to load than everything else here.
    """

    def __init__(
        self, interceptors: Sequence[Interceptor[Any, Any]], converter: Callable[[], cattrs.Converter]
    ) -> None:
        self._interceptors = tuple(interceptors)
        self._make_converter = converter

    @cached_property
    def _converter(self) -> cattrs.Converter:
        return self._make_converter()

    def methods(self, direction: Direction) -> frozenset[str]:
        """The methods that some interceptor sees in a direction."""
        return frozenset(method for i in self._interceptors for method in i.methods if i.applies_to(method, direction))

    def is_inline(self, method: str, direction: Direction) -> bool:
        """Whether `run` returns without waiting for anything."""
        return all(i.compresses for i in self._interceptors if i.applies_to(method, direction))

    async def run(self, method: str, raw: bytes, direction: Direction) -> bytes | None:
        """The JSON that goes on in place of `raw`: the same object when nothing changed, None when it is dropped.

        Raises whatever an interceptor raises; the caller sends the original then.
        """
        payload = raw
        for interceptor in self._interceptors:
            if not interceptor.applies_to(method, direction):
                continue
            reader = interceptor.reader(method)
            typed = reader(payload) if reader is not None else None
            value: Any = None
            if typed is None:
                value = msgspec.json.decode(payload)
                typed = self._structure(value, method, direction)
            if interceptor.compresses:
                result = await interceptor.intercept(method, typed, direction)
                if result is not typed:
                    smaller = self._write(interceptor, method, result)
                    payload = smaller if len(smaller) < len(payload) else payload
                continue
            converter, type_ = self._converter, payload_type(method, direction)
            before = converter.unstructure(typed)
            result = await interceptor.intercept(method, typed, direction)
            if result is None:
                return None
            after = converter.unstructure(result)
            if type_ is not None and not isinstance(result, type(typed)):
                return msgspec.json.encode(after)  # a compact model: no type that the next interceptor could read
            if after != before:
                payload = msgspec.json.encode(_patched(value, before, after))
        return payload

    def _structure(self, value: Any, method: str, direction: Direction) -> Any:
        converter = self._converter  # made first: it resolves lsprotocol's forward references, which types depend on
        type_ = payload_type(method, direction)
        return value if type_ is None else converter.structure(value, type_)

    def _write(self, interceptor: Interceptor[Any, Any], method: str, result: Any) -> bytes:
        writer = interceptor.writer(method)
        return msgspec.json.encode(self._converter.unstructure(result)) if writer is None else writer(result)


_PAYLOADS: dict[tuple[str, Direction], Any] = {}


def payload_type(method: str, direction: Direction) -> Any:
    """lsprotocol's type of what a method carries in a direction: its params, or a request's result on the way back.

    None for a method that lsprotocol does not know, and where there is nothing to structure.
    """
    key = (method, direction)
    if key not in _PAYLOADS:
        _PAYLOADS[key] = _payload_type(method, direction)
    return _PAYLOADS[key]


def _payload_type(method: str, direction: Direction) -> Any:
    import attrs
    from lsprotocol import types

    if method not in types.METHOD_TO_TYPES:
        return None
    _, response, params, _ = types.METHOD_TO_TYPES[method]
    origin = types.message_direction(method)
    asked = Direction.TO_SERVER if origin == "clientToServer" else Direction.TO_CLIENT
    if response is None or direction is asked:
        return params
    return attrs.fields_dict(response)["result"].type


def _patched(original: Any, before: Any, after: Any) -> Any:
    """`after`, with the members of `original` that the types do not know (they are missing in `before`)."""
    if before == after:
        return original
    if isinstance(original, Mapping) and isinstance(before, Mapping) and isinstance(after, Mapping):
        merged = {name: member for name, member in original.items() if name in after or name not in before}
        for name, member in after.items():
            merged[name] = _patched(original.get(name), before.get(name), member)
        return merged
    if isinstance(original, list) and isinstance(before, list) and isinstance(after, list):
        if len(original) == len(before) == len(after):
            return [_patched(*three) for three in zip(original, before, after, strict=True)]
        left = list(zip(before, original, strict=True)) if len(before) == len(original) else []
        merged_list = []
        for item in after:
            at = next((i for i, (known, _) in enumerate(left) if known == item), None)
            merged_list.append(item if at is None else left.pop(at)[1])
        return merged_list
    return after
