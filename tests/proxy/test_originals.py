"""What lspz keeps of what the server said: items are resolved as the server's own, and nothing is out of reach."""

from __future__ import annotations

import json
from typing import Any

import pytest

import lspz
from lspz import Config, Limits
from lspz.proxy.originals import Originals

from .memory import Session, session

COMPLETION = "textDocument/completion"
RESOLVE = "completionItem/resolve"
PUBLISH = "textDocument/publishDiagnostics"
PROGRESS = "$/progress"


def item(label: str, kind: int = 3, **more: Any) -> dict[str, Any]:
    return {"label": label, "kind": kind, "sortText": f"11.{label}", "data": {"id": f"{label}/{kind}"}, **more}


LIST = {
    "isIncomplete": False,
    "items": [item("append"), item("Path", 7), item("clear", detail="() -> None"), item("clear", detail="(x) -> None")],
}


def config(form: str, **limits: int) -> Config:
    return Config(format=form, enable_diag_compress=None, limits=Limits(**limits))


async def complete(s: Session, answer: Any, id: int = 1) -> list[dict[str, Any]]:
    """The items that a client reads from what it gets for this answer."""
    await s.to_server(id=id, method=COMPLETION, params={})
    got = await s.to_client(id=id, result=answer)
    items: list[dict[str, Any]] = lspz.decompress(COMPLETION, got["result"])["items"]
    return items


async def resolved(s: Session, item: Any, id: int = 100) -> Any:
    """The item that the server is asked to resolve."""
    asked = await s.to_server(id=id, method=RESOLVE, params=item)
    assert (asked["id"], asked["method"]) == (id, RESOLVE)
    return asked["params"]


@pytest.mark.parametrize("form", ["compact", "toon", "text"])
async def test_each_item_is_resolved_as_the_servers_own(form: str) -> None:
    """Also one of two with the same label; the answer goes back as it came."""
    async with session(config(form)) as s:
        await s.initialize()
        items = await complete(s, LIST)
        assert not any("sortText" in read for read in items)
        originals = [await resolved(s, read, id=10 + i) for i, read in enumerate(items)]
        answer = {**originals[0], "documentation": "x" * 400}
        back = await s.to_client(id=10, result=answer)

    assert sorted(map(json.dumps, originals)) == sorted(map(json.dumps, LIST["items"]))
    for read, original in zip(items, originals, strict=True):
        assert (read["label"], read["kind"], read.get("detail")) == (
            original["label"],
            original["kind"],
            original.get("detail"),
        )
    assert back["result"] == answer


async def test_an_item_of_an_older_list_is_still_found() -> None:
    """Each list has a number of its own."""
    async with session(config("compact")) as s:
        await s.initialize()
        old = await complete(s, LIST)
        await complete(s, {"items": [item(name, data={"new": True}) for name in ("append", "one", "two")]}, id=2)
        original = await resolved(s, old[0])

    assert original == LIST["items"][0]


async def test_items_under_a_cap_are_found() -> None:
    """Places are counted in what the client got, not in what the server sent."""
    many = {"isIncomplete": False, "items": [item("z" * n) for n in range(30, 0, -1)]}
    async with session(config("text", max_completions=4)) as s:
        await s.initialize()
        items = await complete(s, many)
        originals = [await resolved(s, read, id=10 + i) for i, read in enumerate(items)]

    assert [read["label"] for read in items] == ["zzzz", "zzz", "zz", "z"]
    assert [original["label"] for original in originals] == ["zzzz", "zzz", "zz", "z"]
    assert all(original["data"] for original in originals)


async def test_what_the_list_says_for_all_items_comes_with_each() -> None:
    """A server gets its item with the defaults, as from a client that applies them."""
    place = {"start": {"line": 1, "character": 2}, "end": {"line": 1, "character": 3}}
    answer = {
        "isIncomplete": False,
        "itemDefaults": {
            "editRange": place,
            "data": {"file": 1},
            "insertTextFormat": 2,
            "insertTextMode": 1,
            "commitCharacters": ["."],
        },
        "applyKind": {"data": 2, "commitCharacters": 2},
        "items": [
            {"label": "first_one", "data": {"own": 1}, "commitCharacters": [";", "."]},
            {"label": "second", "textEditText": "second()"},
        ],
    }
    async with session(config("compact")) as s:
        await s.initialize()
        first, second = [await resolved(s, read, 10 + i) for i, read in enumerate(await complete(s, answer))]

    shared = {"insertTextFormat": 2, "insertTextMode": 1}
    assert first == {
        "label": "first_one",
        "data": {"file": 1, "own": 1},
        "commitCharacters": [";", "."],
        "textEdit": {"range": place, "newText": "first_one"},
        **shared,
    }
    assert second == {
        "label": "second",
        "textEditText": "second()",
        "data": {"file": 1},
        "commitCharacters": ["."],
        "textEdit": {"range": place, "newText": "second()"},
        **shared,
    }


async def test_an_item_without_a_handle_is_found_by_its_label_in_the_last_list() -> None:
    """As a decoder in another language may have it; what the server never sent goes to it as it is."""
    async with session(config("compact")) as s:
        await s.initialize()
        assert await resolved(s, {"label": "clear"}, 5) == {"label": "clear"}, "there is no list yet"
        await complete(s, LIST)
        found = await resolved(s, {"label": "clear", "kind": 3, "detail": "(x) -> None"}, 6)
        strange = await resolved(s, {"label": "strange", "kind": 3}, 7)
        await s.to_server(id=2, method=COMPLETION, params={})
        own = await s.to_client(id=2, result=[{"label": "clear"}])
        after = await resolved(s, own["result"][0], 8)

    assert found == LIST["items"][3]
    assert strange == {"label": "strange", "kind": 3}
    assert own["result"] == [{"label": "clear"}], "it cannot be made smaller"
    assert after == {"label": "clear"}, "the client has the server's own item of a newer list"


