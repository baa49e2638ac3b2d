"""Real servers, asked directly and through lspz: what a client gets is the same, and diagnostics say the same."""

from __future__ import annotations

import asyncio
import json
from collections import Counter
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import attrs
import pytest
from lsprotocol import types

import lspz

from .. import keys
from ..servers import BY_NAME, SERVERS, Server
from .conversation import Session, Talk, places, session
from .recording import Json

PUBLISH = types.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS
PULL = types.TEXT_DOCUMENT_DIAGNOSTIC
FORMS = ("passthrough", "folded", "compact", "toon", "text")
LONG = 250
"""Characters of an answer that any form makes shorter."""

VOLATILE = ("resultId", "partialResultToken", "workDoneToken")


FolderOf = Callable[[Server], Path]
Pair = Callable[[Server, str, bool], Awaitable[tuple[Session, Session]]]


def each(servers: list[Server]) -> Any:
    """Parametrise over servers; where one is not installed, its tests are skipped."""
    cases = [pytest.param(s, id=s.name, marks=pytest.mark.server(s.name)) for s in servers]
    return pytest.mark.parametrize("server", cases)


@pytest.fixture(scope="module")
def folder_of(tmp_path_factory: pytest.TempPathFactory) -> FolderOf:
    """Where a server's project is: the same folder for all that is compared."""
    folders: dict[str, Path] = {}

    def folder_of(server: Server) -> Path:
        if server.name not in folders:
            folders[server.name] = tmp_path_factory.mktemp(server.name).resolve()
            server.lay_out(folders[server.name])
        return folders[server.name]

    return folder_of


@pytest.fixture(scope="module")
def known() -> dict[tuple[str, bool], dict[str | None, Session | BaseException]]:
    """The sessions that were held so far."""
    return {}


@pytest.fixture
def pair(folder_of: FolderOf, known: dict[tuple[str, bool], dict[str | None, Session | BaseException]]) -> Pair:
    """A session without lspz and one through it. All forms' sessions with a server run at the same time, once."""

    async def pair(server: Server, form: str, pull: bool) -> tuple[Session, Session]:
        sessions = known.get((server.name, pull))
        if sessions is None:
            folder, forms = folder_of(server), (None, *FORMS)
            held = await asyncio.gather(*(session(server, folder, f, pull) for f in forms), return_exceptions=True)
            sessions = known[server.name, pull] = dict(zip(forms, held, strict=True))
        plain, ours = sessions[None], sessions[form]
        for one in (plain, ours):
            if isinstance(one, BaseException):
                raise one
        return plain, ours

    return pair


@pytest.mark.parametrize("form", FORMS)
@each(list(SERVERS))
async def test_pushed(server: Server, form: str, pair: Pair) -> None:
    """Answers, capabilities and exit status are those of the server; what it publishes says the same in any form."""
    plain, ours = await pair(server, form, False)

    check_same_session(form, plain, ours)
    assert ours.published.keys() == plain.published.keys()
    for uri, params in plain.published.items():
        check_same_diagnostics(form, PUBLISH, params, ours.published[uri], ours.typed[uri])


@pytest.mark.parametrize("form", FORMS)
@each([server for server in SERVERS if server.pulls])
async def test_pulled(server: Server, form: str, pair: Pair) -> None:
    """So it is when the client pulls: the report says the same in any form."""
    plain, ours = await pair(server, form, True)

    check_same_session(form, plain, ours)
    check_same_diagnostics(form, PULL, plain.pulled, ours.pulled, ours.typed_pulled)


TWICE_UNUSED = """\
def first():
    import os


def second():
    import os
"""

TWICE_UNKNOWN = """\
export const one = area(1, 1);
export const two = area(2, 2);
"""


@pytest.mark.parametrize(
    ("name", "text", "word", "title"),
    [
        pytest.param(
            "ruff",
            TWICE_UNUSED,
            "os",
            "Ruff (F401): Remove unused import: `os`",
            id="ruff",
            marks=pytest.mark.server("ruff"),
        ),
        pytest.param(
            "typescript-language-server",
            TWICE_UNKNOWN,
            "area",
            'Add import from "./shapes"',
            id="typescript-language-server",
            marks=pytest.mark.server("typescript-language-server"),
        ),
    ],
)
async def test_quick_fix(name: str, text: str, word: str, title: str, tmp_path: Path) -> None:
    """A quick fix is offered and does what it does without lspz, also where its diagnostic was folded into another's.

    There the client may send the diagnostic that names the place, or none, since none begins there.
    """
    server = attrs.evolve(BY_NAME[name], text=text, mistakes=(word,))
    server.lay_out(tmp_path)

    async def fixes(form: str | None) -> dict[tuple[int, str], list[tuple[str, str]]]:
        talk = Talk(server, tmp_path)
        offered = {}
        try:
            await talk.start(form, pull=False)
            known = (await talk.pushed())["diagnostics"]
            assert len(known) == (2 if form is None else 1)
            for line in sorted(server.mistaken_lines):
                at = (line, text.splitlines()[line].index(word))
                for how, sent in (
                    ("says where", [d for d in known if at in places(d)]),
                    ("begins there", [d for d in known if at == start(d)]),
                ):
                    actions = await talk.quick_fixes(span(at, len(word)), sent)
                    offered[line, how] = [(action["title"], talk.fixed(action)) for action in actions]
        finally:
            await talk.leave()
        return offered

    plain, ours = await asyncio.gather(fixes(None), fixes("folded"))
    assert all(title in dict(offered) for offered in plain.values())
    assert ours == plain


