"""What a library user registers on the façade, and what that means for the messages that pass.

A request is answered by a registered feature or command instead of the backend; a notification reaches both. As soon as
anything is registered, `server.workspace` is kept in sync, in the backend's position encoding.
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any

from lsprotocol import types
from pygls.capabilities import ServerCapabilitiesBuilder
from pygls.uris import from_fs_path
from pygls.workspace import Workspace

if TYPE_CHECKING:
    from .server import LspzServer

log = logging.getLogger("lspz.features")

SYNC = frozenset(
    (
        types.TEXT_DOCUMENT_DID_OPEN,
        types.TEXT_DOCUMENT_DID_CHANGE,
        types.TEXT_DOCUMENT_DID_CLOSE,
        types.NOTEBOOK_DOCUMENT_DID_OPEN,
        types.NOTEBOOK_DOCUMENT_DID_CHANGE,
        types.NOTEBOOK_DOCUMENT_DID_CLOSE,
        types.WORKSPACE_DID_CHANGE_WORKSPACE_FOLDERS,
        types.SET_TRACE,
        types.WINDOW_WORK_DONE_PROGRESS_CANCEL,
    )
)
"""Notifications from which pygls keeps its own state."""

LIFECYCLE = frozenset((types.INITIALIZE, types.INITIALIZED, types.SHUTDOWN, types.EXIT))
"""Messages that always reach the backend; a handler registered for one is called as well, and its result ignored."""

_ALWAYS_BUILT = frozenset(("positionEncoding", "textDocumentSync", "workspace", "executeCommandProvider"))
"""Capabilities that pygls announces whether or not anything is registered for them."""


class Features:
    """The registered features and commands of one façade."""

    def __init__(self, server: LspzServer) -> None:
        self._server = server
        self._manager = server.protocol.fm
        self._initialize: types.InitializeParams | None = None

    @property
    def any(self) -> bool:
        """Whether anything is registered."""
        return bool(self._manager.features or self._manager.commands)

    @property
    def notifications(self) -> frozenset[str]:
        """Notifications that pygls must hear about."""
        return (SYNC | self._manager.features.keys() | {types.INITIALIZED}) if self.any else frozenset()

    def answers(self, method: str) -> bool:
        """Whether a request is answered by a feature."""
        return method in self._manager.features and method not in LIFECYCLE

    def has_command(self, name: object) -> bool:
        """Whether a command is registered under this name."""
        return name in self._manager.commands

    @property
    def has_commands(self) -> bool:
        """Whether any command is registered."""
        return bool(self._manager.commands)

    def client_initializes(self, params: Any) -> None:
        """The client's `initialize` params (JSON) are on their way to the backend."""
        if not self.any:
            return
        protocol = self._server.protocol
        try:
            self._initialize = protocol._converter.structure(params, types.InitializeParams)
        except Exception as error:
            log.warning("the client's initialize params are not as LSP has them (%s); features see none", error)
            self._initialize = types.InitializeParams(capabilities=types.ClientCapabilities())
        protocol.client_capabilities = self._initialize.capabilities
        self._server.process_id = self._initialize.process_id
        protocol.call_user_handler(types.INITIALIZE, self._initialize)

    def backend_initialized(self, result: dict[str, Any]) -> dict[str, Any]:
        """The backend's answer (JSON) is on its way to the client; return the capabilities it lacks."""
        if self._initialize is None:
            return {}
        capabilities = result.get("capabilities") or {}
        encoding = capabilities.get("positionEncoding") or types.PositionEncodingKind.Utf16
        self._make_workspace(self._initialize, encoding)
        return self._missing(capabilities, self._initialize.capabilities, encoding)

    def _make_workspace(self, params: types.InitializeParams, encoding: str) -> None:
        root = params.root_uri
        if root is None and params.root_path is not None:
            root = from_fs_path(params.root_path)
        self._server.protocol._workspace = Workspace(
            root, types.TextDocumentSyncKind.Incremental, params.workspace_folders or [], encoding
        )

    def _missing(self, capabilities: dict[str, Any], client: types.ClientCapabilities, encoding: str) -> dict[str, Any]:
        server = self._server
        builder = ServerCapabilitiesBuilder(
            client,
            set(self._manager.features),
            self._manager.feature_options,
            list(self._manager.commands),
            types.TextDocumentSyncKind.Incremental,
            None,
            encoding,
        )
        built = builder.build()  # type: ignore[no-untyped-call]
        server.protocol.server_capabilities = built
        offered = server.protocol._converter.unstructure(built)
        missing = {
            name: value
            for name, value in offered.items()
            if name not in _ALWAYS_BUILT and value and not capabilities.get(name)
        }
        if self.any and not capabilities.get("textDocumentSync"):
            missing["textDocumentSync"] = {"openClose": True, "change": types.TextDocumentSyncKind.Incremental.value}
        if self._manager.commands:
            provider = capabilities.get("executeCommandProvider") or {}
            commands = [*provider.get("commands", []), *self._manager.commands]
            missing["executeCommandProvider"] = {**provider, "commands": list(dict.fromkeys(commands))}
        return missing
