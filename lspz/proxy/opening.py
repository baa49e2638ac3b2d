"""Reaching what a configuration names: one server, started once."""

from __future__ import annotations

import subprocess
from collections.abc import Sequence
from itertools import zip_longest
from pathlib import PurePath
from typing import TYPE_CHECKING

from ..errors import BackendError
from ..transports.address import is_address
from .budget import Budget
from .connection import reach
from .deadlines import Hurried
from .links import Link
from .process import BackendProcess
from .restart import Restarting
from .several.link import Several

if TYPE_CHECKING:
    from ..config import Config


async def open_link(config: Config, started: Sequence[subprocess.Popen[bytes] | None] = ()) -> Link:
    """Reach the configured servers; `started` are processes of them that run already, None for one that does not.

    Raises BackendError when none is configured or nobody listens at an address, BackendNotFound, ConfigError.
    """
    if not config.backend:
        raise BackendError("no server: name one with Config.builder().backend(...), or start server.backend")
    commands = config.backends
    links: list[Link] = []
    try:
        for command, process in zip_longest(commands, started):
            links.append(await _open(config, command, process))
    except BaseException:
        for link in links:
            await link.watch()
            await link.end(0)
            await link.channel.close(0.0)
        raise
    link = links[0] if len(links) == 1 else Several(links, [_name(command) for command in commands])
    return link if config.request_timeout is None else Hurried(link, config.request_timeout)


def _name(command: Sequence[str]) -> str:
    """What a server is called that does not say its name."""
    return command[0] if is_address(command) else PurePath(command[0]).stem


async def _open(config: Config, command: Sequence[str], process: subprocess.Popen[bytes] | None) -> Link:
    async def start() -> Link:
        return await reach(command, config.access)

    link = BackendProcess(process) if process is not None else await start()
    return link if config.restart is None else Restarting(link, start, Budget(*config.restart))
