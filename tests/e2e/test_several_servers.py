"""basedpyright and ruff behind one lspz: what each says alone is said, as with rassumfrassum in lspz's place."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from ..servers import find
from .talk import LIMIT, Talk, is_gone, talk

pytestmark = [pytest.mark.server("basedpyright"), pytest.mark.server("ruff")]

Json = Any

TEXT = '''\
import os
import sys


def double(x: int) -> int:
    """Twice x."""
    return x * 2


print(double("1"), missing)
'''
BETTER = TEXT.replace('double("1"), missing', "double(1), sys.path").replace("import os\n", "")

BASEDPYRIGHT = ("basedpyright-langserver", "--stdio")
RUFF = ("ruff", "server")
LSPZ = (sys.executable, "-m", "lspz", "--format", "passthrough")
RASS = (sys.executable, "-m", "rassumfrassum", "--")


def command(*server: str) -> list[str]:
    return [find(server[0]) or server[0], *server[1:]]


BOTH = [*command(*BASEDPYRIGHT), "--", *command(*RUFF)]
SETUPS: dict[str, list[str]] = {
    "basedpyright": command(*BASEDPYRIGHT),
    "ruff": command(*RUFF),
    "lspz": [*LSPZ, "--", *BOTH],
    "lspz, restarting": [*LSPZ, "--restart", "3/60s", "--", *BOTH],
    "rassumfrassum": [*RASS, *BOTH],
}


class Editor:
    """A client that answers what servers ask, and keeps what they publish."""

    def __init__(self, talk: Talk, folder: Path) -> None:
        self.talk = talk
        self.folder = folder
        self.uri = (folder / "main.py").as_uri()
        self.document = {"uri": self.uri}
        self.capabilities: dict[str, Json] = {}
        self.registered: list[Json] = []
        self.published: list[Json] = []
        self._number = 0

    async def receive(self) -> Json:
        """The next message; a server's request is answered."""
        message = await self.talk.receive()
        method = message.get("method")
        if method == "client/registerCapability":
            self.registered += message["params"]["registrations"]
        if method == "textDocument/publishDiagnostics" and message["params"]["uri"] == self.uri:
            self.published.append(message["params"])
        if method and "id" in message:
            items = message["params"]["items"] if method == "workspace/configuration" else None
            self.talk.answer(message["id"], None if items is None else [{}] * len(items))
        return message

    async def ask(self, method: str, params: Json) -> Json:
        self._number += 1
        self.talk.send(method, params, self._number)
        while True:
            message = await self.receive()
            if message.get("id") == self._number and "method" not in message:
                return message

    async def until(self, holds: Callable[[], bool]) -> None:
        async with asyncio.timeout(LIMIT * 2):
            while not holds():
                await self.receive()

    async def start(self, pulls: bool = False) -> None:
        text_document = {
            "publishDiagnostics": {"versionSupport": True, "dataSupport": True},
            "codeAction": {
                "codeActionLiteralSupport": {"codeActionKind": {"valueSet": ["quickfix", "source"]}},
                "dataSupport": True,
                "resolveSupport": {"properties": ["edit"]},
            },
            "definition": {"linkSupport": True},
        } | ({"diagnostic": {"dynamicRegistration": True}} if pulls else {})
        folder = {"uri": self.folder.as_uri(), "name": "sample"}
        params = {
            "processId": os.getpid(),
            "rootUri": folder["uri"],
            "workspaceFolders": [folder],
            "capabilities": {"textDocument": text_document, "workspace": {"configuration": True}},
        }
        self.capabilities = (await self.ask("initialize", params))["result"]["capabilities"]
        self.talk.send("initialized", {})
        item = {**self.document, "languageId": "python", "version": 1, "text": TEXT}
        self.talk.send("textDocument/didOpen", {"textDocument": item})

    def changes_to(self, text: str, version: int) -> None:
        document = {**self.document, "version": version}
        self.talk.send("textDocument/didChange", {"textDocument": document, "contentChanges": [{"text": text}]})

    @property
    def found(self) -> set[str]:
        """What the last publish says."""
        return facts(self.published[-1]["diagnostics"]) if self.published else set()

    async def leave(self) -> None:
        await self.ask("shutdown", None)
        self.talk.send("exit")


