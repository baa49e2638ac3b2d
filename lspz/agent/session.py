"""One life of a language server, from its start to its end. lspz is its client, and answers what it asks."""

from __future__ import annotations

import asyncio
import logging
import os
from collections.abc import Iterator, Mapping
from contextlib import suppress
from typing import Any, Protocol

import msgspec

from .._version import __version__
from ..errors import AnswerTimeout, BackendError, BackendRefused, NotOffered
from ..proxy.connection import carried_by, reach
from ..proxy.links import EXIT_GRACE, Link
from ..transports.access import Access
from ..transports.waiting import happens
from ..wire.text import ENCODINGS, UTF16
from .capabilities import capabilities
from .endpoint import Endpoint, Handler
from .options import AgentOptions
from .work import Signal, Work

log = logging.getLogger("lspz.agent")

START_LIMIT = 60.0
"""Seconds a server has to answer `initialize`, at the least; large ones load a project first."""

STOP_LIMIT = 2.0
"""Seconds a server has to answer `shutdown` before it is told to exit all the same."""

GRACE = 0.5
"""Seconds in which a server that was just started, or told of its first document, begins to say that it is at work."""

MESSAGES = {1: logging.WARNING, 2: logging.INFO, 3: logging.DEBUG, 4: logging.DEBUG}
"""How loudly what a server tells the user, by LSP's MessageType, is logged."""


class Owner(Protocol):
    """Whoever has the documents."""

    def published(self, params: Any) -> None:
        """The server published diagnostics."""

    def outdated(self) -> None:
        """What it answered so far may be wrong by now."""

    def apply_for_server(self, params: Any) -> Any:
        """The server asks for an edit; return `ApplyWorkspaceEditResult`."""

    def watches(self, watchers: list[Any]) -> None:
        """The server wants to hear of changes of files that fit these `FileSystemWatcher`s."""

    def died(self, reason: str) -> None:
        """The server has ended, or was stopped."""


