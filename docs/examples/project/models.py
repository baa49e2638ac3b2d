"""What the parcel service is about."""

from __future__ import annotations

import json
import os
import re
from dataclasses import dataclass, field
from datetime import datetime
from enum import Enum
from typing import Dict, List, Optional
from warnings import deprecated


class Status(Enum):
    CREATED = "created"
    IN_TRANSIT = "in transit"
    DELIVERED = "delivered"
    RETURNED = "returned"


@dataclass
class Address:
    name: str
    street: str
    postcode: str
    city: str
    country: str = "DE"


@dataclass
class Scan:
    """The parcel was seen somewhere."""

    at: datetime
    depot: str
    status: Status


@dataclass
class Parcel:
    number: str
    sender: Address
    recipient: Address
    weight_grams: int
    express: bool = False
    scans: List[Scan] = field(default_factory=list)
    notes: Dict[str, str] = field(default_factory=dict)

    @property
    def status(self) -> Status:
        if not self.scans:
            return Status.CREATED
        return self.scans[-1].status

    @property
    def last_depot(self) -> Optional[str]:
        return self.scans[-1].depot if self.scans else None

    @deprecated("use `weight_grams`")
    def get_weight(self) -> float:
        return self.weight_grams / 1000

    @deprecated("use `scans.append`")
    def add_scan(self, depot: str, status: Status) -> None:
        self.scans.append(Scan(datetime.utcnow(), depot, status))


def is_valid_number(number: str) -> bool:
    return len(number) == 12 and number.isdigit()


def describe(parcel: Parcel) -> str:
    """One line for a person."""
    kind = "express" if parcel.express else "standard"
    kilos = parcel.weight / 1000
    return f"{parcel.number}: {kind}, {kilos:.1f} kg, {parcel.status.value}, to {parcel.recipient.zip}"
