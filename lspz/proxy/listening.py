"""Serving any number of clients at an address, each with a server of its own."""

from __future__ import annotations

import asyncio
import logging
from typing import TYPE_CHECKING

from ..errors import ConfigError, LspzError
from ..transports.base import Channel, reachable
from .connection import BackendConnection
from .host import SessionHost
from .signals import run

if TYPE_CHECKING:
    from ..config import Config

log = logging.getLogger("lspz")


class Listening:
    """Serves all who connect at the configured address, one after another or at once.

    What happens to one session is of no concern to the others.
    """

    def __init__(self, config: Config) -> None:
        self._config = config
        self._sessions: dict[asyncio.Task[None], SessionHost] = {}
        self._stopped: asyncio.Future[int] | None = None
        self._served = 0

    def start(self) -> int:
        """Serve until a signal comes; return the exit status. Raises ConfigError when the address cannot be had."""
        return run(self.serve(), self.stop)

    async def serve(self) -> int:
        """Serve until `stop` is called; return its status. Nothing outlives it. Raises ConfigError as `start`."""
        address = self._config.listen
        if address is None:
            raise ConfigError("no address to listen at")
        self._config.access.check_listening(address, self._config.allow_remote)
        self._stopped = asyncio.get_running_loop().create_future()
        try:
            listener = await reachable(address.scheme).listen(address, self._config.access, self._client)
        except OSError as error:
            raise ConfigError(f"cannot listen at {address}: {error.strerror or error}") from None
        log.warning("listening on %s", address._replace(port=listener.port))
        try:
            return await self._stopped
        finally:
            await listener.close()
            for task, host in self._sessions.items():
                if not host.stop(0):
                    task.cancel()
            if self._sessions:
                await asyncio.wait(list(self._sessions))

    def stop(self, code: int) -> bool:
        """End all sessions and the listening, with this exit status."""
        if self._stopped is None:
            return False
        if not self._stopped.done():
            self._stopped.set_result(code)
        return True

    async def _client(self, channel: Channel) -> None:
        self._served += 1
        number = self._served
        task = asyncio.current_task()
        assert task is not None
        host = self._sessions[task] = SessionHost(self._config, BackendConnection())
        log.info("client %d has connected", number)
        try:
            code = await host.serve(channel)
            log.info("the session of client %d has ended with status %d", number, code)
        except LspzError as error:
            log.error("client %d cannot be served: %s", number, error)
        finally:
            del self._sessions[task]
            await channel.close(0.0)
