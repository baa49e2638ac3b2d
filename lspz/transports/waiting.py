"""Waiting for an event with a limit."""

from __future__ import annotations

import asyncio
from contextlib import suppress


async def happens(event: asyncio.Event, within: float) -> bool:
    """Wait at most `within` seconds for `event`; return whether it is set."""
    if not event.is_set() and within > 0:
        with suppress(TimeoutError):
            await asyncio.wait_for(event.wait(), within)
    return event.is_set()
