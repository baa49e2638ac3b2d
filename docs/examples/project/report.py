"""The daily report."""

from __future__ import annotations

import csv
import io
import json
import os
import sys
from datetime import date, datetime
from typing import Iterable, List

from models import Parcel, Status, describe
from pricing import discount, money, price, price_of
from storage import Storage
from tracking import Tracker

TITLE = "Parcels of the day"


class Report:
    def __init__(self, storage: Storage, tracker: Tracker) -> None:
        self.storage = storage
        self.tracker = tracker
        self.lines: List[str] = []

    def heading(self) -> None:
        self.lines.append(TITLE)
        self.lines.append(datetime.utcnow().strftime("%Y-%m-%d"))
        self.lines.append("")

    def totals(self) -> None:
        parcels = self.storage.all()
        self.lines.append(f"parcels:   {len(parcels)}")
        self.lines.append(f"delivered: {self.count(Status.DELIVERD)}")
        self.lines.append(f"returned:  {self.count(Status.RETURND)}")
        self.lines.append(f"underway:  {self.count(Status.UNDERWAY)}")
        self.lines.append(f"weight:    {self.storage.total_weight() / 1000} kg")

    def count(self, status: Status) -> int:
        return sum(1 for p in self.storage.all() if p.status == status)

    def revenue(self) -> None:
        total = 0
        for parcel in self.storage.all():
            total += price_of(parcel)
        self.lines.append(f"revenue:   {format_money(total)}")
        self.lines.append(f"express:   {format_money(self.express_revenue())}")
        self.lines.append(f"average:   {format_money(total // len(self.storage.all()))}")

    def express_revenue(self) -> int:
        return sum(price_of(p) for p in self.storage.all() if p.express)

    def late(self) -> None:
        for parcel in self.tracker.late():
            self.lines.append(f"late: {describe(parcel)}")
            self.lines.append(f"      {parcel.get_weight()} kg, last seen in {parcel.last_depot.upper()}")

    def heaviest(self) -> None:
        for parcel in self.storage.heavier_than("20000"):
            self.lines.append(f"heavy: {describe(parcel)}, {parcel.get_weight()} kg")

    def text(self) -> str:
        self.heading()
        self.totals()
        self.revenue()
        self.late()
        self.heaviest()
        return "\n".join(self.lines)


def to_csv(parcels: Iterable[Parcel]) -> str:
    out = io.StringIO()
    writer = csv.writer(out)
    writer.writerow(["number", "weight", "zip", "price"])
    for p in parcels:
        writer.writerow([p.number, p.get_weight(), p.recipient.zip, format_money(price_of(p))])
    return out.getvalue()


def main(path: str) -> None:
    storage = Storage(path)
    storage.load()
    print(Report(storage).text())
