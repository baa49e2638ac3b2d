"""What lspz understands and rewrites: one file a kind of message, each with its compact model and a typed interceptor.

`INTERCEPTORS` is the registry, in the order in which they run. Its rows are light: a class is loaded at first use.
"""

from __future__ import annotations

from importlib import import_module

TYPE_CHECKING = False  # typing itself would be loaded before the server is started
if TYPE_CHECKING:
    from typing import Any

    from ..formats.spelling import Decoded
    from .base import Interceptor, Settings

PUBLISH = "textDocument/publishDiagnostics"
PULL = "textDocument/diagnostic"
WORKSPACE = "workspace/diagnostic"
PROGRESS = "$/progress"
COMPLETION = "textDocument/completion"

DIAGNOSTIC_FIELDS = ("message", "severity", "range", "code", "source", "codeDescription", "relatedInformation", "data")
"""The members of LSP's Diagnostic that may be kept or pruned; `tags` is always kept."""

DEFAULT_FIELDS = DIAGNOSTIC_FIELDS[:4]
"""What is kept unless somebody says otherwise."""


def check_fields(names: tuple[str, ...]) -> None:
    """Raise ValueError unless `names` are fields that can be kept and hold those that must be."""
    unknown = [name for name in names if name not in (*DIAGNOSTIC_FIELDS, "tags")]
    if unknown:
        raise ValueError(f"{', '.join(unknown)}: must be names from {', '.join(DIAGNOSTIC_FIELDS)}")
    if not {"message", "range"} <= set(names):
        raise ValueError("must hold message and range")


class Row:
    """One kind of message."""

    __slots__ = ("methods", "module", "name", "switch", "what")

    def __init__(self, name: str, switch: str, what: str, methods: tuple[str, ...], module: str) -> None:
        self.name = name
        self.switch = switch
        """What turns it on or off: `LSPZ_ENABLE_{SWITCH}_COMPRESS`."""
        self.what = what
        """The messages, for people."""
        self.methods = methods
        """The notifications whose params, and the requests whose results, it rewrites."""
        self.module = module
        """The module in this package: `create(settings, form)` makes the interceptor, None where a form leaves the
        kind alone; `read(method, value)` gives the model of what is in one of lspz's forms, None of plain LSP."""

    def create(self, settings: Settings, form: str) -> Interceptor[Any, Any] | None:
        """The interceptor for a client that gets `form`; None when it has nothing to do."""
        if form == "passthrough" or settings.enables(self.switch) is False:
            return None
        made: Interceptor[Any, Any] | None = self._import().create(settings, form)
        return made

    def read(self, method: str, value: Any) -> Decoded | None:
        """What stands in params or a result (JSON) in one of lspz's forms, None of plain LSP. Raises DecodeError."""
        model: Decoded | None = self._import().read(method, value)
        return model

    def _import(self) -> Any:
        return import_module(f"{__name__}.{self.module}")


INTERCEPTORS = (
    Row(
        "diagnostics",
        "diag",
        "diagnostics",
        (PUBLISH, PULL),
        "diagnostics",
    ),
    Row(
        "workspace-diagnostics",
        "workspace_diag",
        "workspace diagnostics",
        (WORKSPACE, PROGRESS),
        "workspace_diagnostics",
    ),
    Row("completion", "completion", "completion lists", (COMPLETION,), "completion"),
    Row("hover", "hover", "hovers", ("textDocument/hover",), "hover"),
    Row("document-symbols", "document_symbol", "outlines", ("textDocument/documentSymbol",), "document_symbols"),
    Row(
        "locations",
        "location",
        "references, definitions and the like",
        (
            "textDocument/references",
            "textDocument/definition",
            "textDocument/declaration",
            "textDocument/implementation",
            "textDocument/typeDefinition",
        ),
        "locations",
    ),
    Row("workspace-symbols", "workspace_symbol", "workspace symbols", ("workspace/symbol",), "workspace_symbols"),
)
