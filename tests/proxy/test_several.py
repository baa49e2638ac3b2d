"""Several servers that a client takes for one."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from lspz.proxy.several import asking, publishing

from .group import Trio, group

URI = "file:///w/a.py"
PUBLISH = "textDocument/publishDiagnostics"
RANGE = {"start": {"line": 0, "character": 0}, "end": {"line": 0, "character": 1}}
INCREMENTAL = {"textDocumentSync": 2}


def diagnostic(message: str, **more: Any) -> dict[str, Any]:
    return {"range": RANGE, "message": message, **more}


def document(version: int = 1) -> dict[str, Any]:
    return {"textDocument": {"uri": URI, "languageId": "python", "version": version, "text": "x"}}


# the start


async def test_what_the_servers_offer_is_offered_together() -> None:
    """The client gets one set of capabilities, and the servers' names; characters are counted in one way."""
    async with group() as trio:
        general = {"positionEncodings": ["utf-8", "utf-16"]}
        trio.client.send(id=0, method="initialize", params={"capabilities": {"general": general}, "rootUri": None})
        for server, own in zip(trio.servers, ({"hoverProvider": True}, {"codeActionProvider": True}), strict=True):
            asked = await server.receive()
            assert asked["params"] == {"capabilities": {"general": {"positionEncodings": ["utf-16"]}}, "rootUri": None}
            info = {"name": "ruff", "version": "1"} if server is trio.servers[1] else None
            await server.send(id=0, result={"capabilities": own, **({"serverInfo": info} if info else {})})
        result = (await trio.client.receive())["result"]
        assert result == {
            "capabilities": {"hoverProvider": True, "codeActionProvider": True},
            "serverInfo": {"name": "alpha + ruff"},
        }


async def test_a_server_that_refuses_to_start_is_left_out_and_named() -> None:
    """The others serve; if none starts, the client gets the first error."""
    async with group() as trio:
        trio.client.send(id=0, method="initialize", params={"capabilities": {}})
        refusing, other = trio.servers
        await refusing.receive()
        await refusing.send(id=0, error={"code": -32803, "message": "no licence"})
        await other.receive()
        await other.send(id=0, result={"capabilities": {"hoverProvider": True}})
        assert (await trio.client.receive())["result"]["capabilities"] == {"hoverProvider": True}
        warning = await trio.client.receive()
        assert warning["method"] == "window/showMessage"
        assert "alpha" in warning["params"]["message"]
        assert "no licence" in warning["params"]["message"]
    async with group() as trio:
        trio.client.send(id=0, method="initialize", params={"capabilities": {}})
        for number, server in enumerate(trio.servers):
            await server.receive()
            await server.send(id=0, error={"code": -32803, "message": f"no {number}"})
        assert (await trio.client.receive())["error"]["message"] == "no 0"


# requests


async def test_a_request_goes_to_the_first_server_that_has_the_capability() -> None:
    """To nobody else; the answer goes out as it came. What nobody offers goes to the first."""
    async with group() as trio:
        await trio.initialize({}, {"hoverProvider": True})
        trio.client.send(id=1, method="textDocument/hover", params=[1.0])
        assert await trio.servers[1].receive() == {
            "jsonrpc": "2.0",
            "id": 1,
            "method": "textDocument/hover",
            "params": [1.0],
        }
        await trio.servers[1].send(id=1, result={"contents": "x"})
        assert await trio.client.receive() == {"jsonrpc": "2.0", "id": 1, "result": {"contents": "x"}}
        trio.client.send(id=2, method="textDocument/moniker")
        assert (await trio.servers[0].receive())["id"] == 2
        await trio.quiet()


async def test_a_request_of_no_known_kind_goes_on_until_a_server_knows_it() -> None:
    """The client hears of no "method not found" but the last."""
    async with group(3) as trio:
        await trio.initialize({}, {}, {})
        for knows in (True, False):
            trio.client.send(id="x", method="ruff/printDebug")
            for server in trio.servers[:2]:
                assert (await server.receive())["method"] == "ruff/printDebug"
                await server.send(id="x", error={"code": -32601, "message": "unknown"})
            await trio.servers[2].receive()
            answer: dict[str, Any] = {"result": 1} if knows else {"error": {"code": -32601, "message": "last"}}
            await trio.servers[2].send(id="x", **answer)
            assert await trio.client.receive() == {"jsonrpc": "2.0", "id": "x", **answer}
        await trio.quiet()


