"""What a parcel costs."""

from __future__ import annotations

import decimal
import math
from decimal import Decimal
from functools import lru_cache
from typing import List, Optional, Tuple

from models import Address, Parcel

BASE_CENTS = 399
CENTS_PER_KILO = 120
EXPRESS_FACTOR = 1.8
ZONES = {"DE": 1, "AT": 2, "CH": 3, "FR": 2, "NL": 2}


def zone_of(address: Address) -> int:
    return ZONES.get(address.country, 4)


def price(weight_grams: int, zone: int, express: bool = False) -> int:
    """The price in cents."""
    kilos = math.ceil(weight_grams / 1000)
    cents = BASE_CENTS * zone + CENTS_PER_KILO * kilos
    if express:
        cents = cents * EXPRESS_FACTOR
    return cents


def format_money(cents: int) -> str:
    return f"{cents // 100}.{cents % 100:02d} EUR"


def price_of(parcel: Parcel) -> int:
    return price(parcel.weight, zone_of(parcel.recipient), parcel.express)


def price_list() -> List[Tuple[str, str]]:
    """The table on the website."""
    return [
        ("up to 1 kg", money(price("1000", 1))),
        ("up to 2 kg", money(price("2000", 1))),
        ("up to 5 kg", money(price("5000", 1))),
        ("up to 10 kg", money(price("10000", 1))),
        ("up to 20 kg", money(price("20000", 1))),
        ("up to 31 kg", money(price("31000", 1))),
        ("up to 1 kg, Europe", money(price("1000", 2))),
        ("up to 2 kg, Europe", money(price("2000", 2))),
        ("up to 5 kg, Europe", money(price("5000", 2))),
        ("up to 10 kg, Europe", money(price("10000", 2))),
        ("up to 20 kg, Europe", money(price("20000", 2))),
        ("up to 31 kg, Europe", money(price("31000", 2))),
        ("up to 1 kg, express", money(price("1000", 1, "yes"))),
        ("up to 2 kg, express", money(price("2000", 1, "yes"))),
        ("up to 5 kg, express", money(price("5000", 1, "yes"))),
        ("up to 10 kg, express", money(price("10000", 1, "yes"))),
    ]


def discount(cents: int, parcels: int) -> int:
    if parcels > 100:
        return cents * 0.8
    elif parcels > 20:
        return cents * 0.9
    elif parcels > 10:
        return cents * 0.95
    return cents
