"""What diagnostics share is said once: the grouping behind every form (formats.md §1), and folding (§5)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import msgspec

from ..errors import CannotCompress
from .core import CORE_FIELDS, CoreDiagnostic, FullDiagnostic, make_range
from .diagnostics_json import ENTRY
from .entries import CompactDiagnostic, Span
from .strategies import CompressionConfig, Limits


class Group(NamedTuple):
    """Diagnostics that are equal but for their range."""

    first: Any
    """The first of them in the server's order: of lsprotocol's `Diagnostic`, or a mirror of it."""
    message: str
    markup: str | None
    severity: int | None
    code: int | str | None
    tags: tuple[int, ...]
    fields: dict[str, Any]
    spans: list[Span]


def group(diagnostics: Iterable[Any], strategies: CompressionConfig, by_source: bool = False) -> list[Group]:
    """Merge what is equal, in order of first appearance (formats.md §1.1).

    Raises CannotCompress for what no form has a place for: a code that is neither string nor integer, and the like.
    """
    keep = strategies.kept
    with_fields = strategies.keeps_more
    with_severity, with_code = keep is None or "severity" in keep, keep is None or "code" in keep
    merging = strategies.enable_dedup
    groups: dict[Any, Group] = {}
    fields: dict[str, Any] = {}
    for d in diagnostics:
        start, end = d.range.start, d.range.end
        span = (start.line, start.character, end.line, end.character)
        message: Any = d.message
        markup = None
        if type(message) is not str:
            message, markup = message.value, _text(message.kind)
        severity: Any = d.severity if with_severity else None
        if severity is not None:
            severity = _integer("severity", severity)
        code = d.code if with_code else None
        if code is not None and type(code) is not str and type(code) is not int:
            raise CannotCompress(f"a code that is neither string nor integer: {code!r}")
        tags = tuple([_integer("tag", tag) for tag in d.tags]) if d.tags else ()
        key: Any = (message, markup, severity, code, tags)
        if with_fields:
            fields = _kept_fields(d, keep)
            key = (key, msgspec.json.encode(fields))
        if by_source:
            key = (key, d.source)
        if not merging:
            key = len(groups)
        known = groups.get(key)
        if known is None:
            groups[key] = Group(d, message, markup, severity, code, tags, fields, [span])
        else:
            known.spans.append(span)
    for found in groups.values():
        if len(found.spans) > 1:
            found.spans.sort()
    return list(groups.values())


def _original(d: Any) -> dict[str, Any]:
    """All members of a diagnostic that came whole, as JSON."""
    if isinstance(d, FullDiagnostic):
        return d.original
    from . import wide

    return wide.write_diagnostic(d)


def _kept_fields(d: Any, keep: frozenset[str] | None) -> dict[str, Any]:
    fields = {
        name: value
        for name, value in _original(d).items()
        if name not in CORE_FIELDS and (keep is None or name in keep)
    }
    if not ENTRY.isdisjoint(fields):
        raise CannotCompress(f"a member named like one of the compact form: {ENTRY & fields.keys()}")
    return fields


def _text(kind: Any) -> str:
    text: str = kind if type(kind) is str else kind.value
    return text


def _integer(what: str, value: Any) -> int:
    if isinstance(value, int) and not isinstance(value, bool):
        return int(value)
    raise CannotCompress(f"a {what} that is not an integer: {value!r}")


def compact(diagnostics: Iterable[Any], strategies: CompressionConfig) -> tuple[CompactDiagnostic, ...]:
    """The entries of a list of diagnostics, lsprotocol's or mirrors of them. Raises CannotCompress."""
    return tuple(
        [
            CompactDiagnostic(message, tuple(spans), severity, code, tags, markup, fields)
            for _, message, markup, severity, code, tags, fields, spans in group(diagnostics, strategies)
        ]
    )


def fold(diagnostics: Sequence[Any], strategies: CompressionConfig, limits: Limits) -> list[Any]:
    """One diagnostic a group, the positions of the others in its message, 1-based (formats.md §5).

    What the limits leave out is counted at the end of the last message. What is returned is JSON to msgspec. Raises
    CannotCompress.
    """
    kept, omitted, filtered = select(diagnostics, limits)
    groups = group(kept, strategies, by_source=True)
    left_out = [f"{omitted} more not shown"] if omitted else []
    left_out += [f"{filtered} filtered"] if filtered else []
    closing = f" ({', '.join(left_out)})" if left_out else ""
    keep, whole = strategies.kept, strategies.keeps_more
    return [_folded(found, keep, whole, closing if found is groups[-1] else "") for found in groups]


def folded_message(found: Group) -> str:
    """The message of a group's one diagnostic."""
    others = found.spans[1:]
    if not others:
        return found.message
    places = ", ".join([f"{line + 1}:{character + 1}" for line, character, _, _ in others])
    return f"{found.message} (+{len(others)} more: {places})"


def _folded(found: Group, keep: frozenset[str] | None, whole: bool, left_out: str) -> Any:
    """The one diagnostic of a group; `whole`: with members that not every form has a place for, those in `keep`."""
    first, message = make_range(found.spans[0]), folded_message(found) + left_out
    if not whole:
        return CoreDiagnostic(first, message, found.severity, found.code, found.first.tags)
    kept = {name: v for name, v in _original(found.first).items() if keep is None or name in keep or name == "tags"}
    return {**kept, "range": first, "message": message}


# What is left out


class Selection(NamedTuple):
    """What the limits leave of a list of diagnostics, in its order, and how many they do not."""

    kept: Sequence[Any]
    omitted: int
    filtered: int


def select(diagnostics: Sequence[Any], limits: Limits) -> Selection:
    """Apply filters, then the cap: the worst stay, then those further up. Without a severity they count as errors."""
    kept: Sequence[Any] = diagnostics
    if limits.filters:
        kept = [d for d in diagnostics if not _is_filtered(d, limits)]
    filtered = len(diagnostics) - len(kept)
    if not limits.max_diags or len(kept) <= limits.max_diags:
        return Selection(kept, 0, filtered)

    def rank(index: int) -> tuple[int, int, int]:
        start = kept[index].range.start
        return (kept[index].severity or 1, start.line, start.character)

    first = sorted(sorted(range(len(kept)), key=rank)[: limits.max_diags])
    return Selection([kept[i] for i in first], len(kept) - len(first), filtered)


def _is_filtered(d: Any, limits: Limits) -> bool:
    return (
        (d.severity or 1) > limits.min_severity
        or (d.source is not None and d.source in limits.ignore_sources)
        or (d.code is not None and str(d.code) in limits.ignore_codes)
    )
