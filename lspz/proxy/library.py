"""`Proxy`: lspz as a library. Open files, ask for their diagnostics, get the compact model."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Coroutine, Sequence
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Any, Self
from urllib.parse import urlsplit

import attrs
from lsprotocol import types
from pygls.exceptions import JsonRpcException
from pygls.lsp.client import LanguageClient
from pygls.uris import to_fs_path

from .._version import __version__
from ..config import Config
from ..config.servers import builtin_servers
from ..errors import BackendDied, BackendRefused, DiagnosticsTimeout, DocumentNotOpen
from ..interceptors.grouping import compact
from ..interceptors.reports import CompactDiagnosticReport, CompactDiagnosticsParams
from ..transports.base import Transport
from ..transports.memory import memory_pair
from ..transports.messages import MessageChannel
from ..wire.uris import uri_key
from .backend import LspzBackend
from .protocol import ClientProtocol, shared_converter
from .server import LspzServer
from .session import BACKEND_DIED

START_LIMIT = 30.0
"""Seconds a server has to answer `initialize`; the slowest of those tried took 12."""

DIAGNOSTICS_LIMIT = 30.0
"""Seconds that `diagnostics` waits unless it is told otherwise."""

SETTLE = 1.0
"""Seconds that an empty list of a server that publishes is not believed: some publish one before they have looked."""

ASK_AGAIN = 0.2
"""Seconds until a server that cancelled a pull, or says that contents were modified, is asked again, as LSP has it."""

_ASK_AGAIN = (types.LSPErrorCodes.ServerCancelled, types.LSPErrorCodes.ContentModified)

STOP_LIMIT = 5.0
"""Seconds a server has to answer `shutdown`."""


@attrs.define
class _Document:
    version: int
    published: CompactDiagnosticsParams | None = None
    changed: asyncio.Event = attrs.field(factory=asyncio.Event)


class Proxy:
    """A client, lspz and a server in one object. ::

        config = Config.builder().backend("basedpyright-langserver --stdio").build()
        async with Proxy(config, root=".") as proxy:
            await proxy.open_file(uri)
            found = await proxy.diagnostics(uri)

    `transport` carries message bodies to a server of your own making, in place of the configured command.
    """

    def __init__(
        self, config: Config, transport: Transport | None = None, *, root: str | os.PathLike[str] | None = None
    ) -> None:
        strategies = config.compression
        self._strategies = strategies
        self._root = Path(root).resolve() if root is not None else None
        backend = LspzBackend()
        if transport is not None:
            backend.use(transport)
        self._server = LspzServer(attrs.evolve(config, format="compact", enable_diag_compress=True), backend)
        self._client = _Client(self)
        self._serving: asyncio.Task[int] | None = None
        self._documents: dict[str, _Document] = {}
        self._pulls = asyncio.Event()  # the server can be asked for diagnostics; it may say so at any time

    @property
    def server(self) -> LspzServer:
        """The façade inside, to register features on before `start`, and for its `metrics`."""
        return self._server

    async def __aenter__(self) -> Self:
        await self.start()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.shutdown()

    async def start(self, limit: float = START_LIMIT) -> types.InitializeResult:
        """Start the server and initialize it; return its answer.

        Raises BackendNotFound, BackendError when no server is named, BackendDied, BackendRefused, or TimeoutError when
        there is no answer within `limit` seconds.
        """
        ours, theirs = memory_pair()
        self._serving = asyncio.create_task(self._server.serve(MessageChannel(theirs)))
        self._client.use(ours)
        params = types.InitializeParams(
            capabilities=_CAPABILITIES,
            process_id=os.getpid(),
            client_info=types.ClientInfo("lspz", __version__),
            root_uri=self._root.as_uri() if self._root is not None else None,
            workspace_folders=[types.WorkspaceFolder(self._root.as_uri(), self._root.name)] if self._root else None,
        )
        try:
            result: types.InitializeResult = await self._ask(self._client.initialize_async(params), "initialize", limit)
        except BaseException:
            await self.shutdown()
            raise
        if result.capabilities.diagnostic_provider is not None:
            self._pulls.set()
        self._client.initialized(types.InitializedParams())
        return result

    async def open_file(self, uri: str, text: str | None = None, language: str | None = None) -> None:
        """Open a document, or open it again with what it holds now.

        `text` defaults to the file's contents (UTF-8), `language` to what its ending says. Raises OSError when the file
        cannot be read.
        """
        if text is None:
            path = to_fs_path(uri)
            if path is None:
                raise DocumentNotOpen(f"{uri}: is no file; pass its text")
            text = await asyncio.to_thread(Path(path).read_text, encoding="utf-8")
        known = self._documents.get(uri_key(uri))
        if known is None:
            language = language or builtin_servers().language_of(urlsplit(uri).path)
            item = types.TextDocumentItem(uri, language, 1, text)
            self._documents[uri_key(uri)] = _Document(1)
            self._client.text_document_did_open(types.DidOpenTextDocumentParams(item))
            return
        known.version += 1
        known.published = None
        known.changed.clear()
        self._client.text_document_did_change(
            types.DidChangeTextDocumentParams(
                types.VersionedTextDocumentIdentifier(known.version, uri),
                [types.TextDocumentContentChangeWholeDocument(text)],
            )
        )

    async def diagnostics(self, uri: str, limit: float = DIAGNOSTICS_LIMIT) -> CompactDiagnosticsParams:
        """The diagnostics of the open version of a document, which may be none.

        Asks a server that can be asked, else waits for it to publish. Raises DocumentNotOpen; DiagnosticsTimeout when
        nothing came within `limit` seconds, which says nothing about the document; BackendDied, BackendRefused.
        """
        document = self._documents.get(uri_key(uri))
        if document is None:
            raise DocumentNotOpen(f"{uri}: open it first")
        serving = self._running()
        end = asyncio.get_running_loop().time() + limit
        await self._first_of(serving, limit, document.changed, self._pulls)
        left = end - asyncio.get_running_loop().time()
        if document.published is not None and not document.published.diagnostics and not self._pulls.is_set():
            document.changed.clear()
            await self._first_of(serving, min(left, SETTLE), document.changed, self._pulls)
        if self._pulls.is_set():
            return await self._pull(uri, document.version, limit, end)
        if document.published is not None:
            return document.published
        if serving.done():
            raise BackendDied("the language server ended before it published diagnostics")
        raise DiagnosticsTimeout(f"{uri}: no diagnostics for version {document.version} within {limit:g} s")

    async def _first_of(self, serving: asyncio.Task[int], limit: float, *events: asyncio.Event) -> None:
        """Wait at most `limit` seconds for one of the events, or the end of the session."""
        waits: list[asyncio.Future[Any]] = [asyncio.ensure_future(event.wait()) for event in events]
        try:
            await asyncio.wait([*waits, serving], timeout=limit, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for wait in waits:
                wait.cancel()

    async def _pull(self, uri: str, version: int, limit: float, end: float) -> CompactDiagnosticsParams:
        question = types.DocumentDiagnosticParams(types.TextDocumentIdentifier(uri))
        while True:
            left = max(end - asyncio.get_running_loop().time(), 0.0)
            try:
                answer = self._client.text_document_diagnostic_async(question)
                report: Any = await self._ask(answer, "textDocument/diagnostic", left)
                break
            except TimeoutError:
                raise DiagnosticsTimeout(f"{uri}: no diagnostics for version {version} within {limit:g} s") from None
            except BackendRefused as refused:
                if refused.code not in _ASK_AGAIN or not left:
                    raise
                await asyncio.sleep(min(ASK_AGAIN, left))
        if isinstance(report, CompactDiagnosticReport):
            entries = report.diagnostics
        elif isinstance(report, types.RelatedFullDocumentDiagnosticReport):
            entries = compact(report.items, self._strategies)
        else:
            raise BackendRefused(f"{uri}: the server answered {report!r} where a full report was asked for")
        return CompactDiagnosticsParams(uri, entries, version)

    def published(self, params: types.PublishDiagnosticsParams | CompactDiagnosticsParams) -> None:
        """The server published diagnostics: they count if they are for the open version, or say no version."""
        if not isinstance(params, CompactDiagnosticsParams):
            params = CompactDiagnosticsParams(params.uri, compact(params.diagnostics, self._strategies), params.version)
        document = self._documents.get(uri_key(params.uri))
        if document is None or params.document_version not in (None, document.version):
            return
        document.published = attrs.evolve(params, document_version=document.version)
        document.changed.set()

    def registered(self, changes: Sequence[types.Registration | types.Unregistration], on: bool) -> None:
        """The server says what it can do from now on, or no longer."""
        if any(change.method == types.TEXT_DOCUMENT_DIAGNOSTIC for change in changes):
            self._pulls.set() if on else self._pulls.clear()

    async def shutdown(self) -> None:
        """End the session and the server. It may be called again, and after the server has died."""
        serving, self._serving = self._serving, None
        if serving is None:
            return
        if not serving.done():
            try:
                await asyncio.wait_for(self._client.shutdown_async(None), STOP_LIMIT)
            except (TimeoutError, OSError, JsonRpcException):
                self._server.shutdown()
            else:
                self._client.exit(None)
        await asyncio.gather(serving, return_exceptions=True)
        await self._client.stop()

    def _running(self) -> asyncio.Task[int]:
        if self._serving is None:
            raise BackendDied("the proxy is not started, or was shut down")
        return self._serving

    async def _ask(self, question: Coroutine[Any, Any, Any], what: str, limit: float) -> Any:
        """The answer, or a named error."""
        answer = asyncio.ensure_future(question)
        serving = self._running()
        done, _ = await asyncio.wait([answer, serving], timeout=limit, return_when=asyncio.FIRST_COMPLETED)
        if answer in done:
            try:
                return answer.result()
            except JsonRpcException as error:
                if error.code == BACKEND_DIED:
                    raise BackendDied(f"{what}: {error.message}") from error
                raise BackendRefused(f"{what}: {error.message} ({error.code})", error.code) from error
            except ConnectionError as error:
                raise BackendDied(f"{what}: {error}") from error
        answer.cancel()
        if serving in done:
            if (failure := serving.exception()) is not None:
                raise failure
            raise BackendDied(f"the language server ended before it answered {what}")
        raise TimeoutError(f"no answer to {what} within {limit:g} s")


_CAPABILITIES = types.ClientCapabilities(
    text_document=types.TextDocumentClientCapabilities(
        synchronization=types.TextDocumentSyncClientCapabilities(),
        publish_diagnostics=types.PublishDiagnosticsClientCapabilities(
            tag_support=types.ClientDiagnosticsTagOptions(
                [types.DiagnosticTag.Unnecessary, types.DiagnosticTag.Deprecated]
            ),
            version_support=True,
        ),
        diagnostic=types.DiagnosticClientCapabilities(dynamic_registration=True),
    ),
    experimental={"lspz": {"version": 1, "formats": ["compact"]}},
)
"""What `Proxy` honours, and nothing else."""


_HARMLESS = (
    types.WORKSPACE_DIAGNOSTIC_REFRESH,
    types.WORKSPACE_CODE_LENS_REFRESH,
    types.WORKSPACE_FOLDING_RANGE_REFRESH,
    types.WORKSPACE_INLAY_HINT_REFRESH,
    types.WORKSPACE_INLINE_VALUE_REFRESH,
    types.WORKSPACE_SEMANTIC_TOKENS_REFRESH,
    types.WINDOW_WORK_DONE_PROGRESS_CREATE,
)
"""Requests that "yes" answers at no cost, as every question is asked anew; some servers die of a "no"."""


class _Client(LanguageClient):
    """The client at the other end of the memory pair."""

    protocol: ClientProtocol

    def __init__(self, proxy: Proxy) -> None:
        super().__init__(
            "lspz",
            __version__,
            protocol_cls=ClientProtocol,  # type: ignore[arg-type]
            converter_factory=shared_converter,
        )
        self._tasks: list[asyncio.Task[None]] = []
        self.feature(types.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS)(lambda params: proxy.published(params))
        for harmless in _HARMLESS:
            self.feature(harmless)(lambda params: None)
        self.feature(types.CLIENT_REGISTER_CAPABILITY)(lambda params: proxy.registered(params.registrations, True))
        self.feature(types.CLIENT_UNREGISTER_CAPABILITY)(
            lambda params: proxy.registered(params.unregisterations, False)
        )

    def use(self, transport: Transport) -> None:
        """Speak over a transport from now on."""
        outgoing: asyncio.Queue[bytes] = asyncio.Queue()
        self.protocol.connect(outgoing.put_nowait)
        self._tasks = [
            asyncio.create_task(self._receive(transport)),
            asyncio.create_task(self._send(transport, outgoing)),
        ]

    async def _receive(self, transport: Transport) -> None:
        with suppress(EOFError):
            while True:
                self.protocol.deliver(await transport.receive())
        self.protocol.disconnect("the session has ended")

    async def _send(self, transport: Transport, outgoing: asyncio.Queue[bytes]) -> None:
        while True:
            await transport.send(await outgoing.get())

    async def stop(self) -> None:
        """Speak no more."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        self.protocol.disconnect("the session has ended")
