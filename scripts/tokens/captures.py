"""Captured sessions, read in order.

A folder holds one file SERVER__PROJECT.jsonl a session; each line is {"dir": "s2c" or "c2s", "msg": the message,
"method_of_response": of an answer, the method it answers}.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

PUBLISH = "textDocument/publishDiagnostics"
PULL = "textDocument/diagnostic"
WORKSPACE = "workspace/diagnostic"
PROGRESS = "$/progress"

KINDS = {
    PUBLISH: "diagnostics",
    PULL: "diagnostics",
    WORKSPACE: "workspace diagnostics",
    PROGRESS: "workspace diagnostics",
    "textDocument/documentSymbol": "document symbols",
    "textDocument/references": "references",
    "textDocument/definition": "definitions and the like",
    "textDocument/declaration": "definitions and the like",
    "textDocument/implementation": "definitions and the like",
    "textDocument/typeDefinition": "definitions and the like",
    "workspace/symbol": "workspace symbols",
    "textDocument/completion": "completion",
    "textDocument/hover": "hover",
}
"""The kind of message that each method's params or results are."""


class Capture(NamedTuple):
    """Params of a notification or the result of a request, as a server sent them."""

    server: str
    session: str
    method: str
    payload: Any
    uri: str
    """The document that the request was about, where there is one."""

    @property
    def kind(self) -> str:
        """A value of `KINDS`."""
        return KINDS[self.method]

    @property
    def says_something(self) -> bool:
        """Whether it lists anything: empty lists, null and unchanged reports are not counted (formats.md §7)."""
        if not isinstance(self.payload, dict):
            return bool(self.payload)
        if self.kind == "workspace diagnostics":
            reports = self.payload.get("value", self.payload)["items"]
            return any(report.get("items") for report in reports)
        for member in ("diagnostics", "items", "contents"):
            if member in self.payload:
                return bool(self.payload[member])
        return self.kind != "diagnostics"


def sessions(folder: Path) -> list[Path]:
    """The files of the sessions in a folder."""
    return sorted(folder.glob("*.jsonl"))


def read(path: Path) -> Iterator[Capture]:
    """What lspz would rewrite of a session, in order."""
    server = path.name.split("__")[0]
    documents: dict[Any, str] = {}
    with path.open(encoding="utf-8") as lines:
        for line in lines:
            record = json.loads(line)
            message = record["msg"]
            if record["dir"] != "s2c":
                if "id" in message and "method" in message:
                    document = (message.get("params") or {}).get("textDocument") or {}
                    documents[message["id"]] = document.get("uri", "")
                continue
            pushed = "method" in message
            method = message["method"] if pushed else record.get("method_of_response")
            if method not in KINDS or (not pushed and "result" not in message):
                continue
            payload = message["params"] if pushed else message["result"]
            if method == PROGRESS and not (isinstance(payload.get("value"), dict) and "items" in payload["value"]):
                continue
            yield Capture(server, path.stem, method, payload, "" if pushed else documents.get(message["id"], ""))
