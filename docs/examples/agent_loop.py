"""An agent that mends a program until the language servers find nothing wrong with it.

Run it where lspz, basedpyright and ruff are installed (`pip install 'lspz[demo]'`)::

    python docs/examples/agent_loop.py

No model is needed: `think` stands for one, and answers with a tool to call. A model would be given `found.text()`
that is printed; this one reads the same as data. Neither counts columns. The loop around it is the one to copy.
"""

from __future__ import annotations

import asyncio
import difflib
import re
import tempfile
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from lspz import AgentPool, At, count_tokens

BROKEN = """\
import os
import sys


def area(width: int, height: int) -> int:
    return widht * height


def total(boxes: list[tuple[int, int]]) -> int:
    covered = 0
    for width, height in boxes:
        covered += aera(width, height)
    return coverd


print(total([(2, 3), (4, 5)]))
"""

MOST_TURNS = 20


class Call(NamedTuple):
    """A tool call, as a model writes it."""

    tool: str
    line: str
    """The text of the line that it is about."""
    symbol: str
    argument: str


def think(problems: Iterable[str], source: str) -> Call | None:
    """What a model makes of the diagnostics; None where it has no idea.

    This one has two: what is not used can go, and what is not defined is misspelt.
    """
    for problem in problems:
        if unused := re.match(r"`(\w+)` imported but unused", problem):
            return Call("fix", f"import {unused[1]}", unused[1], "Remove unused import")
        if undefined := re.match(r'"(\w+)" is not defined', problem):
            name = undefined[1]
            known = sorted(set(re.findall(r"\w+", source)) - {name})
            line = next(line for line in source.splitlines() if re.search(rf"\b{name}\b", line))
            if close := difflib.get_close_matches(name, known, 1):
                return Call("replace", line, name, close[0])
    return None


async def do(pool: AgentPool, file: Path, call: Call) -> str:
    """Carry out a tool call, and return what it changed."""
    if call.tool == "fix":
        offered = await pool.code_actions(At(file, text=call.line, symbol=call.symbol), only=["quickfix"])
        action = next(action for action in offered.actions if call.argument in action.title)
        return (await pool.apply_action(action)).diff()
    # An agent's own tool: it writes the file, and need tell nobody.
    source = file.read_text(encoding="utf-8")
    line = re.sub(rf"\b{call.symbol}\b", call.argument, call.line)
    file.write_text(source.replace(call.line, line, 1), encoding="utf-8")
    return f"-{call.line}\n+{line}\n"


async def mend(file: Path) -> bool:
    """Ask what is wrong, do what the model says, ask again; return whether nothing is wrong any more."""
    builder = AgentPool.builder().workspace_root(file.parent).servers("basedpyright", "ruff").limits(min_severity=2)
    async with builder.build() as pool:
        for turn in range(1, MOST_TURNS + 1):
            found = await pool.diagnostics(file)
            if found.is_clean:
                print(f"turn {turn}: clean")
                return True
            raw = count_tokens(found.raw.decode()).tokens
            print(f"turn {turn}: {found.count} problems, {found.tokens().tokens} tokens in place of {raw}")
            if not found.is_fresh:  # not known yet, and never taken for clean: ask again
                continue
            print(found.text(max_tokens=500))
            call = think((entry.message for entry in found.entries), file.read_text(encoding="utf-8"))
            if call is None:
                return False
            changed = await do(pool, file, call)
            print(*(line for line in changed.splitlines() if re.match(r"[-+][^-+]", line)), "", sep="\n")
    return False


def main() -> int:
    """Mend a broken program in a folder of its own."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "boxes.py")
        file.write_text(BROKEN, encoding="utf-8")
        return 0 if asyncio.run(mend(file)) else 1


if __name__ == "__main__":
    raise SystemExit(main())
