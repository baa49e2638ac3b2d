"""The connection to the real server: a process of lspz's own, an address, or whatever carries messages."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Sequence
from typing import Any

from ..errors import BackendError, BackendNotFound, ConfigError
from ..transports.access import Access
from ..transports.address import Address, is_address, read_address
from ..transports.base import Channel, Transport, reachable
from ..transports.messages import MessageChannel
from .links import Connected, Link
from .process import BackendProcess
from .spawn import not_found, spawn


class BackendConnection:
    """The connection to the real server: opened by one of the `start_…` methods, `attach` or `use`."""

    _link: Link | None = None

    @property
    def link(self) -> Link:
        """The server. Raises BackendError before one of the `start_…` methods was called."""
        if self._link is None:
            raise BackendError("the backend is not started; call start_io, start_tcp or start_ws first")
        return self._link

    @property
    def channel(self) -> Channel:
        """What the server reads and writes. Raises BackendError as `link` does."""
        return self.link.channel

    @property
    def is_started(self) -> bool:
        """Whether there is a connection to serve over."""
        return self._link is not None

    async def start_io(self, cmd: str, *args: str, **kwargs: Any) -> None:
        """Start a server process; `kwargs` are `spawn`'s. Raises BackendNotFound."""
        self.attach(spawn([cmd, *args], **kwargs))

    def attach(self, process: subprocess.Popen[bytes]) -> None:
        """Take over a server process that `spawn` started."""
        self._link = BackendProcess(process)

    async def start_tcp(self, host: str, port: int) -> None:
        """Connect to a server over TCP. Raises BackendError when nobody listens."""
        self._link = await _reach(Address("tcp", host, port), Access())

    async def start_ws(self, host: str, port: int) -> None:
        """Connect to a server over WebSocket (extra `ws`). Raises BackendError when nobody listens."""
        self._link = await _reach(Address("ws", host, port), Access())

    def use(self, transport: Transport) -> None:
        """Talk to a server over a transport of your own."""
        self.take(carried_by(transport))

    def take(self, link: Link) -> None:
        """Talk to a server that is reached already."""
        self._link = link


def carried_by(transport: Transport) -> Link:
    """A server at the other end of a transport."""
    return Connected(MessageChannel(transport))


async def reach(command: Sequence[str], access: Access, **kwargs: Any) -> Link:
    """Start a server, or connect to one: a command of one word may be its address. `kwargs` are `spawn`'s.

    Raises BackendNotFound, and BackendError when nobody listens at an address; ConfigError.
    """
    if is_address(command):
        return await _reach(_address(command[0]), access)
    return BackendProcess(spawn(command, **kwargs))


def check(command: Sequence[str]) -> None:
    """Raises BackendNotFound when a program is missing, ConfigError for a wrong address: before anybody waits."""
    if is_address(command):
        _address(command[0])
    elif shutil.which(command[0]) is None:
        raise BackendNotFound(not_found(command[0]))


def _address(text: str) -> Address:
    try:
        return read_address(text)
    except ValueError as error:
        raise ConfigError(f"{text}: {error}") from None


async def _reach(address: Address, access: Access) -> Link:
    try:
        return Connected(await reachable(address.scheme).connect(address, access))
    except OSError as error:
        raise BackendError(f"no language server at {address}: {error}") from error
