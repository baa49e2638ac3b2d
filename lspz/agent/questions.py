"""What an agent can ask, of one server or of many."""

from __future__ import annotations

import asyncio
from abc import ABC, abstractmethod
from collections.abc import Callable, Coroutine, Iterable, Mapping
from pathlib import Path
from types import TracebackType
from typing import Any, Self, TypeVar, Unpack

from .locators import At, File
from .merging import merged_documents
from .options import Waits
from .queries import (
    COMPLETION,
    DEFINITION,
    HOVER,
    IMPLEMENTATION,
    REFERENCES,
    SYMBOLS,
    TYPE_DEFINITION,
    CallsQuery,
    Plain,
    Query,
    SignatureQuery,
)
from .results import (
    CodeAction,
    CodeActions,
    Completions,
    Diagnostics,
    Edited,
    Hover,
    Listed,
    Locations,
    Symbols,
    WorkspaceDiagnostics,
    WorkspaceSymbols,
)

R = TypeVar("R")

WINDOW = 16
"""Documents that are asked about at one time, where many are."""


class Questions(ABC):
    """What can be asked.

    Files are paths, absolute or from the workspace's root, or `file:` URIs; places are `At`. Each question takes
    `Patience`'s fields for itself: `limit=5` waits five seconds at most.

    A question may raise OSError for a file that cannot be read, PlaceNotFound for a place that is not there,
    NotOffered, BackendNotFound, BackendDied, BackendRefused, and AnswerTimeout when there is no answer within the
    limit. Those about diagnostics raise none of the last three once the server runs: they say in their `state` what is
    not known.
    """

    @abstractmethod
    async def _ask(self, query: Query[R], waits: Waits) -> R: ...

    async def hover(self, at: At, **waits: Unpack[Waits]) -> Hover:
        """What the server says about the symbol at a place."""
        return await self._ask(Plain(HOVER, at.file, at), waits)

    async def completions(self, at: At, **waits: Unpack[Waits]) -> Completions:
        """What may stand at a place."""
        return await self._ask(Plain(COMPLETION, at.file, at, {"context": {"triggerKind": 1}}), waits)

    async def signature_help(self, at: At, **waits: Unpack[Waits]) -> Listed:
        """The signatures of the call at a place: `label`, `documentation`, `active`, `parameter`."""
        return await self._ask(SignatureQuery(at.file, at), waits)

    async def symbols(self, file: File, **waits: Unpack[Waits]) -> Symbols:
        """The outline of a document."""
        return await self._ask(Plain(SYMBOLS, file), waits)

    async def definition(self, at: At, **waits: Unpack[Waits]) -> Locations:
        """Where the symbol at a place is defined."""
        return await self._ask(Plain(DEFINITION, at.file, at), waits)

    async def type_definition(self, at: At, **waits: Unpack[Waits]) -> Locations:
        """Where the type of the symbol at a place is defined."""
        return await self._ask(Plain(TYPE_DEFINITION, at.file, at), waits)

    async def implementation(self, at: At, **waits: Unpack[Waits]) -> Locations:
        """Where the symbol at a place is implemented."""
        return await self._ask(Plain(IMPLEMENTATION, at.file, at), waits)

    async def references(self, at: At, *, declaration: bool = True, **waits: Unpack[Waits]) -> Locations:
        """Where the symbol at a place is used; with `declaration` also where it is declared."""
        extra = {"context": {"includeDeclaration": declaration}}
        return await self._ask(Plain(REFERENCES, at.file, at, extra), waits)

    async def incoming_calls(self, at: At, **waits: Unpack[Waits]) -> Listed:
        """Who calls the function at a place: `path`, `line`, `character` (zero-based), `kind`, `name`, `calls`."""
        return await self._ask(CallsQuery(at.file, at, True), waits)

    async def outgoing_calls(self, at: At, **waits: Unpack[Waits]) -> Listed:
        """Whom the function at a place calls; rows as those of `incoming_calls`."""
        return await self._ask(CallsQuery(at.file, at, False), waits)

    @abstractmethod
    async def workspace_symbols(self, query: str, **waits: Unpack[Waits]) -> WorkspaceSymbols:
        """Symbols of the project whose names fit a query."""

    @abstractmethod
    async def diagnostics(self, file: File, **waits: Unpack[Waits]) -> Diagnostics:
        """What is wrong in a document as it is now. An empty list means "clean" only where it `is_fresh`."""

    async def diagnostics_of(
        self, files: Iterable[File], *, keep: Callable[[Diagnostics], Diagnostics] | None = None, **waits: Unpack[Waits]
    ) -> WorkspaceDiagnostics:
        """What is wrong in these documents, `WINDOW` asked about at a time.

        `keep` hears of each answer, and returns what is kept of it: of thousands of files all would take much room.
        Fresh only if it is of all of them. Raises OSError for a file that cannot be read.
        """
        found: list[Diagnostics] = []
        left = iter(files)

        async def ask() -> None:
            for file in left:
                answer = await self.diagnostics(file, **waits)
                found.append(answer if keep is None else keep(answer))

        await each([ask() for _ in range(WINDOW)])
        return merged_documents(sorted(found, key=lambda answer: answer.uri), self.root)

    @property
    @abstractmethod
    def root(self) -> Path:
        """The folder of the project or workspace."""

    @property
    @abstractmethod
    def busy(self) -> str | None:
        """What servers are at work with, in words; None when none is."""

    @abstractmethod
    async def workspace_diagnostics(self, **waits: Unpack[Waits]) -> WorkspaceDiagnostics:
        """What is wrong in the project; of a server that looks at open files alone it is `Unavailable`."""

    @abstractmethod
    async def code_actions(
        self, at: At, end: At | None = None, *, only: Iterable[str] = (), **waits: Unpack[Waits]
    ) -> CodeActions:
        """What can be done to the code at a place, or from there to `end`; `only` these kinds (`quickfix`).

        Of a place that is a line and no more it is what can be done in that line.
        """

    @abstractmethod
    async def apply_action(self, action: CodeAction, **waits: Unpack[Waits]) -> Edited:
        """Do what `code_actions` offered. Raises EditError, and then every file is as it was."""

    @abstractmethod
    async def rename(self, at: At, new_name: str, *, apply: bool = True, **waits: Unpack[Waits]) -> Edited:
        """Rename the symbol at a place everywhere; without `apply` only say what that would change.

        Raises NotReady while the server still looks at the project, and EditError; then every file is as it was.
        """

    @abstractmethod
    async def formatting(
        self, file: File, *, tab_size: int = 4, insert_spaces: bool = True, apply: bool = True, **waits: Unpack[Waits]
    ) -> Edited:
        """Format a document. Raises EditError, and then the file is as it was."""

    @abstractmethod
    async def apply_edit(self, edit: Mapping[str, Any], *, apply: bool = True) -> Edited:
        """Apply a `WorkspaceEdit` (JSON, its characters counted as you do) to the files, and tell the servers.

        Raises EditError; then every file is as it was.
        """

    @abstractmethod
    async def open(self, file: File, text: str | None = None) -> None:
        """Open a document, and keep it open. `text` is what it holds, if that is not what is on disk.

        Documents that are asked about are opened by themselves, and follow what is on disk.
        """

    @abstractmethod
    async def change(self, file: File, text: str) -> None:
        """Say what an open document holds now; what is on disk does not count until `save`. Raises DocumentNotOpen."""

    @abstractmethod
    async def save(self, file: File) -> None:
        """Write a document that was changed to its file. Raises DocumentNotOpen, OSError."""

    @abstractmethod
    async def close(self, file: File) -> None:
        """Close a document; what was changed and not saved is lost."""

    @abstractmethod
    async def files_changed(
        self, changed: Iterable[File] = (), *, created: Iterable[File] = (), deleted: Iterable[File] = ()
    ) -> None:
        """Tell servers that files were changed, created or deleted, for certain and at once.

        With the extra `watch` they hear of it by themselves, a moment later.
        """

    @abstractmethod
    async def stop(self) -> None:
        """End the servers. Nothing can be asked afterwards."""

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.stop()


async def each(questions: Iterable[Coroutine[Any, Any, R]]) -> list[R]:
    """The answers to questions that are asked at once. If one fails, the others are given up."""
    tasks = [asyncio.create_task(question) for question in questions]
    try:
        return await asyncio.gather(*tasks)
    except BaseException:
        for task in tasks:
            task.cancel()
        if tasks:
            await asyncio.wait(tasks)
        raise
