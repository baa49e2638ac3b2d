"""The MCP server: tools are listed and called; arguments are checked, answers capped, errors made useful to a model."""

from __future__ import annotations

import asyncio
import difflib
import logging
from collections.abc import Awaitable, Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import mcp_types as types
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel import Server
from pydantic import ValidationError

from .._version import __version__
from ..agent.locators import path_of
from ..errors import AnswerTimeout, BackendDied, EditConflict, LspzError, NotReady
from .rendering import MAX_TOKENS, clipped
from .tools import TOOLS, Call, Tool
from .workspaces import Desk, Workspaces

log = logging.getLogger("lspz.mcp")

PROGRESS_EVERY = 1.0
"""Seconds between two notifications of progress, while a call waits."""

INSTRUCTIONS = """\
Language servers of the project. get_diagnostics after edits; answers are about the files as they are on disk, or say \
"not ready, ask again". Tell places by the text of the line (text, symbol) rather than by counting columns.\
"""

_BY_NAME = {tool.name: tool for tool in TOOLS}

_ADVICE: tuple[tuple[type[LspzError], str], ...] = (
    (AnswerTimeout, "it may still be starting or indexing: ask again"),
    (NotReady, "ask again in a while"),
    (BackendDied, "ask again: it is started again"),
    (EditConflict, "ask again, and every file is as it was"),
)

Context = ServerRequestContext[Any, Any]
DeskOf = Callable[[Context], Desk]


def create_server(workspaces: Workspaces, desk_of: DeskOf) -> Server[Any]:
    """An MCP server whose tools work in these workspaces; `desk_of` has what a client said about where it works."""

    async def list_tools(ctx: Context, params: Any) -> types.ListToolsResult:
        return types.ListToolsResult(tools=[_described(tool) for tool in TOOLS])

    async def call_tool(
        ctx: Context, params: types.CallToolRequestParams
    ) -> types.CallToolResult | types.InputRequiredResult:
        desk = desk_of(ctx)
        asked = await _ask_for_roots(ctx, params, desk)
        return asked if asked is not None else await _called(ctx, params, desk, workspaces)

    async def roots_changed(ctx: Context, params: Any) -> None:
        desk_of(ctx).roots = None

    server: Server[Any] = Server(
        "lspz",
        version=__version__,
        title="lspz: language servers",
        instructions=INSTRUCTIONS,
        on_list_tools=list_tools,
        on_call_tool=call_tool,
    )
    server.add_notification_handler("notifications/roots/list_changed", types.NotificationParams, roots_changed)
    return server


def _described(tool: Tool) -> types.Tool:
    schema = tool.arguments.model_json_schema()
    return types.Tool(
        name=tool.name,
        description=tool.description,
        input_schema=_slim(schema),
        annotations=types.ToolAnnotations(read_only_hint=tool.is_read_only, destructive_hint=False),
    )


def _slim(schema: Any) -> Any:
    """A schema without what says nothing to a model: titles, and null as a further type of what may be left out."""
    if isinstance(schema, list):
        return [_slim(item) for item in schema]
    if not isinstance(schema, dict):
        return schema
    slim = {key: _slim(value) for key, value in schema.items() if key != "title"}
    if isinstance(schema.get("properties"), dict):
        slim["properties"] = {name: _slim(value) for name, value in schema["properties"].items()}
    if slim.get("type") == "object" and "additionalProperties" in slim:
        slim.pop("description", None)
    options = slim.get("anyOf")
    if options is not None and {"type": "null"} in options:
        rest = [option for option in options if option != {"type": "null"}]
        if len(rest) == 1:
            del slim["anyOf"]
            slim = {**rest[0], **slim}
            slim.pop("default", None)
    return slim


