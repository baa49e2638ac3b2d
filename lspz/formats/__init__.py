"""The forms in which a client can get what the server says, and the choice between them.

A form is a row of `FORMATS`. `auto` is no form but the rule by which one is chosen when the client says what it is.
"""

from __future__ import annotations

from collections.abc import Mapping

FORMATS = {
    "passthrough": "the server's own bytes",
    "folded": "standard LSP: one diagnostic a group, the other positions in its message",
    "compact": "short JSON for clients that decode it (docs/compact_format.md)",
    "toon": "tables for a model to read (TOON)",
    "text": "the fewest tokens, for a model to read, and exact (docs/text_format.md)",
}

CHOICES = ("auto", *FORMATS)

VERSION = 1
"""The format version that lspz writes, and the newest it reads."""

EDITORS = (
    "neovim",
    "nvim",
    "vim",
    "coc.nvim",
    "helix",
    "visual studio code",
    "vscodium",
    "vscode",
    "code - oss",
    "emacs",
    "eglot",
    "lsp-mode",
    "zed",
    "sublime text",
    "kakoune",
    "kak-lsp",
    "kate",
    "lapce",
    "intellij",
    "jetbrains",
    "eclipse",
    "theia",
)
"""How editors for people begin their `clientInfo.name`, in lower case. They get the server's own bytes: a folded
diagnostic would take squiggles away from a person."""


def choose(setting: str, initialize_params: object) -> str:
    """The form for a client, from the setting and the params (JSON) of its `initialize` request.

    A form that is set wins. `auto` takes the first form that lspz has of those the client lists in
    `capabilities.experimental.lspz`, `passthrough` for an editor, and `folded` for everybody else.
    """
    if setting != "auto":
        return setting
    formats = _at(initialize_params, *_DECLARED, "formats")
    if isinstance(formats, list):
        for name in formats:
            if isinstance(name, str) and name in FORMATS:
                return name
    name = _at(initialize_params, "clientInfo", "name")
    if isinstance(name, str) and name.strip().lower().startswith(EDITORS):
        return "passthrough"
    return "folded"


def wants_increments(initialize_params: object) -> bool:
    """Whether a client asks for what changed in diagnostics instead of all of them (formats.md §6)."""
    return _at(initialize_params, *_DECLARED, "incremental") is True


_DECLARED = ("capabilities", "experimental", "lspz")


def _at(value: object, *path: str) -> object:
    for key in path:
        if not isinstance(value, Mapping):
            return None
        value = value.get(key)
    return value