async def test_code_actions_come_from_all_and_are_resolved_and_run_by_their_owners() -> None:
    """Each server sees its own diagnostics only, and its own `data`; commands go to who handed them out."""
    provider = {"codeActionProvider": {"resolveProvider": True}, "executeCommandProvider": {"commands": ["both"]}}
    async with group() as trio:
        await trio.initialize(provider, provider)
        for number, server in enumerate(trio.servers):
            own = diagnostic(f"of {number}", data={"fix": number})
            await server.send(method=PUBLISH, params={"uri": URI, "diagnostics": [own]})
            published = (await trio.client.receive())["params"]["diagnostics"]
        assert [item["source"] for item in published] == ["alpha", "beta"]
        params = {"textDocument": {"uri": URI}, "range": RANGE, "context": {"diagnostics": published}}
        asked = await trio.to_all(id=1, method="textDocument/codeAction", params=params)
        assert [each["params"]["context"]["diagnostics"] for each in asked] == [
            [diagnostic(f"of {number}", data={"fix": number})] for number in (0, 1)
        ]
        await trio.servers[1].send(id=1, result=[{"title": "b", "command": {"title": "b", "command": "both"}}])
        await trio.servers[0].send(id=1, result=[{"title": "a", "data": [1]}, {"title": "c", "command": "run"}])
        actions = (await trio.client.receive())["result"]
        assert [action["title"] for action in actions] == ["a", "c", "b"]

        trio.client.send(id=2, method="codeAction/resolve", params=actions[0])
        assert (await trio.servers[0].receive())["params"] == {"title": "a", "data": [1]}
        await trio.servers[0].send(id=2, result={"title": "a", "edit": {}})
        assert (await trio.client.receive())["result"] == {"title": "a", "edit": {}}
        trio.client.send(id=3, method="codeAction/resolve", params=actions[2])
        assert "data" not in (await trio.servers[1].receive())["params"]
        await trio.servers[1].send(id=3, result={"title": "b"})
        await trio.client.receive()

        trio.client.send(id=4, method="workspace/executeCommand", params={"command": "both"})
        assert (await trio.servers[1].receive())["id"] == 4
        trio.client.send(id=5, method="workspace/executeCommand", params={"command": "run"})
        assert (await trio.servers[0].receive())["id"] == 5
        await trio.quiet()


async def test_an_item_of_a_server_that_completes_none_is_complete() -> None:
    """Asked to resolve it, lspz answers with the item, since its server would not know the request."""
    async with group() as trio:
        await trio.initialize(
            {"completionProvider": {"resolveProvider": True}}, {"completionProvider": {"triggerCharacters": ["."]}}
        )
        await trio.to_all(id=1, method="textDocument/completion", params={})
        await trio.servers[0].send(id=1, result=[{"label": "a"}])
        await trio.servers[1].send(id=1, result={"isIncomplete": True, "items": [{"label": "b", "data": 5}]})
        result = (await trio.client.receive())["result"]
        assert result["isIncomplete"]
        a, b = result["items"]
        trio.client.send(id=2, method="completionItem/resolve", params=b)
        assert (await trio.client.receive())["result"] == b
        trio.client.send(id=3, method="completionItem/resolve", params=a)
        assert (await trio.servers[0].receive())["params"] == {"label": "a"}
        await trio.quiet()


async def test_completions_keep_what_their_server_says_for_all_its_items() -> None:
    """`itemDefaults` of one list would be wrong for another server's items."""
    async with group() as trio:
        await trio.initialize({"completionProvider": {}}, {"completionProvider": {}})
        await trio.to_all(id=1, method="textDocument/completion", params={})
        defaults = {"commitCharacters": ["."], "editRange": RANGE, "data": {"d": 1}}
        items = [{"label": "a", "textEditText": "A"}, {"label": "b", "commitCharacters": []}]
        await trio.servers[0].send(id=1, result={"isIncomplete": False, "itemDefaults": defaults, "items": items})
        await trio.servers[1].send(id=1, result=[{"label": "c"}])
        result = (await trio.client.receive())["result"]
        owned = {"lspz": 0, "data": {"d": 1}}
        assert result == {
            "isIncomplete": False,
            "items": [
                {"label": "a", "commitCharacters": ["."], "data": owned, "textEdit": {"newText": "A", "range": RANGE}},
                {"label": "b", "commitCharacters": [], "data": owned, "textEdit": {"newText": "b", "range": RANGE}},
                {"label": "c"},
            ],
        }


