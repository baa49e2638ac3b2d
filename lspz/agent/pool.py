"""`AgentPool`: the language servers of a workspace, each started when something is asked that is for it."""

from __future__ import annotations

import asyncio
import errno
import logging
import os
import shutil
from collections.abc import Awaitable, Callable, Coroutine, Iterable, Mapping
from pathlib import Path
from typing import Any, TypeVar, Unpack

import attrs

from ..config.servers import Server, ServerTable, builtin_servers, missing
from ..errors import BackendDied, BackendError, BackendNotFound, NotOffered
from .disk import EXCLUDED
from .editing import edited
from .edits import apply_workspace_edit
from .freshness import Unavailable
from .handle import AgentHandle
from .locators import At, File, path_of
from .merging import merged_actions, merged_diagnostics, merged_symbols, merged_workspace
from .options import AgentOptions, Common, PoolBuilder, Waits
from .queries import Query
from .questions import Questions, each
from .results import (
    CodeAction,
    CodeActions,
    Diagnostics,
    Edited,
    WorkspaceDiagnostics,
    WorkspaceSymbols,
)

log = logging.getLogger("lspz.agent")

R = TypeVar("R")

SCAN_LIMIT = 200_000
"""Files of a workspace that are looked at to find its languages; a larger one may have more of them."""

_NOT_SCANNED = f"only {SCAN_LIMIT} files of the workspace were looked at: ask about files, or a smaller workspace"


