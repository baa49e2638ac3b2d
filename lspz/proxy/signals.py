"""An event loop that ends with a signal, and leaves nothing behind."""

from __future__ import annotations

import asyncio
import logging
import signal
from collections.abc import Callable, Coroutine
from contextlib import suppress
from typing import Any

log = logging.getLogger("lspz")


def run(main: Coroutine[Any, Any, int], stop: Callable[[int], bool]) -> int:
    """Run `main`; return the exit status it returns, or that of a signal.

    A signal calls `stop` with the status (128 + its number), which sees to it that `main` ends and returns whether it
    does; where it does not, `main` is cancelled.
    """
    status = 0

    def caught(number: int, task: asyncio.Task[int] | None) -> None:
        nonlocal status
        log.info("got %s", signal.Signals(number).name)
        if not stop(128 + number) and task is not None:
            status = 128 + number
            task.cancel()

    async def watched() -> int:
        loop = asyncio.get_running_loop()
        for number in (signal.SIGTERM, signal.SIGINT, getattr(signal, "SIGHUP", signal.SIGTERM)):
            if signal.getsignal(number) is signal.SIG_IGN:  # as under nohup
                continue
            with suppress(NotImplementedError, ValueError, RuntimeError):  # Windows, or not the main thread
                loop.add_signal_handler(number, caught, number, asyncio.current_task())
        return await main

    try:
        return asyncio.run(watched())
    except asyncio.CancelledError:
        return status
    except KeyboardInterrupt:
        return 128 + signal.SIGINT