async def test_places_that_two_servers_know_are_told_once() -> None:
    """Links and locations of the same place are one."""
    async with group() as trio:
        await trio.initialize({"definitionProvider": True}, {"definitionProvider": True})
        other = {**RANGE, "end": {"line": 5, "character": 0}}
        await trio.to_all(id=1, method="textDocument/definition", params={})
        await trio.servers[0].send(id=1, result={"uri": URI, "range": RANGE})
        links = [
            {"targetUri": URI, "targetRange": other, "targetSelectionRange": RANGE},
            {"targetUri": URI, "targetRange": other, "targetSelectionRange": other},
        ]
        await trio.servers[1].send(id=1, result=links)
        places = (await trio.client.receive())["result"]
        assert places == [{"uri": URI, "range": RANGE}, {"uri": URI, "range": other}]


async def test_a_slow_server_does_not_hold_up_the_others_answers(monkeypatch: pytest.MonkeyPatch) -> None:
    """After a while the client gets what there is; the slow one is told, and its late answer goes nowhere."""
    monkeypatch.setattr(asking, "PATIENCE", 0.01)
    async with group() as trio:
        await trio.initialize({"referencesProvider": True}, {"referencesProvider": True})
        await trio.to_all(id=1, method="textDocument/references", params={})
        await trio.servers[1].send(id=1, result=[{"uri": URI, "range": RANGE}])
        assert (await trio.client.receive())["result"] == [{"uri": URI, "range": RANGE}]
        assert (await trio.servers[0].receive())["params"] == {"id": 1}
        await trio.servers[0].send(id=1, result=[])
        await trio.servers[0].send(method="window/logMessage")
        assert (await trio.client.receive())["method"] == "window/logMessage"


async def test_an_error_of_one_server_does_not_hide_what_another_found() -> None:
    """The client gets an error when there is nothing else."""
    async with group() as trio:
        await trio.initialize({"referencesProvider": True}, {"referencesProvider": True})
        for results in ([None, 1], [None, None]):
            await trio.to_all(id=1, method="textDocument/references", params={})
            for server, result in zip(trio.servers, results, strict=True):
                if result is None:
                    await server.send(id=1, error={"code": -32803, "message": "busy"})
                else:
                    await server.send(id=1, result=[])
            answer = await trio.client.receive()
            assert (answer.get("result") == []) == (results[1] == 1)
            assert ("error" in answer) == (results[1] is None)


async def test_a_request_taken_back_is_taken_back_where_it_is_open() -> None:
    """Servers that have answered, or were not asked, hear nothing of it."""
    async with group() as trio:
        await trio.initialize({"hoverProvider": True}, {})
        trio.client.send(id=7, method="textDocument/hover")
        await trio.servers[0].receive()
        trio.client.send(method="$/cancelRequest", params={"id": 7})
        assert (await trio.servers[0].receive())["method"] == "$/cancelRequest"
        await trio.servers[0].send(id=7, error={"code": -32800, "message": "cancelled"})
        assert (await trio.client.receive())["error"]["code"] == -32800
        trio.client.send(method="$/cancelRequest", params={"id": 7})
        await trio.quiet()


async def test_an_answer_that_nobody_waits_for_goes_nowhere() -> None:
    """A second answer, and one to an unknown id."""
    async with group() as trio:
        await trio.initialize({"hoverProvider": True}, {})
        trio.client.send(id=1, method="textDocument/hover")
        await trio.servers[0].receive()
        await trio.servers[0].send(id=1, result=1)
        await trio.servers[0].send(id=1, result=2)
        await trio.servers[1].send(id=99, result=3)
        assert (await trio.client.receive())["result"] == 1
        await trio.servers[0].send(method="after")
        assert (await trio.client.receive())["method"] == "after"


# documents


