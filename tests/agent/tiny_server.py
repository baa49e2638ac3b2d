"""A language server process in a few lines that starts at once: `tiny_server.py NAME [--hover] [--format] ...`.

`--log=FILE` writes what it hears, a method a line; `--never` answers no hover; `--index` says that it is at work, and
does not end.
"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Any
from urllib.request import url2pathname

NAME, OPTIONS = sys.argv[1], sys.argv[2:]
START = {"start": {"line": 0, "character": 0}, "end": {"line": 0, "character": 0}}
ROOT = Path()
NEVER = object()
LOG = next((option.removeprefix("--log=") for option in OPTIONS if option.startswith("--log=")), None)


def send(message: dict[str, Any]) -> None:
    body = json.dumps({"jsonrpc": "2.0", **message}).encode()
    sys.stdout.buffer.write(b"Content-Length: %d\r\n\r\n" % len(body) + body)
    sys.stdout.buffer.flush()


def receive() -> dict[str, Any] | None:
    length = 0
    while line := sys.stdin.buffer.readline():
        if not line.strip():
            message: dict[str, Any] = json.loads(sys.stdin.buffer.read(length))
            return message
        if line.lower().startswith(b"content-length:"):
            length = int(line.split(b":")[1])
    return None


def look(document: dict[str, Any]) -> None:
    """Find one thing wrong in a document."""
    if "--die" in OPTIONS:
        os._exit(3)
    if "--silent" not in OPTIONS:
        uri = document["uri"]
        found = {"range": START, "message": f"{NAME} finds this in {uri.rsplit('/', 1)[-1]}", "severity": 1}
        params = {"uri": uri, "version": document["version"], "diagnostics": [found]}
        send({"method": "textDocument/publishDiagnostics", "params": params})


def capabilities() -> dict[str, Any]:
    offered: dict[str, Any] = {"codeActionProvider": True, "workspaceSymbolProvider": True, "textDocumentSync": 1}
    if "--hover" in OPTIONS:
        offered["hoverProvider"] = True
    if "--format" in OPTIONS:
        offered["documentFormattingProvider"] = True
    if "--workspace" in OPTIONS:
        offered["diagnosticProvider"] = {"interFileDependencies": True, "workspaceDiagnostics": True}
    return offered


def answer(method: str, params: Any) -> Any:
    match method:
        case "initialize":
            global ROOT
            ROOT = Path(url2pathname(params["rootUri"][7:]))
            return {"capabilities": capabilities()}
        case "textDocument/codeAction":
            edit = {"changes": {params["textDocument"]["uri"]: [{"range": START, "newText": NAME}]}}
            return [{"title": f"fix of {NAME}", "kind": "quickfix", "edit": edit}]
        case "workspace/symbol":
            place = {"uri": "file:///x", "range": START}
            return [{"name": f"{params['query']} in {NAME}", "kind": 12, "location": place}]
        case "textDocument/hover" if "--never" in OPTIONS:
            return NEVER
        case "textDocument/hover":
            return {"contents": f"{NAME} was asked"}
        case "textDocument/formatting":
            return [{"range": START, "newText": "formatted "}]
        case "workspace/diagnostic":
            file = ROOT / "a.tiny" if (ROOT / "a.tiny").exists() else ROOT / "src" / "b.tiny"
            found = [{"range": START, "message": "wrong"}]
            return {"items": [{"uri": file.as_uri(), "version": None, "kind": "full", "items": found}]}
    return None


while (message := receive()) is not None:
    method, params = message.get("method"), message.get("params")
    if LOG is not None:
        with open(LOG, "a") as file:
            file.write(f"{method}\n")
    if "id" in message and method is not None:
        if (result := answer(method, params)) is not NEVER:
            send({"id": message["id"], "result": result})
    elif method == "initialized" and "--index" in OPTIONS:
        send({"method": "$/progress", "params": {"token": 1, "value": {"kind": "begin", "title": "Indexing"}}})
    elif method in ("textDocument/didOpen", "textDocument/didChange") and params is not None:
        look(params["textDocument"])
    elif method == "exit":
        break
