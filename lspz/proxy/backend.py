"""lspz's client side: a pygls `LanguageClient` that talks to the real server."""

from __future__ import annotations

from pygls.lsp.client import LanguageClient

from .._version import __version__
from .connection import BackendConnection
from .protocol import ClientProtocol, shared_converter


class LspzBackend(BackendConnection, LanguageClient):
    """The real server, as lspz's façade sees it.

    Connect it with one of the `start_…` methods, `attach` or `use`, then give it to an `LspzServer`. While that serves,
    requests of your own (`await server.backend.text_document_hover_async(...)`) share the connection with the client's.
    """

    protocol: ClientProtocol

    def __init__(self) -> None:
        super().__init__(
            "lspz",
            __version__,
            protocol_cls=ClientProtocol,  # type: ignore[arg-type]  # pygls asks for more than it uses
            converter_factory=shared_converter,
        )
