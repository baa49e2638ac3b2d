"""One whole session with a server, direct or through lspz, as plain data."""

from __future__ import annotations

import os
import re
import sys
from pathlib import Path
from typing import Any

import attrs
from lsprotocol import types

import lspz

from ..servers import Server
from .recording import Json, RecordingClient

CAPABILITIES = {
    "experimental": {"serverStatusNotification": True},
    "window": {"workDoneProgress": True},
    "workspace": {"configuration": True, "workspaceEdit": {"documentChanges": True}},
    "textDocument": {
        "publishDiagnostics": {
            "codeDescriptionSupport": True,
            "dataSupport": True,
            "relatedInformation": True,
            "tagSupport": {"valueSet": [1, 2]},
            "versionSupport": True,
        },
        "codeAction": {
            "codeActionLiteralSupport": {"codeActionKind": {"valueSet": ["quickfix"]}},
            "dataSupport": True,
            "resolveSupport": {"properties": ["edit"]},
        },
        "completion": {"completionItem": {"documentationFormat": ["markdown"], "snippetSupport": True}},
        "hover": {"contentFormat": ["markdown"]},
        "documentSymbol": {"hierarchicalDocumentSymbolSupport": True},
        "definition": {"linkSupport": True},
        "typeDefinition": {"linkSupport": True},
        "implementation": {"linkSupport": True},
        "synchronization": {"didSave": True},
    },
}


def places(diagnostic: Json) -> set[tuple[int, int]]:
    """Where a plain or folded diagnostic says that something is wrong: zero-based line and character."""
    start = diagnostic["range"]["start"]
    more = re.search(r" \(\+\d+ more: ([\d:, ]+)\)$", diagnostic["message"])
    others = (place.split(":") for place in (more[1].split(", ") if more else ()))
    return {(start["line"], start["character"]), *((int(line) - 1, int(character) - 1) for line, character in others)}


def mistaken_lines(params: Json) -> set[int]:
    """The lines that published diagnostics in any form speak of."""
    plain = lspz.decompress(types.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS, params)["diagnostics"]
    return {line for diagnostic in plain for line, _ in places(diagnostic)}


@attrs.frozen
class Session:
    """What a client got from a server."""

    capabilities: Json
    published: Json
    """The last params for each document."""
    typed: dict[str, Any]
    """The same, as lspz's converter read them."""
    pulled: Any
    """The report; None when it was not asked for."""
    typed_pulled: Any
    answers: Json
    """Results by method."""
    status: int | None
    """Exit status."""
    left: set[int]
    """Processes that were still there afterwards."""

    @property
    def lspz(self) -> Any:
        """What lspz added to the capabilities."""
        return (self.capabilities.get("experimental") or {}).get("lspz")

    @property
    def own_capabilities(self) -> Json:
        """The capabilities without what lspz added."""
        experimental = {**(self.capabilities.get("experimental") or {})}
        experimental.pop("lspz", None)
        return {**self.capabilities, "experimental": experimental}