class AgentPool(Questions):
    """The language servers of a workspace, for an agent to ask. ::

        async with AgentPool.builder().workspace_root(".").build() as pool:
            print((await pool.diagnostics("src/app.py")).text())
            print((await pool.hover(At("web/index.ts", text="render(page)", symbol="render"))).text())

    A file's language and the nearest folder that marks a project of it say which servers are asked; there is one for
    each such folder, shared by all questions. Several may know a file: their diagnostics and code actions are merged,
    any other question is for the first that offers it.
    """

    builder = PoolBuilder

    def __init__(self, options: Common | None = None, table: ServerTable | None = None) -> None:
        self._options = options or Common()
        self._table = table or builtin_servers()
        self._handles: dict[tuple[str, Path], AgentHandle] = {}
        self._is_over = False
        self._is_scanned = True
        self._installed: set[str] = set()

    @property
    def root(self) -> Path:
        """The folder of the workspace."""
        return self._options.root

    @property
    def busy(self) -> str | None:
        """What servers are at work with, in words; None when none is."""
        return "; ".join(f"{handle.name}: {handle.busy}" for handle in self.handles if handle.busy) or None

    @property
    def handles(self) -> tuple[AgentHandle, ...]:
        """The handles on servers that something was asked of."""
        return tuple(self._handles.values())

    def handles_for(self, file: File) -> tuple[AgentHandle, ...]:
        """The handles on the servers that know a file, in the order in which they are asked.

        Raises NotOffered where the table has none, BackendNotFound where none of those it has is installed.
        """
        path = Path(os.path.abspath(path_of(file, self.root)))
        if path.is_dir():
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
        known = self._table.servers_for(path)
        if not known:
            language = self._table.language_of(path)
            raise NotOffered(f"{path.name}: no server is known for {language}; add one with builder().table(...)")
        found = [server for server in known if self._is_installed(server)]
        if not found:
            hints = "; ".join(f"{server.name}: {missing(server.command)}" for server in known)
            raise BackendNotFound(f"{path.name}: none of its servers is installed: {hints}")
        return tuple(self._handle(server, server.root_of(path, self.root)) for server in found)

    def knows(self, file: File) -> bool:
        """Whether an installed server knows a file."""
        return any(self._is_installed(server) for server in self._table.servers_for(path_of(file, self.root)))

    def _is_installed(self, server: Server) -> bool:
        if server.command[0] not in self._installed and shutil.which(server.command[0]) is not None:
            self._installed.add(server.command[0])
        return server.command[0] in self._installed

    def _handle(self, server: Server, root: Path) -> AgentHandle:
        if self._is_over:
            raise BackendDied("the pool was stopped for good")
        key = (server.name, root)
        if key not in self._handles:
            told = attrs.asdict(self._options, recurse=False)
            options = AgentOptions(**{**told, "root": root}, server=server, workspace=self.root)
            self._handles[key] = AgentHandle(options, self._table)
        return self._handles[key]

    async def stop(self) -> None:
        """End all servers. Nothing can be asked afterwards."""
        self._is_over = True
        await asyncio.gather(*(handle.stop() for handle in self.handles))

    # asking one

    async def _ask(self, query: Query[R], waits: Waits) -> R:
        assert query.file is not None
        path = path_of(query.file, self.root)
        return await self._first(path, lambda handle: handle._ask(query.of(path), waits))

    async def _first(self, file: File, ask: Callable[[AgentHandle], Awaitable[R]]) -> R:
        """The answer of the first server that offers what is asked."""
        refused: list[str] = []
        for handle in self.handles_for(file):
            try:
                return await ask(handle)
            except NotOffered as error:
                refused.append(str(error))
        raise NotOffered("; ".join(refused))

    # asking many

    async def diagnostics(self, file: File, **waits: Unpack[Waits]) -> Diagnostics:
        """What is wrong in a document as it is now, from all servers that know it; fresh only if all of them are."""
        path = path_of(file, self.root)

        async def ask(handle: AgentHandle) -> Diagnostics:
            try:
                return await handle.diagnostics(path, **waits)
            except BackendError as error:
                return Diagnostics(state=Unavailable(str(error)), model=None, server=handle.name, uri=path.as_uri())

        return merged_diagnostics(await each(ask(handle) for handle in self.handles_for(path)))

    async def workspace_diagnostics(self, **waits: Unpack[Waits]) -> WorkspaceDiagnostics:
        """What is wrong in the workspace, from the servers of all languages in it."""

        async def ask(handle: AgentHandle) -> WorkspaceDiagnostics:
            try:
                return await handle.workspace_diagnostics(**waits)
            except BackendError as error:
                return WorkspaceDiagnostics(state=Unavailable(str(error)), model=None, server=handle.name)

        found = merged_workspace(await each([ask(handle) for handle in await self._everywhere()]))
        return found if self._is_scanned else attrs.evolve(found, state=Unavailable(_NOT_SCANNED))

    async def workspace_symbols(self, query: str, **waits: Unpack[Waits]) -> WorkspaceSymbols:
        """Symbols of the workspace whose names fit a query, from the servers of all languages in it."""
        handles = await self._everywhere()
        parts = await _answers(handle.workspace_symbols(query, **waits) for handle in handles)
        found = merged_symbols(parts)
        return found if self._is_scanned else attrs.evolve(found, state=Unavailable(_NOT_SCANNED))

    async def _everywhere(self) -> tuple[AgentHandle, ...]:
        """The handles for all languages and projects in the workspace. Raises NotOffered where there are none."""
        pairs = await asyncio.to_thread(self._scan)
        if not pairs:
            raise NotOffered(f"{self.root}: no installed server knows a file in it")
        return tuple(self._handle(server, root) for server, root in pairs)

    def _scan(self) -> list[tuple[Server, Path]]:
        found: dict[tuple[str, Path], Server] = {}
        seen: set[tuple[Path, str]] = set()
        count = 0
        for folder, folders, names in os.walk(self.root):
            folders[:] = [name for name in folders if name not in EXCLUDED]
            for path in (Path(folder, name) for name in names):
                kind = (path.parent, path.suffix or path.name)
                if kind in seen:
                    continue
                seen.add(kind)
                for server in self._table.servers_for(path):
                    if self._is_installed(server):
                        found.setdefault((server.name, server.root_of(path, self.root)), server)
            count += len(names)
            self._is_scanned = count <= SCAN_LIMIT
            if not self._is_scanned:
                break
        return [(server, root) for (_, root), server in found.items()]

    async def code_actions(
        self, at: At, end: At | None = None, *, only: Iterable[str] = (), **waits: Unpack[Waits]
    ) -> CodeActions:
        """What can be done to the code at a place, from all servers that know the file."""
        at, end = self._at(at), None if end is None else self._at(end)
        only = tuple(only)
        handles = self.handles_for(at.file)
        return merged_actions(await _answers(handle.code_actions(at, end, only=only, **waits) for handle in handles))

    # edits

    async def apply_action(self, action: CodeAction, **waits: Unpack[Waits]) -> Edited:
        """Do what `code_actions` offered. Raises EditError, and then every file is as it was."""
        handle = next(
            (handle for handle in self.handles if (handle.name, handle.root) == (action.server, action.root)), None
        )
        if handle is None:
            raise NotOffered(f"{action.title}: is of no server of this pool")
        return self._told(await handle.apply_action(action, **waits), handle)

    async def rename(self, at: At, new_name: str, *, apply: bool = True, **waits: Unpack[Waits]) -> Edited:
        """Rename the symbol at a place everywhere; without `apply` only say what that would change."""
        at = self._at(at)

        async def ask(handle: AgentHandle) -> Edited:
            return self._told(await handle.rename(at, new_name, apply=apply, **waits), handle)

        return await self._first(at.file, ask)

    async def formatting(
        self, file: File, *, tab_size: int = 4, insert_spaces: bool = True, apply: bool = True, **waits: Unpack[Waits]
    ) -> Edited:
        """Format a document. Raises EditError, and then the file is as it was."""
        path = path_of(file, self.root)

        async def ask(handle: AgentHandle) -> Edited:
            done = await handle.formatting(path, tab_size=tab_size, insert_spaces=insert_spaces, apply=apply, **waits)
            return self._told(done, handle)

        return await self._first(file, ask)

    async def apply_edit(self, edit: Mapping[str, Any], *, apply: bool = True) -> Edited:
        """Apply a `WorkspaceEdit` (JSON, its characters counted as you do) to the files, and tell the servers."""
        for handle in self.handles:
            handle.check_saved(edit)
        encoding = self._options.positions
        applied = apply_workspace_edit(edit, self.root, encoding=encoding, version_of=self._version, write=apply)
        return self._told(edited(applied, edit, apply))

    def _version(self, uri: str) -> int | None:
        return next((version for handle in self.handles if (version := handle.version_of(uri)) is not None), None)

    def _told(self, done: Edited, but: AgentHandle | None = None) -> Edited:
        """Tell the servers of an edit, but for the one that knows."""
        if done.is_written:
            for handle in self.handles:
                if handle is not but:
                    handle.edited_elsewhere(done.applied)
        return done

    # documents

    async def open(self, file: File, text: str | None = None) -> None:
        """Open a document, and keep it open. `text` is what it holds, if that is not what is on disk."""
        path = path_of(file, self.root)
        await _answers(handle.open(path, text) for handle in self.handles_for(file))

    async def change(self, file: File, text: str) -> None:
        """Say what an open document holds now; what is on disk does not count until `save`. Raises DocumentNotOpen."""
        path = path_of(file, self.root)
        await _answers(handle.change(path, text) for handle in self.handles_for(file))

    async def save(self, file: File) -> None:
        """Write a document that was changed to its file. Raises DocumentNotOpen, OSError."""
        path = path_of(file, self.root)
        await _answers(handle.save(path) for handle in self.handles_for(file))

    async def close(self, file: File) -> None:
        """Close a document; what was changed and not saved is lost."""
        path = path_of(file, self.root)
        await _answers(handle.close(path) for handle in self.handles_for(file))

    async def files_changed(
        self, changed: Iterable[File] = (), *, created: Iterable[File] = (), deleted: Iterable[File] = ()
    ) -> None:
        """Tell all servers that run that files were changed, created or deleted, for certain and at once."""
        paths = [[path_of(file, self.root) for file in files] for files in (changed, created, deleted)]
        running = [handle for handle in self.handles if handle.is_running]
        if running:
            await _answers(handle.files_changed(paths[0], created=paths[1], deleted=paths[2]) for handle in running)

    def _at(self, at: At) -> At:
        """The same place, its file from no root: servers of a workspace have their own."""
        return attrs.evolve(at, file=path_of(at.file, self.root))


async def _answers(questions: Iterable[Coroutine[Any, Any, R]]) -> list[R]:
    """The answers of those servers that have one. Raises BackendError where none has: the first that died, say."""
    errors: list[BackendError] = []

    async def ask(question: Coroutine[Any, Any, R]) -> list[R]:
        try:
            return [await question]
        except BackendError as error:
            errors.append(error)
            return []

    found = [answer for answers in await each(ask(question) for question in questions) for answer in answers]
    if not found and errors:
        raise next((error for error in errors if not isinstance(error, NotOffered)), errors[0])
    return found
