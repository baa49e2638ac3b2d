"""What must survive compression, read from plain LSP (JSON) alone: formats.md §1 and §2, without a line of lspz's code.

`key(method, payload)` is equal for two payloads that say the same. Lists whose order is free come sorted.
"""

from __future__ import annotations

from typing import Any

PUBLISH = "textDocument/publishDiagnostics"
PULL = "textDocument/diagnostic"
WORKSPACE = "workspace/diagnostic"
PROGRESS = "$/progress"
COMPLETION = "textDocument/completion"
HOVER = "textDocument/hover"
SYMBOLS = "textDocument/documentSymbol"
REFERENCES = "textDocument/references"
LOCATIONS = (
    REFERENCES,
    "textDocument/definition",
    "textDocument/declaration",
    "textDocument/implementation",
    "textDocument/typeDefinition",
)
WORKSPACE_SYMBOLS = "workspace/symbol"

METHODS = (PUBLISH, PULL, WORKSPACE, PROGRESS, COMPLETION, HOVER, SYMBOLS, *LOCATIONS, WORKSPACE_SYMBOLS)


def key(method: str, payload: Any) -> Any:
    """The key information of a message."""
    if method == PUBLISH:
        return (payload["uri"], payload.get("version"), diagnostics(payload["diagnostics"]))
    if method == PULL:
        return report(payload)
    if method == WORKSPACE:
        return workspace(payload)
    if method == PROGRESS:
        return (payload["token"], workspace(payload["value"]))
    if method == COMPLETION:
        return completion(payload)
    if method == HOVER:
        return hover(payload)
    if method == SYMBOLS:
        return [symbol for item in payload or () for symbol in outline(item, 0)]
    if method == WORKSPACE_SYMBOLS:
        return sorted((found(item) for item in payload or ()), key=repr)
    assert method in LOCATIONS
    return locations(payload)


def span(range: Any) -> tuple[int, int, int, int]:
    """A range's four numbers."""
    start, end = range["start"], range["end"]
    return (start["line"], start["character"], end["line"], end["character"])


def diagnostics(values: Any) -> list[Any]:
    """Diagnostics in any order; `source`, `data` and the like are pruned, and no tags are an empty list of them."""
    return sorted((diagnostic(value) for value in values), key=repr)


def diagnostic(value: Any) -> Any:
    """One diagnostic."""
    message = value["message"]
    markup = None if isinstance(message, str) else message["kind"]
    text = message if isinstance(message, str) else message["value"]
    code = value.get("code")
    return (span(value["range"]), value.get("severity"), code, type(code), text, markup, tuple(value.get("tags") or ()))


def report(value: Any) -> Any:
    """A report on one document."""
    if value is None:
        return None
    items = value.get("items")
    full = value.get("kind") != "unchanged" and items is not None
    related = {uri: report(other) for uri, other in (value.get("relatedDocuments") or {}).items()}
    return (full, value.get("resultId"), diagnostics(items) if full else None, related)


def workspace(value: Any) -> Any:
    """A report on a workspace."""
    return value and [(item["uri"], item.get("version"), report(item)) for item in value["items"]]


def completion(value: Any) -> Any:
    """A completion list: in each kind, the items in the server's order."""
    if value is None:
        return (False, {})
    items = value if isinstance(value, list) else value["items"]
    defaults = {} if isinstance(value, list) else value.get("itemDefaults") or {}
    kinds: dict[Any, list[Any]] = {}
    for item in items:
        kinds.setdefault(item.get("kind"), []).append(completion_item(item, defaults))
    return (not isinstance(value, list) and bool(value.get("isIncomplete")), kinds)


def completion_item(item: Any, defaults: Any) -> Any:
    """One item."""
    edit = item.get("textEdit")
    text = edit["newText"] if edit else item.get("textEditText") or item.get("insertText")
    text = text if text and text != item["label"] else None
    is_snippet = (item.get("insertTextFormat") or defaults.get("insertTextFormat")) == 2
    details, doc = item.get("labelDetails") or {}, item.get("documentation") or ""
    return (
        item["label"],
        details.get("detail") or "",
        details.get("description") or "",
        item.get("detail") or "",
        text,
        is_snippet and text is not None and any(c in text for c in "$\\}"),
        doc if isinstance(doc, str) else doc["value"],
        bool(item.get("deprecated") or 1 in (item.get("tags") or ())),
    )


def hover(value: Any) -> str:
    """The text, whichever of the five shapes it came in."""
    if value is None:
        return ""
    contents = value["contents"]
    parts = []
    for part in contents if isinstance(contents, list) else [contents]:
        if isinstance(part, str):
            parts.append(part)
        elif "language" in part:
            parts.append(f"```{part['language']}\n{part['value']}\n```")
        else:
            parts.append(part["value"])
    return "\n\n".join(part for part in parts if part)


def outline(item: Any, depth: int) -> list[Any]:
    """A symbol and, below it, its children."""
    deprecated = bool(item.get("deprecated") or 1 in (item.get("tags") or ()))
    if "location" in item:
        place, extra = item["location"], item.get("containerName") or ""
        return [(depth, item["kind"], item["name"], span(place["range"]), None, extra, place["uri"], deprecated)]
    start = item["selectionRange"]["start"]
    own = (
        depth,
        item["kind"],
        item["name"],
        span(item["range"]),
        (start["line"], start["character"]),
        item.get("detail") or "",
        None,
        deprecated,
    )
    return [own, *(symbol for child in item.get("children") or () for symbol in outline(child, depth + 1))]


def found(item: Any) -> Any:
    """A symbol of a workspace."""
    place = item["location"]
    return (
        item["name"],
        item["kind"],
        item.get("containerName") or "",
        place["uri"],
        span(place["range"]) if place.get("range") else None,
        bool(item.get("deprecated") or 1 in (item.get("tags") or ())),
    )


def locations(value: Any) -> list[Any]:
    """Places, in files in order of appearance; a link's target where it is not its selection."""
    files: dict[str, list[Any]] = {}
    for item in value if isinstance(value, list) else [] if value is None else [value]:
        if "targetUri" in item:
            selection, target = span(item["targetSelectionRange"]), span(item["targetRange"])
            files.setdefault(item["targetUri"], []).append((selection, None if target == selection else target))
        else:
            files.setdefault(item["uri"], []).append((span(item["range"]), None))
    return [(uri, sorted(places, key=repr)) for uri, places in files.items()]