def facts(diagnostics: Sequence[Json]) -> set[str]:
    """Source, place and message of each."""
    return {f"{item['source']} {json.dumps(item['range'])} {item['message']}" for item in diagnostics}


@asynccontextmanager
async def editing(folder: Path, setup: str, pulls: bool = False) -> AsyncIterator[Editor]:
    """A session in which the document is open; the servers are gone afterwards."""
    (folder / "main.py").write_text(TEXT)
    async with talk(SETUPS[setup], HOME=str(folder), XDG_CACHE_HOME=str(folder / ".cache")) as client:
        editor = Editor(client, folder)
        await editor.start(pulls)
        yield editor
        await editor.leave()
        assert setup == "rassumfrassum" or (await client.end())[0] == 0
    assert is_gone(client.process.pid)


async def pushed(folder: Path, setup: str, sources: set[str]) -> set[str]:
    """What is published once each of these sources has had its say."""
    async with editing(folder, setup) as editor:
        await editor.until(lambda: sources <= {fact.split()[0] for fact in editor.found})
        return editor.found


async def test_published_diagnostics_are_those_of_both(tmp_path: Path) -> None:
    """None is lost, none is there twice, each with its source; rassumfrassum says the same."""
    alone = await pushed(tmp_path, "basedpyright", {"basedpyright"}) | await pushed(tmp_path, "ruff", {"Ruff"})
    assert len(alone) >= 4
    both = {"basedpyright", "Ruff"}
    assert await pushed(tmp_path, "lspz", both) == alone
    assert await pushed(tmp_path, "rassumfrassum", both) == alone


async def test_what_is_mended_is_no_longer_published(tmp_path: Path) -> None:
    """After a change the last publish is about the text as it is, of both servers."""
    async with editing(tmp_path, "lspz") as editor:
        await editor.until(lambda: {"basedpyright", "Ruff"} <= {fact.split()[0] for fact in editor.found})
        editor.changes_to(BETTER, 2)
        await editor.until(lambda: not any("missing" in fact or "`os`" in fact for fact in editor.found))
        assert all(params.get("version") in (None, 1, 2) for params in editor.published)
        editor.changes_to(TEXT, 3)
        await editor.until(lambda: {"basedpyright", "Ruff"} <= {fact.split()[0] for fact in editor.found})
        assert any("missing" in fact for fact in editor.found)


async def reported(folder: Path, setup: str) -> set[str]:
    """What a client that pulls gets, under every identifier that it was given."""
    async with editing(folder, setup, pulls=True) as editor:

        def offers() -> list[Json]:
            provider = editor.capabilities.get("diagnosticProvider")
            registered = [r["registerOptions"] for r in editor.registered if r["method"] == "textDocument/diagnostic"]
            return [*([provider] if provider else []), *registered]

        expected = 2 if setup in ("lspz", "rassumfrassum") else 1
        if setup == "ruff":
            await editor.until(lambda: bool(offers()))
        else:
            await editor.until(lambda: any(r["method"] == "textDocument/diagnostic" for r in editor.registered))
        assert 1 <= len(offers()) <= expected
        found: list[str] = []
        for offer in offers():
            identifier = {"identifier": offer["identifier"]} if "identifier" in offer else {}
            answer = await editor.ask("textDocument/diagnostic", {"textDocument": editor.document, **identifier})
            found += sorted(facts(answer["result"]["items"]))
        assert len(found) == len(set(found))
        return set(found)


async def test_pulled_diagnostics_are_those_of_both(tmp_path: Path) -> None:
    """Each once, whether a server offers it at the start or registers it later."""
    alone = await reported(tmp_path, "basedpyright") | await reported(tmp_path, "ruff")
    assert len(alone) >= 4
    assert await reported(tmp_path, "lspz") == alone


