"""What an agent's handles on servers are told, and the builders that say it."""

from __future__ import annotations

import os
import shlex
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self, TypedDict

import attrs

from ..config import Config
from ..config.servers import Server, builtin_servers
from ..errors import ConfigError
from ..interceptors.strategies import CompressionConfig, Limits
from ..transports.base import Transport
from ..wire.text import ENCODINGS, UTF16
from .freshness import Patience

if TYPE_CHECKING:
    from .handle import AgentHandle
    from .pool import AgentPool

IDLE_LIMIT = 600.0
"""Seconds without a question after which a server is stopped; the next question starts it again."""

RESTARTS = 3
"""How often a server that died is started again within `RESTART_WINDOW`; one that dies again is broken."""

RESTART_WINDOW = 60.0
"""Seconds in which restarts are counted."""


class Waits(TypedDict, total=False):
    """`Patience` for one question: `agent.diagnostics("app.py", limit=5)`. Seconds."""

    limit: float
    quiet: float
    unversioned_quiet: float
    first_empty_quiet: float


def _resolved(root: str | os.PathLike[str]) -> Path:
    return Path(root).resolve()


@attrs.frozen
class Common:
    """What is told to all servers alike; see `CommonBuilder` for what each means."""

    root: Path = attrs.field(default=Path(), converter=_resolved)
    env: Mapping[str, str] | None = None
    patience: Patience = attrs.field(factory=Patience)
    limits: Limits = attrs.field(factory=Limits)
    positions: str = attrs.field(default=UTF16)
    idle_limit: float = IDLE_LIMIT
    restarts: int = RESTARTS
    restart_window: float = RESTART_WINDOW
    watches: bool = True

    @positions.validator
    def _check_positions(self, attribute: object, value: str) -> None:
        if value not in ENCODINGS:
            raise ConfigError(f"positions={value!r}: must be one of {', '.join(ENCODINGS)}")

    @property
    def config(self) -> Config:
        """How answers are compressed."""
        return Config(enable_diag_compress=None, compression=CompressionConfig(), limits=self.limits)


@attrs.frozen
class AgentOptions(Common):
    """What one handle is told; see `Builder`."""

    server: Server = attrs.field(kw_only=True)
    workspace: Path = attrs.field(kw_only=True)
    """The folder from which answers name files, and in which edits are allowed; the server's own may be below it."""
    transport: Callable[[], Awaitable[Transport]] | None = attrs.field(default=None, kw_only=True)

    @workspace.default
    def _root(self) -> Path:
        return self.root


class CommonBuilder:
    """Says one thing at a time; every method returns the builder."""

    def __init__(self) -> None:
        self._table = builtin_servers()
        self._values: dict[str, Any] = {}

    def workspace_root(self, path: str | os.PathLike[str]) -> Self:
        """The folder of the project; by default the working directory."""
        self._values["root"] = path
        return self

    def table(self, changes: Mapping[str, Any]) -> Self:
        """Servers and languages that lspz does not know, or that shall differ, in the shape of its table::

            {"servers": {"ruff": {"settings": {"lineLength": 100}}}, "languages": {"python": [".py", ".bzl"]}}

        Raises ConfigError.
        """
        self._table = self._table.changed_by(changes)
        return self

    def env(self, env: Mapping[str, str]) -> Self:
        """Further environment variables of the servers'."""
        self._values["env"] = {**os.environ, **env}
        return self

    def patience(self, **seconds: float) -> Self:
        """How long is waited for what, by the names of `Patience`'s fields: `patience(limit=10)`."""
        self._values["patience"] = attrs.evolve(self._values.get("patience", Patience()), **seconds)
        return self

    def limits(self, **limits: Any) -> Self:
        """What is left out of answers, by the names of `Limits`' fields: `limits(max_diags=50, min_severity=2)`."""
        self._values["limits"] = attrs.evolve(self._values.get("limits", Limits()), **limits)
        return self

    def positions(self, encoding: str) -> Self:
        """What a character is, in what you say and what you get: `utf-16` as in LSP, `utf-8`, or `utf-32`, which is
        Python's index into a string."""
        self._values["positions"] = encoding
        return self

    def idle_limit(self, seconds: float) -> Self:
        """Stop a server when nothing was asked for so long. 0: never."""
        self._values["idle_limit"] = seconds
        return self

    def restarts(self, times: int, within: float = RESTART_WINDOW) -> Self:
        """How often a server that died is started again, within so many seconds."""
        self._values |= {"restarts": times, "restart_window": within}
        return self

    def watch(self, enabled: bool) -> Self:
        """Whether servers are told of files that change on disk (extra `watch`)."""
        self._values["watches"] = enabled
        return self