def span(at: tuple[int, int], length: int) -> Json:
    """The range of a word."""
    line, character = at
    return {"start": {"line": line, "character": character}, "end": {"line": line, "character": character + length}}


def check_same_session(form: str, plain: Session, ours: Session) -> None:
    """All but the diagnostics."""
    assert ours.own_capabilities == plain.own_capabilities
    assert ours.lspz == (None if form == "passthrough" else {"version": 1, "format": form})
    assert ours.answers.keys() == plain.answers.keys()
    for method, answer in ours.answers.items():
        check_same_answer(form, method, plain.answers[method], answer)
    assert (ours.status, ours.left) == (plain.status, set())


def check_same_answer(form: str, method: str, plain: Any, ours: Any) -> None:
    """Equal in passthrough; in other forms equal in all that is kept, and really in the form unless it is short."""
    if form in ("passthrough", "folded") or method not in keys.METHODS:
        assert without_volatile(ours) == without_volatile(plain)
        return
    assert keys.key(method, lspz.decompress(method, ours)) == keys.key(method, plain)
    assert len(json.dumps(ours)) <= len(json.dumps(plain))
    if len(json.dumps(plain)) > LONG:
        assert ours["version"] == 1
        assert ours.get("format", "compact") == form


def check_same_diagnostics(form: str, method: str, plain: Json, ours: Json, typed: Any) -> None:
    """Publish params or a report: equal in passthrough, and equal in what they say in the other forms."""
    if form == "passthrough":
        assert without_volatile(ours) == without_volatile(plain)
        return
    member = "diagnostics" if method == PUBLISH else "items"
    assert ours != plain or len(plain[member]) == 0
    decoded = lspz.decompress(method, ours)
    rest, rest_decoded = ({k: v for k, v in value.items() if k != member} for value in (plain, decoded))
    if rest.get("kind") == "":  # as gopls 0.23 has it; lspz writes what LSP asks for
        rest["kind"] = "full"
    assert without_volatile(rest_decoded) == without_volatile(rest)
    if form != "folded":
        assert says(decoded[member]) == says(plain[member])
        if ours != plain:
            assert says(lspz.converters.get_converter().unstructure(typed.expand())[member]) == says(plain[member])
    else:
        check_folded(plain[member], decoded[member])


def check_folded(plain: list[Json], folded: list[Json]) -> None:
    """Every diagnostic is named by one folded diagnostic: its position, and its message as the beginning."""
    named = Counter(place for diagnostic in folded for place in places(diagnostic))
    assert named == Counter(start(diagnostic) for diagnostic in plain) or len(named) == len(plain)
    for diagnostic in plain:
        assert any(
            start(diagnostic) in places(other)
            and other["message"].startswith(diagnostic["message"])
            and all(
                (other.get(name) or None) == (diagnostic.get(name) or None) for name in ("severity", "code", "tags")
            )
            for other in folded
        ), diagnostic


def start(diagnostic: Json) -> tuple[int, int]:
    position = diagnostic["range"]["start"]
    return position["line"], position["character"]


def says(diagnostics: list[Json]) -> Counter[str]:
    """What must survive of diagnostics, in any order."""
    kept = ("range", "severity", "code", "message", "tags")
    told = [
        {name: diagnostic[name] for name in kept if diagnostic.get(name) not in (None, [])}
        for diagnostic in diagnostics
    ]
    return Counter(json.dumps(diagnostic, sort_keys=True) for diagnostic in told)


def without_volatile(value: Any) -> Any:
    """JSON without what differs from session to session."""
    if isinstance(value, dict):
        return {k: without_volatile(v) for k, v in value.items() if k not in VOLATILE}
    return [without_volatile(v) for v in value] if isinstance(value, list) else value
