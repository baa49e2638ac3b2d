"""What lspz can do as a client, in LSP's words.

Plain JSON: lsprotocol's classes take longer to load than most servers to start. A test holds it against them.
"""

from __future__ import annotations

from typing import Any

from ..wire.text import ENCODINGS, UTF16

_MARKUP = ["markdown", "plaintext"]
_DYNAMIC: dict[str, Any] = {"dynamicRegistration": True}
_LINKS = {**_DYNAMIC, "linkSupport": True}
_SYMBOL_KINDS = {"valueSet": list(range(1, 27))}
_TAGS = {"valueSet": [1]}
_REFRESH = {"refreshSupport": True}


def capabilities(encoding: str = UTF16) -> dict[str, Any]:
    """`ClientCapabilities`; `encoding` is the position encoding that saves converting."""
    preferred = [encoding, *(other for other in (UTF16, *ENCODINGS) if other != encoding)]
    return {**_CAPABILITIES, "general": {**_GENERAL, "positionEncodings": list(dict.fromkeys(preferred))}}


_GENERAL = {"staleRequestSupport": {"cancel": True, "retryOnContentModified": []}}

_WORKSPACE = {
    "applyEdit": True,
    "workspaceEdit": {
        "documentChanges": True,
        "resourceOperations": ["create", "rename", "delete"],
        "failureHandling": "transactional",
    },
    "didChangeConfiguration": _DYNAMIC,
    "didChangeWatchedFiles": {**_DYNAMIC, "relativePatternSupport": True},
    "symbol": {**_DYNAMIC, "symbolKind": _SYMBOL_KINDS, "tagSupport": _TAGS},
    "executeCommand": _DYNAMIC,
    "workspaceFolders": True,
    "configuration": True,
    "fileOperations": {**_DYNAMIC, "didCreate": True, "didRename": True, "didDelete": True},
    "diagnostics": _REFRESH,
    "codeLens": _REFRESH,
    "semanticTokens": _REFRESH,
    "inlayHint": _REFRESH,
    "inlineValue": _REFRESH,
    "foldingRange": _REFRESH,
}

_COMPLETION_ITEM = {
    "snippetSupport": False,
    "documentationFormat": _MARKUP,
    "deprecatedSupport": True,
    "tagSupport": _TAGS,
    "labelDetailsSupport": True,
}

_TEXT_DOCUMENT = {
    "synchronization": {**_DYNAMIC, "didSave": True},
    "publishDiagnostics": {
        "relatedInformation": True,
        "tagSupport": {"valueSet": [1, 2]},
        "versionSupport": True,
        "codeDescriptionSupport": True,
        "dataSupport": True,
    },
    "diagnostic": {**_DYNAMIC, "relatedDocumentSupport": False},
    "completion": {
        **_DYNAMIC,
        "completionItem": _COMPLETION_ITEM,
        "completionItemKind": {"valueSet": list(range(1, 26))},
        "contextSupport": True,
        "completionList": {"itemDefaults": ["commitCharacters", "editRange", "insertTextFormat", "data"]},
    },
    "hover": {**_DYNAMIC, "contentFormat": _MARKUP},
    "signatureHelp": {
        **_DYNAMIC,
        "signatureInformation": {
            "documentationFormat": _MARKUP,
            "parameterInformation": {"labelOffsetSupport": True},
            "activeParameterSupport": True,
        },
    },
    "definition": _LINKS,
    "typeDefinition": _LINKS,
    "implementation": _LINKS,
    "declaration": _LINKS,
    "references": _DYNAMIC,
    "callHierarchy": _DYNAMIC,
    "documentSymbol": {
        **_DYNAMIC,
        "symbolKind": _SYMBOL_KINDS,
        "hierarchicalDocumentSymbolSupport": True,
        "tagSupport": _TAGS,
    },
    "formatting": _DYNAMIC,
    "rangeFormatting": _DYNAMIC,
    "rename": _DYNAMIC,
    "codeAction": {
        **_DYNAMIC,
        "codeActionLiteralSupport": {
            "codeActionKind": {
                "valueSet": [
                    "",
                    "quickfix",
                    "refactor",
                    "refactor.extract",
                    "refactor.inline",
                    "refactor.rewrite",
                    "source",
                    "source.organizeImports",
                    "source.fixAll",
                ]
            }
        },
        "isPreferredSupport": True,
        "disabledSupport": True,
        "dataSupport": True,
        "resolveSupport": {"properties": ["edit"]},
    },
}

_CAPABILITIES: dict[str, Any] = {
    "workspace": _WORKSPACE,
    "textDocument": _TEXT_DOCUMENT,
    "window": {"workDoneProgress": True, "showDocument": {"support": False}},
    "experimental": {"serverStatusNotification": True},
}
