"""A real server while a file is edited: who is told only what changed has, after each edit, what the server says."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from lspz import DiagnosticsReceiver
from lspz.errors import ReportLost

from ..keys import PUBLISH, PULL, key
from ..servers import BY_NAME
from .talk import LSPZ, Talk, talk

FUNCTIONS = [f"def twice_{n}(number: int) -> int:\n    return nmber_{n} * 2 + {n}\n" for n in range(12)]

EDITS = [
    "".join(FUNCTIONS),
    "# a line on top\n\n" + "".join(FUNCTIONS),
    "# a line on top\n\n" + "".join(FUNCTIONS),
    "# a line on top\n\n" + "".join(FUNCTIONS[:5]) + "\nimport os\n\n" + "".join(FUNCTIONS[5:]),
    "".join(FUNCTIONS[2:8]) + "\nimport os\n" + "".join(FUNCTIONS[8:]) + "missing()\n",
    "",
    "".join(FUNCTIONS),
]
"""Names that nobody defines, and what becomes of the file: lines put in, nothing, lines taken out, all of it gone."""


class Editor:
    """A client of basedpyright that has one file open, with lspz between them or not."""

    def __init__(self, talk: Talk, uri: str, pulls: bool) -> None:
        self.talk = talk
        self.uri = uri
        self.method = PULL if pulls else PUBLISH
        self.version = 0
        self.lspz: Any = None
        """What lspz says of itself."""
        self.changes = 0
        """Reports so far that said only what changed."""
        self._receiver = DiagnosticsReceiver()

    async def open(self, root: Path, asks: Any) -> None:
        """Shake hands and open the file."""
        capabilities = {
            "textDocument": {
                "publishDiagnostics": {"versionSupport": True, "tagSupport": {"valueSet": [1, 2]}},
                **({"diagnostic": {}} if self.method == PULL else {}),
            },
            "experimental": {"lspz": asks},
        }
        folders = [{"uri": root.as_uri(), "name": "project"}]
        answer = await self.talk.initialize(capabilities=capabilities, workspaceFolders=folders)
        self.lspz = (answer["result"]["capabilities"].get("experimental") or {}).get("lspz")
        document = {"uri": self.uri, "languageId": "python", "version": 0, "text": "never_defined\n"}
        self.talk.send("textDocument/didOpen", {"textDocument": document})

    def edit(self, text: str) -> None:
        """Put a text in place of the whole file."""
        self.version += 1
        document = {"uri": self.uri, "version": self.version}
        self.talk.send("textDocument/didChange", {"textDocument": document, "contentChanges": [{"text": text}]})

    async def told(self) -> Any:
        """The next that the client is told: the answer to a pull, or a publish on the file."""
        if self.method == PULL:
            return (await self.talk.ask(PULL, {"textDocument": {"uri": self.uri}}))["result"]
        while (params := await self.talk.until(PUBLISH))["uri"] != self.uri:
            pass
        return params

    async def read(self) -> Any:
        """What the server says about the version that was sent last. Raises ReportLost."""
        while True:
            told = await self.told()
            self.changes += "kept" in told or " kept" in told.get("text", "").partition("\n")[0]
            read = self._receiver.receive(self.method, told, self.uri)
            if self.method == PULL or read.get("version") == self.version:
                said = key(self.method, read)
                return said[:1] + said[2:] if self.method == PULL else said  # each session has its own `resultId`


@asynccontextmanager
async def editor(command: Sequence[str], uri: str, pulls: bool) -> AsyncIterator[Editor]:
    async with talk(command) as talking:
        try:
            yield Editor(talking, uri, pulls)
        finally:
            await talking.ask("shutdown")
            talking.send("exit")
            await talking.end()


@pytest.mark.server("basedpyright")
@pytest.mark.parametrize("pulls", [False, True], ids=["pushed", "pulled"])
@pytest.mark.parametrize("form", ["text", "compact"])
async def test_what_changed_adds_up_to_what_the_server_says(form: str, pulls: bool, tmp_path: Path) -> None:
    """After each edit, compared with a client that is told everything. A report that is thrown away is missed."""
    server = BY_NAME["basedpyright"]
    assert server.executable is not None
    command = [server.executable, *server.command[1:]]
    uri = (tmp_path / "edited.py").as_uri()

    async with editor(command, uri, pulls) as plain, editor([*LSPZ, "--", *command], uri, pulls) as ours:
        asks = {"version": 1, "formats": [form], "incremental": True}
        await asyncio.gather(plain.open(tmp_path, None), ours.open(tmp_path, asks))
        assert ours.lspz == {"version": 1, "format": form, "incremental": True}

        async def same(text: str) -> None:
            plain.edit(text)
            ours.edit(text)
            whole, told = await asyncio.gather(plain.read(), ours.read())
            assert told == whole

        for text in EDITS:
            await same(text)
        assert ours.changes >= 4
        assert plain.changes == 0

        await same(EDITS[1])
        ours.edit(EDITS[0])
        await ours.told()
        ours.edit(EDITS[3])
        with pytest.raises(ReportLost, match=r"edited\.py"):
            await ours.read()
        original = (await ours.talk.ask("lspz/original", {"uri": uri}))["result"]
        assert original["method"] == ours.method
        plain.version = ours.version
        await same(EDITS[1])
