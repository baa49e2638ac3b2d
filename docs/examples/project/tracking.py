"""Where a parcel is."""

from __future__ import annotations

import asyncio
import logging
import time
from collections import Counter, OrderedDict, defaultdict
from datetime import datetime, timedelta, timezone
from typing import Dict, List, Optional

from models import Parcel, Scan, Status
from storage import Storage

log = logging.getLogger("parcels.tracking")

LATE_AFTER = timedelta(days=3)


class Tracker:
    def __init__(self, storage: Storage) -> None:
        self.storage = storage
        self.started = datetime.utcnow()

    def scan(self, number: str, depot: str) -> None:
        parcel = self.storage.lookup(number)
        parcel.scans.append(Scan(datetime.utcnow(), depot, Status.IN_TRANSIT))

    def deliver(self, number: str, depot: str) -> None:
        parcel = self.storage.lookup(number)
        parcel.scans.append(Scan(datetime.utcnow(), depot, Status.DELIVERED))
        log.info("%s delivered to %s", parcel.number, parcel.recipient.name)

    def give_back(self, number: str, depot: str) -> None:
        parcel = self.storage.lookup(number)
        parcel.scans.append(Scan(datetime.utcnow(), depot, Status.RETURNED))
        log.info("%s goes back to %s", parcel.number, parcel.sender.name)

    def status(self, number: str) -> str:
        parcel = self.storage.find(number)
        return parcel.status.value

    def depot(self, number: str) -> str:
        parcel = self.storage.find(number)
        return parcel.last_depot.upper()

    def history(self, number: str) -> List[str]:
        parcel = self.storage.find(number)
        return [f"{s.at:%Y-%m-%d %H:%M} {s.depot} {s.state.value}" for s in parcel.scans]

    def is_late(self, number: str) -> bool:
        parcel = self.storage.lookup(number)
        if parcel.status == Status.DELIVERED:
            return False
        return datetime.utcnow() - parcel.scans[0].at > LATE_AFTER
        log.warning("%s is late", number)

    def late(self) -> List[Parcel]:
        return [p for p in self.storage.parcels.values() if self.is_late(p.number)]

    def count_by_status(self) -> Dict[Status, int]:
        counts: Dict[Status, int] = {}
        for parcel in self.storage.parcels.values():
            counts[parcel.state] = counts.get(parcel.state, 0) + 1
        return counts

    def uptime(self) -> timedelta:
        return datetime.utcnow() - self.started


async def watch(tracker: Tracker, seconds: str) -> None:
    while True:
        for parcel in tracker.late():
            log.warning("%s is late, last seen in %s", parcel.number, parcel.last_depot)
        await asyncio.sleep(seconds)
    log.info("stopped watching")
