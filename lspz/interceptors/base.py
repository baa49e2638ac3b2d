"""What an interceptor is."""

from __future__ import annotations

import enum
from collections.abc import Callable, Coroutine
from typing import Any, ClassVar, Generic, Protocol, TypeVar

from .strategies import CompressionConfig, Limits

P = TypeVar("P")
"""lsprotocol's type of what is intercepted: a notification's params, a request's params or its result."""

C = TypeVar("C")
"""A compact model: a frozen attrs class."""


class Direction(enum.Enum):
    """Which way a message travels."""

    TO_SERVER = "client to server"
    TO_CLIENT = "server to client"


class Settings(Protocol):
    """What of the configuration the built-in interceptors ask for."""

    @property
    def compression(self) -> CompressionConfig:
        """How diagnostics are rewritten."""

    @property
    def limits(self) -> Limits:
        """What is left out of messages."""

    @property
    def fold_hover(self) -> bool | None:
        """Whether Markdown is folded; None: in `text` alone."""

    def enables(self, switch: str) -> bool | None:
        """Whether messages of a kind are rewritten; None: the form decides."""


class Interceptor(Generic[P, C]):
    """Sees messages of some methods, typed, and decides what goes on in their place.

    Subclass it, and add an instance with `Config.builder().interceptor(...)`::

        class NoHints(Interceptor[PublishDiagnosticsParams, PublishDiagnosticsParams]):
            name = "no-hints"
            methods = ("textDocument/publishDiagnostics",)

            async def intercept(self, method, params, direction):
                params.diagnostics = [d for d in params.diagnostics if d.severity != DiagnosticSeverity.Hint]
                return params

    The answer to a request is intercepted under the request's method, on its way back. Whatever `intercept` raises,
    the message goes on as it was, and a warning is logged. Messages behind it wait until it returns.
    """

    name: ClassVar[str]
    """How logs and metrics call it."""

    methods: ClassVar[tuple[str, ...]]
    """The LSP methods it may be asked about."""

    compresses: ClassVar[bool] = False
    """Whether it only makes payloads smaller: `intercept` never waits and never changes its argument, and what does not
    become smaller goes on as it was. Such an interceptor costs no task and no copy."""

    def applies_to(self, method: str, direction: Direction) -> bool:
        """Whether to see messages of this method in this direction; by default those going to the client."""
        return method in self.methods and direction is Direction.TO_CLIENT

    def reader(self, method: str) -> Callable[[bytes], P | None] | None:
        """A faster way to read the payload than through the converter, or None.

        The reader takes the payload's JSON and may return None: read it the usual way.
        """
        return None

    def writer(self, method: str) -> Callable[[C | P], bytes] | None:
        """A faster way to write what `intercept` returned than through the converter, or None."""
        return None

    async def intercept(self, method: str, params: P, direction: Direction) -> C | P | None:
        """Return what goes on in place of `params`: a compact model, a value of the same type, or None for nothing.

        None drops a notification. A request and an answer cannot be dropped, since somebody waits: they go on as they
        were.
        """
        raise NotImplementedError


def run_inline(run: Coroutine[Any, Any, bytes | None]) -> bytes | None:
    """The result of a coroutine that never waits."""
    try:
        run.send(None)
    except StopIteration as stop:
        result: bytes | None = stop.value
        return result
    run.close()
    raise RuntimeError("an interceptor that says it `compresses` waited for something")
