"""Puts the server's own diagnostics back into `textDocument/codeAction` requests."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import msgspec

from ..errors import LspzError
from ..interceptors import core, diagnostics_json, grouping
from ..interceptors.entries import Span
from ..interceptors.lsp import span_of

if TYPE_CHECKING:
    from ..interceptors.strategies import CompressionConfig
    from .originals import Originals

Raw = msgspec.Raw


def restore(body: bytes, originals: Originals, strategies: CompressionConfig) -> bytes:
    """A `textDocument/codeAction` request with the server's own diagnostics in its context.

    Each diagnostic in folded or compact form is replaced by the original it was made from; originals that touch the
    requested range but were folded into another's message are added. Everything else of the request keeps its bytes;
    the very `body` comes back when there is nothing to put back.
    """
    outer = msgspec.json.decode(body, type=dict[str, Raw])
    params = msgspec.json.decode(outer["params"], type=dict[str, Raw])
    context = msgspec.json.decode(params["context"], type=dict[str, Raw])
    sent = msgspec.json.decode(context["diagnostics"], type=list[Raw])
    uri = msgspec.json.decode(params["textDocument"], type=_Document).uri
    requested = span_of(_decode_range(params["range"]))
    restored = _Restorer(originals.of(uri), strategies).restore(sent, requested)
    if restored is None:
        return body
    context["diagnostics"] = Raw(msgspec.json.encode(restored))
    params["context"] = Raw(msgspec.json.encode(context))
    outer["params"] = Raw(msgspec.json.encode(params))
    return msgspec.json.encode(outer)


class _Document(msgspec.Struct):
    uri: str


def _read(raw: list[Raw], strategies: CompressionConfig) -> list[Any]:
    """Diagnostics with all that groups are told apart by; only what the core reading has no place for needs more."""
    if not strategies.keeps_more:
        with suppress(msgspec.ValidationError):
            return [_decode_core(item) for item in raw]
    from ..interceptors import wide  # lsprotocol's types, which take longest to load

    return [wide.read_diagnostic(msgspec.json.decode(item)) for item in raw]


_decode_core = msgspec.json.Decoder(core.CoreDiagnostic).decode
_decode_range = msgspec.json.Decoder(core.CoreRange).decode


def _touches(span: Span, requested: Span) -> bool:
    return span[:2] <= requested[2:] and requested[:2] <= span[2:]


class _Restorer:
    """Finds originals by what the client may have made of them."""

    def __init__(self, raw: list[Raw], strategies: CompressionConfig) -> None:
        self._raw = raw
        self._delta = strategies.enable_range_delta
        self._spans: list[Span] = []
        self._plain: dict[tuple[Span, str], list[int]] = {}
        self._folded: dict[tuple[Span, str], list[int]] = {}
        self._hidden: list[int] = []  # those whose position stands in another's message
        read = _read(raw, strategies)
        for i, d in enumerate(read):
            self._spans.append(span_of(d.range))
            self._plain.setdefault((self._spans[i], _text(d.message)), []).append(i)
        for found in grouping.group(read, strategies, by_source=True):
            if len(found.spans) > 1:
                places = ((span, found.message) for span in found.spans)
                members = list(dict.fromkeys(i for place in places for i in self._plain[place]))
                self._folded[found.spans[0], grouping.folded_message(found)] = members
                self._hidden += members[1:]

    def restore(self, sent: Iterable[Raw], requested: Span) -> list[Raw] | None:
        """The diagnostics to send in place of those the client sent; None when they are the same."""
        out: list[Raw] = []
        used: set[int] = set()
        for item in sent:
            found = [i for i in self._find(msgspec.json.decode(item), requested) if i not in used]
            used.update(found)
            out += [self._raw[i] for i in found] or [item]
        hidden = dict.fromkeys(i for i in self._hidden if i not in used and _touches(self._spans[i], requested))
        out += [self._raw[i] for i in hidden]
        return out if used or hidden else None

    def _find(self, value: Any, requested: Span) -> list[int]:
        """The originals that one diagnostic of the client's stands for."""
        if "r" in value and "m" in value:
            return self._find_entry(value, requested)
        span, message = span_of(msgspec.convert(value["range"], core.CoreRange)), value["message"]
        text = message if isinstance(message, str) else message["value"]
        if (span, text) in self._folded:
            members = self._folded[span, text]
            return [i for i in members if _touches(self._spans[i], requested)] or members[:1]
        return self._same_code(self._plain.get((span, text), []), value.get("code"))

    def _find_entry(self, entry: Any, requested: Span) -> list[int]:
        """The originals of a compact entry: those that touch the requested range, else all."""
        try:
            read = diagnostics_json.read_entry(entry, self._delta)
        except LspzError:
            return []
        found = [
            i for span in read.ranges for i in self._same_code(self._plain.get((span, read.message), []), read.code)
        ]
        return [i for i in found if _touches(self._spans[i], requested)] or found

    def _same_code(self, candidates: list[int], code: object) -> list[int]:
        """Of originals at one place with one message the one with the client's code, else the first."""
        if len(candidates) < 2:
            return candidates
        for i in candidates:
            if msgspec.json.decode(self._raw[i]).get("code") == code:
                return [i]
        return candidates[:1]


def _text(message: Any) -> str:
    text: str = message if type(message) is str else message.value
    return text
