"""Every kind of answer, long enough to be rewritten, from real servers to a client that declares a form it reads."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import attrs
import pytest

import lspz

from .. import keys
from ..servers import BY_NAME, Server
from .conversation import Session, session

FORMS = ("compact", "toon", "text")

ABOUT = "How much of the ground a shape covers, in square metres, whatever its kind. Nothing that is above it counts."
SIDES = ("north", "east", "south", "west", "upper", "lower")

PYTHON = '''\
class Shape:
    def area(self) -> int:
        """ABOUT"""
        return missing

'''.replace("ABOUT", ABOUT)
PYTHON += "".join(
    f"class Shape{i}(Shape):\n    def area(self) -> int:\n        return missing\n\n" for i in range(len(SIDES))
)
PYTHON += "def total(shape: Shape, other: Shape1) -> int:\n    return shape.area() + other.area()\n"

TYPESCRIPT = f"/** A thing. */\nexport interface Shape {{\n  /** {ABOUT} */\n  area(): number;\n}}\n"
TYPESCRIPT += "".join(
    f"export class Shape{i} implements Shape {{\n"
    f"{''.join(f'  {side} = {i};' for side in SIDES)}\n  area() {{\n    return missing;\n  }}\n}}\n"
    for i in range(len(SIDES))
)
TYPESCRIPT += "export function total(shape: Shape, other: Shape1) {\n  return shape.area() + other.area();\n}\n"

GO = f"package main\n\n// Shape is a thing.\ntype Shape interface {{\n\t// {ABOUT}\n\tArea() int\n}}\n\n"
GO += "".join(
    f"type Shape{i} struct{{ {', '.join(SIDES)} int }}\n\nfunc (s Shape{i}) Area() int {{\n\treturn missing\n}}\n\n"
    for i in range(len(SIDES))
)
GO += "func total(shape Shape, other Shape1) int {\n\treturn shape.Area() + other.Area()\n}\n\n"
GO += "func main() {\n\ttotal(Shape2{}, Shape1{})\n}\n"

CPP = f"struct Shape {{\n  /// {ABOUT}\n  virtual int area();\n}};\n"
CPP += "".join(
    f"struct Shape{i} : Shape {{\n  int {', '.join(SIDES)};\n  int area() override {{ return missing; }}\n}};\n"
    for i in range(len(SIDES))
)
CPP += "int total(Shape &shape, Shape1 &other) { return shape.area() + other.area(); }\n"

SERVERS = (
    attrs.evolve(
        BY_NAME["basedpyright"],
        text=PYTHON,
        hover="return shape.ar|ea()",
        completion="+ other.|area()",
        definition="def total(shape: Sha|pe,",
    ),
    attrs.evolve(
        BY_NAME["typescript-language-server"],
        text=TYPESCRIPT,
        hover="return shape.ar|ea()",
        completion="+ other.|area()",
        definition="total(shape: Sha|pe,",
    ),
    attrs.evolve(
        BY_NAME["gopls"],
        text=GO,
        hover="return shape.Ar|ea()",
        completion="+ other.|Area()",
        definition="total(shape Sha|pe,",
    ),
    attrs.evolve(
        BY_NAME["clangd"],
        language="cpp",
        file="main.cpp",
        text=CPP,
        hover="return shape.ar|ea()",
        completion="+ other.|area()",
        definition="total(Sha|pe &",
    ),
)

FOUND = "textDocument/definition"
RESOLVED = "completionItem/resolve"
FULL = {keys.HOVER, keys.COMPLETION, keys.SYMBOLS, keys.WORKSPACE_SYMBOLS, keys.REFERENCES, FOUND}
"""What all of these servers have an answer to here."""


@pytest.mark.parametrize("server", [pytest.param(s, id=s.name, marks=pytest.mark.server(s.name)) for s in SERVERS])
async def test_a_client_reads_what_the_server_says(server: Server, tmp_path: Path) -> None:
    """Whatever form the client declares, each answer that says something is in it, shorter, and says the same."""
    folder = tmp_path.resolve()
    server.lay_out(folder)
    held = await asyncio.gather(
        *(session(server, folder, form, server.pulls, declares=True) for form in (None, *FORMS)),
        return_exceptions=True,
    )
    for one in held:
        if isinstance(one, BaseException):
            raise one
    plain, *ours = [one for one in held if isinstance(one, Session)]

    assert {method for method, answer in plain.answers.items() if answer} >= FULL
    for form, one in zip(FORMS, ours, strict=True):
        assert one.lspz == {"version": 1, "format": form}
        assert one.answers.keys() == plain.answers.keys()
        assert one.answers.get(RESOLVED) == plain.answers.get(RESOLVED)
        before, after = said(plain), said(one)
        assert after.keys() == before.keys()
        for name, (method, message) in before.items():
            written = after[name][1]
            assert meaning(method, lspz.decompress(method, written)) == meaning(method, message)
            if says_something(message):
                assert written.get("format", "compact") == form, (name, written)
                assert len(json.dumps(written)) < len(json.dumps(message))


def said(one: Session) -> dict[str, tuple[str, Any]]:
    """All that a client was told in lspz's kinds of message: method and message, by a name for it."""
    messages = {method: (method, answer) for method, answer in one.answers.items() if method in keys.METHODS}
    messages |= {uri: (keys.PUBLISH, params) for uri, params in one.published.items()}
    return messages if one.pulled is None else {**messages, keys.PULL: (keys.PULL, one.pulled)}


def says_something(message: Any) -> bool:
    """Whether there is anything in it to rewrite."""
    return bool(message.get("diagnostics", True) if isinstance(message, dict) else message)


def meaning(method: str, message: Any) -> Any:
    """What must survive of a message; a report without its `resultId`, which is another in each session."""
    read = keys.key(method, message)
    return read[:1] + read[2:] if method == keys.PULL else read
