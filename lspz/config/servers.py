"""The table of language servers: which one knows a file, how it is started, where its project begins.

The data is servers.toml, beside this file; whoever uses it may add to it and change it.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Mapping
from functools import cache
from importlib import resources
from pathlib import Path, PurePath
from typing import Any

import attrs

from ..errors import ConfigError

PLAIN = "plaintext"
"""LSP's language id of a file that nothing is known of."""


def _strings(instance: object, attribute: attrs.Attribute[Any], value: object) -> None:
    if not isinstance(value, tuple) or not all(isinstance(item, str) for item in value):
        raise ConfigError(f"{attribute.name}={value!r}: must be a list of strings")


def _tuple(value: object) -> object:
    return tuple(value) if isinstance(value, list) else value


@attrs.frozen
class Server:
    """A language server."""

    name: str
    command: tuple[str, ...] = attrs.field(converter=_tuple, validator=_strings)
    """The program and its arguments."""
    languages: tuple[str, ...] = attrs.field(converter=_tuple, validator=_strings)
    """LSP's language ids."""
    roots: tuple[str, ...] = attrs.field(default=(), converter=_tuple, validator=_strings)
    """Names of files and folders that mark the root of a project; they may hold `*`."""
    install: str | None = None
    """How it is installed, as a command."""
    options: Mapping[str, Any] = attrs.field(factory=dict)
    """Its `initializationOptions`."""
    settings: Mapping[str, Any] = attrs.field(factory=dict)
    """What `workspace/configuration` answers, by section."""
    background: tuple[str, ...] = attrs.field(default=(), converter=_tuple, validator=_strings)
    """Tokens of progress that says nothing about the documents that are open."""
    saved: tuple[str, ...] = attrs.field(default=(), converter=_tuple, validator=_strings)
    """Globs of files of whose changes it learns by `didSave`, since it registers for none."""
    checks_saved: bool = False
    """Whether it begins to check when a document is saved, beside what it answers at once."""
    whole: bool = False
    """Whether it publishes diagnostics of the whole project, and not of open documents alone."""
    default: bool = False
    """Whether it is used for its languages unless somebody says otherwise."""

    def root_of(self, path: Path, workspace: Path) -> Path:
        """The nearest folder above a file that holds one of `roots`; `workspace` where there is none in or below it."""
        workspace = workspace.resolve()
        for folder in path.resolve().parents:
            if not folder.is_relative_to(workspace):
                break
            if any(_holds(folder, marker) for marker in self.roots):
                return folder
        return workspace


def _holds(folder: Path, marker: str) -> bool:
    return any(folder.glob(marker)) if "*" in marker else (folder / marker).exists()


@attrs.frozen
class ServerTable:
    """Language servers by name, and languages by the endings or names of their files."""

    servers: Mapping[str, Server]
    languages: Mapping[str, tuple[str, ...]]

    def language_of(self, path: str | PurePath) -> str:
        """LSP's language id of a file: by its name, by its ending, else the ending itself, or `plaintext`."""
        return self._known_language(path) or PurePath(path).suffix.lower()[1:] or PLAIN

    def language_for(self, path: str | PurePath, server: Server) -> str:
        """The same as a server is told it: of a file whose name says nothing it is the server's own, if that is one."""
        own = server.languages[0] if len(server.languages) == 1 else None
        return self._known_language(path) or own or self.language_of(path)

    def _known_language(self, path: str | PurePath) -> str | None:
        name, ending = PurePath(path).name, PurePath(path).suffix.lower()
        by_name = _by_name(tuple(self.languages.items()))
        return by_name.get(name) or by_name.get(ending)

    def servers_for(self, path: str | PurePath) -> tuple[Server, ...]:
        """The servers that are used for a file, as the table has them in order. None is an empty tuple."""
        language = self.language_of(path)
        return tuple(server for server in self.servers.values() if server.default and language in server.languages)

    def named(self, name: str) -> Server:
        """A server by its name. Raises ConfigError."""
        if name not in self.servers:
            raise ConfigError(f"server={name!r}: must be one of {', '.join(self.servers)}")
        return self.servers[name]

    def limited_to(self, names: Iterable[str] | None) -> ServerTable:
        """The table with these servers alone, each used for its languages. Raises ConfigError."""
        if names is None:
            return self
        return ServerTable({name: attrs.evolve(self.named(name), default=True) for name in names}, self.languages)

    def with_program(self, program: str) -> Server | None:
        """The server whose command begins with this program."""
        name = PurePath(program).name
        return next((server for server in self.servers.values() if server.command[:1] == (name,)), None)

    def changed_by(self, changes: Mapping[str, Any]) -> ServerTable:
        """The table with `servers` and `languages` of another one, which has the shape of servers.toml.

        A server that is there already keeps what is not said anew. Raises ConfigError naming server and member.
        """
        unknown = changes.keys() - {"servers", "languages"}
        if unknown:
            raise ConfigError(f"{', '.join(sorted(unknown))}: the table has servers and languages")
        servers = dict(self.servers)
        for name, members in changes.get("servers", {}).items():
            servers[name] = _server(name, members, servers.get(name))
        languages = {name: tuple(endings) for name, endings in changes.get("languages", {}).items()}
        return ServerTable(servers, {**self.languages, **languages})


@cache
def _by_name(languages: tuple[tuple[str, tuple[str, ...]], ...]) -> dict[str, str]:
    return {ending: language for language, endings in languages for ending in endings}


def _server(name: str, members: Mapping[str, Any], known: Server | None) -> Server:
    allowed = {field.name for field in attrs.fields(Server)} - {"name"}
    if not isinstance(members, Mapping) or members.keys() - allowed:
        raise ConfigError(f"servers.{name}: may hold {', '.join(sorted(allowed))}, and nothing else: {members!r:.200}")
    try:
        return attrs.evolve(known, **members) if known is not None else Server(name, **members)
    except (TypeError, ConfigError) as error:
        raise ConfigError(f"servers.{name}: {error}") from None


@cache
def builtin_servers() -> ServerTable:
    """The table that comes with lspz."""
    text = resources.files(__package__).joinpath("servers.toml").read_text(encoding="utf-8")
    return ServerTable({}, {}).changed_by(tomllib.loads(text))


def missing(command: Iterable[str]) -> str:
    """How the program of a command is installed, in words."""
    program = next(iter(command), "")
    server = builtin_servers().with_program(program)
    return f"install it with: {server.install}" if server and server.install else "is it installed, and on PATH?"
