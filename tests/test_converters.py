"""A pygls client of lspz gets typed values, whichever form came, and no future stays open."""

from __future__ import annotations

import json
from typing import Any

import pytest
from lsprotocol import types
from pygls.lsp.client import LanguageClient

import lspz
from lspz.converters import client_converter_factory, get_converter

PUBLISH = "textDocument/publishDiagnostics"
PULL = "textDocument/diagnostic"
ONE = {
    "range": {"start": {"line": 1, "character": 2}, "end": {"line": 1, "character": 3}},
    "severity": 9,
    "code": 17,
    "tags": [1, 7],
    "source": "server",
    "message": {"kind": "markdown", "value": "a message that is long enough to be worth it"},
    "data": {"x": 1},
    "vendor": True,
}
PARAMS = {"uri": "file:///a", "version": 3, "diagnostics": [ONE, ONE]}
REPORT = {"kind": "full", "resultId": "r", "items": [ONE, ONE]}
FORMS = ["passthrough", "folded", "compact"]


class Written:
    """What a pygls client writes."""

    def __init__(self) -> None:
        self.bodies: list[dict[str, Any]] = []

    def write(self, data: bytes) -> None:
        self.bodies.append(json.loads(data.partition(b"\r\n\r\n")[2]))

    def close(self) -> None: ...


def receive(client: LanguageClient, message: dict[str, Any]) -> None:
    """As pygls' own loop does."""
    body = json.dumps({"jsonrpc": "2.0", **message})
    client.protocol.handle_message(json.loads(body, object_hook=client.protocol.structure_message))


@pytest.mark.parametrize("form", FORMS)
def test_the_publish_handler_gets_the_type_that_came(form: str) -> None:
    """lspz's compact type, or lsprotocol's; nothing of it is lost."""
    client = LanguageClient("agent", "1", converter_factory=client_converter_factory)
    got: list[Any] = []
    client.feature(PUBLISH)(lambda params: got.append(params))

    receive(client, {"method": PUBLISH, "params": lspz.compress(PUBLISH, PARAMS, format=form)})

    (params,) = got
    expected = lspz.CompactDiagnosticsParams if form == "compact" else types.PublishDiagnosticsParams
    assert isinstance(params, expected)
    first = (params.expand() if form == "compact" else params).diagnostics[0]
    assert (first.severity, first.code) == (9, 17)
    assert first.tags == [types.DiagnosticTag.Unnecessary, 7]
    assert first.range.start == types.Position(1, 2)


@pytest.mark.parametrize("form", FORMS)
async def test_an_awaited_report_always_arrives(form: str) -> None:
    """Full in every form, unchanged, null, and an error: each resolves the future."""
    client = LanguageClient("agent", "1", converter_factory=client_converter_factory)
    written = Written()
    client.protocol.set_writer(written)
    results = [lspz.compress(PULL, REPORT, format=form), {"kind": "unchanged", "resultId": "r"}, None]
    got = []
    for result in results:
        question = types.DocumentDiagnosticParams(types.TextDocumentIdentifier("file:///a"))
        future = client.protocol.send_request(PULL, question)
        receive(client, {"id": written.bodies[-1]["id"], "result": result})
        got.append(future.result(0))

    full, unchanged, null = got
    expected = lspz.CompactDiagnosticReport if form == "compact" else types.RelatedFullDocumentDiagnosticReport
    assert isinstance(full, expected)
    assert full.result_id == "r"
    assert isinstance(unchanged, types.RelatedUnchangedDocumentDiagnosticReport)
    assert null is None


def test_the_converter_goes_both_ways() -> None:
    """Plain and compact values come back as the JSON they were read from."""
    converter = get_converter()
    plain = converter.structure(PARAMS, types.PublishDiagnosticsParams)
    assert isinstance(plain.diagnostics[0].message, types.MarkupContent)
    assert converter.unstructure(plain) == PARAMS
    report = converter.structure(REPORT, types.RelatedFullDocumentDiagnosticReport)
    assert converter.unstructure(report) == REPORT
    for type_, method, payload in (
        (lspz.CompactDiagnosticsParams, PUBLISH, PARAMS),
        (lspz.CompactDiagnosticReport, PULL, REPORT),
    ):
        small = lspz.compress(method, payload)
        assert json.loads(json.dumps(converter.unstructure(converter.structure(small, type_)))) == small


def test_capabilities_of_ruff_can_be_read() -> None:
    """lsprotocol's own converter has no reader for a notebook filter in a selector."""
    selector = [{"notebook": {"notebookType": "jupyter"}, "cells": [{"language": "python"}]}, {"notebook": "*"}]
    result = {"capabilities": {"notebookDocumentSync": {"notebookSelector": selector}}}

    read = client_converter_factory().structure(result, types.InitializeResult)

    sync = read.capabilities.notebook_document_sync
    assert isinstance(sync, types.NotebookDocumentSyncOptions)
    assert sync.notebook_selector[0].notebook == types.NotebookDocumentFilterNotebookType("jupyter")


def test_a_position_out_of_range_does_not_break_a_client() -> None:
    """Servers send -1 and 2147483648; a reader that raises would lose the whole list."""
    odd = {"start": {"line": -1, "character": 0}, "end": {"line": 2**31, "character": 2**32}}
    read = get_converter().structure({"range": odd, "message": "m"}, types.Diagnostic)
    assert (read.range.start.line, read.range.end.line) == (-1, 2**31)
