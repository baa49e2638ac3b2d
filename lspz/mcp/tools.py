"""The tools: a row of `TOOLS` for each, with what a model reads about it."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import attrs

from ..agent.changes import since
from ..agent.locators import At
from ..agent.results import Answer, Diagnostics, WorkspaceDiagnostics
from ..agent.selection import files_in
from . import arguments as a
from .rendering import clipped, rendered
from .workspaces import Desk, Refused, Report, Workspace, Workspaces

SEVERITIES = {"error": 1, "warning": 2, "info": 3, "hint": 4}

MOST_FILES = 300
"""Files of folders or of a workspace that one call looks at; of more it is better to name some."""


_NUMBER = 8  # tokens that the number of a report takes


@attrs.frozen
class Call:
    """One call of a tool."""

    given: Any
    """Its arguments, of the row's class."""
    desk: Desk
    workspaces: Workspaces
    cap: int
    """Tokens that the answer may have."""

    async def workspace(self) -> Workspace:
        """The workspace that it is about. Raises Refused."""
        file = getattr(self.given, "path", None)
        return await self.workspaces.of(self.desk, getattr(self.given, "workspace", None), file)

    async def place(self) -> tuple[Workspace, At]:
        """The workspace, and the place in a file of it. Raises Refused."""
        workspace = await self.workspace()
        return workspace, self.given.at(str(workspace.path(self.given.path)))

    def shown(self, answer: Answer[Any], narrow: str) -> str:
        """An answer in the form that was asked for."""
        return rendered(answer, self.given.format, self.cap, narrow)


@attrs.frozen
class Tool:
    """A tool."""

    name: str
    description: str
    arguments: type[a.Arguments]
    run: Callable[[Call], Awaitable[str]]
    is_read_only: bool = True


def _about_place(question: str, narrow: str) -> Callable[[Call], Awaitable[str]]:
    """A question of the SDK's about a place, by its name."""

    async def run(call: Call) -> str:
        workspace, at = await call.place()
        return call.shown(await getattr(workspace.pool, question)(at), narrow)

    return run


async def _diagnostics(call: Call) -> str:
    given, workspace = call.given, await call.workspace()
    narrow = "raise min_severity"
    if given.path is not None and not (path := workspace.path(given.path)).is_dir():
        about: object = path
        found: Diagnostics | WorkspaceDiagnostics = await workspace.pool.diagnostics(path)
    else:
        names = [given.path] if given.path is not None else given.paths
        narrow = f"name fewer paths, or {narrow}"
        about = frozenset(names or ())
        found = await workspace.pool.diagnostics_of(_files(workspace, names))
    found = found.at_least(SEVERITIES[given.min_severity])
    number = workspace.reports.put(Report((about, given.min_severity), found))
    earlier = workspace.reports.get(given.since) if given.since is not None else None
    if earlier is not None and earlier.about == (about, given.min_severity):
        found = since(found, earlier.answer, number)
    if given.format != "text":
        return rendered(found, given.format, call.cap, narrow)
    return f"{rendered(found, 'text', call.cap - _NUMBER, narrow)}\nreport {number}"


def _files(workspace: Workspace, names: list[str] | None) -> list[Path]:
    """The files that are named, and those in folders that are, which a server is known for. Raises Refused."""
    found: dict[Path, None] = {}
    for path in [workspace.path(name) for name in names] if names is not None else [workspace.root]:
        if not path.is_dir():
            found[path] = None
            continue
        for file in files_in(path):
            if workspace.pool.knows(file):
                found[file] = None
    if not found:
        raise Refused("no file there that an installed language server knows")
    if len(found) > MOST_FILES:
        raise Refused(
            f"{len(found)} files are more than the {MOST_FILES} that one call looks at: name folders or files"
        )
    return list(found)


async def _search(call: Call) -> str:
    workspace = await call.workspace()
    return call.shown(await workspace.pool.workspace_symbols(call.given.query), "give more of the name")


async def _symbols(call: Call) -> str:
    workspace = await call.workspace()
    return call.shown(await workspace.pool.symbols(workspace.path(call.given.path)), "search_symbols finds one by name")


async def _references(call: Call) -> str:
    workspace, at = await call.place()
    found = await workspace.pool.references(at, declaration=call.given.include_declaration)
    return call.shown(found, "there are too many to list: search the text of a part of the project")


