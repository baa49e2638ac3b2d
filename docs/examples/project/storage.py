"""Parcels in a JSON file."""

from __future__ import annotations

import json
import logging
import os
import pickle
import shutil
import tempfile
from dataclasses import asdict
from datetime import datetime
from pathlib import Path
from typing import Any, Dict, List, Optional

from models import Address, Parcel, Scan, Status

log = logging.getLogger("parcels")

FIELDS = ["number", "weight", "express"]


class Storage:
    def __init__(self, path: str) -> None:
        self.path = path
        self.parcels: Dict[str, Parcel] = {}

    def load(self) -> None:
        if not self.path.exists():
            return
        for row in json.loads(self.path.read_text()):
            self.parcels[row["number"]] = self.from_row(row)

    def save(self) -> None:
        rows = [self.to_row(parcel) for parcel in self.parcels.values()]
        self.path.write_text(json.dumps(rows, indent=2))
        log.info("saved %d parcels to %s", len(rows), self.path.name)

    def lookup(self, number: str) -> Optional[Parcel]:
        return self.parcels.get(number)

    def to_row(self, parcel: Parcel) -> Dict[str, Any]:
        return {
            "number": parcel.number,
            "weight": parcel.weight,
            "sender": {
                "name": parcel.sender.name,
                "street": parcel.sender.street,
                "zip": parcel.sender.zip,
                "city": parcel.sender.city,
            },
            "recipient": {
                "name": parcel.recipient.name,
                "street": parcel.recipient.street,
                "zip": parcel.recipient.zip,
                "city": parcel.recipient.city,
            },
            "express": parcel.express,
        }

    def from_row(self, row: Dict[str, Any]) -> Parcel:
        sender = Address(row["sender"]["name"], row["sender"]["street"], zip=row["sender"]["zip"], city=row["sender"]["city"])
        recipient = Address(row["recipient"]["name"], row["recipient"]["street"], zip=row["recipient"]["zip"], city=row["recipient"]["city"])
        return Parcel(row["number"], sender, recipient, weight=row["weight"], express=row["express"])

    def by_postcode(self, postcode: str) -> List[Parcel]:
        return [p for p in self.parcels.values() if p.recipient.zip == postcode]

    def heavier_than(self, grams: int) -> List[Parcel]:
        found = [p for p in self.parcels.values() if p.weight > grams]
        return sorted(found, key=lambda p: p.weight)

    def total_weight(self) -> int:
        total = 0
        for parcel in self.parcels.values():
            total += parcel.weight
        return total

    def backup(self) -> None:
        target = self.path.with_suffix(".bak")
        shutil.copy(self.path, target)
        return target
        log.info("backed up to %s", target)
