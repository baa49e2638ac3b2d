"""Diagnostics of a whole workspace, streamed by a real server: in every form they say what the server says directly."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

import lspz

from .. import keys
from ..servers import BY_NAME
from .talk import LSPZ, talk

NAMES = ("one.py", "two.py")
FORMS = ("folded", "compact", "toon", "text")


async def streamed(folder: Path, form: str | None) -> list[Any]:
    """The partial results in which basedpyright tells of both files, through lspz unless `form` is None."""
    server = BY_NAME["basedpyright"]
    assert server.executable is not None
    command = [] if form is None else [*LSPZ, "--format", form, "--"]
    async with talk([*command, server.executable, *server.command[1:]]) as t:
        await t.initialize(
            rootUri=folder.as_uri(),
            initializationOptions={"diagnosticMode": "workspace"},
            workspaceFolders=[{"uri": folder.as_uri(), "name": "project"}],
            capabilities={
                "workspace": {"configuration": True, "diagnostics": {"refreshSupport": True}},
                "textDocument": {"diagnostic": {"dynamicRegistration": True}},
            },
        )
        asked, parts = False, []
        while True:
            message = await t.receive()
            method = message.get("method")
            if method == "workspace/configuration":
                answer = [{"diagnosticMode": "workspace", "analysis": {"diagnosticMode": "workspace"}}]
                t.answer(message["id"], answer * len(message["params"]["items"]))
            elif method is not None and "id" in message:
                t.answer(message["id"], None)
                if method == "client/registerCapability" and not asked and "diagnostic" in json.dumps(message):
                    asked = True
                    t.send(keys.WORKSPACE, {"previousResultIds": [], "partialResultToken": "part"}, "all")
            elif method == keys.PROGRESS and message["params"]["token"] == "part":
                parts.append(message["params"])
                found = [diagnostics for diagnostics in files(parts).values() if diagnostics]
                if len(found) == len(NAMES):
                    await t.ask("shutdown", id="shutdown")
                    t.send("exit")
                    await t.end()
                    return parts


@pytest.mark.server("basedpyright")
async def test_what_is_streamed_says_the_same_in_every_form(tmp_path: Path) -> None:
    """Two files that miss the same name: compact and its like are shorter, folded is still a report."""
    for name in NAMES:
        (tmp_path / name).write_text("print(missing)\n" * 4)

    plain, *ours = await asyncio.gather(*(streamed(tmp_path, form) for form in (None, *FORMS)))

    before = files(plain)
    assert all(len(found) >= 4 for found in before.values())
    for form, got in zip(FORMS, ours, strict=True):
        assert len(json.dumps(got)) < len(json.dumps(plain)) / 2
        if form == "folded":
            folded = [d["message"] for part in got for item in part["value"]["items"] for d in item["items"]]
            assert any("(+3 more: 2:7, 3:7, 4:7)" in message for message in folded)
        else:
            assert any("items" not in part["value"] for part in got)
            assert files(got) == before


def files(parts: list[Any]) -> dict[str, Any]:
    """Diagnostics by file, of progress in any form."""
    items = [item for part in parts for item in lspz.decompress(keys.PROGRESS, part)["value"]["items"]]
    return {item["uri"]: keys.diagnostics(item["items"]) for item in items}