async def test_each_server_hears_changes_as_it_wants_to() -> None:
    """One takes changes, another whole texts; the client sends changes."""
    async with group() as trio:
        merged = await trio.initialize({"textDocumentSync": 1}, {"textDocumentSync": {"openClose": True, "change": 2}})
        assert merged["capabilities"]["textDocumentSync"]["change"] == 2
        opened = {"textDocument": {"uri": URI, "languageId": "x", "version": 1, "text": "one\ntwo\n"}}
        await trio.to_all(method="textDocument/didOpen", params=opened)
        where = {"start": {"line": 1, "character": 0}, "end": {"line": 1, "character": 3}}
        change = {"textDocument": {"uri": URI, "version": 2}, "contentChanges": [{"range": where, "text": "2"}]}
        whole, changes = await trio.to_all(method="textDocument/didChange", params=change)
        assert changes["params"] == change
        assert whole["params"] == {**change, "contentChanges": [{"text": "one\n2\n"}]}
        await trio.to_all(method="textDocument/didClose", params={"textDocument": {"uri": URI}})


async def test_watched_files_are_told_to_those_who_watch_them() -> None:
    """By their registrations, whose ids are the client's to know apart."""
    async with group() as trio:
        await trio.initialize({}, {})
        method = "workspace/didChangeWatchedFiles"
        await trio.to_all(method=method, params={"changes": []})
        for server in trio.servers:
            registrations = [{"id": "same", "method": method, "registerOptions": {"watchers": []}}]
            if server is trio.servers[0]:
                registrations[0]["method"] = "textDocument/hover"
            await server.send(id=3, method="client/registerCapability", params={"registrations": registrations})
        asked = [await trio.client.receive() for _ in range(2)]
        assert len({each["id"] for each in asked}) == 2
        assert len({each["params"]["registrations"][0]["id"] for each in asked}) == 2
        for each, server in zip(asked, trio.servers, strict=True):
            trio.client.send(id=each["id"], result=None)
            assert await server.receive() == {"jsonrpc": "2.0", "id": 3, "result": None}
        trio.client.send(method=method, params={"changes": []})
        assert (await trio.servers[1].receive())["method"] == method
        trio.client.send(id=5, method="textDocument/hover", params={})
        assert (await trio.servers[0].receive())["id"] == 5
        unregister = {"unregisterations": [{"id": "same", "method": method}]}
        await trio.servers[1].send(id=4, method="client/unregisterCapability", params=unregister)
        taken_back = (await trio.client.receive())["params"]["unregisterations"][0]["id"]
        assert taken_back == asked[1]["params"]["registrations"][0]["id"]
        await trio.to_all(method=method, params={"changes": []})


# diagnostics


async def publish(trio: Trio, server: int, *messages: str, version: int | None = None) -> None:
    params = {"uri": URI, "diagnostics": [diagnostic(message, source="s") for message in messages]}
    await trio.servers[server].send(method=PUBLISH, params=params | ({"version": version} if version else {}))


def messages_of(published: dict[str, Any]) -> list[str]:
    assert published["method"] == PUBLISH
    return [item["message"] for item in published["params"]["diagnostics"]]


async def test_published_diagnostics_of_a_version_come_as_one() -> None:
    """In the servers' order, whoever is first; a change begins anew."""
    async with group() as trio:
        await trio.initialize(INCREMENTAL, INCREMENTAL)
        await trio.to_all(method="textDocument/didOpen", params=document())
        await publish(trio, 1, "b", version=1)
        await publish(trio, 0, "a", version=1)
        published = await trio.client.receive()
        assert messages_of(published) == ["a", "b"]
        assert published["params"]["version"] == 1
        await publish(trio, 1, "b2", version=1)  # more about the same version goes out at once
        assert messages_of(await trio.client.receive()) == ["a", "b2"]
        change = {"textDocument": {"uri": URI, "version": 2}, "contentChanges": [{"text": "y"}]}
        await trio.to_all(method="textDocument/didChange", params=change)
        await publish(trio, 0, version=2)
        await publish(trio, 1, "b3", version=2)
        assert messages_of(await trio.client.receive()) == ["b3"]
        await trio.quiet()


