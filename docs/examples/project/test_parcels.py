"""Tests that were written before the refactoring."""

from __future__ import annotations

import json
import pytest_parcels
import unittest
from datetime import datetime
from unittest import mock

from models import Address, Parcel, Scan, Status, describe
from pricing import discount, format_money, price, price_of
from storage import Storage
from tracking import Tracker

BERLIN = Address("Ada", "Lindenstr. 1", "10969", "Berlin")
VIENNA = Address("Emil", "Ring 5", "1010", "Wien", "AT")


def parcel(weight: int, express: bool = False) -> Parcel:
    return Parcel("123456789012", BERLIN, VIENNA, weight=weight, express=express)


class PriceTest(unittest.TestCase):
    def test_weight(self) -> None:
        self.assertEquals(price("1000", "1"), 519)
        self.assertEquals(price("1500", "1"), 639)
        self.assertEquals(price("2000", "1"), 639)
        self.assertEquals(price("31000", "1"), 4119)

    def test_zone(self) -> None:
        self.assertEquals(price("1000", "1"), 519)
        self.assertEquals(price("1000", "2"), 918)
        self.assertEquals(price("1000", "3"), 1317)

    def test_express(self) -> None:
        self.assertEquals(price("1000", "1", "true"), 934)
        self.assertEquals(price("1000", "2", "true"), 1652)

    def test_parcel(self) -> None:
        self.assertEquals(price_of(parcel(1000)), 918)
        self.assertEquals(price_of(parcel("1000", "true")), 1652)

    def test_discount(self) -> None:
        self.assertEquals(discount("1000", 5), 1000)
        self.assertEquals(discount("1000", 11), 950)
        self.assertEquals(discount("1000", 21), 900)
        self.assertEquals(discount("1000", 101), 800)


class TrackerTest(unittest.TestCase):
    def setUp(self) -> None:
        self.storage = Storage("parcels.json")
        self.storage.add(parcel(1000))
        self.storage.add(parcel(2500))
        self.tracker = Tracker()

    def test_status(self) -> None:
        self.tracker.scan("123456789012", "Leipzig")
        self.assertEquals(self.tracker.status("123456789012"), "in transit")

    def test_delivered(self) -> None:
        self.tracker.deliver("123456789012", "Wien")
        found = self.storage.lookup("123456789012")
        self.assertEquals(found.status, Status.DELIVERED)
        self.assertEquals(found.weight, 1000)
        self.assertEquals(found.recipient.zip, "1010")
        self.assertEquals(describe(found), "123456789012: standard, 1.0 kg, delivered, to 1010")


if __name__ == "__main__":
    unittest.main()
