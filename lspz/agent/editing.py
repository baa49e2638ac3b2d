"""Edits of the files of a workspace, of which the server is told."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import msgspec

from ..errors import EditConflict, EditRefused
from ..wire.uris import uri_key
from .asking import Asking
from .disk import CHANGED, CREATED, DELETED
from .documents import Document, Documents
from .edits import AppliedEdit, apply_workspace_edit, touched
from .freshness import Fresh
from .listings import Listing
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
        self._commanded: list[AppliedEdit] | None = None  # what a command of ours had the server ask for

    def apply(
        self, edit: Mapping[str, Any], session: ServerSession | None, encoding: str, write: bool = True
    ) -> AppliedEdit:
        """Apply an edit; without `write`, say what it would do. Raises EditError, OSError.

        Documents that hold the caller's own text are not on disk as the server knows them, and are not edited.
        """
        self.check_saved(edit)
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

    def version_of(self, uri: str) -> int | None:
        """The version in which the server knows a document."""
        document = self._open(uri)
        return None if document is None else document.told

    def _open(self, uri: str) -> Document | None:
        return next((found for found in self._documents if uri_key(found.uri) == uri_key(uri)), None)

    def tell(self, applied: AppliedEdit, session: ServerSession | None) -> None:
        """Tell the server what an edit did to the files."""
        events: list[tuple[int, Path]] = []
        operations: dict[str, list[dict[str, str]]] = {}
        for change in applied.changes:
            uri = change.path.as_uri()
            gone = change.moved_from or (change.path if change.kind == "deleted" else None)
            if gone is not None and (document := self._open(gone.as_uri())) is not None:
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
        if self._commanded is None:
            return {"applied": False, "failureReason": "nobody asked for an edit"}
        try:
            encoding = session.encoding if session is not None else "utf-16"
            self._commanded.append(self.apply(params["edit"], session, encoding))
        except (EditConflict, EditRefused, OSError) as error:
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
        applied: list[AppliedEdit] = []
        if value.get("edit"):
            applied.append(self.apply(value["edit"], session, session.encoding))
        if command is not None:
            self._commanded = applied
            try:
                params = {"command": command["command"], "arguments": command.get("arguments") or []}
                await asking.request("workspace/executeCommand", params)
            finally:
                self._commanded = None
        changes = tuple(change for one in applied for change in one.changes)
        return edited(AppliedEdit(self._root, changes), value.get("edit") or {}, True, session.options.server.name)


def edited(applied: AppliedEdit, edit: Mapping[str, Any], is_written: bool, server: str = "") -> Edited:
    """What an edit did, as an answer."""
    model = files_listing(applied.lines())
    return Edited(
        state=Fresh(None, model.size),
        model=model,
        raw=msgspec.json.encode(edit),
        server=server,
        applied=applied,
        edit=edit,
        is_written=is_written,
    )


def files_listing(lines: Iterable[str]) -> Listing:
    """What happened to files, as a list."""
    found = tuple(lines)
    rows = tuple({"change": line.split(" ", 1)[0], "path": line.split(" ", 1)[1]} for line in found)
    return Listing("files", rows, found)
