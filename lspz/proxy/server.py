"""The façade: a pygls `LanguageServer` that a client takes for the real one."""

from __future__ import annotations

from lsprotocol import types
from pygls.lsp.server import LanguageServer

from .._version import __version__
from ..config import Config
from .backend import LspzBackend
from .features import Features
from .host import SessionHost
from .parties import Parties
from .protocol import FacadeProtocol, shared_converter


class LspzServer(SessionHost, LanguageServer):
    """A `LanguageServer` whose answers come from a real one, compressed for the client.

    Register features and commands on it as on any pygls server: a request goes to your handler instead of the backend,
    a notification to both, `server.workspace` is in sync, and `server.backend` is a client of the real server. ::

        server = LspzServer(Config.builder().backend("ruff server").build())

        @server.feature("textDocument/hover")
        def hover(ls: LspzServer, params: HoverParams) -> Hover: ...

        server.start_io()
    """

    protocol: FacadeProtocol
    backend: LspzBackend

    def __init__(self, config: Config | None = None, backend: LspzBackend | None = None) -> None:
        SessionHost.__init__(self, config or Config(), backend or LspzBackend())
        LanguageServer.__init__(
            self,
            "lspz",
            __version__,
            types.TextDocumentSyncKind.Incremental,
            protocol_cls=FacadeProtocol,
            converter_factory=shared_converter,
        )

    def _parties(self) -> Parties:
        return Parties(self.protocol, Features(self), self.backend.protocol)
