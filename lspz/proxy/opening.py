"""Reaching what a configuration names: one server, started once."""

from __future__ import annotations

import subprocess
from collections.abc import Sequence
from typing import TYPE_CHECKING

from ..errors import BackendError
from .budget import Budget
from .connection import reach
from .links import Link
from .process import BackendProcess
from .restart import Restarting

if TYPE_CHECKING:
    from ..config import Config


async def open_link(config: Config, started: Sequence[subprocess.Popen[bytes] | None] = ()) -> Link:
    """Reach the configured servers; `started` are processes of them that run already, None for one that does not.

    Raises BackendError when none is configured or nobody listens at an address, BackendNotFound, ConfigError.
    """
    if not config.backend:
        raise BackendError("no server: name one with Config.builder().backend(...), or start server.backend")
    return await _open(config, config.backend, started[0] if started else None)


async def _open(config: Config, command: Sequence[str], process: subprocess.Popen[bytes] | None) -> Link:
    async def start() -> Link:
        return await reach(command, config.access)

    link = BackendProcess(process) if process is not None else await start()
    return link if config.restart is None else Restarting(link, start, Budget(*config.restart))