class Builder(CommonBuilder):
    """Builds an `AgentHandle`. ::

    agent = AgentHandle.builder().backend("basedpyright-langserver --stdio").workspace_root(".").build()
    """

    def __init__(self) -> None:
        super().__init__()
        self._server: Callable[[], Server] | None = None
        self._changes: dict[str, Any] = {}

    def backend(self, command: str, *arguments: str) -> Self:
        """The server: one command line as a shell would split it, or a command and its arguments.

        What lspz knows of a server of this name (languages, settings) is taken along.
        """
        words = (command, *arguments) if arguments else tuple(shlex.split(command))
        if not words:
            raise ConfigError(f"backend={command!r}: must be a command, such as 'ruff server'")
        self._server = lambda: self._known(words)
        return self

    def _known(self, words: tuple[str, ...]) -> Server:
        known = self._table.with_program(words[0])
        return Server(Path(words[0]).stem, words, ()) if known is None else attrs.evolve(known, command=words)

    def server(self, name: str) -> Self:
        """The server: one of lspz's table, by name."""
        self._server = lambda: self._table.named(name)
        return self

    def language(self, language: str) -> Self:
        """LSP's id of the language of files whose ending lspz does not know."""
        self._changes["languages"] = (language,)
        return self

    def initialization_options(self, options: Mapping[str, Any]) -> Self:
        """The server's `initializationOptions`."""
        self._changes["options"] = options
        return self

    def settings(self, settings: Mapping[str, Any]) -> Self:
        """The server's settings, nested by section: `{"python": {"analysis": {"typeCheckingMode": "off"}}}`."""
        self._changes["settings"] = settings
        return self

    def transport(self, connect: Callable[[], Awaitable[Transport]]) -> Self:
        """Talk to a server of your own making: `connect` is awaited at each start, in place of a command."""
        self._values["transport"] = connect
        self._server = self._server or (lambda: Server("server", (), ()))
        return self

    def build(self) -> AgentHandle:
        """The handle; its server starts with the first question. Raises ConfigError."""
        from .handle import AgentHandle

        if self._server is None:
            raise ConfigError("no server: name one with backend(...) or server(...)")
        server = attrs.evolve(self._server(), **self._changes)
        return AgentHandle(AgentOptions(**self._values, server=server), self._table)

    async def start(self) -> AgentHandle:
        """The handle, its server started. Raises ConfigError, and what `AgentHandle.start` raises."""
        return await self.build().start()


class PoolBuilder(CommonBuilder):
    """Builds an `AgentPool`. ::

    pool = AgentPool.builder().workspace_root(".").servers("basedpyright", "ruff").build()
    """

    def __init__(self) -> None:
        super().__init__()
        self._names: tuple[str, ...] | None = None

    def servers(self, *names: str) -> Self:
        """Use these servers of lspz's table, and no others; by default each language's usual ones."""
        self._names = names
        return self

    def build(self) -> AgentPool:
        """The pool; servers start with the first question that is for them. Raises ConfigError."""
        from .pool import AgentPool

        return AgentPool(Common(**self._values), self._table.limited_to(self._names))
