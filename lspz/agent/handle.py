"""`AgentHandle`: one language server, asked by an agent."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, Self, TypeVar, Unpack

import attrs
import msgspec

from ..config.servers import ServerTable, builtin_servers
from ..errors import AnswerTimeout
from .asking import Asking, Models, understood
from .diagnosing import diagnose, diagnose_workspace
from .disk import CHANGED, CREATED, DELETED
from .documents import Documents, Snapshot
from .editing import Editor, edited
from .edits import AppliedEdit
from .freshness import Pending
from .locators import At, File
from .options import AgentOptions, Builder, Waits
from .queries import FORMATTING, RENAME, WORKSPACE_SYMBOLS, ActionsQuery, EditQuery, Plain, Query, Row
from .questions import Questions
from .results import CodeAction, CodeActions, Diagnostics, Edited, WorkspaceDiagnostics, WorkspaceSymbols
from .session import ServerSession
from .supervisor import Supervisor
from .watching import FileEvents

R = TypeVar("R")


class AgentHandle(Questions):
    """One language server, for an agent to ask. ::

        async with AgentHandle.builder().backend("basedpyright-langserver --stdio").build() as agent:
            found = await agent.diagnostics("src/app.py")
            print(found.text())

    The server starts with the first question, is started again when it died, and is stopped when nothing was asked for
    a while; the documents that were open are told to each that starts. Documents that are asked about are opened by
    themselves, and before each question the server is told of every open one that changed on disk.
    """

    builder = Builder

    def __init__(self, options: AgentOptions, table: ServerTable | None = None) -> None:
        table = table or builtin_servers()
        self._options = options
        self._models = Models(options.config)
        self._table = table
        self._documents = Documents(
            options.root, lambda path: table.language_for(path, options.server), self._is_source
        )
        self._supervisor = Supervisor(options, self._session, self._begun)
        self._events = FileEvents(
            options.root,
            options.workspace,
            lambda: self._supervisor.session,
            self._matters,
            self._happened,
            options.server.saved,
            options.watches,
        )
        self._editor = Editor(self._documents, options.workspace, self._events)
        self._changed = 0.0  # when the server was last told that something did

    def _session(self) -> ServerSession:
        self._events.begin()  # before the server looks at the disk
        return ServerSession(self._options, _Owner(self._documents, self._editor, self._events, self._supervisor))

    @property
    def name(self) -> str:
        """The server's name in lspz's table, or its program."""
        return self._options.server.name

    @property
    def root(self) -> Path:
        """The folder of the project."""
        return self._options.root

    @property
    def busy(self) -> str | None:
        """What the server is at work with, in words; None when it is not."""
        if self._supervisor.is_starting:
            return "starting"
        session = self._supervisor.session
        return session.work.busy_with(across=True) if session is not None else None

    @property
    def is_running(self) -> bool:
        """Whether the server runs now."""
        return self._supervisor.session is not None

    @property
    def capabilities(self) -> Mapping[str, Any]:
        """What the server that runs said it offers (`ServerCapabilities`, JSON); empty where none runs."""
        session = self._supervisor.session
        return session.capabilities if session is not None else {}

    # its life

    async def start(self) -> Self:
        """Start the server now, and not with the first question.

        Raises BackendNotFound, BackendDied, BackendRefused, AnswerTimeout.
        """
        with self._supervisor.use():
            await self._supervisor.running()
        return self

    async def stop(self) -> None:
        """End the server, politely and within seconds. Nothing can be asked afterwards."""
        self._events.stop()
        await self._supervisor.stop()

    def _begun(self, session: ServerSession) -> None:
        self._documents.forget()
        self._documents.sync(session)
        self._changed = session.now

    def _is_source(self, path: Path) -> bool:
        """Whether a file is of the server's languages."""
        return self._table.language_of(path) in self._options.server.languages

    def _matters(self, path: Path) -> bool:
        """Whether what happens to a file may change an answer, though the server has not registered for it."""
        server = self._options.server
        if self._is_source(path) or path.name in server.roots or self._documents.find(path) is not None:
            return True
        return not path.suffix and not path.exists()  # perhaps a folder of such files

    def _happened(self, events: Sequence[tuple[int, Path]]) -> None:
        """Files changed."""
        session = self._supervisor.session
        if session is not None and self._documents.news(events, session.now):
            self._changed = session.now
            if any(kind != CHANGED for kind, _ in events):
                session.stir()

    # asking

    @asynccontextmanager
    async def _asking(self, file: File | None, waits: Waits, across: bool = True) -> AsyncIterator[Asking]:
        """A question on its way: the server runs, and knows all documents as they are.

        `across`: other files matter, so it also knows all that happened to them.
        """
        patience = attrs.evolve(self._options.patience, **waits)
        until = asyncio.get_running_loop().time() + patience.limit
        document = self._documents.have(file) if file is not None else None
        with self._supervisor.use():
            session = await self._running(until)
            if document is not None:
                document = self._documents.have(document.path)  # it may have been closed meanwhile
                document.asking += 1
            try:
                if across:
                    await self._events.caught_up(until - session.now)
                if self._documents.sync(session, document):
                    self._changed = session.now
                yield Asking(session, self._models, patience, until, document, self._text_of)
            finally:
                if document is not None:
                    document.asking -= 1

    def _text_of(self, path: Path) -> str | None:
        document = self._documents.find(path)
        return None if document is None else document.text

    async def _offered(self, row: Row[Any], asking: Asking) -> None:
        """Raise NotOffered for what the server does not offer; it may say so a moment after its start."""
        session = asking.session
        if session.provider(row.provider, row.method) is None and session.is_stirred:
            await session.ready(asking.until)
        session.check(row.provider, row.method)

    async def _ask(self, query: Query[R], waits: Waits) -> R:
        async with self._asking(query.file, waits, query.row.across) as asking:
            await self._offered(query.row, asking)
            with understood(query.row.method):
                return await query.run(asking)

    async def workspace_symbols(self, query: str, **waits: Unpack[Waits]) -> WorkspaceSymbols:
        """Symbols of the project whose names fit a query."""
        return await self._ask(Plain(WORKSPACE_SYMBOLS, None, extra={"query": query}), waits)

    async def diagnostics(self, file: File, **waits: Unpack[Waits]) -> Diagnostics:
        """What is wrong in a document as it is now. An empty list means "clean" only where it `is_fresh`."""
        try:
            async with self._asking(file, waits) as asking:
                return await diagnose(asking, self._documents)
        except AnswerTimeout as error:
            uri = self._documents.path(file).as_uri()
            return Diagnostics(state=Pending(str(error)), model=None, server=self.name, uri=uri)

    async def workspace_diagnostics(self, **waits: Unpack[Waits]) -> WorkspaceDiagnostics:
        """What is wrong in the project; of a server that looks at open files alone it is `Unavailable`."""
        try:
            async with self._asking(None, waits) as asking:
                return await diagnose_workspace(asking, self._documents, self._changed)
        except AnswerTimeout as error:
            return WorkspaceDiagnostics(state=Pending(str(error)), model=None, server=self.name)

    async def send_raw(self, method: str, params: Any = None, **waits: Unpack[Waits]) -> Any:
        """Ask anything: params and result are JSON values, characters are counted as the server does.

        Raises BackendRefused, BackendDied, AnswerTimeout.
        """
        async with self._asking(None, waits) as asking:
            return msgspec.json.decode(await asking.request(method, params))

    # edits

    async def code_actions(
        self, at: At, end: At | None = None, *, only: Iterable[str] = (), **waits: Unpack[Waits]
    ) -> CodeActions:
        """What can be done to the code at a place, or from there to `end`; `only` these kinds (`quickfix`).

        Of a place that is a line and no more it is what can be done in that line.
        """
        async with self._asking(at.file, waits) as asking:
            query = ActionsQuery(at.file, at, end, tuple(only))
            await self._offered(query.row, asking)
            await diagnose(asking.within(0.5), self._documents)  # most fixes are for what it has found
            asked = self._documents.snapshot()
            with understood(query.row.method):
                found = await query.run(asking)
            return attrs.evolve(found, actions=tuple(attrs.evolve(action, asked=asked) for action in found.actions))

    async def apply_action(self, action: CodeAction, **waits: Unpack[Waits]) -> Edited:
        """Do what `code_actions` offered. Raises EditError, and then every file is as it was."""
        async with self._asking(None, waits) as asking:
            with understood("codeAction/resolve"):
                return await self._editor.do(action, asking)

    async def rename(self, at: At, new_name: str, *, apply: bool = True, **waits: Unpack[Waits]) -> Edited:
        """Rename the symbol at a place everywhere; without `apply` only say what that would change."""
        return await self._edit(EditQuery(RENAME, at.file, {"newName": new_name}, at), apply, waits)

    async def formatting(
        self, file: File, *, tab_size: int = 4, insert_spaces: bool = True, apply: bool = True, **waits: Unpack[Waits]
    ) -> Edited:
        """Format a document. Raises EditError, and then the file is as it was."""
        options = {"tabSize": tab_size, "insertSpaces": insert_spaces}
        return await self._edit(EditQuery(FORMATTING, file, {"options": options}), apply, waits)

    async def _edit(self, query: EditQuery, apply: bool, waits: Waits) -> Edited:
        async with self._asking(query.file, waits) as asking:
            await self._offered(query.row, asking)
            edit, asked = await self._edit_of(query, asking)
            if unsure := self._editor.unsure(edit):
                for path in unsure:  # it is certain how the server counts what it is told
                    self._documents.have(path)
                self._documents.sync(asking.session)
                edit, asked = await self._edit_of(query, asking)
            await self._events.caught_up(asking.left)
            self._documents.sync(asking.session)  # what changed on disk meanwhile is not what the edit is for
            applied = self._editor.apply(edit, asking.session, asking.session.encoding, asked, apply)
            return edited(applied, edit, apply, self.name)

    async def _edit_of(self, query: EditQuery, asking: Asking) -> tuple[Mapping[str, Any], Snapshot]:
        """The edit, and what the server knew when it was asked for it."""
        asked = self._documents.snapshot()
        with understood(query.row.method):
            return await query.run(asking), asked

    async def apply_edit(self, edit: Mapping[str, Any], *, apply: bool = True) -> Edited:
        """Apply a `WorkspaceEdit` (JSON, its characters counted as you do) to the files, and tell the server."""
        session = self._supervisor.session
        if session is not None:
            self._documents.sync(session)
        applied = self._editor.apply(edit, session, self._options.positions, write=apply)
        return edited(applied, edit, apply)

    def check_saved(self, edit: Mapping[str, Any]) -> None:
        """Raise EditConflict where an edit is for a document that holds text which is not saved."""
        self._editor.check_saved(edit)

    def version_of(self, uri: str) -> int | None:
        """The version in which the server knows a document."""
        return self._editor.version_of(uri)

    def edited_elsewhere(self, applied: AppliedEdit) -> None:
        """Tell the server of an edit that somebody else applied."""
        self._editor.tell(applied, self._supervisor.session)

    # documents

    async def open(self, file: File, text: str | None = None) -> None:
        """Open a document, and keep it open. `text` is what it holds, if that is not what is on disk."""
        self._documents.have(file, text).held = True
        await self._told()

    async def change(self, file: File, text: str) -> None:
        """Say what an open document holds now; what is on disk does not count until `save`. Raises DocumentNotOpen."""
        self._documents.known(file)
        self._documents.have(file, text)
        await self._told()

    async def save(self, file: File) -> None:
        """Write a document that was changed to its file. Raises DocumentNotOpen, OSError."""
        document = self._documents.known(file)
        is_new = not document.path.exists()
        document.save()
        session = await self._told()
        self._documents.saved(document, session)
        self._events.tell([(CREATED if is_new else CHANGED, document.path)])

    async def close(self, file: File) -> None:
        """Close a document; what was changed and not saved is lost."""
        document = self._documents.find(file)
        if document is not None:
            self._documents.close(document, self._supervisor.session)

    async def files_changed(
        self, changed: Iterable[File] = (), *, created: Iterable[File] = (), deleted: Iterable[File] = ()
    ) -> None:
        """Tell the server that files were changed, created or deleted, for certain and at once."""
        await self._told()
        kinds = ((CHANGED, changed), (CREATED, created), (DELETED, deleted))
        self._events.tell((kind, self._documents.path(file)) for kind, files in kinds for file in files)

    async def _told(self) -> ServerSession:
        """The server, told of all that changed."""
        with self._supervisor.use():
            session = await self._running(asyncio.get_running_loop().time() + self._options.patience.limit)
            if self._documents.sync(session):
                self._changed = session.now
            return session

    async def _running(self, until: float) -> ServerSession:
        """The server, started if it does not run. Raises AnswerTimeout at this time of the loop's clock."""
        try:
            async with asyncio.timeout_at(until):
                return await self._supervisor.running()
        except TimeoutError:
            raise AnswerTimeout(f"{self.name} is starting, and has not answered initialize yet") from None


@attrs.frozen
class _Owner:
    """Whom a session tells what happens."""

    documents: Documents
    editor: Editor
    events: FileEvents
    supervisor: Supervisor

    def published(self, params: Any) -> None:
        """The server published diagnostics."""
        self.documents.take_published(params, asyncio.get_running_loop().time())

    def outdated(self) -> None:
        """What it answered so far may be wrong by now."""
        self.documents.outdated(asyncio.get_running_loop().time())

    def apply_for_server(self, params: Any) -> Any:
        """The server asks for an edit."""
        return self.editor.apply_for_server(params, self.supervisor.session)

    def watches(self, watchers: list[Any]) -> None:
        """The server wants to hear of changes of files."""
        self.events.want(watchers)

    def died(self, reason: str) -> None:
        """The server has ended, or was stopped."""
        self.documents.died(reason)
        self.events.stop()
