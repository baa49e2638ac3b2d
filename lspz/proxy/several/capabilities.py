"""What servers offer: which of them a request is for, and what they offer together."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

Capabilities = dict[str, Any]
"""LSP's `ServerCapabilities` (JSON)."""

_PREPARED = {"callHierarchy": "textDocument/prepareCallHierarchy", "typeHierarchy": "textDocument/prepareTypeHierarchy"}

_PROVIDERS = {
    "textDocument/colorPresentation": "colorProvider",
    "textDocument/documentColor": "colorProvider",
    "textDocument/formatting": "documentFormattingProvider",
    "textDocument/onTypeFormatting": "documentOnTypeFormattingProvider",
    "textDocument/rangeFormatting": "documentRangeFormattingProvider",
    "textDocument/rangesFormatting": "documentRangeFormattingProvider",
    "textDocument/prepareCallHierarchy": "callHierarchyProvider",
    "textDocument/prepareTypeHierarchy": "typeHierarchyProvider",
    "textDocument/prepareRename": "renameProvider",
    "textDocument/semanticTokens": "semanticTokensProvider",
    "workspace/executeCommand": "executeCommandProvider",
    "workspace/symbol": "workspaceSymbolProvider",
}
"""Methods whose capability is not simply called after them."""

_RESOLVED = {
    "codeAction/resolve": "textDocument/codeAction",
    "codeLens/resolve": "textDocument/codeLens",
    "completionItem/resolve": "textDocument/completion",
    "documentLink/resolve": "textDocument/documentLink",
    "inlayHint/resolve": "textDocument/inlayHint",
    "workspaceSymbol/resolve": "workspace/symbol",
}
"""Requests about an item of an answer, and the requests that were answered with it."""

_RENAMED = {
    "textDocument/colorPresentation": "textDocument/documentColor",
    "textDocument/prepareRename": "textDocument/rename",
}


def registered_as(method: str) -> str:
    """The method under which a server registers what answers a request: `callHierarchy/incomingCalls` and so on."""
    method = _RESOLVED.get(method, method)
    space, _, rest = method.partition("/")
    if space in _PREPARED:
        return _PREPARED[space]
    if method.startswith("textDocument/semanticTokens/"):
        return "textDocument/semanticTokens"
    if method == "workspace/diagnostic":
        return "textDocument/diagnostic"
    return _RENAMED.get(method, method) if rest else method


def is_known(method: str) -> bool:
    """Whether LSP has a capability for a request."""
    return method in _RESOLVED or method.startswith(("textDocument/", "workspace/", "callHierarchy/", "typeHierarchy/"))


def offers(capabilities: Capabilities, registered: Iterable[str], method: str) -> bool:
    """Whether a server answers a request, by its capabilities or by a registration."""
    name = registered_as(method)
    if name in registered and not method.endswith("/resolve"):
        return True
    if name in ("textDocument/willSaveWaitUntil",):
        sync = capabilities.get("textDocumentSync")
        return isinstance(sync, dict) and bool(sync.get("willSaveWaitUntil"))
    space, _, rest = name.partition("/")
    if space == "workspace" and rest.startswith("will"):
        files = (capabilities.get("workspace") or {}).get("fileOperations") or {}
        return bool(files.get(rest.removesuffix("Files")))
    provided = capabilities.get(_PROVIDERS.get(name, rest + "Provider"))
    if provided is None or provided is False:
        return False
    if method == "workspace/diagnostic":
        return isinstance(provided, dict) and bool(provided.get("workspaceDiagnostics"))
    return (
        not method.endswith("/resolve")
        or name in registered
        or (isinstance(provided, dict) and bool(provided.get("resolveProvider")))
    )


# what they offer together

_UNITED = {
    "codeActionKinds",
    "commands",
    "triggerCharacters",
    "retriggerCharacters",
    "allCommitCharacters",
    "moreTriggerCharacter",
    "filters",
}
"""Lists in capabilities that add up."""

_OF_ONE = {"semanticTokensProvider", "renameProvider", "positionEncoding"}
"""What cannot be merged: the first server's counts, and it gets the requests."""


def merge(all_capabilities: Iterable[Capabilities]) -> Capabilities:
    """The capabilities of servers that stand as one; those of the first win where they cannot be merged."""
    merged: Capabilities = {}
    syncs, actions = [], []
    for capabilities in all_capabilities:
        own = dict(capabilities)
        actions.append(own.get("codeActionProvider"))
        if "textDocumentSync" in own:
            syncs.append(_sync(own.pop("textDocumentSync")))
        for name, value in own.items():
            if name not in _OF_ONE:
                merged[name] = _merged(merged.get(name), value)
            elif not merged.get(name):
                merged[name] = value
    if syncs:
        merged["textDocumentSync"] = _merged_sync(syncs)
    if any(_has_all_kinds(provider) for provider in actions) and isinstance(merged["codeActionProvider"], dict):
        merged["codeActionProvider"].pop("codeActionKinds", None)
    provider = merged.get("diagnosticProvider")
    if isinstance(provider, dict):  # each server is asked under its own
        merged["diagnosticProvider"] = {name: value for name, value in provider.items() if name != "identifier"}
    return merged


def _has_all_kinds(provider: Any) -> bool:
    """Whether a server does not say which kinds of code actions it has."""
    return provider is True or (isinstance(provider, dict) and not provider.get("codeActionKinds"))


def _merged(one: Any, other: Any, name: str = "") -> Any:
    """Two values of a capability: what either offers."""
    if one is None or one is False:
        return other
    if other is None or other is False:
        return one
    if isinstance(one, dict) and isinstance(other, dict):
        return {key: _merged(one.get(key), other.get(key), key) for key in {**one, **other}}
    if isinstance(one, list) and isinstance(other, list):
        return [*one, *(value for value in other if value not in one)] if name in _UNITED else one
    return other if one is True else one


def _sync(value: Any) -> dict[str, Any]:
    """Either spelling of `textDocumentSync` as its options."""
    if isinstance(value, dict):
        return value
    return {"openClose": bool(value), "change": value or 0} | ({"save": True} if value else {})


def sync_kind(capabilities: Mapping[str, Any]) -> int | None:
    """LSP's `TextDocumentSyncKind` of a server; None when it does not say."""
    value = capabilities.get("textDocumentSync")
    kind = value.get("change") if isinstance(value, dict) else value
    return kind if isinstance(kind, int) and not isinstance(kind, bool) else None


def _merged_sync(syncs: list[dict[str, Any]]) -> dict[str, Any]:
    merged: dict[str, Any] = {}
    for sync in syncs:
        merged = _merged(merged, sync)
    merged["change"] = max((sync.get("change") or 0 for sync in syncs), default=0)
    saves = [save for sync in syncs if (save := sync.get("save"))]
    if saves:
        wants_text = any(isinstance(save, dict) and save.get("includeText") for save in saves)
        merged["save"] = {"includeText": True} if wants_text else True
    return merged