async def test_a_server_that_has_nothing_to_say_does_not_hold_up_the_others(monkeypatch: pytest.MonkeyPatch) -> None:
    """It is waited for once; what it says later is sent with the rest."""
    monkeypatch.setattr(publishing, "PATIENCE", 0.01)
    async with group() as trio:
        await trio.initialize(INCREMENTAL, INCREMENTAL)
        await trio.to_all(method="textDocument/didOpen", params=document())
        await publish(trio, 0, "a")
        assert messages_of(await trio.client.receive()) == ["a"]
        monkeypatch.setattr(publishing, "PATIENCE", 60.0)
        change = {"textDocument": {"uri": URI, "version": 2}, "contentChanges": [{"text": "y"}]}
        await trio.to_all(method="textDocument/didChange", params=change)
        await publish(trio, 0, "a2")
        assert messages_of(await trio.client.receive()) == ["a2"]
        await publish(trio, 1, "b")
        assert messages_of(await trio.client.receive()) == ["a2", "b"]


PULLS = {"textDocumentSync": 2, "diagnosticProvider": {"interFileDependencies": True, "workspaceDiagnostics": True}}
CAN_PULL = {"textDocument": {"diagnostic": {}}}


async def test_pulled_diagnostics_are_one_report() -> None:
    """Each server is asked under its own name, for all that it knows."""
    second = {**PULLS, "diagnosticProvider": {**PULLS["diagnosticProvider"], "identifier": "beta"}}
    async with group() as trio:
        merged = await trio.initialize(PULLS, second, client=CAN_PULL)
        assert merged["capabilities"]["diagnosticProvider"] == PULLS["diagnosticProvider"]
        params = {"textDocument": {"uri": URI}, "previousResultId": "1"}
        asked = await trio.to_all(id=1, method="textDocument/diagnostic", params=params)
        assert [each["params"] for each in asked] == [
            {"textDocument": {"uri": URI}},
            {"textDocument": {"uri": URI}, "identifier": "beta"},
        ]
        for number, server in enumerate(trio.servers):
            report = {"kind": "full", "resultId": "7", "items": [diagnostic(str(number))]}
            await server.send(id=1, result=report)
        report = (await trio.client.receive())["result"]
        assert report == {
            "kind": "full",
            "items": [diagnostic("0", source="alpha"), diagnostic("1", source="beta")],
        }


async def test_half_a_report_is_none() -> None:
    """When a server refuses, the client hears so, and may ask again: it would take half for all."""
    async with group() as trio:
        await trio.initialize(PULLS, PULLS, client=CAN_PULL)
        await trio.to_all(id=1, method="textDocument/diagnostic", params={"textDocument": {"uri": URI}})
        await trio.servers[0].send(id=1, result={"kind": "full", "items": []})
        error = {"code": -32802, "message": "busy", "data": {"retriggerRequest": True}}
        await trio.servers[1].send(id=1, error=error)
        assert (await trio.client.receive())["error"] == error


async def test_workspace_reports_are_one() -> None:
    """By document."""
    async with group() as trio:
        await trio.initialize(PULLS, PULLS, client=CAN_PULL)
        params = {"previousResultIds": [{"uri": URI, "value": "1"}], "partialResultToken": "p"}
        asked = await trio.to_all(id=1, method="workspace/diagnostic", params=params)
        assert [each["params"] for each in asked] == [{"previousResultIds": []}] * 2
        for number, server in enumerate(trio.servers):
            report = {"uri": URI, "version": None, "kind": "full", "items": [diagnostic(str(number), source="s")]}
            await server.send(id=1, result={"items": [report]})
        result = (await trio.client.receive())["result"]
        items = [diagnostic("0", source="s"), diagnostic("1", source="s")]
        assert result == {"items": [{"kind": "full", "uri": URI, "version": None, "items": items}]}


async def test_a_server_with_pulls_of_its_own_name_is_asked_alone() -> None:
    """The client knows the name by a registration, and asks the others without it."""
    async with group() as trio:
        await trio.initialize(PULLS, {}, client=CAN_PULL)
        registration = {"id": "r", "method": "textDocument/diagnostic", "registerOptions": {"identifier": "own"}}
        await trio.servers[1].send(id=1, method="client/registerCapability", params={"registrations": [registration]})
        await trio.client.receive()
        for identifier, server in (("own", 1), (None, 0)):
            params = {"textDocument": {"uri": URI}} | ({"identifier": identifier} if identifier else {})
            trio.client.send(id=9, method="textDocument/diagnostic", params=params)
            assert (await trio.servers[server].receive())["params"] == params


# names