async def answers(folder: Path, setup: str) -> dict[str, Json]:
    """What is offered, and answered about the document, as plain values."""
    async with editing(folder, setup) as editor:
        wanted = {"basedpyright": {"basedpyright"}, "ruff": {"Ruff"}}.get(setup, {"basedpyright", "Ruff"})
        await editor.until(lambda: wanted <= {fact.split()[0] for fact in editor.found})
        at = {"textDocument": editor.document, "position": {"line": 9, "character": 8}}
        found: dict[str, Json] = {}
        for method, provider in (
            ("textDocument/definition", "definitionProvider"),
            ("textDocument/references", "referencesProvider"),
            ("textDocument/documentSymbol", "documentSymbolProvider"),
            ("textDocument/documentHighlight", "documentHighlightProvider"),
            ("textDocument/hover", "hoverProvider"),
        ):
            if setup != "ruff" and editor.capabilities.get(provider):
                more = {"context": {"includeDeclaration": True}} if "references" in method else {}
                found[method] = (await editor.ask(method, {**at, **more})).get("result")
        if editor.capabilities.get("documentFormattingProvider"):
            options = {"tabSize": 4, "insertSpaces": True}
            params = {"textDocument": editor.document, "options": options}
            found["formatting"] = (await editor.ask("textDocument/formatting", params))["result"]
        everything = {"start": {"line": 0, "character": 0}, "end": {"line": 10, "character": 0}}
        context = {"diagnostics": editor.published[-1]["diagnostics"], "triggerKind": 1}
        params = {"textDocument": editor.document, "range": everything, "context": context}
        actions = (await editor.ask("textDocument/codeAction", params))["result"]
        edits = {}
        for action in actions:
            if "edit" not in action and "data" in action:
                answer = await editor.ask("codeAction/resolve", action)
                assert "result" in answer, (action["title"], answer)
                action = answer["result"]
            edits[action["title"]] = action.get("edit")
        return found | {"actions": edits}


async def test_answers_are_those_of_the_server_that_can_give_them(tmp_path: Path) -> None:
    """Definitions of basedpyright, formatting of ruff, code actions of both, each resolved by its own server."""
    first, second = await answers(tmp_path, "basedpyright"), await answers(tmp_path, "ruff")
    together = await answers(tmp_path, "lspz")
    assert first["actions"]
    assert second["actions"]
    assert together.pop("actions") == first.pop("actions") | second.pop("actions")
    assert together == second | first


async def test_nothing_that_rassumfrassum_gets_right_is_lost(tmp_path: Path) -> None:
    """What it answers in lspz's place, lspz answers too."""
    ours, theirs = await answers(tmp_path, "lspz"), await answers(tmp_path, "rassumfrassum")
    their_actions = theirs.pop("actions")
    assert set(their_actions) <= set(ours["actions"])
    assert {name: ours.get(name) for name in theirs} == theirs


def kill_ruff(editor: Editor) -> None:
    pid = editor.talk.process.pid
    children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    ruff = [child for child in children if b"ruff" in Path(f"/proc/{child}/cmdline").read_bytes()]
    assert len(ruff) == 1
    os.kill(int(ruff[0]), 9)


async def test_one_of_them_is_started_again(tmp_path: Path) -> None:
    """The other does not notice, and the new one knows the document as it is."""
    async with editing(tmp_path, "lspz, restarting") as editor:
        await editor.until(lambda: {"basedpyright", "Ruff"} <= {fact.split()[0] for fact in editor.found})
        editor.changes_to(TEXT + "import re\n", 2)
        await editor.until(lambda: any("`re`" in fact for fact in editor.found))
        kill_ruff(editor)
        message = await editor.talk.until("window/showMessage")
        assert "is started again" in message["message"]
        editor.published.clear()
        editor.changes_to(TEXT + "import re, json\n", 3)
        await editor.until(lambda: any("`json`" in fact for fact in editor.found))
        assert any("missing" in fact for fact in editor.found)


async def test_a_server_that_dies_takes_only_its_own_with_it(tmp_path: Path) -> None:
    """The other's diagnostics stay, its answers too, and the client is told."""
    async with editing(tmp_path, "lspz") as editor:
        await editor.until(lambda: {"basedpyright", "Ruff"} <= {fact.split()[0] for fact in editor.found})
        kill_ruff(editor)
        await editor.until(lambda: {fact.split()[0] for fact in editor.found} == {"basedpyright"})
        message = await editor.talk.until("window/showMessage")
        assert "ruff" in message["message"].lower()
        assert "SIGKILL" in message["message"]
        at = {"textDocument": editor.document, "position": {"line": 9, "character": 8}}
        assert (await editor.ask("textDocument/hover", at))["result"]
