"""Waiting for events."""

from __future__ import annotations

import asyncio
from contextlib import suppress


async def happens(event: asyncio.Event, within: float) -> bool:
    """Wait at most `within` seconds for `event`; return whether it is set."""
    if not event.is_set() and within > 0:
        with suppress(TimeoutError):
            await asyncio.wait_for(event.wait(), within)
    return event.is_set()


async def first_of(*events: asyncio.Event) -> None:
    """Wait until one of `events` is set."""
    waits = [asyncio.ensure_future(event.wait()) for event in events]
    try:
        await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for wait in waits:
            wait.cancel()
