"""What `lspz check` prints: a row of `WRITERS` for each format."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import msgspec

from .._version import __version__
from ..agent.freshness import Fresh
from ..agent.naming import shown
from ..agent.results import WorkspaceDiagnostics

LEVELS = {1: "error", 2: "warning", 3: "note", 4: "note"}
"""SARIF's levels of LSP's severities; without one it is an error."""

SARIF_SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"


def _text(found: WorkspaceDiagnostics, max_tokens: int) -> Iterator[str]:
    yield found.text(max_tokens)


def _toon(found: WorkspaceDiagnostics, max_tokens: int) -> Iterator[str]:
    yield found.toon(max_tokens)


def _compact(found: WorkspaceDiagnostics, max_tokens: int) -> Iterator[str]:
    yield _dump(found.compact(max_tokens))


def _json(found: WorkspaceDiagnostics, max_tokens: int) -> Iterator[str]:
    """Plain LSP: a `WorkspaceDiagnosticReport`."""
    yield '{"items":['
    before = ""
    for part in _parts(found):
        for item in _items(part):
            yield before + _dump(item)
            before = ","
    yield "]}"


def _sarif(found: WorkspaceDiagnostics, max_tokens: int) -> Iterator[str]:
    """SARIF 2.1.0, a run for each server."""
    yield f'{{"$schema":"{SARIF_SCHEMA}","version":"2.1.0","runs":['
    before = ""
    for part in _parts(found):
        yield before + _dump(_run(part))
        before = ","
    yield "]}"


def _dump(value: Any) -> str:
    return msgspec.json.encode(value).decode()


WRITERS: Mapping[str, Callable[[WorkspaceDiagnostics, int], Iterator[str]]] = {
    "text": _text,
    "toon": _toon,
    "compact": _compact,
    "json": _json,
    "sarif": _sarif,
}
"""What each prints, in pieces: with as many tokens as there may be, where it is for a model."""


def _parts(found: WorkspaceDiagnostics) -> Sequence[WorkspaceDiagnostics]:
    """Each server's."""
    parts: Sequence[WorkspaceDiagnostics] = getattr(found, "parts", (found,))
    return parts


class _File(msgspec.Struct):
    uri: str
    items: msgspec.Raw


class _Report(msgspec.Struct):
    items: list[_File] = []


def _items(part: WorkspaceDiagnostics) -> Iterator[dict[str, Any]]:
    """The items of a report, without what was left out for its severity, each with its server as source."""
    kept = {file.uri: file.diagnostics or () for file in part.model.files} if part.model is not None else {}
    for file in msgspec.json.decode(part.raw, type=_Report).items:
        severities = {entry.severity for entry in kept.get(file.uri, ())}
        if severities:
            found = msgspec.json.decode(file.items)
            said = [{"source": part.server, **d} for d in found if d.get("severity") in severities]
        else:
            said = []
        yield {"uri": file.uri, "version": None, "kind": "full", "items": said}


def _run(part: WorkspaceDiagnostics) -> dict[str, Any]:
    results: list[dict[str, Any]] = []
    rules: dict[str, int] = {}
    for item in _items(part):
        uri = shown(item["uri"], part.root) if part.root is not None else item["uri"]
        for diagnostic in item["items"]:
            code = diagnostic.get("code")
            rule = str(code) if code is not None else "diagnostic"
            results.append(
                {
                    "ruleId": rule,
                    "ruleIndex": rules.setdefault(rule, len(rules)),
                    "level": LEVELS.get(diagnostic.get("severity") or 1, "error"),
                    "message": {"text": _message(diagnostic["message"])},
                    "locations": [_location(uri, diagnostic["range"])],
                }
            )
    invocation: dict[str, Any] = {"executionSuccessful": isinstance(part.state, Fresh)}
    if part.note is not None:
        note = {"level": "error", "message": {"text": part.note}}
        invocation["toolExecutionNotifications"] = [note]
    driver = {"name": part.server, "rules": [{"id": rule} for rule in rules]}
    return {
        "tool": {"driver": driver, "extensions": [{"name": "lspz", "version": __version__}]},
        "invocations": [invocation],
        "columnKind": "utf16CodeUnits",
        "results": results,
    }


def _message(message: Any) -> str:
    return message["value"] if isinstance(message, dict) else str(message)


def _location(uri: str, range: Mapping[str, Mapping[str, int]]) -> dict[str, Any]:
    start, end = range["start"], range["end"]
    region = {
        "startLine": start["line"] + 1,
        "startColumn": start["character"] + 1,
        "endLine": end["line"] + 1,
        "endColumn": end["character"] + 1,
    }
    return {"physicalLocation": {"artifactLocation": {"uri": _quoted(uri)}, "region": region}}


def _quoted(path: str) -> str:
    """A path as a relative URI; what is a URI stays as it is."""
    from urllib.parse import quote

    return path if path.startswith("file:") else quote(path)
