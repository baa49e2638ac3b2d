"""`--request-timeout`: a client that asks gets an answer in time, of the server's or an error."""

from __future__ import annotations

import json

from lspz.wire.framing import frame

from .talk import lspz, talk


def late(id_: object) -> str:
    return frame(json.dumps({"jsonrpc": "2.0", "id": id_, "result": "late"}).encode()).decode()


async def test_a_request_that_is_not_answered_in_time_gets_an_error() -> None:
    """The server is told, its late answer goes nowhere, and the same id can be used again."""
    async with talk(lspz(options=["--request-timeout", "0.05"])) as client:
        await client.initialize()
        for id_ in (41, "forty-two"):
            answer = await client.ask("never", id=id_)
            assert answer["error"]["code"] == -32803
            assert "has not answered never within 0.05 s" in answer["error"]["message"]
            heard = await client.until("heard")
            assert (heard["method"], heard["params"]) == ("$/cancelRequest", {"id": id_})
            client.send("do/write", late(id_))
            assert (await client.ask("echo", [2], id="next"))["result"] == [2]
            assert (await client.ask("echo", [3], id=id_))["result"] == [3]
        assert (await client.ask("shutdown"))["result"] is None
        client.send("exit")
        assert (await client.end())[0] == 0


async def test_each_request_has_its_own_time() -> None:
    """Those that are answered in time are answered; a report that a server may hold back for ever is waited for."""
    async with talk(lspz("hold-workspace", options=["--request-timeout", "0.1"])) as client:
        await client.initialize()
        client.send("workspace/diagnostic", {}, id="held")
        for number in range(20):
            client.send("never", id=number)
            assert (await client.ask("echo", number, id=f"e{number}"))["result"] == number
        errors = [(await client.receive()) for _ in range(40)]
        assert [message["id"] for message in errors if "error" in message] == [*range(20)]
        client.send("do/write", late("held"))
        assert (await client.receive()) == {"jsonrpc": "2.0", "id": "held", "result": "late"}
        assert (await client.ask("shutdown"))["result"] is None
        client.send("exit")
        assert (await client.end())[0] == 0


async def test_a_server_that_dies_answers_at_once() -> None:
    """Nobody waits for the time to pass."""
    async with talk(lspz(options=["--request-timeout", "60", "--restart", "3/60s"])) as client:
        await client.initialize()
        client.send("never", id=1)
        client.send("do/die", -9)
        assert (await client.receive())["error"]["code"] == -32099
        assert (await client.until("window/showMessage"))["type"] == 2
        assert (await client.ask("echo", 1))["result"] == 1
        client.send("do/die", -9)
        client.send("exit")
        await client.end()
