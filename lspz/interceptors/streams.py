"""Streams of numbered reports, of which only what changed is said: who sends them, and who reads them (formats.md §6).

A stream is what one server says about one document in one way, pushed or pulled. Two servers are two senders.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping
from typing import Any, NamedTuple

import attrs
import msgspec

from ..errors import ConfigError, DecodeError, ReportLost
from ..formats import spelling
from ..wire.uris import uri_key
from . import PUBLISH
from . import diagnostics as kind
from .compressor import fitting
from .entries import CompactDiagnostic
from .increments import Increment, changes
from .reports import CompactDiagnosticReport, CompactDiagnosticsParams, size_of
from .strategies import CompressionConfig, Limits

FORMS = ("compact", "text")
"""The forms that can say what changed."""

MAX_DIAGNOSTICS = 500_000
"""Diagnostics that are remembered over all streams, at some hundred bytes each. Those of the stream that said nothing
for longest are forgotten first; its next report is full."""

MANY = 16
"""Diagnostics that take more room in any form than to say that they are kept, or where lines move from."""

Key = tuple[str, str]
"""A method, and a URI in its one spelling."""


class _Last(NamedTuple):
    """What both ends have of a stream."""

    report: int
    """The last report's number."""
    diagnostics: tuple[CompactDiagnostic, ...] | None
    """What it said; None when the next one must be full."""


class _Streams(OrderedDict[Key, _Last]):
    """The last report of each stream, the one that said nothing for longest first."""

    def __init__(self) -> None:
        super().__init__()
        self._size = 0

    def number(self, key: Key) -> int:
        """The last report's number, 0 before the first."""
        return self[key].report if key in self else 0

    def put(self, key: Key, report: int, diagnostics: tuple[CompactDiagnostic, ...] | None) -> None:
        """Remember a report."""
        self.drop(key)
        self[key] = _Last(report, diagnostics)
        self._size += size_of(diagnostics or ())
        for oldest in list(self):
            if self._size <= MAX_DIAGNOSTICS:
                break
            self._size -= size_of(self[oldest].diagnostics or ())
            self[oldest] = _Last(self[oldest].report, None)

    def drop(self, key: Key) -> None:
        """Forget a stream."""
        last = self.pop(key, None)
        if last is not None:
            self._size -= size_of(last.diagnostics or ())


class DiagnosticsSender:
    """Writes diagnostics for one client that reads them with a `DiagnosticsReceiver`."""

    def __init__(
        self,
        form: str = "text",
        strategies: CompressionConfig | None = None,
        limits: Limits | None = None,
    ) -> None:
        if form not in FORMS:
            raise ConfigError(f"form={form!r}: only {' and '.join(FORMS)} can say what changed")
        self._compressor = kind.DiagnosticsCompressor(
            form, strategies or CompressionConfig(), limits=limits or Limits()
        )
        self._form = form
        self._streams = _Streams()

    def send(self, method: str, payload: Any, uri: str = "") -> Any:
        """What goes out in place of `payload`: params or a report, plain JSON like what is returned.

        `uri` is the document of a pulled report; pushed params say it themselves. What cannot be written, or would
        become larger, comes back as it is, and counts as a full report.
        """
        try:
            raw = msgspec.json.encode(payload)
            written = self.write(method, raw, uri)
        except Exception:
            if method == PUBLISH:
                uri = _member(payload, "uri")
            self._count(_key(method, uri))
            return payload
        return payload if written is raw else msgspec.json.decode(written)

    def write(self, method: str, raw: bytes, uri: str = "") -> bytes:
        """The same from bytes to bytes; `raw` itself where that goes out.

        Raises CannotCompress and msgspec.MsgspecError for what has no place in the form: `pass_on` the original then.
        """
        model = self._compressor.model(method, raw)
        if model is None:  # unchanged or null: no report
            return raw
        key = _key(method, getattr(model, "uri", uri))
        model = fitting(model, self._form, self._compressor.limits.max_tokens)
        number = self._streams.number(key) + 1
        written = self._shortest(key, attrs.evolve(model, report=number))
        if len(written) >= len(raw):
            self._streams.put(key, number, None)
            return raw
        self._streams.put(key, number, model.diagnostics if _can_be_compared(model) else None)
        return written

    def pass_on(self, method: str, raw: bytes, uri: str = "") -> None:
        """The original goes out; the receiver counts it as a full report, unless it is null or `unchanged`.

        Raises msgspec.MsgspecError when it does not even say which document it is about.
        """
        if method == PUBLISH:
            uri = msgspec.json.decode(raw, type=_Published).uri
        elif _is_no_report(msgspec.json.decode(raw)):
            return
        self._count(_key(method, uri))

    def forget(self, uri: str) -> None:
        """The next reports on a document are full, pushed and pulled."""
        for key in [key for key in self._streams if key[1] == uri_key(uri)]:
            self._streams.put(key, self._streams.number(key), None)

    def _count(self, key: Key) -> None:
        self._streams.put(key, self._streams.number(key) + 1, None)

    def _shortest(self, key: Key, model: CompactDiagnosticsParams | CompactDiagnosticReport) -> bytes:
        """The full report, or what changed if that is shorter."""
        before = self._streams[key].diagnostics if key in self._streams else None
        if not before or not model.diagnostics or not _can_be_compared(model):
            return self._spell(model)
        assert model.report is not None
        increments = [
            Increment(
                report=model.report,
                uri=getattr(model, "uri", None),
                document_version=getattr(model, "document_version", None),
                result_id=getattr(model, "result_id", None),
                omitted=model.omitted,
                filtered=model.filtered,
                **change,
            )
            for change in changes(before, model.diagnostics)
        ]
        likeliest = increments[-1]
        if likeliest.only_moves and model.size >= MANY * (1 + len(likeliest.moved)):
            return self._spell(likeliest)
        return min(map(self._spell, [model, *increments]), key=len)

    def _spell(self, model: spelling.Spelled) -> bytes:
        return msgspec.json.encode(spelling.write(model, self._form))