class ServerSession:
    """A server from its start to its end.

    `changed` fires whenever something happens that may let a waiting question go on.
    """

    def __init__(self, options: AgentOptions, owner: Owner) -> None:
        self.options = options
        self.changed = Signal()
        self.capabilities: dict[str, Any] = {}
        self.encoding = UTF16
        self.died: str | None = None
        """Why it ended, once it has."""
        loop = asyncio.get_running_loop()
        self.work = Work(options.server.background, loop.time, self._work_changed)
        self.stirred = loop.time()
        """When it was last given a reason to begin work: its start, its first document."""
        self._owner = owner
        self._clock = loop.time
        self._registered: dict[str, tuple[str, Any]] = {}  # by the registration's id: method and options
        self._link: Link | None = None
        self._endpoint: Endpoint | None = None
        self._watching: asyncio.Task[None] | None = None
        self._closing: asyncio.Task[None] | None = None

    # its life

    async def start(self) -> None:
        """Start the server and initialize it. If that fails, nothing is left of it.

        Raises BackendNotFound, BackendDied, BackendRefused, AnswerTimeout.
        """
        try:
            await self._start()
        except BaseException:
            self.kill()
            await self.close()
            raise

    async def _start(self) -> None:
        options = self.options
        if options.transport is not None:
            link = carried_by(await options.transport())
        else:
            link = await reach(options.server.command, Access(), env=options.env, cwd=options.root)
        self._link = link
        await link.watch()
        self._endpoint = Endpoint(link.channel, self._handlers(), link.ended.set)
        self._watching = asyncio.create_task(self._watch(link))
        await self._endpoint.open()
        limit = max(options.patience.limit, START_LIMIT)
        answer = msgspec.json.decode(await self._endpoint.request("initialize", self._introduction(), limit))
        if not (isinstance(answer, dict) and isinstance(answer.get("capabilities"), dict)):
            raise BackendRefused(f"initialize: the server's answer is not as LSP has it: {answer!r:.80}")
        self.capabilities = answer["capabilities"]
        self.encoding = self.capabilities.get("positionEncoding") or UTF16
        if self.encoding not in ENCODINGS:
            raise BackendError(f"{options.server.name} counts characters in {self.encoding!r}, which LSP does not have")
        self.notify("initialized", {})
        if options.server.settings:
            self.notify("workspace/didChangeConfiguration", {"settings": options.server.settings})
        self.stir()

    def _introduction(self) -> dict[str, Any]:
        root, server = self.options.root, self.options.server
        return {
            "processId": os.getpid(),
            "clientInfo": {"name": "lspz", "version": __version__},
            "rootUri": root.as_uri(),
            "rootPath": str(root),
            "workspaceFolders": self._folders(),
            "capabilities": capabilities(self.options.positions),
            **({"initializationOptions": server.options} if server.options else {}),
        }

    async def _watch(self, link: Link) -> None:
        """See the server end, whoever ends it; then nothing of it is left."""
        try:
            await _first_of(link.ended, link.exited)
            await happens(link.ended, GRACE)  # what it said last; a child of its may hold its output open
            await happens(link.exited, GRACE)
            reason = link.describe_end()
        except asyncio.CancelledError:
            self.kill()  # the event loop is being closed
            raise
        self._end(reason)
        if self._closing is None:
            log.warning("%s: %s", self.options.server.name, reason)
            await link.end(0)

    def _end(self, reason: str) -> None:
        if self.died is None:
            self.died = reason
            self._owner.died(reason)
        if self._endpoint is not None:
            self._endpoint.fail(self.died)
        self.changed.fire()

    async def close(self) -> None:
        """End the server: politely, and within seconds. It may be called again; if it is cancelled, the server is
        killed."""
        if self._closing is None:
            self._closing = asyncio.create_task(self._close())
        try:
            await asyncio.shield(self._closing)
        except asyncio.CancelledError:
            self.kill()
            raise

    async def _close(self) -> None:
        link = self._link
        try:
            if self.died is None and self._endpoint is not None:
                with suppress(BackendError, AnswerTimeout):
                    await self._endpoint.request("shutdown", None, STOP_LIMIT)
                self._endpoint.notify("exit", None)
            if link is not None:
                await link.end(EXIT_GRACE)
                await link.channel.close(0.0)
        except asyncio.CancelledError:
            self.kill()
            raise
        finally:
            self._end("the language server was stopped")
        if link is not None:
            link.ended.set()
        if self._watching is not None:
            await asyncio.wait([self._watching])

    def kill(self) -> None:
        """End the server and all that it started, now."""
        if self._link is not None:
            self._link.kill()

    # asking

    async def request(self, method: str, params: Any, limit: float) -> bytes:
        """The result, as JSON. Raises AnswerTimeout, BackendRefused, BackendDied."""
        assert self._endpoint is not None
        return await self._endpoint.request(method, params, limit)

    def notify(self, method: str, params: Any) -> None:
        """Tell the server something."""
        assert self._endpoint is not None
        self._endpoint.notify(method, params)

    def provider(self, name: str, method: str) -> Any:
        """The options under which the server offers a method, from its capabilities or registered later.

        None where it does not offer it.
        """
        static = self.capabilities.get(name)
        if static is not None and static is not False:
            return static if static is not True else {}
        return self.registered(method)

    def registered(self, method: str) -> Any:
        """The options under which the server registered a method; None where it did not."""
        return next((options or {} for known, options in self._registered.values() if known == method), None)

    def check(self, name: str, method: str) -> None:
        """Raise NotOffered where the server does not offer a method."""
        if self.provider(name, method) is None:
            raise NotOffered(f"{self.options.server.name} does not offer {method}")

    @property
    def sync(self) -> Mapping[str, Any]:
        """`TextDocumentSyncOptions`, in whichever way the server said them."""
        told = self.capabilities.get("textDocumentSync")
        if isinstance(told, int):
            return {"openClose": True, "change": told, "save": {}}
        return told or {}

    @property
    def now(self) -> float:
        """Seconds of the loop's clock."""
        return self._clock()

    def stir(self) -> None:
        """It was given a reason to begin work."""
        self.stirred = self._clock()

    @property
    def is_stirred(self) -> bool:
        """Whether it is at work, or may be about to begin."""
        return self.work.busy is not None or self._clock() < self.stirred + GRACE

    async def ready(self, until: float, across: bool = False) -> str | None:
        """Wait until the server is not at work, at most until this time of the loop's clock.

        Return what it is still at work with, None where it is done. `across`: what it does in the background counts.
        """
        while True:
            now, busy = self._clock(), self.work.busy_with(across)
            quiet = self.stirred + GRACE - now
            if self.died is not None or (busy is None and quiet <= 0):
                return None
            if now >= until:
                return busy
            await self.changed.wait(min(until - now, quiet) if busy is None else until - now)

    # what the server says and asks

    def _handlers(self) -> dict[str, Handler]:
        work, owner = self.work, self._owner
        refreshes: Iterator[str] = (f"workspace/{what}/refresh" for what in _REFRESHED)
        return {
            **dict.fromkeys(refreshes, lambda _: None),
            "workspace/diagnostic/refresh": self._refresh,
            "workspace/configuration": lambda params: [self._setting(item) for item in params["items"]],
            "workspace/workspaceFolders": lambda _: self._folders(),
            "workspace/applyEdit": owner.apply_for_server,
            "client/registerCapability": self._register,
            "client/unregisterCapability": self._unregister,
            "window/workDoneProgress/create": lambda _: None,
            "window/showMessageRequest": self._show,  # no choice is made
            "window/showDocument": lambda _: {"success": False},
            "window/showMessage": self._show,
            "window/logMessage": self._log,
            "textDocument/publishDiagnostics": self._publish,
            "$/progress": work.progress,
            "experimental/serverStatus": work.status,
            "pyright/beginProgress": work.began,
            "pyright/endProgress": work.ended,
        }

    def _publish(self, params: Any) -> None:
        self._owner.published(params)
        self.changed.fire()

    def _refresh(self, _: Any) -> None:
        self._owner.outdated()
        self.changed.fire()

    def _work_changed(self) -> None:
        if self.work.busy is None:
            self._owner.outdated()
        self.changed.fire()

    def _register(self, params: Any) -> None:
        for registration in params["registrations"]:
            self._registered[registration["id"]] = (registration["method"], registration.get("registerOptions"))
        self._registrations_changed()

    def _unregister(self, params: Any) -> None:
        for registration in params.get("unregisterations") or params.get("unregistrations") or ():
            self._registered.pop(registration["id"], None)
        self._registrations_changed()

    def _registrations_changed(self) -> None:
        watchers = [
            watcher
            for method, options in self._registered.values()
            if method == "workspace/didChangeWatchedFiles"
            for watcher in (options or {}).get("watchers", ())
        ]
        self._owner.watches(watchers)
        self.changed.fire()

    def _setting(self, item: Any) -> Any:
        value: Any = self.options.server.settings
        for name in (item.get("section") or "").split("."):
            if name:
                value = value.get(name) if isinstance(value, Mapping) else None
        return value

    def _folders(self) -> list[dict[str, str]]:
        root = self.options.root
        return [{"uri": root.as_uri(), "name": root.name}]

    def _show(self, params: Any) -> None:
        self._say(logging.WARNING if params.get("type") in (1, 2) else logging.INFO, params)

    def _log(self, params: Any) -> None:
        self._say(MESSAGES.get(params.get("type"), logging.DEBUG), params)

    def _say(self, level: int, params: Any) -> None:
        log.log(level, "%s: %s", self.options.server.name, params.get("message"))


async def _first_of(*events: asyncio.Event) -> None:
    waits: list[asyncio.Future[Any]] = [asyncio.ensure_future(event.wait()) for event in events]
    try:
        await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for wait in waits:
            wait.cancel()


_REFRESHED = ("codeLens", "semanticTokens", "inlayHint", "inlineValue", "foldingRange")
"""What lspz never keeps."""
