"""Edits of the files of a workspace, of which the server is told."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec

from ..errors import EditConflict, EditError, EditRefused
from ..wire.text import decode_file
from ..wire.uris import uri_key
from .asking import Asking
from .disk import CHANGED, CREATED, DELETED
from .documents import Documents, Snapshot
from .edits import AppliedEdit, FileChange, apply_workspace_edit, touched
from .freshness import Fresh
from .listings import Listing
from .naming import shown
from .results import CodeAction, Edited
from .session import ServerSession
from .watching import FileEvents

_KINDS = {"created": CREATED, "deleted": DELETED, "edited": CHANGED, "renamed": CREATED}


class Editor:
    """Applies edits to the files below a workspace's root."""

    def __init__(self, documents: Documents, root: Path, events: FileEvents) -> None:
        self._documents = documents
        self._root = root
        self._events = events
        self._command = asyncio.Lock()
        self._commanded: _Commanded | None = None

    def apply(
        self,
        edit: Mapping[str, Any],
        session: ServerSession | None,
        encoding: str,
        asked: Snapshot | None = None,
        write: bool = True,
    ) -> AppliedEdit:
        """Apply an edit; without `write`, say what it would do. Raises EditError, OSError.

        `asked`: what the server knew that made the edit; what has changed since is not what it is for. Documents that
        hold the caller's own text are not on disk as the server knows them, and are not edited.
        """
        self.check_saved(edit)
        if asked is not None:
            self._check_current(edit, asked)
            if unsure := self.unsure(edit):
                raise EditConflict(f"{unsure[0]}: the server may count characters in another way: open it, ask again")
        applied = apply_workspace_edit(edit, self._root, encoding=encoding, version_of=self.version_of, write=write)
        if write:
            self.tell(applied, session)
        return applied

    def check_saved(self, edit: Mapping[str, Any]) -> None:
        """Raise EditConflict where an edit is for a document that holds text which is not saved."""
        own = {uri_key(document.uri) for document in self._documents if document.stamp is None}
        for uri in touched(edit):
            if uri_key(uri) in own:
                raise EditConflict(f"{uri}: holds text that is not saved: save it or close it first")

    def _check_current(self, edit: Mapping[str, Any], asked: Snapshot) -> None:
        for uri in touched(edit):
            document = self._documents.at(uri)
            if document is not None and uri_key(uri) in asked.texts:
                is_current = document.text == asked.texts[uri_key(uri)]
            else:
                is_current = _written(self._path(uri)) <= asked.at
            if not is_current:
                raise EditConflict(f"{shown(uri, self._root)}: has changed since the server was asked: ask again")

    def unsure(self, edit: Mapping[str, Any]) -> list[Path]:
        """The files of an edit that the server has read by itself, and perhaps not as lspz does.

        A byte order mark is a character for some, and so are bytes that are no text.
        """
        found = []
        for uri in touched(edit):
            path = self._path(uri)
            if self._documents.at(uri) is None and path.is_file() and not _is_plain(path.read_bytes()):
                found.append(path)
        return found

    def _path(self, uri: str) -> Path:
        return self._documents.path(uri)

    def version_of(self, uri: str) -> int | None:
        """The version in which the server knows a document."""
        document = self._documents.at(uri)
        return None if document is None else document.told

    def tell(self, applied: AppliedEdit, session: ServerSession | None) -> None:
        """Tell the server what an edit did to the files."""
        events: list[tuple[int, Path]] = []
        operations: dict[str, list[dict[str, str]]] = {}
        for change in applied.changes:
            uri = change.path.as_uri()
            gone = change.moved_from or (change.path if change.kind == "deleted" else None)
            if gone is not None and (document := self._documents.at(gone.as_uri())) is not None:
                self._documents.close(document, session)
            events.append((_KINDS[change.kind], change.path))
            if change.moved_from is not None:
                events.append((DELETED, change.moved_from))
                operations.setdefault("didRename", []).append({"oldUri": change.moved_from.as_uri(), "newUri": uri})
            elif change.kind in ("created", "deleted"):
                operations.setdefault(f"did{change.kind.removesuffix('d').title()}", []).append({"uri": uri})
        if session is None:
            return
        offered = (session.capabilities.get("workspace") or {}).get("fileOperations") or {}
        for name, files in operations.items():
            if name in offered or session.registered(f"workspace/{name}Files") is not None:
                session.notify(f"workspace/{name}Files", {"files": files})
        self._documents.sync(session)
        self._events.tell(events)

    def apply_for_server(self, params: Any, session: ServerSession | None) -> Any:
        """`workspace/applyEdit`: done while a command runs that the caller wanted, refused at any other time."""
        commanded = self._commanded
        if commanded is None or session is None:
            return {"applied": False, "failureReason": "nobody asked for an edit"}
        try:
            commanded.applied.append(self.apply(params["edit"], session, session.encoding))
        except (EditError, OSError) as error:
            commanded.refused = error
            return {"applied": False, "failureReason": str(error)}
        return {"applied": True}

    async def do(self, action: CodeAction, asking: Asking) -> Edited:
        """Do what a code action says: its edit, then its command. Raises EditError, BackendError, OSError."""
        if action.disabled:
            raise EditRefused(f"{action.title}: cannot be done now: {action.disabled}")
        session, value = asking.session, action.lsp
        is_command = isinstance(value.get("command"), str)
        if not is_command and "edit" not in value:
            offered = session.provider("codeActionProvider", "textDocument/codeAction") or {}
            if offered.get("resolveProvider"):
                value = msgspec.json.decode(await asking.request("codeAction/resolve", value))
        command = value if is_command else value.get("command")
        if not value.get("edit") and command is None:
            raise EditRefused(f"{action.title}: the server says no edit, and no command that would make one")
        applied = []
        if value.get("edit"):
            applied.append(self.apply(value["edit"], session, session.encoding, action.asked))
        if command is not None:
            applied += await self._run(command, asking)
        changes = tuple(change for one in applied for change in one.changes)
        return edited(AppliedEdit(self._root, changes), value.get("edit") or {}, True, session.options.server.name)

    async def _run(self, command: Mapping[str, Any], asking: Asking) -> list[AppliedEdit]:
        """Have the server run a command; return the edits that it asked for meanwhile. One command at a time."""
        async with self._command:
            self._commanded = commanded = _Commanded()
            try:
                params = {"command": command["command"], "arguments": command.get("arguments") or []}
                await asking.request("workspace/executeCommand", params)
            finally:
                self._commanded = None
        if commanded.refused is not None:
            raise commanded.refused
        return commanded.applied


