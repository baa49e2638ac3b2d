"""`--restart`: a server that dies is started again, and the client need not care."""

from __future__ import annotations

import asyncio
import gc
import json
import os
import sys
from pathlib import Path
from typing import Any

from lspz import Config, memory_pair
from lspz.proxy.connection import BackendConnection
from lspz.proxy.host import SessionHost
from lspz.transports.messages import MessageChannel
from lspz.wire.framing import frame

from .talk import SCRIPTED, Talk, is_gone, lspz, talk

RESTART = ["--restart", "3/60s"]
URI = "file:///w/%C3%A9.py"


async def told(client: Talk) -> dict[str, Any]:
    """The message with which the client hears of a restart."""
    params: dict[str, Any] = await client.until("window/showMessage")
    return params


def request_frame(id_: object, method: str, params: object) -> str:
    return frame(json.dumps({"jsonrpc": "2.0", "id": id_, "method": method, "params": params}).encode()).decode()


def notification_frame(method: str, params: object) -> str:
    return frame(json.dumps({"jsonrpc": "2.0", "method": method, "params": params}).encode()).decode()


async def test_a_server_that_dies_is_started_again_and_told_all_that_still_holds() -> None:
    """Settings and documents, as they are after the client's edits; what was closed stays closed."""
    async with talk(lspz(options=RESTART)) as client:
        await client.initialize()
        client.send("workspace/didChangeConfiguration", {"settings": {"a": 1}})
        client.send("workspace/didChangeConfiguration", {"settings": {"a": 2}})
        item = {"uri": URI, "languageId": "python", "version": 1, "text": "a\u00e9\U0001f600b\r\nlast"}
        client.send("textDocument/didOpen", {"textDocument": item})
        client.send("textDocument/didOpen", {"textDocument": {**item, "uri": "file:///w/closed.py"}})
        client.send("textDocument/didClose", {"textDocument": {"uri": "file:///w/closed.py"}})
        changes: list[dict[str, Any]] = [
            {"range": {"start": {"line": 0, "character": 2}, "end": {"line": 0, "character": 4}}, "text": "--"},
            {"range": {"start": {"line": 1, "character": 0}, "end": {"line": 9, "character": 0}}, "text": "end"},
        ]
        document = {"uri": URI.lower(), "version": 7}
        client.send("textDocument/didChange", {"textDocument": document, "contentChanges": changes})
        for _ in range(6):
            await client.until("heard")
        client.send("do/die", -9)
        message = await told(client)
        assert message["type"] == 2
        assert message["message"] == "the language server was killed by SIGKILL; it is started again"

        assert (await client.until("heard"))["params"] == {"settings": {"a": 2}}
        opened = await client.until("heard")
        assert opened["method"] == "textDocument/didOpen"
        assert opened["params"]["textDocument"] == {**item, "version": 7, "text": "a\u00e9--b\r\nend"}
        assert (await client.ask("echo", [1]))["result"] == [1]

        client.send("do/die", 3)
        assert "exited with status 3; it is started again" in (await told(client))["message"]
        assert (await client.ask("shutdown"))["result"] is None
        client.send("exit")
        assert (await client.end())[0] == 0


async def test_what_is_open_when_a_server_dies_is_settled() -> None:
    """Requests get an error, progress an end, registrations are taken back, and answers to the dead go nowhere."""
    async with talk(lspz(options=RESTART)) as client:
        await client.initialize()
        client.send(
            "do/write", notification_frame("$/progress", {"token": "t", "value": {"kind": "begin", "title": ""}})
        )
        registrations = [{"id": "r", "method": "textDocument/hover"}]
        client.send("do/write", request_frame(5, "client/registerCapability", {"registrations": registrations}))
        assert (await client.until("client/registerCapability"))["registrations"] == registrations
        client.answer(5, None)
        assert (await client.until("heard"))["id"] == 5
        client.send("do/write", request_frame(6, "server/asks", ["old"]))
        await client.until("server/asks")
        client.send("never", id=41)
        client.send("do/die", -9)

        said = [await client.receive() for _ in range(4)]
        assert said[0]["id"] == 41
        assert said[0]["error"]["code"] == -32099
        assert "was killed by SIGKILL" in said[0]["error"]["message"]
        assert said[1]["params"] == {"token": "t", "value": {"kind": "end"}}
        assert said[2]["method"] == "client/unregisterCapability"
        assert said[2]["params"] == {"unregisterations": [{"id": "r", "method": "textDocument/hover"}]}
        assert said[3]["method"] == "window/showMessage"
        client.answer(said[2]["id"], None)

        # the new server asks under an id that the client still has to answer to the dead one
        assert (await client.ask("echo", 1))["result"] == 1
        client.send("do/write", request_frame(6, "server/asks", ["new"]))
        asked = await client.receive()
        assert asked["params"] == ["new"]
        assert asked["id"] != 6
        client.answer(6, "to the dead")
        client.answer(asked["id"], "to the living")
        heard = await client.until("heard")
        assert (heard["id"], heard["result"]) == (6, "to the living")


