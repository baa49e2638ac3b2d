"""Pulled diagnostics of several servers as one report: none is ever taken for another's, none for "clean"."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import msgspec

from .answers import Answer
from .publishing import Diagnostics

Raw = msgspec.Raw


class _Report(msgspec.Struct):
    kind: str = "full"
    items: list[Raw] = []
    relatedDocuments: dict[str, Raw] = {}
    uri: str = ""
    version: int | None = None


class _Workspace(msgspec.Struct):
    items: list[_Report]


def fresh(params: Mapping[str, Raw], identifier: str | None) -> dict[str, Any]:
    """The params of a pull for one server: it answers in full, as itself.

    Result ids of one server mean nothing in a report of several, so none is given and none is sent.
    """
    left: dict[str, Any] = {
        name: value
        for name, value in params.items()
        if name not in ("previousResultId", "previousResultIds", "identifier", "partialResultToken", "workDoneToken")
    }
    if "previousResultIds" in params:
        left["previousResultIds"] = []
    return left if identifier is None else {**left, "identifier": identifier}


def document_report(answers: Sequence[Answer], uri: str, diagnostics: Diagnostics) -> Any:
    """A `DocumentDiagnosticReport` of all servers."""
    touched: dict[str, None] = {}
    for answer in answers:
        report = msgspec.json.decode(answer.result, type=_Report)
        _take(answer.server, uri, report, diagnostics)
        for related, about in report.relatedDocuments.items():
            _take(answer.server, related, msgspec.json.decode(about, type=_Report), diagnostics)
            touched[related] = None
    related_reports = {name: {"kind": "full", "items": diagnostics.known(name)} for name in touched}
    whole: dict[str, Any] = {"kind": "full", "items": diagnostics.known(uri)}
    return whole | ({"relatedDocuments": related_reports} if related_reports else {})


def workspace_report(answers: Sequence[Answer], diagnostics: Diagnostics) -> Any:
    """A `WorkspaceDiagnosticReport` of all servers."""
    versions: dict[str, int | None] = {}
    for server, report in _reports(answers):
        _take(server, report.uri, report, diagnostics)
        versions[report.uri] = report.version
    return {
        "items": [
            {"kind": "full", "uri": uri, "version": version, "items": diagnostics.known(uri)}
            for uri, version in versions.items()
        ]
    }


def _take(server: int, uri: str, report: _Report, diagnostics: Diagnostics) -> None:
    """Keep a report, unless it says that nothing has changed."""
    if report.kind == "full":
        diagnostics.pulled(server, uri, report.items)


def _reports(answers: Sequence[Answer]) -> Iterator[tuple[int, _Report]]:
    for answer in answers:
        for report in msgspec.json.decode(answer.result, type=_Workspace).items:
            yield answer.server, report
