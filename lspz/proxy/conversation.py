"""What the two routes share: one client, one server, the form in which they speak, and how a message is rewritten."""

from __future__ import annotations

import logging
from collections.abc import Callable
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import msgspec

from ..codec import chain_for
from ..config import Config
from ..converters import get_converter
from ..errors import CannotCompress
from ..formats import choose
from ..interceptors import diagnostics
from ..interceptors.base import Direction
from ..interceptors.chain import Chain, run_inline
from .features import Features
from .originals import Originals
from .relay import Decision
from .routing import FromClient, FromServer
from .session import Session

if TYPE_CHECKING:
    from ..metrics import Metrics
    from .protocol import ClientProtocol, FacadeProtocol
    from .savings import Savings

log = logging.getLogger("lspz.routing")

Raw = msgspec.Raw


class Conversation:
    """What both routes know: one client, one server, the form in which they speak."""

    def __init__(
        self,
        config: Config,
        features: Features,
        facade: FacadeProtocol,
        backend: ClientProtocol,
        metrics: Metrics,
        savings: Savings | None,
        exit_requested: Callable[[], None],
    ) -> None:
        self.config = config
        self.features = features
        self.facade = facade
        self.backend = backend
        self.session = Session()
        self.form = "passthrough"
        self.exit_requested = exit_requested
        self.originals = Originals()
        self._metrics = metrics
        self._savings = savings
        self.from_client = FromClient(self)
        self.from_server = FromServer(self)
        self.settle(Chain([], get_converter))

    def client_is(self, initialize_params: Any) -> None:
        """The client says who it is; from here on its form is known."""
        self.form = choose(self.config.effective_format, initialize_params)
        self.settle(chain_for(self.config, self.form))
        log.info("the client gets %s", self.form)

    def settle(self, chain: Chain) -> None:
        """Fill both routes' tables."""
        self._chain = chain
        self.from_client.settle(chain)
        self.from_server.settle(chain)

    @property
    def restores(self) -> bool:
        """Whether diagnostics reach the client in another form, so that code actions need the originals."""
        return diagnostics.PUBLISH in self._chain.methods(Direction.TO_CLIENT)

    def rewrite(
        self, body: bytes, member: str, method: str, direction: Direction, request: bytes | None = None
    ) -> Decision:
        """The body with its params or result as the interceptors leave it; `body` itself when they leave it alone."""
        outer = msgspec.json.decode(body, type=dict[str, Raw])
        if member not in outer:
            return body
        payload = bytes(outer[member])
        self._metrics.claim()
        run = self._chain.run(method, payload, direction)

        def failed(error: Exception) -> bytes:
            if direction is Direction.TO_CLIENT:
                self._forget(method, payload, request)
            return self._fail_open(body, method, error)

        def replaced(written: bytes | None) -> bytes | None:
            if written is None:
                return None if member == "params" and "id" not in outer else body
            if direction is Direction.TO_CLIENT:
                self._remember(method, payload, written, request)
            if written is payload:
                return body
            self._metrics.rewrite(len(payload), len(written))
            if self._savings is not None:
                self._savings.add(payload, written)
            outer[member] = Raw(written)
            return msgspec.json.encode(outer)

        if self._chain.is_inline(method, direction):
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

    def _remember(self, method: str, payload: bytes, written: bytes, request: bytes | None) -> None:
        """Keep original diagnostics for code actions."""
        if method == diagnostics.PUBLISH:  # the URI stands in both, and what was written is shorter
            self.originals.remember(msgspec.json.decode(written, type=_Published).uri, method, payload)
        elif method == diagnostics.PULL and request is not None and _is_full(payload):
            uri = msgspec.json.decode(request, type=_PullRequest).params.textDocument.uri
            self.originals.remember(uri, method, payload)

    def _forget(self, method: str, payload: bytes, request: bytes | None) -> None:
        """The client gets the server's own list, with `data`: what was kept before is out of date."""
        with suppress(msgspec.MsgspecError):
            if method == diagnostics.PUBLISH:
                self.originals.forget(msgspec.json.decode(payload, type=_Published).uri, method)
            elif method == diagnostics.PULL and request is not None:
                uri = msgspec.json.decode(request, type=_PullRequest).params.textDocument.uri
                self.originals.forget(uri, method)

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