async def test_what_is_said_while_no_server_lives_waits_for_the_next() -> None:
    """In order, and behind what the new server must know first."""
    async with talk(lspz(options=RESTART)) as client:
        await client.initialize()
        client.send("do/die", 1)
        await told(client)
        for number in range(50):
            client.send("note", number)
        client.send("echo", "last", id=1)
        heard = [(await client.until("heard"))["params"] for _ in range(50)]
        assert heard == [*range(50)]
        assert (await client.receive())["result"] == "last"


async def test_a_server_that_keeps_dying_is_given_up() -> None:
    """The end is as without restarts: every request has an error, and the exit status is the server's."""
    async with talk(lspz("die-at-start", options=["--restart", "1/60s"])) as client:
        answer = await client.ask("initialize", {"capabilities": {}})
        assert "cannot read its configuration; it failed 2 times within 60 s" in answer["error"]["message"]
        status, stderr = await client.end()
        assert status == 7
        assert stderr.count("it is started again") == 1


async def test_a_client_that_leaves_meanwhile_ends_it_all(tmp_path: Path) -> None:
    """Nobody waits for a server that nobody wants."""
    async with talk(lspz(options=["--restart", "9/60s"])) as client:
        await client.initialize()
        for _ in range(3):  # the third start waits a second
            client.send("do/die", 1)
            await told(client)
        client.process.stdin.close()  # type: ignore[union-attr]
        status, _ = await client.end()
        assert status != 0
        assert is_gone(client.process.pid)


RESTARTS = 1_000


async def test_a_thousand_restarts_leave_nothing_behind() -> None:
    """No file descriptor, task, thread or memory more than after the first hundred."""
    program = f"import sys; sys.argv = ['']; exec(open({SCRIPTED[1]!r}).read())"
    config = Config(backend=(sys.executable, "-I", "-S", "-c", program), restart=(1, 0.001))
    ours, theirs = memory_pair()
    host = SessionHost(config, BackendConnection())
    serving = asyncio.create_task(host.serve(MessageChannel(theirs)))

    async def say(method: str, params: object = None, id_: int | None = None) -> None:
        message = {"jsonrpc": "2.0", "method": method, "params": params} | ({} if id_ is None else {"id": id_})
        await ours.send(json.dumps(message).encode())

    async def until(member: str, value: object) -> None:
        async with asyncio.timeout(20):
            while json.loads(await ours.receive()).get(member) != value:
                pass

    async def held() -> tuple[int, int, int]:
        """File descriptors, tasks and bytes, while a server lives."""
        await say("echo", 1, 1)
        await until("id", 1)
        gc.collect()
        return len(os.listdir("/proc/self/fd")), len(asyncio.all_tasks()), rss()

    await say("initialize", {"capabilities": {}}, 0)
    await until("id", 0)
    await say("initialized", {})
    await say("textDocument/didOpen", {"textDocument": {"uri": URI, "version": 1, "text": "x" * 10_000}})
    before = await held()
    for number in range(RESTARTS):
        if number == RESTARTS // 10:
            before = await held()
        await say("do/die", 1)
        await until("method", "window/showMessage")
    after = await held()
    assert after[:2] == before[:2]
    assert after[2] <= before[2] * 1.05 + 2**20
    host.shutdown()
    await serving


def rss() -> int:
    """Bytes of memory that this process has."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