async def test_requests_of_servers_have_ids_of_their_own() -> None:
    """Two servers ask under the same id; each gets its answer, and can take its request back."""
    async with group() as trio:
        await trio.initialize({}, {})
        for server in trio.servers:
            await server.send(id="1", method="workspace/configuration", params={"items": []})
        asked = [await trio.client.receive() for _ in range(2)]
        assert asked[0]["id"] != asked[1]["id"]
        await trio.servers[0].send(method="$/cancelRequest", params={"id": "1"})
        assert (await trio.client.receive())["params"] == {"id": asked[0]["id"]}
        for number in (1, 0):
            trio.client.send(id=asked[number]["id"], result=[number])
            assert await trio.servers[number].receive() == {"jsonrpc": "2.0", "id": "1", "result": [number]}
        trio.client.send(id=asked[0]["id"], result="twice")
        trio.client.send(id="unknown", result=1)
        await trio.quiet()


async def test_progress_of_two_servers_is_kept_apart() -> None:
    """They choose the same token; the client takes back the progress that it means."""
    async with group() as trio:
        await trio.initialize({}, {})
        tokens = []
        for server in trio.servers:
            await server.send(id=1, method="window/workDoneProgress/create", params={"token": 5})
            tokens.append((await trio.client.receive())["params"]["token"])
            for kind in ("begin", "report"):
                await server.send(method="$/progress", params={"token": 5, "value": {"kind": kind}})
                assert (await trio.client.receive())["params"] == {"token": tokens[-1], "value": {"kind": kind}}
        assert tokens[0] != tokens[1]
        for token, server in zip(tokens, trio.servers, strict=True):
            trio.client.send(method="window/workDoneProgress/cancel", params={"token": token})
            assert (await server.receive())["params"] == {"token": 5}
        await trio.quiet()


# the end


async def test_when_one_dies_the_others_go_on_and_nobody_waits() -> None:
    """Its requests have errors, what it said is taken back, and the client is told once."""
    async with group() as trio:
        await trio.initialize({"hoverProvider": True, "referencesProvider": True}, {"referencesProvider": True})
        await publish(trio, 0, "a")
        await publish(trio, 1, "b")
        assert messages_of(await trio.client.receive()) == ["a"]
        assert messages_of(await trio.client.receive()) == ["a", "b"]
        registrations = [{"id": "r", "method": "textDocument/hover"}]
        await trio.servers[0].send(id=1, method="client/registerCapability", params={"registrations": registrations})
        await trio.client.receive()
        await trio.servers[0].send(method="$/progress", params={"token": "t", "value": {"kind": "begin"}})
        await trio.client.receive()
        trio.client.send(id=1, method="textDocument/hover")
        trio.client.send(id=2, method="textDocument/references", params={})
        await trio.servers[1].receive()
        await trio.servers[1].send(id=2, result=[])
        await trio.servers[0].transport.close()

        hover = await trio.client.receive()
        assert (hover["id"], hover["error"]["code"]) == (1, -32099)
        assert await trio.client.receive() == {"jsonrpc": "2.0", "id": 2, "result": []}
        assert (await trio.client.receive())["params"] == {"token": "t", "value": {"kind": "end"}}
        unregistered = await trio.client.receive()
        assert unregistered["params"] == {"unregisterations": [{"id": "0:r", "method": "textDocument/hover"}]}
        trio.client.send(id=unregistered["id"], result=None)
        assert messages_of(await trio.client.receive()) == ["b"]
        warning = await trio.client.receive()
        assert warning["method"] == "window/showMessage"
        assert "alpha" in warning["params"]["message"]
        trio.client.send(id=3, method="textDocument/references", params={})
        assert (await trio.servers[1].receive())["id"] == 3
        await trio.servers[1].transport.close()
        await asyncio.wait_for(trio.several.exited.wait(), 5)
        assert await trio.client.heard.get() is None


async def test_all_are_told_of_the_end_and_answer_once() -> None:
    """`shutdown` and `exit` go to every server."""
    async with group() as trio:
        await trio.initialize({}, {})
        await trio.to_all(id=1, method="shutdown")
        for server in trio.servers:
            await server.send(id=1, result=None)
        assert await trio.client.receive() == {"jsonrpc": "2.0", "id": 1, "result": None}
        await trio.to_all(method="exit")
        for server in trio.servers:
            await server.transport.close()
        assert await asyncio.wait_for(trio.client.heard.get(), 5) is None