async def _called(
    ctx: Context, params: types.CallToolRequestParams, desk: Desk, workspaces: Workspaces
) -> types.CallToolResult:
    tool = _BY_NAME.get(params.name)
    if tool is None:
        close = difflib.get_close_matches(params.name, _BY_NAME, 1)
        hint = f"; did you mean {close[0]}?" if close else ""
        return _failed(f"there is no tool {params.name}{hint} The tools are {', '.join(_BY_NAME)}.")
    try:
        given = tool.arguments.model_validate(params.arguments or {}, strict=False)
    except ValidationError as error:
        return _failed(_wrong(tool, error))
    cap = min(getattr(given, "max_tokens", None) or MAX_TOKENS, MAX_TOKENS)
    call = Call(given, desk, workspaces, cap)
    try:
        text = await _with_progress(ctx, tool.run(call), call)
    except LspzError as error:
        advice = next((advice for kind, advice in _ADVICE if isinstance(error, kind)), None)
        return _failed(clipped(str(error) if advice is None else f"{error}. {advice}", cap))
    except OSError as error:
        return _failed(f"{error.filename or params.name}: {error.strerror or error}")
    except Exception:
        log.exception("%s failed", params.name)
        return _failed("lspz failed: this is a fault of lspz's own; its log has more")
    return types.CallToolResult(content=[types.TextContent(text=clipped(text, cap))])


def _failed(text: str) -> types.CallToolResult:
    return types.CallToolResult(content=[types.TextContent(text=text)], is_error=True)


def _wrong(tool: Tool, error: ValidationError) -> str:
    """What is wrong with the arguments of a call, each by name."""
    names = ", ".join(tool.arguments.model_fields)
    lines = []
    for fault in error.errors():
        where = ".".join(map(str, fault["loc"]))
        if fault["type"] == "extra_forbidden":
            close = difflib.get_close_matches(where, tool.arguments.model_fields, 1)
            lines.append(f"{where}: no such argument" + (f"; did you mean {close[0]}?" if close else ""))
        elif fault["type"] == "missing":
            lines.append(f"{where}: is missing")
        else:
            lines.append(f"{where}: {fault['msg'].removeprefix('Value error, ')}".removeprefix(": "))
    return f"{tool.name}: {'; '.join(lines)}. It takes {names}."


async def _with_progress(ctx: Context, work: Awaitable[str], call: Call) -> str:
    """What a tool answers; meanwhile the client is told what is waited for, if it wants to know."""
    task = asyncio.ensure_future(work)
    try:
        count = 0
        while not (await asyncio.wait([task], timeout=PROGRESS_EVERY))[0]:
            count += 1
            with suppress(Exception):
                await ctx.session.report_progress(count, None, await _waited_for(call))
        return task.result()
    finally:
        if not task.done():
            task.cancel()
            await asyncio.wait([task])


async def _waited_for(call: Call) -> str:
    try:
        workspace = await call.workspace()
    except LspzError:
        return "at work"
    return workspace.pool.busy or "waiting for the language server"


async def _ask_for_roots(
    ctx: Context, params: types.CallToolRequestParams, desk: Desk
) -> types.InputRequiredResult | None:
    """Learn MCP's roots, once, from a client that has some and has not chosen a workspace."""
    capabilities = ctx.session.client_capabilities
    has_roots = capabilities is not None and capabilities.roots is not None
    names_one = bool((params.arguments or {}).get("workspace")) or params.name == "set_workspace"
    if not has_roots or desk.chosen is not None or desk.roots is not None or names_one:
        return None
    result: Any = (params.input_responses or {}).get("roots")
    if result is None:
        if not ctx.session.can_send_request:
            return types.InputRequiredResult(input_requests={"roots": types.ListRootsRequest()})
        try:
            result = await ctx.session.send_request(types.ListRootsRequest(), types.ListRootsResult)
        except Exception as error:
            log.info("the client did not tell its roots: %s", error)
            return None
    roots = []
    for root in getattr(result, "roots", ()):
        with suppress(LspzError):
            roots.append(path_of(str(root.uri), Path("/")))
    desk.roots = tuple(roots)
    return None