def _can_be_compared(model: CompactDiagnosticsParams | CompactDiagnosticReport) -> bool:
    """Whether an increment has a place for all that a report says."""
    related = getattr(model, "related", ())
    return not model.unknown and not related and not any(entry.fields for entry in model.diagnostics)


class DiagnosticsReceiver:
    """Reads what a `DiagnosticsSender` wrote, or lspz for a client that asked for what changed."""

    def __init__(self) -> None:
        self._streams = _Streams()

    def receive(self, method: str, value: Any, uri: str = "") -> Any:
        """The whole params or report for what came; `uri` is a pulled report's document.

        Plain JSON is answered in plain JSON, standard LSP, and what a converter for clients of lspz read
        (`converters.client_converter_factory`) in lsprotocol's types.

        Raises ReportLost when reports before it did not arrive: ask for the document's `lspz/original`, after which
        the next report is full. Raises DecodeError for a damaged message, whose stream is then lost, too.
        """
        if _is_no_report(value):
            return value
        if method == PUBLISH:
            uri = _member(value, "uri")
        key = _key(method, uri)
        try:
            report = value if isinstance(value, _MODELS) else kind.read(method, value)
            if report is not None and (getattr(report, "uri", None) or "") != (uri if method == PUBLISH else ""):
                raise DecodeError("text", "is about another document")
        except DecodeError:
            self._streams.drop(key)
            raise
        if report is None:
            self._streams.put(key, self._streams.number(key) + 1, None)
            return value
        if isinstance(report, Increment):
            report = self._apply(key, uri, report)
        number = self._streams.number(key) + 1 if report.report is None else report.report
        self._streams.put(key, number, report.diagnostics)
        return report.to_lsp() if isinstance(value, Mapping) else report.expand()

    def _apply(self, key: Key, uri: str, change: Increment) -> CompactDiagnosticsParams | CompactDiagnosticReport:
        last = self._streams.get(key)
        if last is None or last.diagnostics is None or last.report != change.report - 1:
            self._streams.drop(key)
            raise ReportLost(uri, f"report {change.report} follows one that did not arrive")
        try:
            diagnostics = change.apply(last.diagnostics)
        except ValueError as error:
            self._streams.drop(key)
            raise ReportLost(uri, f"report {change.report} is about others: {error}") from None
        shared: dict[str, Any] = {
            "diagnostics": diagnostics,
            "omitted": change.omitted,
            "filtered": change.filtered,
            "report": change.report,
        }
        if change.uri is None:
            return CompactDiagnosticReport(result_id=change.result_id, **shared)
        return CompactDiagnosticsParams(uri=change.uri, document_version=change.document_version, **shared)


_MODELS = (Increment, CompactDiagnosticsParams, CompactDiagnosticReport)


def _member(value: Any, name: str) -> str:
    """A member of JSON or of lsprotocol's types; nothing when it is missing or no string."""
    member = value.get(name) if isinstance(value, Mapping) else getattr(value, name, None)
    return member if isinstance(member, str) else ""


def _is_no_report(value: Any) -> bool:
    """Whether an answer says nothing of a stream's diagnostics: null, or that they are unchanged."""
    return not (isinstance(value, Mapping) or attrs.has(type(value))) or _member(value, "kind") == "unchanged"


def _key(method: str, uri: str) -> Key:
    return (method, uri_key(uri))


class _Published(msgspec.Struct):
    uri: str
