"""What a library user registers on the façade."""

from __future__ import annotations

import asyncio
import json
import threading
from typing import Any

from lsprotocol import types

from lspz import Config, Direction, Interceptor, LspzBackend, LspzServer

from .memory import Session, session

URI = "file:///a.py"


def facade() -> LspzServer:
    return LspzServer(backend=LspzBackend())


async def open_document(s: Session, text: str) -> None:
    item = {"uri": URI, "languageId": "python", "version": 1, "text": text}
    assert (await s.to_server(method="textDocument/didOpen", params={"textDocument": item}))["params"]


async def test_a_registered_feature_answers_in_place_of_the_backend() -> None:
    """Its capability is announced when the backend lacks it; the id goes back as the client wrote it."""
    server = facade()

    @server.feature(types.TEXT_DOCUMENT_HOVER)
    def hover(ls: LspzServer, params: types.HoverParams) -> types.Hover:
        word = ls.workspace.get_text_document(params.text_document.uri).word_at_position(params.position)
        return types.Hover(types.MarkupContent(types.MarkupKind.PlainText, word))

    async with session(server=server) as s:
        result = await s.initialize(answer={"capabilities": {"definitionProvider": True, "textDocumentSync": 2}})
        await open_document(s, "first second")
        change = {"range": {"start": {"line": 0, "character": 6}, "end": {"line": 0, "character": 12}}, "text": "third"}
        await s.to_server(
            method="textDocument/didChange",
            params={"textDocument": {"uri": URI, "version": 2}, "contentChanges": [change]},
        )
        question = (
            b'{"jsonrpc":"2.0","id":%b,"method":"textDocument/hover","params":{"textDocument":{"uri":"' + URI.encode()
        )
        for raw in (b"7", b'"x"', b"1.5e1", b"12345678901234567890"):
            await s.client.send_raw(question % raw + b'"},"position":{"line":0,"character":8}}}')
            answer = await s.client.receive_raw()
            assert b'"id":' + raw in answer
            assert json.loads(answer)["result"]["contents"]["value"] == "third"
        passed = await s.to_server(id=8, method="textDocument/definition", params={})

    assert result["capabilities"]["hoverProvider"]
    assert result["capabilities"]["definitionProvider"] is True
    assert result["capabilities"]["textDocumentSync"] == 2
    assert passed["method"] == "textDocument/definition"


async def test_nothing_is_added_where_nothing_is_registered() -> None:
    """In passthrough the initialize result goes out byte for byte."""
    server = LspzServer(backend=LspzBackend())
    async with session(server=server) as s:
        await s.client.send(id=0, method="initialize", params={"capabilities": {}, "clientInfo": {"name": "Neovim"}})
        await s.backend.receive()
        body = b'{ "result" : {"capabilities":{"x":1.0}}, "id":0 , "jsonrpc":"2.0"}'
        await s.backend.send_raw(body)

        assert await s.client.receive_raw() == body


async def test_a_notification_reaches_the_backend_and_the_feature() -> None:
    """Both, in order; lifecycle messages too."""
    server = facade()
    heard: asyncio.Queue[str] = asyncio.Queue()

    @server.feature(types.TEXT_DOCUMENT_DID_SAVE)
    def saved(params: types.DidSaveTextDocumentParams) -> None:
        heard.put_nowait(params.text_document.uri)

    @server.feature(types.INITIALIZED)
    async def initialized(params: types.InitializedParams) -> None:
        heard.put_nowait("initialized")

    async with session(server=server) as s:
        await s.initialize()
        assert (await s.to_server(method="initialized", params={}))["method"] == "initialized"
        await s.to_server(method="textDocument/didSave", params={"textDocument": {"uri": URI}})

        assert [await heard.get(), await heard.get()] == ["initialized", URI]


async def test_a_command_answers_and_others_go_to_the_backend() -> None:
    """Commands are announced beside the backend's own."""
    server = facade()

    @server.command("lspz.double")
    def double(number: int) -> int:
        return 2 * number

    async with session(server=server) as s:
        result = await s.initialize(answer={"capabilities": {"executeCommandProvider": {"commands": ["own"]}}})
        await s.client.send(
            id=1, method="workspace/executeCommand", params={"command": "lspz.double", "arguments": [21]}
        )
        answer = await s.client.receive()
        other = await s.to_server(id=2, method="workspace/executeCommand", params={"command": "own"})

    assert result["capabilities"]["executeCommandProvider"]["commands"] == ["own", "lspz.double"]
    assert answer["result"] == 42
    assert other["params"]["command"] == "own"


async def test_a_cancelled_feature_answers_that_it_was() -> None:
    """`$/cancelRequest` goes to whoever handles the request: pygls for a feature's, the backend for its own."""
    server = facade()
    started = asyncio.Event()

    @server.feature(types.TEXT_DOCUMENT_HOVER)
    async def hover(params: types.HoverParams) -> None:
        started.set()
        await asyncio.Event().wait()

    async with session(server=server) as s:
        await s.initialize()
        params = {"textDocument": {"uri": URI}, "position": {"line": 0, "character": 0}}
        await s.client.send(id=1, method="textDocument/hover", params=params)
        await started.wait()
        await s.client.send(method="$/cancelRequest", params={"id": 1})
        cancelled = await s.client.receive()
        passed = await s.to_server(method="$/cancelRequest", params={"id": 2})

    assert cancelled["error"]["code"] == -32800
    assert passed["params"] == {"id": 2}


