"""What the two routes share: one client, one server, the form in which they speak, and how a message is rewritten."""

from __future__ import annotations

import logging
from collections.abc import Callable
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import msgspec

from ..errors import CannotCompress
from ..formats import choose, wants_increments
from ..interceptors import COMPLETION, PROGRESS, PUBLISH, PULL, WORKSPACE
from ..interceptors.base import Direction, run_inline
from ..tokens import preload
from .originals import Originals
from .relay import Decision
from .routing import FromClient, FromServer
from .session import OpenRequest, Session

if TYPE_CHECKING:
    from ..config import Config
    from ..interceptors.chain import Chain
    from ..interceptors.streams import DiagnosticsSender
    from ..metrics import Metrics
    from .parties import Parties
    from .savings import Savings

log = logging.getLogger("lspz.routing")

Raw = msgspec.Raw


class Conversation:
    """What both routes know: one client, one server, the form in which they speak."""

    def __init__(
        self,
        config: Config,
        parties: Parties,
        metrics: Metrics,
        savings: Savings | None,
        exit_requested: Callable[[], None],
    ) -> None:
        self.config = config
        self.facade, self.features, self.backend = parties
        self.session = Session()
        self.form = "passthrough"
        self.exit_requested = exit_requested
        self.answer: Callable[[bytes], None] = _nobody_listens
        """Write the body of an answer of lspz's own to the client."""
        self.originals = Originals()
        self._chain: Chain | None = None
        self._sender: DiagnosticsSender | None = None
        self._metrics = metrics
        self._savings = savings
        self.from_client = FromClient(self)
        self.from_server = FromServer(self)
        self._settle()

    def client_is(self, initialize_params: Any) -> None:
        """The client says who it is; from here on its form is known."""
        self.form = choose(self.config.effective_format, initialize_params)
        if self.form != "passthrough" or self.config.interceptors:
            from ..codec import chain_for, sender_for  # only now: in passthrough nobody waits for it to load

            if wants_increments(initialize_params):
                self._sender = sender_for(self.config, self.form)
            self._chain = chain_for(self.config, self.form, without="" if self._sender is None else "diagnostics")
            if self.config.limits.max_tokens:
                preload()
        self._settle()
        log.info("the client gets %s", self.form)

    def _settle(self) -> None:
        self.from_client.settle()
        self.from_server.settle()

    def intercepted(self, direction: Direction) -> frozenset[str]:
        """The methods that some interceptor sees in a direction."""
        methods = self._chain.methods(direction) if self._chain is not None else frozenset()
        return methods | {PUBLISH, PULL} if self.is_incremental and direction is Direction.TO_CLIENT else methods

    @property
    def is_incremental(self) -> bool:
        """Whether the client gets only what changed in diagnostics."""
        return self._sender is not None

    def send_all(self, uri: str) -> None:
        """The client asks for the original of a document: the next reports on it are full."""
        if self._sender is not None:
            self._sender.forget(uri)

    @property
    def restores(self) -> bool:
        """Whether diagnostics reach the client in another form, so that code actions need the originals."""
        return PUBLISH in self.intercepted(Direction.TO_CLIENT)

    def rewrite(
        self, body: bytes, member: str, method: str, direction: Direction, request: OpenRequest | None = None
    ) -> Decision:
        """The body with its params or result as the interceptors leave it; `body` itself when they leave it alone."""
        chain = self._chain
        outer = msgspec.json.decode(body, type=dict[str, Raw])
        if chain is None or member not in outer:
            return body
        payload = bytes(outer[member])
        self._metrics.claim()
        run = chain.run(method, payload, direction)
        sender = self._sender if direction is Direction.TO_CLIENT and method in (PUBLISH, PULL) else None

        def failed(error: Exception) -> bytes:
            if direction is Direction.TO_CLIENT:
                self._forget(method, payload, request)
            if sender is not None:
                with suppress(msgspec.MsgspecError):
                    sender.pass_on(method, payload, _uri_of(request))
            return self._fail_open(body, method, error)

        def replaced(written: bytes | None) -> bytes | None:
            if written is None:
                if member == "params" and "id" not in outer:
                    return None
                if sender is not None:
                    sender.pass_on(method, payload, _uri_of(request))
                return body
            if sender is not None:
                written = sender.write(method, written, _uri_of(request))
            if direction is Direction.TO_CLIENT:
                written = self._remember(method, payload, written, request)
            if written is payload:
                return body
            self._metrics.rewrite(len(payload), len(written))
            if self._savings is not None:
                self._savings.add(payload, written)
            outer[member] = Raw(written)
            return msgspec.json.encode(outer)

        if chain.is_inline(method, direction):
            try:
                return replaced(run_inline(run))
            except Exception as error:
                return failed(error)

        async def later() -> bytes | None:
            try:
                return replaced(await run)
            except Exception as error:
                return failed(error)

        return later()

    def _remember(self, method: str, payload: bytes, written: bytes, request: OpenRequest | None) -> bytes:
        """Keep what the server said; return what goes out in its place."""
        originals = self.originals
        if method == PUBLISH:  # the URI stands in both, and what was written is shorter
            originals.remember(msgspec.json.decode(written, type=_Published).uri, method, payload)
        elif method == PULL and request is not None and _is_full(payload):
            originals.remember(_uri_of(request), method, payload)
        elif method in (WORKSPACE, PROGRESS) and written is not payload:
            originals.remember_files(payload if method == WORKSPACE else _value_of(payload))
        if request is None:
            return written
        number = originals.remember_answer(request.id, method, payload) if written is not payload else None
        if method == COMPLETION:
            from ..interceptors.completion import numbered

            originals.completions = number
            if number is not None and len(longer := numbered(written, number)) < len(payload):
                return longer
        return written

    def _forget(self, method: str, payload: bytes, request: OpenRequest | None) -> None:
        """The client gets the server's own message: what was kept before is out of date."""
        originals = self.originals
        with suppress(msgspec.MsgspecError):
            if method == PUBLISH:
                originals.forget(msgspec.json.decode(payload, type=_Published).uri, method)
            elif method == PULL and request is not None:
                originals.forget(_uri_of(request), method)
            elif method == COMPLETION:
                originals.completions = None

    def _fail_open(self, body: bytes, method: str, error: Exception) -> bytes:
        self._metrics.fail_open()
        if isinstance(error, CannotCompress):
            log.info("%s: left as it came: %s", method, error)
        else:
            log.warning("%s: not as LSP has it (%s); it goes on as it came", method, _describe(error))
            log.debug("the error in full", exc_info=error)
        return body


def _describe(error: Exception) -> str:
    if isinstance(error, KeyError):
        return f"{error.args[0]!r} is missing"
    return f"{type(error).__name__}: {error}"


class _Published(msgspec.Struct):
    uri: str


class _Report(msgspec.Struct):
    kind: str = ""


def _is_full(payload: bytes) -> bool:
    return payload != b"null" and msgspec.json.decode(payload, type=_Report).kind != "unchanged"


class _PullParams(msgspec.Struct):
    textDocument: _Published


class _PullRequest(msgspec.Struct):
    params: _PullParams


def _uri_of(request: OpenRequest | None) -> str:
    """The document that a pull is about; nothing of what is pushed."""
    if request is None or request.body is None:
        return ""
    return msgspec.json.decode(request.body, type=_PullRequest).params.textDocument.uri


class _Progress(msgspec.Struct):
    value: Raw


def _value_of(payload: bytes) -> bytes:
    return bytes(msgspec.json.decode(payload, type=_Progress).value)


def _nobody_listens(body: bytes) -> None: ...
