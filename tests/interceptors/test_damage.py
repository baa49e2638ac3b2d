"""What a reader does with a message that is not as it was sent: it says so by name, or reads what is there."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import lspz
from lspz.errors import DecodeError

from .. import keys
from ..payloads import PAYLOADS
from .test_laws import PLAIN, each, few, over_the_wire

ODD = st.sampled_from([*'x0:- \n"#$\t|@\\,/{[', "9" * 5000, "\ud800", "²", "٣", "\u2028"])
"""What is put into a text where it does not belong."""


@each
@given(data=st.data())
@few
def test_a_damaged_message_is_a_named_error_or_reads_as_something(method: str, form: str, data: Any) -> None:
    """Members that are missing or of another type, texts that were changed: never any other exception."""
    written, inner = written_for(method, form, data)
    if "text" in inner and "format" in inner:
        text = inner["text"]
        at = data.draw(st.integers(0, len(text)))
        until = at + data.draw(st.integers(0, 1))
        inner["text"] = text[:at] + data.draw(ODD | st.just("")) + text[until:]
        inner["length"] = len(inner["text"])
    else:
        damage(inner, data)
    with suppress(DecodeError):
        lspz.decompress(method, written)


ENDLESS = "9" * 5000


@pytest.mark.parametrize(
    ("method", "message"),
    [
        (keys.REFERENCES, {"format": "toon", "text": f'locations:\n  "a:": "0,{ENDLESS}-1"'}),
        (keys.REFERENCES, {"format": "text", "text": f"a:b\n1:{ENDLESS}"}),
        (keys.COMPLETION, {"items": {ENDLESS: ["a"]}}),
        (keys.COMPLETION, {"items": {"1": ["a"]}, "docs": [f"data:#{ENDLESS}"], "shared": True}),
    ],
)
def test_numbers_of_thousands_of_digits_are_damage(method: str, message: Any) -> None:
    """More digits than Python reads as a number are a named error, wherever they stand."""
    with pytest.raises(DecodeError, match="5000 digits"):
        lspz.decompress(method, {"version": 1, "length": len(message.get("text", "")), **message})


@pytest.mark.parametrize("form", ["toon", "text"])
@given(data=st.data(), method=st.sampled_from(sorted(PAYLOADS)))
@few
def test_what_was_cut_is_noticed(method: str, form: str, data: Any) -> None:
    """A text that is shorter than was sent is an error that says so. A reader that is told nothing may not notice."""
    written, inner = written_for(method, form, data)
    if not inner.get("text") or "format" not in inner:
        return
    inner["text"] = inner["text"][: data.draw(st.integers(0, len(inner["text"]) - 1))]
    with pytest.raises(DecodeError, match="it was cut or changed"):
        lspz.decompress(method, written)
    inner["length"] = len(inner["text"])
    with suppress(DecodeError):
        lspz.decompress(method, written)


def written_for(method: str, form: str, data: Any) -> tuple[Any, dict[str, Any]]:
    """A message as it goes out, and what of it is in a form; that is empty where the original went out."""
    written = over_the_wire(lspz.compress(method, data.draw(PAYLOADS[method]), format=form, config=PLAIN))
    inner = written["value"] if method == keys.PROGRESS else written
    return written, inner if isinstance(inner, dict) else {}


def damage(value: Any, data: Any) -> None:
    """Change one thing somewhere in JSON."""
    places: list[tuple[Any, Any]] = []

    def walk(node: Any) -> None:
        for key, child in node.items() if isinstance(node, dict) else enumerate(node):
            places.append((node, key))
            if isinstance(child, dict | list):
                walk(child)

    walk(value)
    if not places:
        return
    node, key = data.draw(st.sampled_from(places))
    if isinstance(node, dict) and data.draw(st.booleans()):
        value = node.pop(key)
        if data.draw(st.booleans()):
            node[data.draw(ODD)] = value
    else:
        node[key] = data.draw(
            st.sampled_from([None, True, -1, 1.5, 10**30, "", "W", [], [1], {}, {"a": 1}, [[1, 2, 3]]]) | ODD
        )