class _Commanded:
    """What came of the edits that a command had the server ask for."""

    def __init__(self) -> None:
        self.applied: list[AppliedEdit] = []
        self.refused: EditError | OSError | None = None


def _written(path: Path) -> int:
    """When a file was written, in nanoseconds since the epoch; 0 where there is none."""
    try:
        return path.stat().st_mtime_ns
    except OSError:
        return 0


def _is_plain(data: bytes) -> bool:
    """Whether everybody counts the characters of a file alike."""
    try:
        data.decode()
    except UnicodeDecodeError:
        return False
    return not decode_file(data)[1].mark


def edited(applied: AppliedEdit, edit: Mapping[str, Any], is_written: bool, server: str = "") -> Edited:
    """What an edit did, as an answer."""
    rows = tuple(_row(change, applied.root) for change in applied.changes)
    model = Listing("files", rows, applied.lines())
    return Edited(
        state=Fresh(None, model.size),
        model=model,
        raw=msgspec.json.encode(edit),
        server=server,
        applied=applied,
        edit=edit,
        is_written=is_written,
    )


def _row(change: FileChange, root: Path) -> dict[str, str]:
    row = {"change": change.kind, "path": shown(change.path.as_uri(), root)}
    return row if change.moved_from is None else {**row, "from": shown(change.moved_from.as_uri(), root)}
