"""What a session of an agent costs in tokens through `lspz mcp`, beside plain text and the servers' own JSON."""

from __future__ import annotations

import json
import os
import shutil
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import mcp_types as types
from mcp.client.client import Client
from mcp.client.stdio import StdioServerParameters, stdio_client

from lspz import AgentHandle, At, count_tokens

SERVER = ("basedpyright-langserver", "--stdio")


@dataclass(frozen=True)
class Step:
    """One call: of a tool, and of the language server itself."""

    tool: str
    arguments: dict[str, Any]
    method: str


def _place(tool: str, method: str, path: str, symbol: str, text: str | None = None) -> Step:
    arguments = {"path": path, "symbol": symbol} | ({"text": text} if text is not None else {})
    return Step(tool, arguments, method)


def session(files: list[str]) -> list[Step]:
    """Thirty calls: look around, ask about symbols, check every file twice."""
    steps = [Step("get_symbols", {"path": file}, "textDocument/documentSymbol") for file in files]
    steps += [Step("get_diagnostics", {"path": file}, "textDocument/diagnostic") for file in files]
    names = (
        ("storage.py", "class Storage", "Storage"),
        ("models.py", "class Parcel", "Parcel"),
        ("models.py", "class Address", "Address"),
    )
    for path, text, symbol in names:
        steps.append(_place("get_hover", "textDocument/hover", path, symbol, text))
        steps.append(_place("get_references", "textDocument/references", path, symbol, text))
        steps.append(_place("get_definition", "textDocument/definition", path, symbol, text))
    steps += [Step("search_symbols", {"query": query}, "workspace/symbol") for query in ("Parcel", "Storage", "price")]
    steps += [Step("get_diagnostics", {"path": file}, "textDocument/diagnostic") for file in files]
    return steps[:30]


async def measure(project: Path, root: Path) -> list[tuple[str, int, int, int, int]]:
    """Tokens by tool: how many calls, through lspz, as plain text, as JSON."""
    shutil.copytree(project, root, dirs_exist_ok=True)
    files = sorted(path.name for path in root.glob("*.py"))
    steps = session(files)
    parameters = StdioServerParameters(
        command=sys.executable, args=["-m", "lspz", "mcp"], cwd=str(root), env=dict(os.environ)
    )
    totals: dict[str, list[int]] = {}
    builder = AgentHandle.builder().backend(*SERVER).workspace_root(root)
    async with Client(stdio_client(parameters)) as client, builder.build() as handle:
        for step in steps:
            result = await client.call_tool(step.tool, step.arguments)
            assert isinstance(result, types.CallToolResult)
            assert not result.is_error, result
            (content,) = result.content
            assert isinstance(content, types.TextContent)
            raw = await _raw(handle, step)
            row = totals.setdefault(step.tool, [0, 0, 0, 0])
            row[0] += 1
            row[1] += _tokens(content.text)
            row[2] += _tokens(PLAIN[step.method](raw, step, root))
            row[3] += _tokens(json.dumps(raw, separators=(",", ":"), ensure_ascii=False))
    return [(tool, *row) for tool, row in totals.items()]  # type: ignore[misc]


def _tokens(text: str) -> int:
    return count_tokens(text).tokens


async def _raw(handle: AgentHandle, step: Step) -> Any:
    """The language server's own answer."""
    given = step.arguments
    if step.tool == "search_symbols":
        return (await handle.workspace_symbols(given["query"])).lsp
    if step.tool == "get_symbols":
        return (await handle.symbols(given["path"])).lsp
    if step.tool == "get_diagnostics":
        return (await handle.diagnostics(given["path"])).lsp
    at = At(given["path"], text=given.get("text"), symbol=given["symbol"])
    ask = {"get_hover": handle.hover, "get_references": handle.references, "get_definition": handle.definition}
    return (await ask[step.tool](at)).lsp


def _path(uri: str) -> str:
    return urlsplit(uri).path


def _span(range: Any) -> str:
    start, end = range["start"], range["end"]
    return f"L{start['line'] + 1}:C{start['character'] + 1} - L{end['line'] + 1}:C{end['character'] + 1}"


def _plain_diagnostics(raw: Any, step: Step, root: Path) -> str:
    """A line for each, with severity, place, message, source and code, as servers of plain text have it."""
    severities = {1: "ERROR", 2: "WARNING", 3: "INFO", 4: "HINT"}
    lines = [f"{root / step.arguments['path']}", f"Diagnostics in File: {len(raw['diagnostics'])}"]
    for d in raw["diagnostics"]:
        more = f" (Source: {d.get('source')}, Code: {d.get('code')})"
        lines.append(f"{severities.get(d.get('severity'), '')} at {_span(d['range'])}: {d['message']}{more}")
    return "\n".join(lines)


def _plain_locations(raw: Any, step: Step, root: Path) -> str:
    """Each place with its file, and the line that is there."""
    lines = []
    for place in raw if isinstance(raw, list) else [raw] if raw else []:
        uri, range = place.get("uri") or place["targetUri"], place.get("range") or place["targetSelectionRange"]
        text = Path(_path(uri)).read_text(encoding="utf-8").splitlines()[range["start"]["line"]]
        lines.append(f"File: {_path(uri)}\nAt: {_span(range)}\n{range['start']['line'] + 1}|{text}\n")
    return "\n".join(lines)


def _plain_symbols(raw: Any, step: Step, root: Path) -> str:
    lines: list[str] = []

    def add(symbols: Any, depth: int) -> None:
        for symbol in symbols or ():
            where = symbol.get("range") or symbol["location"]["range"]
            file = f" {_path(symbol['location']['uri'])}" if "location" in symbol else ""
            lines.append(f"{'  ' * depth}{symbol['name']} (kind {symbol['kind']}){file} {_span(where)}")
            add(symbol.get("children"), depth + 1)

    add(raw, 0)
    return "\n".join(lines)


def _plain_hover(raw: Any, step: Step, root: Path) -> str:
    contents = (raw or {}).get("contents", "")
    return contents["value"] if isinstance(contents, dict) else str(contents)


PLAIN: dict[str, Callable[[Any, Step, Path], str]] = {
    "textDocument/diagnostic": _plain_diagnostics,
    "textDocument/references": _plain_locations,
    "textDocument/definition": _plain_locations,
    "textDocument/documentSymbol": _plain_symbols,
    "workspace/symbol": _plain_symbols,
    "textDocument/hover": _plain_hover,
}
"""How a server that renders plain text would answer."""


def table(rows: list[tuple[str, int, int, int, int]], markdown: bool) -> str:
    """The tokens as a table, with their sum."""
    total = ("together", *(sum(row[column] for row in rows) for column in range(1, 5)))
    cells = [("tool", "calls", "lspz", "plain text", "raw JSON")]
    cells += [(row[0], *(f"{number:,}" for number in row[1:])) for row in (*rows, total)]
    if markdown:
        lines = ["| " + " | ".join(row) + " |" for row in cells]
        return "\n".join([lines[0], "|---|--:|--:|--:|--:|", *lines[1:]])
    widths = [max(len(row[column]) for row in cells) for column in range(5)]
    return "\n".join(
        "  ".join(
            cell.ljust(w) if i == 0 else cell.rjust(w) for i, (cell, w) in enumerate(zip(row, widths, strict=True))
        )
        for row in cells
    )