class Talk:
    """A client in a session that is initialized and has the document open."""

    def __init__(self, server: Server, folder: Path) -> None:
        self.server = server
        self.folder = folder
        self.uri = (folder / server.file).as_uri()
        self.document = types.TextDocumentIdentifier(self.uri)
        self.client = RecordingClient(server.settings)
        self.capabilities: Json = {}

    async def start(self, form: str | None, pull: bool, declares: bool = False) -> None:
        """Start the server, through lspz unless `form` is None, and open the document.

        `declares`: the client says that it reads `form`; else lspz's user does.
        """
        setting = [] if declares else ["--format", form]
        lspz = [] if form is None else [sys.executable, "-m", "lspz", *setting, "--"]
        assert self.server.executable is not None
        command = [*lspz, self.server.executable, *self.server.command[1:]]
        environment = {**os.environ, "GOTOOLCHAIN": "local", "LSPZ_FOLD_HOVER": "no"}
        if self.server.own_cache:
            environment["XDG_CACHE_HOME"] = str(self.folder / f".cache-{form}")
        await self.client.start_io(*command, cwd=self.folder, env=environment)
        text_document = {
            **CAPABILITIES["textDocument"],
            **({"diagnostic": {"dynamicRegistration": True}} if pull else {}),
        }
        experimental = CAPABILITIES["experimental"]
        if form is not None and declares:
            experimental = {**experimental, "lspz": {"version": 1, "formats": [form]}}
        params = self.client.protocol._converter.structure(
            {
                "processId": os.getpid(),
                "rootUri": self.folder.as_uri(),
                "workspaceFolders": [{"uri": self.folder.as_uri(), "name": "sample"}],
                "initializationOptions": {**self.server.options, **(self.server.pull_options if pull else {})},
                "capabilities": {**CAPABILITIES, "textDocument": text_document, "experimental": experimental},
            },
            types.InitializeParams,
        )
        self.client.capabilities = params.capabilities
        result, _ = await self.client.ask(types.INITIALIZE, params)
        self.capabilities = result["capabilities"]
        self.client.initialized(types.InitializedParams())
        self.client.text_document_did_open(
            types.DidOpenTextDocumentParams(types.TextDocumentItem(self.uri, self.server.language, 1, self.server.text))
        )

    async def ready(self) -> None:
        """Wait until a server that says when it has loaded everything says so."""
        if self.server.reports_status:
            await self.client.until("quiescence", lambda: self.client.quiescent)

    def can_be_pulled(self) -> bool:
        """Whether the server has said so, at the start or later."""
        return "diagnosticProvider" in self.capabilities or types.TEXT_DOCUMENT_DIAGNOSTIC in self.client.registered

    async def pushed(self) -> Json:
        """The params published for the document once all its mistakes were found."""

        def complete() -> bool:
            params = self.client.published.get(self.uri)
            return params is not None and self.server.mistaken_lines <= mistaken_lines(params)

        await self.client.until("publish of all mistakes", complete)
        return self.client.published[self.uri]

    async def ask_at(self, method: str, marked: str) -> Any:
        """The answer (JSON) to a question about a place, its document, or the word there."""
        line, character = self.server.place(marked)
        word = re.search(r"\w*\|\w*", marked)
        assert word is not None
        params = {
            "textDocument": {"uri": self.uri},
            "position": {"line": line, "character": character},
            "context": {"includeDeclaration": True},
            "query": word[0].replace("|", ""),
        }
        if method != types.TEXT_DOCUMENT_REFERENCES:
            del params["context"]
        structure = self.client.protocol._converter.structure
        return (await self.client.ask(method, structure(params, types.METHOD_TO_TYPES[method][2])))[0]

    async def resolved(self, completions: Any) -> Any:
        """What the server says of one item of a completion list in any form, the first by its label."""
        found = lspz.decompress(types.TEXT_DOCUMENT_COMPLETION, completions)
        items = found if isinstance(found, list) else found["items"]
        labels = [item["label"] for item in items]
        item = min((item for item in items if labels.count(item["label"]) == 1), key=lambda item: item["label"])
        structure = self.client.protocol._converter.structure
        answer = (await self.client.ask(types.COMPLETION_ITEM_RESOLVE, structure(item, types.CompletionItem)))[0]
        return {name: answer.get(name) for name in ("label", "kind", "detail", "documentation")}

    async def quick_fixes(self, range: Json, diagnostics: list[Json]) -> list[Json]:
        """The quick fixes (JSON) that the server offers for a range to a client that knows these diagnostics."""
        structure = self.client.protocol._converter.structure
        context = {"diagnostics": diagnostics, "only": ["quickfix"]}
        params = {"textDocument": {"uri": self.uri}, "range": range, "context": context}
        offered, _ = await self.client.ask(types.TEXT_DOCUMENT_CODE_ACTION, structure(params, types.CodeActionParams))
        fixes = []
        for action in offered:
            if "edit" not in action:
                action, _ = await self.client.ask(types.CODE_ACTION_RESOLVE, structure(action, types.CodeAction))
            fixes.append(action)
        return fixes

    def fixed(self, action: Json) -> str:
        """The document's text once a quick fix is applied."""
        edit, edits = action["edit"], []
        for change in edit.get("documentChanges", []):
            assert change["textDocument"]["uri"] == self.uri
            edits += change["edits"]
        for uri, changes in edit.get("changes", {}).items():
            assert uri == self.uri
            edits += changes
        lines = self.server.text.splitlines(keepends=True)
        starts = [sum(map(len, lines[:number])) for number in range(len(lines) + 1)]

        def offset(position: Json) -> int:
            at: int = starts[position["line"]] + position["character"]
            return at

        text = self.server.text
        for e in sorted(edits, key=lambda e: offset(e["range"]["start"]), reverse=True):
            text = text[: offset(e["range"]["start"])] + e["newText"] + text[offset(e["range"]["end"]) :]
        return text

    async def leave(self) -> tuple[int | None, set[int]]:
        """Shut the server down; return its exit status and the processes that were left behind."""
        return await self.client.leave()


OFFERED = (
    ("hover", "hoverProvider", types.TEXT_DOCUMENT_HOVER),
    ("completion", "completionProvider", types.TEXT_DOCUMENT_COMPLETION),
    ("definition", "definitionProvider", types.TEXT_DOCUMENT_DEFINITION),
    ("definition", "typeDefinitionProvider", types.TEXT_DOCUMENT_TYPE_DEFINITION),
    ("definition", "declarationProvider", types.TEXT_DOCUMENT_DECLARATION),
    ("definition", "implementationProvider", types.TEXT_DOCUMENT_IMPLEMENTATION),
    ("definition", "referencesProvider", types.TEXT_DOCUMENT_REFERENCES),
    ("definition", "documentSymbolProvider", types.TEXT_DOCUMENT_DOCUMENT_SYMBOL),
    ("definition", "workspaceSymbolProvider", types.WORKSPACE_SYMBOL),
)
"""Where to ask (an attribute of `Server`), the capability that says that one may, and what."""


async def session(server: Server, folder: Path, form: str | None, pull: bool, declares: bool = False) -> Session:
    """Start, open, get diagnostics, ask what the server offers to answer, and leave."""
    talk = Talk(server, folder)
    await talk.start(form, pull, declares)
    pulled = typed = None
    try:
        await talk.ready()
        if pull:
            await talk.client.until("offer to be pulled", talk.can_be_pulled)
            params = types.DocumentDiagnosticParams(talk.document)
            pulled, typed = await talk.client.ask(types.TEXT_DOCUMENT_DIAGNOSTIC, params)
        else:
            await talk.pushed()
        answers = {}
        for place, capability, method in OFFERED:
            marked = getattr(server, place)
            if marked and talk.capabilities.get(capability):
                answers[method] = await talk.ask_at(method, marked)
        completions = answers.get(types.TEXT_DOCUMENT_COMPLETION)
        if completions and (talk.capabilities["completionProvider"] or {}).get("resolveProvider"):
            answers[types.COMPLETION_ITEM_RESOLVE] = await talk.resolved(completions)
        published, typed_published = (
            dict(talk.client.published),
            dict(talk.client.typed),
        )  # gopls clears them at its end
    finally:
        status, left = await talk.leave()
    return Session(talk.capabilities, published, typed_published, pulled, typed, answers, status, left)