async def test_the_servers_own_items_are_left_alone() -> None:
    """Folded lists are LSP; their items have the server's data."""
    async with session(config("folded", max_completions=2)) as s:
        await s.initialize()
        items = await complete(s, LIST)
        assert len(items) == 2
        assert await resolved(s, items[0]) == items[0]


async def test_an_item_that_is_gone_is_refused() -> None:
    """lspz answers, with a reason, and does not bother the server with an item that it cannot know."""
    async with session(config("compact")) as s:
        await s.initialize()
        await complete(s, LIST)
        await s.client.send(id=9, method=RESOLVE, params={"label": "clear", "kind": 3, "data": {"lspz": [77, 0]}})
        gone = await s.client.receive()
        await s.client.send(id=10, method=RESOLVE, params={"label": "nonsense", "kind": 3, "data": {"lspz": [1, 0]}})
        unknown = await s.client.receive()

    assert (gone["id"], gone["error"]["code"]) == (9, -32803)
    assert "ask for completion again" in gone["error"]["message"]
    assert (unknown["id"], unknown["error"]["code"]) == (10, -32803)


# lspz/original

DIAGNOSTIC = {
    "range": {"start": {"line": 1, "character": 0}, "end": {"line": 1, "character": 9}},
    "message": "unused import",
    "data": {"fix": 1},
}
PARAMS = {"uri": "file:///a.py", "version": 3, "diagnostics": [DIAGNOSTIC]}


async def original(s: Session, **params: Any) -> dict[str, Any]:
    """The answer to `lspz/original`; the server never hears of the question."""
    await s.client.send(id="o", method="lspz/original", params=params)
    answer = await s.client.receive()
    assert answer["id"] == "o"
    return answer


@pytest.mark.parametrize("form", ["folded", "compact", "toon", "text"])
async def test_what_was_published_can_be_read_as_it_was(form: str) -> None:
    """By its document, under any spelling of the URI."""
    async with session(config(form)) as s:
        await s.initialize()
        await s.to_client(method=PUBLISH, params=PARAMS)
        got = await original(s, uri="file:///%61.py")

    assert got["result"] == {"method": PUBLISH, "params": PARAMS}


async def test_what_was_answered_can_be_read_as_it_was() -> None:
    """By the id of the request, as often as one likes."""
    hover = {"contents": {"kind": "markdown", "value": "text " * 9}, "range": DIAGNOSTIC["range"]}
    async with session(config("text")) as s:
        await s.initialize()
        for id in (7, "seven"):
            await s.to_server(id=id, method="textDocument/hover", params={})
            assert (await s.to_client(id=id, result=hover))["result"] != hover
        for id in (7, "seven", 7):
            assert (await original(s, id=id))["result"] == {"method": "textDocument/hover", "result": hover}


@pytest.mark.parametrize("streamed", [False, True])
async def test_of_a_workspace_each_file_can_be_read(streamed: bool) -> None:
    """Answered or streamed; so code actions get their diagnostics, too."""
    report = {"kind": "full", "uri": "file:///a.py", "version": None, "items": [DIAGNOSTIC, {**DIAGNOSTIC, "code": 2}]}
    async with session(config("compact")) as s:
        await s.initialize()
        if streamed:
            await s.to_client(method=PROGRESS, params={"token": "t", "value": {"items": [report]}})
        else:
            await s.to_server(id=7, method="workspace/diagnostic", params={"previousResultIds": []})
            await s.to_client(id=7, result={"items": [report]})
        got = await original(s, uri="file:///a.py")
        asked = await s.to_server(
            id=8,
            method="textDocument/codeAction",
            params={
                "textDocument": {"uri": "file:///a.py"},
                "range": DIAGNOSTIC["range"],
                "context": {"diagnostics": [{"range": DIAGNOSTIC["range"], "message": "unused import"}]},
            },
        )

    assert got["result"] == {"method": "workspace/diagnostic", "result": report}
    assert asked["params"]["context"]["diagnostics"][0]["data"] == {"fix": 1}


async def test_what_is_not_kept_is_an_error_and_not_nothing() -> None:
    """Unknown is never empty; a question that is none is told from it."""
    async with session(config("compact")) as s:
        await s.initialize()
        unknown = [await original(s, uri="file:///b.py"), await original(s, id=99)]
        wrong = [await original(s), await original(s, uri="u", id=1), await original(s, path="/b.py")]

    assert [answer["error"]["code"] for answer in unknown] == [-32803] * 2
    assert [answer["error"]["code"] for answer in wrong] == [-32602] * 3
    assert "file:///b.py" in unknown[0]["error"]["message"]
    assert "request 99" in unknown[1]["error"]["message"]


def test_the_oldest_goes_first() -> None:
    """What is kept has a limit in bytes; what is kept again is new again."""
    kept = Originals(limit=100)
    numbers = [kept.remember_answer(b"%d" % id, "m", b"x" * 40) for id in range(3)]
    assert [kept.answer_to(b"%d" % id) is None for id in range(3)] == [True, False, False]
    assert kept.numbered(numbers[0]) is None
    assert kept.numbered(numbers[2]) is not None
    kept.remember_answer(b"1", "m", b"y" * 40)
    kept.remember_answer(b"3", "m", b"z" * 40)
    assert [kept.answer_to(b"%d" % id) is None for id in range(4)] == [True, False, True, False]
    kept.remember_answer(b"4", "m", b"x" * 101)
    assert kept.answer_to(b"4") is None, "larger than all room there is"