async def test_a_feature_asks_client_and_backend_under_ids_of_its_own() -> None:
    """Its requests never meet those that pass: same counters, same table, no mix-up."""
    server = facade()

    @server.feature(types.TEXT_DOCUMENT_HOVER)
    async def hover(ls: LspzServer, params: types.HoverParams) -> Any:
        below = await ls.backend.text_document_hover_async(params)
        folders = await ls.workspace_workspace_folders_async(None)
        assert below is not None
        assert folders is not None
        return types.Hover(f"{below.contents}, {folders[0].name}")

    async with session(server=server) as s:
        await s.initialize()
        params = {"textDocument": {"uri": URI}, "position": {"line": 0, "character": 0}}
        await s.client.send(id=1, method="textDocument/hover", params=params)
        asked = await s.backend.receive()
        assert asked["method"] == "textDocument/hover"
        assert asked["id"].startswith("lspz:")
        await s.backend.send(id=asked["id"], result={"contents": "from below"})
        question = await s.client.receive()
        assert question["method"] == "workspace/workspaceFolders"
        assert question["id"].startswith("lspz:")
        await s.client.send(id=question["id"], result=[{"uri": "file:///", "name": "root"}])
        answer = await s.client.receive()

    assert (answer["id"], answer["result"]["contents"]) == (1, "from below, root")


async def test_a_feature_in_a_thread_answers_through_the_loop() -> None:
    """pygls' `thread` decorator works; the answer is written on the event loop's thread."""
    server = facade()

    @server.feature(types.TEXT_DOCUMENT_HOVER)
    @server.thread()
    def hover(params: types.HoverParams) -> types.Hover:
        return types.Hover(threading.current_thread().name)

    async with session(server=server) as s:
        await s.initialize()
        params = {"textDocument": {"uri": URI}, "position": {"line": 0, "character": 0}}
        await s.client.send(id=1, method="textDocument/hover", params=params)
        answer = await s.client.receive()

    assert answer["result"]["contents"] != threading.current_thread().name


async def test_a_request_that_cannot_be_understood_gets_an_error() -> None:
    """Bad params for a feature, and a feature that raises: an error answer, and the session goes on."""
    server = facade()

    @server.feature(types.TEXT_DOCUMENT_HOVER)
    def hover(params: types.HoverParams) -> None:
        raise ValueError("on purpose")

    async with session(server=server) as s:
        await s.initialize()
        await s.client.send(id=1, method="textDocument/hover", params={"position": "nowhere"})
        bad = await s.client.receive()
        params = {"textDocument": {"uri": URI}, "position": {"line": 0, "character": 0}}
        await s.client.send(id=2, method="textDocument/hover", params=params)
        raised = await s.client.receive()
        alive = await s.to_server(id=3, method="vendor/ask")

    assert (bad["id"], bad["error"]["code"]) == (1, -32602)
    assert (raised["id"], raised["error"]["code"]) == (2, -32603)
    assert alive["id"] == 3


async def test_the_workspace_speaks_the_backends_position_encoding() -> None:
    """What the backend chose, not what the client would like best."""
    server = facade()
    server.feature("vendor/nothing")(lambda params: None)
    async with session(server=server) as s:
        await s.initialize(
            {"general": {"positionEncodings": ["utf-32", "utf-8"]}}, {"capabilities": {"positionEncoding": "utf-8"}}
        )
        await open_document(s, "\u00e4b")
        await s.to_server(method="vendor/other")

        document = server.workspace.get_text_document(URI)
        assert document.offset_at_position(types.Position(0, 2)) == 1


async def test_an_interceptor_and_a_feature_share_a_message_in_order() -> None:
    """The feature hears what the interceptor leaves, and what it sends to the backend follows the client's message."""

    class Mark(Interceptor[Any, Any]):
        name = "mark"
        methods = (types.TEXT_DOCUMENT_DID_SAVE,)

        def applies_to(self, method: str, direction: Direction) -> bool:
            return method in self.methods and direction is Direction.TO_SERVER

        async def intercept(self, method: str, params: types.DidSaveTextDocumentParams, direction: Direction) -> Any:
            params.text = "marked"
            return params

    server = LspzServer(Config.builder().interceptor(Mark()).build(), LspzBackend())

    @server.feature(types.TEXT_DOCUMENT_DID_SAVE)
    def saved(ls: LspzServer, params: types.DidSaveTextDocumentParams) -> None:
        ls.backend.protocol.notify("x/after", {"text": params.text})

    async with session(server=server) as s:
        await s.initialize()
        first = await s.to_server(method="textDocument/didSave", params={"textDocument": {"uri": URI}})
        second = await s.backend.receive()

    assert (first["method"], first["params"]["text"]) == ("textDocument/didSave", "marked")
    assert (second["method"], second["params"]) == ("x/after", {"text": "marked"})
