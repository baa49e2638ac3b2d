"""The workspaces that tools work in: which one a call is about, its servers, what was answered in it."""

from __future__ import annotations

import itertools
from collections import OrderedDict
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Generic, NamedTuple, TypeVar

from ..agent.locators import path_of
from ..agent.pool import AgentPool
from ..agent.results import CodeAction
from ..config.servers import ServerTable, builtin_servers
from ..errors import LspzError

T = TypeVar("T")

REPORTS = 64
"""Reports of a workspace that can be asked for what changed since; the oldest are forgotten."""

ACTIONS = 512
"""Offered code actions of a workspace that can be applied; the oldest are forgotten."""

WORKSPACES = 16
"""Workspaces whose servers may run at one time; the one that was used longest ago is ended."""


class Refused(LspzError):
    """A call is about what it may not touch, or says too little; the text says what to do."""


class Kept(Generic[T]):
    """Things by number, the latest of them."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._numbers = itertools.count(1)
        self._things: OrderedDict[int, T] = OrderedDict()

    def put(self, thing: T) -> int:
        """Keep a thing, and return its number."""
        number = next(self._numbers)
        self._things[number] = thing
        if len(self._things) > self._most:
            self._things.popitem(last=False)
        return number

    def get(self, number: int) -> T | None:
        """The thing; None where it is not kept, or no longer."""
        return self._things.get(number)


class Report(NamedTuple):
    """An answer about diagnostics."""

    about: object
    """What was asked: only an answer to the same question says what changed."""
    answer: Any


class Workspace:
    """One folder, with its servers and what was answered about it."""

    def __init__(self, root: Path, pool: AgentPool) -> None:
        self.root = root
        self.pool = pool
        self.reports: Kept[Report] = Kept(REPORTS)
        self.actions: Kept[CodeAction] = Kept(ACTIONS)

    def path(self, name: str) -> Path:
        """A file in it. Raises Refused for one that is not, also behind links; PlaceNotFound for what is no file."""
        path = path_of(name, self.root)
        real = path.resolve()
        if not real.is_relative_to(self.root):
            raise Refused(f"{name}: is outside the workspace {self.root}; give a path in it, or the argument workspace")
        return real


class Desk:
    """What one client said about where it works."""

    def __init__(self, is_kept: bool = True) -> None:
        self.is_kept = is_kept
        """Whether the next call of the same client has it, too."""
        self.chosen: Path | None = None
        """By set_workspace."""
        self.roots: tuple[Path, ...] | None = None
        """MCP's roots; None where they were not asked for."""


class Workspaces:
    """All workspaces that are in use, shared by all clients: a folder's servers run once."""

    def __init__(self, allowed: Sequence[Path], here: Path | None, limit: float) -> None:
        self._allowed = tuple(folder.resolve() for folder in allowed)
        self._here = here
        self._limit = limit
        self._table: ServerTable = builtin_servers()
        self._open: OrderedDict[Path, Workspace] = OrderedDict()

    def folder(self, name: str) -> Path:
        """A folder that may be worked in. Raises Refused."""
        folder = Path(name).expanduser()
        if not folder.is_absolute():
            raise Refused(f"{name}: a workspace must be an absolute path")
        folder = folder.resolve()
        if not folder.is_dir():
            raise Refused(f"{name}: there is no such folder")
        if self._allowed and not any(folder.is_relative_to(allowed) for allowed in self._allowed):
            raise Refused(f"{name}: is in none of the folders that this server may work in: {self._shown()}")
        return folder

    def _shown(self) -> str:
        return ", ".join(map(str, self._allowed))

    async def of(self, desk: Desk, named: str | None, file: str | None) -> Workspace:
        """The workspace of a call: that of its argument, of set_workspace, of MCP's roots, or where lspz was started.

        Raises Refused.
        """
        if named is not None:
            return await self._at(self.folder(named))
        if desk.chosen is not None:
            return await self._at(desk.chosen)
        roots = [self.folder(str(root)) for root in desk.roots or ()]
        if roots:
            inside = [root for root in roots if file is not None and _holds(root, file)]
            return await self._at((inside or roots)[0])
        if len(self._allowed) == 1:
            return await self._at(self._allowed[0])
        if self._here is not None and not self._allowed and self._is_project(self._here):
            return await self._at(self._here)
        raise Refused("which workspace? call set_workspace with the project's absolute folder, or pass workspace")

    def _is_project(self, folder: Path) -> bool:
        markers = {marker for server in self._table.servers.values() for marker in server.roots if "*" not in marker}
        return any((folder / marker).exists() for marker in (".git", *markers))

    async def _at(self, root: Path) -> Workspace:
        if root not in self._open:
            builder = AgentPool.builder().workspace_root(root).patience(limit=self._limit)
            self._open[root] = Workspace(root, builder.build())
        self._open.move_to_end(root)
        if len(self._open) > WORKSPACES:
            _, oldest = self._open.popitem(last=False)
            await oldest.pool.stop()
        return self._open[root]

    async def stop(self) -> None:
        """End all servers."""
        for workspace in self._open.values():
            await workspace.pool.stop()


def _holds(root: Path, file: str) -> bool:
    path = path_of(file, root)
    return path.is_relative_to(root) and path.exists()
