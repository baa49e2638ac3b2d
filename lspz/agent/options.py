"""What an agent's handle on a server is told, and the builder that says it."""

from __future__ import annotations

import os
import shlex
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import attrs

from ..config import Config
from ..config.servers import PLAIN, Server, ServerTable, builtin_servers
from ..errors import ConfigError
from ..interceptors.strategies import CompressionConfig, Limits
from ..transports import Transport
from .freshness import Patience
from .text import ENCODINGS, UTF16

if TYPE_CHECKING:
    from .handle import AgentHandle

IDLE_LIMIT = 600.0
"""Seconds without a question after which a server is stopped; the next question starts it again."""

RESTARTS = 3
"""How often a server that died is started again within `RESTART_WINDOW`; one that dies again is broken."""

RESTART_WINDOW = 60.0
"""Seconds in which restarts are counted."""

START_LIMIT = 60.0
"""Seconds a server has to answer `initialize`, at the most; large ones load a project first."""


@attrs.frozen
class AgentOptions:
    """Everything that a handle is told; see `Builder` for what each means."""

    server: Server
    root: Path = attrs.field(converter=lambda root: Path(root).resolve())
    env: Mapping[str, str] | None = None
    transport: Callable[[], Awaitable[Transport]] | None = None
    patience: Patience = attrs.field(factory=Patience)
    limits: Limits = attrs.field(factory=Limits)
    compression: CompressionConfig = attrs.field(factory=CompressionConfig)
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
        return Config(enable_diag_compress=None, compression=self.compression, limits=self.limits)


class Builder:
    """Builds an `AgentHandle` one word at a time; every method returns the builder. ::

        agent = AgentHandle.builder().backend("basedpyright-langserver --stdio").workspace_root(".").build()
    """

    def __init__(self, table: ServerTable | None = None) -> None:
        self._table = table or builtin_servers()
        self._server: Server | None = None
        self._root: str | os.PathLike[str] = "."
        self._values: dict[str, Any] = {}
        self._changes: dict[str, Any] = {}

    def backend(self, command: str, *arguments: str) -> Builder:
        """The server: one command line as a shell would split it, or a command and its arguments.

        What lspz knows of a server of this name (languages, settings) is taken along.
        """
        words = (command, *arguments) if arguments else tuple(shlex.split(command))
        if not words:
            raise ConfigError(f"backend={command!r}: must be a command, such as 'ruff server'")
        known = self._table.with_program(words[0])
        self._server = Server(Path(words[0]).stem, words, ()) if known is None else attrs.evolve(known, command=words)
        return self

    def server(self, name: str) -> Builder:
        """The server: one of lspz's table, by name. Raises ConfigError."""
        if name not in self._table.servers:
            raise ConfigError(f"server={name!r}: must be one of {', '.join(self._table.servers)}")
        self._server = self._table.servers[name]
        return self

    def language(self, language: str) -> Builder:
        """LSP's id of the language of files whose ending lspz does not know."""
        self._changes["languages"] = (language,)
        return self

    def workspace_root(self, path: str | os.PathLike[str]) -> Builder:
        """The folder of the project; by default the working directory."""
        self._root = path
        return self

    def initialization_options(self, options: Mapping[str, Any]) -> Builder:
        """The server's `initializationOptions`."""
        self._changes["options"] = options
        return self

    def settings(self, settings: Mapping[str, Any]) -> Builder:
        """The server's settings, nested by section: `{"python": {"analysis": {"typeCheckingMode": "off"}}}`."""
        self._changes["settings"] = settings
        return self

    def env(self, env: Mapping[str, str]) -> Builder:
        """Further environment variables of the server's."""
        self._values["env"] = {**os.environ, **env}
        return self

    def transport(self, connect: Callable[[], Awaitable[Transport]]) -> Builder:
        """Talk to a server of your own making: `connect` is awaited at each start, in place of a command."""
        self._values["transport"] = connect
        self._server = self._server or Server("server", (), ())
        return self

    def patience(self, **seconds: float) -> Builder:
        """How long is waited for what, by the names of `Patience`'s fields: `patience(limit=10)`."""
        self._values["patience"] = attrs.evolve(self._values.get("patience", Patience()), **seconds)
        return self

    def limits(self, **limits: Any) -> Builder:
        """What is left out of answers, by the names of `Limits`' fields: `limits(max_diags=50, min_severity=2)`."""
        self._values["limits"] = Limits(**limits)
        return self

    def positions(self, encoding: str) -> Builder:
        """What a character is, in what you say and what you get: `utf-16` as in LSP, `utf-8`, or `utf-32`, which is
        Python's index into a string."""
        self._values["positions"] = encoding
        return self

    def idle_limit(self, seconds: float) -> Builder:
        """Stop the server when nothing was asked for so long. 0: never."""
        self._values["idle_limit"] = seconds
        return self

    def restarts(self, times: int, within: float = RESTART_WINDOW) -> Builder:
        """How often a server that died is started again, within so many seconds."""
        self._values |= {"restarts": times, "restart_window": within}
        return self

    def watch(self, enabled: bool) -> Builder:
        """Whether the server is told of files that change on disk (extra `watch`)."""
        self._values["watches"] = enabled
        return self

    def options(self) -> AgentOptions:
        """What was said. Raises ConfigError."""
        if self._server is None:
            raise ConfigError("no server: name one with backend(...) or server(...)")
        return AgentOptions(attrs.evolve(self._server, **self._changes), self._root, **self._values)

    def build(self) -> AgentHandle:
        """The handle; its server starts with the first question. Raises ConfigError."""
        from .handle import AgentHandle

        return AgentHandle(self.options(), self._table)

    async def start(self) -> AgentHandle:
        """The handle, its server started. Raises ConfigError, and what `AgentHandle.start` raises."""
        return await self.build().start()


def language_of(server: Server, table: ServerTable, path: Path) -> str:
    """The language id that a server is told for a file."""
    language = table.language_of(path)
    known = path.suffix.lower()[1:] != language and language != PLAIN
    return language if known or len(server.languages) != 1 else server.languages[0]
