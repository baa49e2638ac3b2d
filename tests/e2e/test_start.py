"""What `lspz` loads: nothing slow before the server is started, and nothing that its session does not need."""

from __future__ import annotations

import re
import subprocess
import sys

from .talk import SCRIPTED, talk

HEAVY = {"cattr", "cattrs", "lsprotocol", "pygls", "tiktoken", "websockets"}
ONE = {"range": {"start": {"line": 1, "character": 2}, "end": {"line": 1, "character": 3}}, "message": "m"}
PARAMS = {"uri": "file:///a.py", "diagnostics": [ONE, ONE]}


async def loaded_by_a_session(*options: str) -> set[str]:
    """What the command imports, from its start to the end of a session with diagnostics and a code action."""
    command = [sys.executable, "-X", "importtime", "-m", "lspz", *options, "--", *SCRIPTED]
    async with talk(command) as client:
        await client.initialize()
        client.send("do/publish", PARAMS)
        await client.until("textDocument/publishDiagnostics")
        document = {"uri": PARAMS["uri"]}
        await client.ask("textDocument/diagnostic", {"textDocument": document})
        context = {"textDocument": document, "range": ONE["range"], "context": {"diagnostics": [ONE]}}
        await client.ask("textDocument/codeAction", context)
        await client.ask("shutdown")
        client.send("exit")
        status, stderr = await client.end()
    assert status == 0
    return set(re.findall(r"^import time:.*\| +(\S+)$", stderr, re.MULTILINE))


def packages(modules: set[str]) -> set[str]:
    return {module.split(".")[0] for module in modules}


async def test_passthrough_loads_no_types_of_lsp() -> None:
    """Nothing is registered on the command and nothing rewritten: neither pygls nor what it stands on is there."""
    loaded = await loaded_by_a_session("--format", "passthrough")

    assert {"asyncio", "msgspec", "lspz.proxy.relay"} <= loaded
    assert not HEAVY & packages(loaded)


def test_little_is_loaded_before_the_server_is_started() -> None:
    """What starts the server, and reads a plain command line, imports neither the session nor argparse."""
    code = (
        "import sys; from lspz.cli import proxy; proxy._flags(['--format', 'compact']); print(*sys.modules, sep='\\n')"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded = set(done.stdout.split())

    assert "subprocess" in loaded
    assert not {"argparse", "asyncio", "attr", "json", "logging", "msgspec", "shutil"} & loaded
    assert not HEAVY & packages(loaded)