async def _rename(call: Call) -> str:
    workspace, at = await call.place()
    done = await workspace.pool.rename(at, call.given.new_name, apply=not call.given.dry_run)
    if not call.given.dry_run:
        return call.shown(done, "it is all written")
    return clipped(done.diff() or "nothing would change", call.cap)


async def _actions(call: Call) -> str:
    workspace, at = await call.place()
    end = None if call.given.end_line is None else At(at.file, call.given.end_line, one_based=True)
    kinds = () if call.given.kind is None else (call.given.kind,)
    found = await workspace.pool.code_actions(at, end, only=kinds)
    lines = []
    for action in found.actions:
        if not action.disabled:
            what = [action.title, action.kind, "preferred" if action.preferred else "", action.server]
            lines.append(f"a{workspace.actions.put(action)} {' | '.join(word for word in what if word)}")
    return clipped("\n".join(lines) or "none", call.cap)


async def _apply(call: Call) -> str:
    workspace = await call.workspace()
    name = call.given.action
    action = workspace.actions.get(int(name[1:])) if name[:1] == "a" and name[1:].isdigit() else None
    if action is None:
        raise Refused(f"{name}: no such action, or it is too old: ask get_code_actions again")
    done = await workspace.pool.apply_action(action)
    return clipped(done.diff() or "nothing changed", call.cap)


async def _set_workspace(call: Call) -> str:
    if not call.desk.is_kept:
        raise Refused("this connection has no session that would remember it: pass workspace with every call")
    call.desk.chosen = call.workspaces.folder(call.given.path)
    workspace = await call.workspaces.of(call.desk, None, None)
    files = await asyncio.to_thread(lambda: [file for file in files_in(workspace.root) if workspace.pool.knows(file)])
    return f"workspace {workspace.root}: {len(files)} files that a language server knows"


async def _status(call: Call) -> str:
    workspace = await call.workspace()
    lines = [f"workspace {workspace.root}"]
    for handle in workspace.pool.handles:
        state = "not running" if not handle.is_running else f"at work: {handle.busy}" if handle.busy else "ready"
        where = "" if handle.root == workspace.root else f" in {os.path.relpath(handle.root, workspace.root)}"
        lines.append(f"{handle.name}{where}: {state}")
    return "\n".join(lines if len(lines) > 1 else [*lines, "no server yet: they start with the first question"])


_PLACES = "there are many: ask at a more specific symbol"

TOOLS = (
    Tool(
        "get_diagnostics",
        "Errors and warnings of a file, of several, or of the workspace, as the files are now. Each problem once, with "
        "all its places (line:column from 1). Use after every edit.",
        a.Diagnose,
        _diagnostics,
    ),
    Tool(
        "get_hover",
        "Type and documentation of a symbol.",
        a.AtPlace,
        _about_place("hover", "read the definition in its file"),
    ),
    Tool("get_definition", "Where a symbol is defined.", a.AtPlace, _about_place("definition", _PLACES)),
    Tool("get_type_definition", "Where its type is defined.", a.AtPlace, _about_place("type_definition", _PLACES)),
    Tool("get_implementation", "Where it is implemented.", a.AtPlace, _about_place("implementation", _PLACES)),
    Tool("get_references", "Every use of a symbol in the project.", a.References, _references),
    Tool("get_symbols", "Outline of a file.", a.InFile, _symbols),
    Tool("search_symbols", "Functions, classes and so on of the project, by name.", a.Search, _search),
    Tool(
        "get_completions",
        "What may be written at a place.",
        a.AtPlace,
        _about_place("completions", "type more of the name first"),
    ),
    Tool("get_code_actions", "Fixes and refactorings offered at a place, each with an id.", a.Actions, _actions),
    Tool("apply_code_action", "Do one of them, and show the diff.", a.Apply, _apply, is_read_only=False),
    Tool("rename_symbol", "Rename a symbol in all files.", a.Rename, _rename, is_read_only=False),
    Tool("set_workspace", "Say which project the other tools are about.", a.SetWorkspace, _set_workspace),
    Tool("server_status", "Which language servers run, and whether they are at work.", a.InWorkspace, _status),
)
