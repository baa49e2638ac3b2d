"""cattrs converters: lsprotocol's types as servers really send them, and lspz's compact types.

`get_converter()` is lsprotocol's converter, tuned (no detailed validation, hand-written readers for diagnostics) and
widened: a MarkupContent message stays one, unknown severities and tags stay integers, unknown members of diagnostics
survive. `client_converter_factory` is for a pygls client whose server is lspz::

    client = LanguageClient("agent", "1", converter_factory=lspz.converters.client_converter_factory)

Its publish handler and its awaited answers then receive lspz's compact type or lsprotocol's, whichever came.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, Union

import attrs
import cattrs
from lsprotocol import converters, types

from .formats.spelling import Decoded
from .interceptors import INTERCEPTORS, wide
from .interceptors.reports import CompactDiagnosticReport, CompactDiagnosticsParams

__all__ = ["client_converter_factory", "get_converter"]

_Report = Union[types.RelatedFullDocumentDiagnosticReport, types.RelatedUnchangedDocumentDiagnosticReport]  # noqa: UP007


_READERS: dict[type, Callable[[Any], Any]] = {
    types.Range: wide.read_range,
    types.Diagnostic: wide.read_diagnostic,
    types.PublishDiagnosticsParams: wide.read_params,
    types.RelatedFullDocumentDiagnosticReport: wide.read_full_report,
    CompactDiagnosticsParams: CompactDiagnosticsParams.from_compact,
    CompactDiagnosticReport: CompactDiagnosticReport.from_compact,
}

_WRITERS: dict[type, Callable[[Any], Any]] = {
    types.Diagnostic: wide.write_diagnostic,
    types.PublishDiagnosticsParams: wide.write_params,
    types.RelatedFullDocumentDiagnosticReport: wide.write_full_report,
    CompactDiagnosticsParams: CompactDiagnosticsParams.to_compact,
    CompactDiagnosticReport: CompactDiagnosticReport.to_compact,
}


def get_converter(converter: cattrs.Converter | None = None) -> cattrs.Converter:
    """lsprotocol's converter, tuned and widened, with the compact types; or add all that to `converter`."""
    c = converters.get_converter(converter or cattrs.Converter(detailed_validation=False))

    for type_, read in _READERS.items():
        c.register_structure_hook(type_, _hook(read))
    c.register_structure_hook(_Report, lambda value, _: _read_report(c, value))
    notebook = attrs.fields(types.NotebookDocumentFilterWithCells).notebook.type
    c.register_structure_hook(notebook, lambda value, _: _read_notebook_filter(c, value))
    for type_, write in _WRITERS.items():
        c.register_unstructure_hook(type_, write)
    return c


def _hook(read: Callable[[Any], Any]) -> Callable[[Any, type], Any]:
    return lambda value, _: read(value)


def _read_report(converter: cattrs.Converter, value: Any) -> Any:
    if value is None:
        return None
    if wide.is_full(value):
        return wide.read_full_report(value)
    return converter.structure(value, types.RelatedUnchangedDocumentDiagnosticReport)


def _read_notebook_filter(converter: cattrs.Converter, value: Any) -> Any:
    """What ruff's capabilities hold, and lsprotocol has no reader for."""
    if not isinstance(value, dict):
        return value
    type_: Any = types.NotebookDocumentFilterPattern
    if "notebookType" in value:
        type_ = types.NotebookDocumentFilterNotebookType
    elif "scheme" in value:
        type_ = types.NotebookDocumentFilterScheme
    return converter.structure(value, type_)


def client_converter_factory() -> cattrs.Converter:
    """The converter for a pygls (or pytest-lsp) client of lspz; pass it as `converter_factory`."""
    from pygls.protocol import default_converter

    c = get_converter(default_converter())  # type: ignore[no-untyped-call]
    for row in INTERCEPTORS:
        for method in row.methods:
            message, answer = types.METHOD_TO_TYPES[method][:2]
            if answer is None:
                _read_ours(c, message, "params", partial(row.read, method))
            else:
                _read_ours(c, answer, "result", partial(row.read, method))
    return c


def _read_ours(c: cattrs.Converter, type_: Any, member: str, read: Callable[[Any], Decoded | None]) -> None:
    """Let messages of a type hold lspz's model where one of its forms came."""
    read_plain = c.get_structure_hook(type_)

    def structure(value: Any, _: type) -> Any:
        model = read(value.get(member))
        if model is None:
            return read_plain(value, type_)
        return type_(**{member: model}, **({"id": value["id"]} if "id" in value else {}))

    c.register_structure_hook(type_, structure)
