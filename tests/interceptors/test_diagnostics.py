"""Diagnostics in compact and folded form: what repeats is said once, and nothing is lost."""

from __future__ import annotations

import json
import subprocess
import sys
from collections import Counter
from typing import Any

import attrs
import pytest
from hypothesis import given
from hypothesis import strategies as st
from lsprotocol import types

import lspz
from lspz import CompressionConfig, Config
from lspz.converters import get_converter
from lspz.errors import ConfigError, DecodeError, UnsupportedVersion

from .. import keys

PUBLISH = "textDocument/publishDiagnostics"
PULL = "textDocument/diagnostic"


def at(a: int, b: int, c: int, d: int) -> dict[str, Any]:
    return {"start": {"line": a, "character": b}, "end": {"line": c, "character": d}}


def config(**strategies: Any) -> Config:
    return Config(compression=CompressionConfig(**strategies))


UNUSED = {
    "severity": 2,
    "code": "unused_variables",
    "tags": [1],
    "source": "rust-analyzer",
    "message": "unused variable: `x`",
}
RUST = {
    "uri": "file:///path/to/file.rs",
    "diagnostics": [
        {"range": at(10, 5, 10, 15), **UNUSED},
        {"range": at(11, 5, 11, 15), **UNUSED},
        {
            "range": at(20, 0, 20, 10),
            "severity": 1,
            "code": "E0425",
            "source": "rust-analyzer",
            "message": "cannot find value `y` in this scope",
        },
    ],
}


def compact(payload: Any, method: str = PUBLISH, **strategies: Any) -> Any:
    return lspz.compress(method, payload, format="compact", config=config(**strategies))


def folded(payload: Any, method: str = PUBLISH, **strategies: Any) -> Any:
    return lspz.compress(method, payload, format="folded", config=config(**strategies))


def test_the_worked_example_comes_out_exactly() -> None:
    """The reference of the format, to the letter and in its key order."""
    assert json.dumps(compact(RUST), separators=(",", ":")) == (
        '{"version":1,"uri":"file:///path/to/file.rs","diagnostics":['
        '{"m":"unused variable: `x`","s":"W","r":[[10,5,10,15],[1,0,1,0]],"c":"unused_variables","t":"U","n":2},'
        '{"m":"cannot find value `y` in this scope","s":"E","r":[[20,0,20,10]],"c":"E0425"}]}'
    )
    three = {**RUST, "diagnostics": [{"range": at(line, 5, line, 15), **UNUSED} for line in (10, 11, 12)]}
    assert compact(three)["diagnostics"][0]["r"] == [[10, 5, 10, 15], [1, 0, 1, 0], [1, 0, 1, 0]]


def test_a_pulled_report_is_compressed_alike() -> None:
    """`resultId` stays, other members and related documents too; an unchanged report goes out as it is."""
    first = {**RUST, "diagnostics": RUST["diagnostics"][:1]}
    related = {"file:///b": {"kind": "full", "items": first["diagnostics"]}}
    report = {"kind": "full", "resultId": "7", "items": RUST["diagnostics"], "relatedDocuments": related, "vendor": 1}

    small = compact(report, PULL)

    assert small == {
        "version": 1,
        "kind": "full",
        "resultId": "7",
        "vendor": 1,
        "relatedDocuments": {"file:///b": {"kind": "full", "diagnostics": compact(first)["diagnostics"]}},
        "diagnostics": compact(RUST)["diagnostics"],
    }
    back = lspz.decompress(PULL, small)
    assert keys.key(PULL, back) == keys.key(PULL, report)
    assert (back["resultId"], back["vendor"], len(back["items"])) == ("7", 1, 3)
    unchanged = {"kind": "unchanged", "resultId": "7"}
    assert compact(unchanged, PULL) is unchanged


def test_entries_stand_in_order_of_first_appearance_and_ranges_are_sorted() -> None:
    """Whatever the server's order, each entry's ranges go down the file; two identical diagnostics stay two ranges."""
    one, two = dict(UNUSED, message="a" * 40), dict(UNUSED, message="b" * 40)
    payload = {
        "uri": "u",
        "diagnostics": [
            {"range": at(9, 0, 9, 1), **two},
            {"range": at(8, 0, 8, 1), **one},
            {"range": at(3, 0, 3, 1), **two},
            {"range": at(9, 0, 9, 1), **two},
        ],
    }

    entries = compact(payload, enable_range_delta=False)["diagnostics"]

    assert [(e["m"][0], e["r"]) for e in entries] == [
        ("b", [[3, 0, 3, 1], [9, 0, 9, 1], [9, 0, 9, 1]]),
        ("a", [[8, 0, 8, 1]]),
    ]


@pytest.mark.parametrize(
    ("member", "first", "second"),
    [
        ("message", "a", "b"),
        ("severity", 1, 2),
        ("severity", 1, None),
        ("code", 17, "17"),
        ("code", 0, None),
        ("code", "", None),
        ("tags", [1], [2]),
        ("message", {"kind": "markdown", "value": "a"}, "a"),
    ],
)
def test_what_differs_in_a_kept_field_is_not_merged(member: str, first: object, second: object) -> None:
    """17 and "17" are two codes, 0 and "" are codes, and no code equals no code."""
    same = {"message": "m", "source": "a source that is pruned", "data": "x" * 100}
    pair = [{"range": at(1, 0, 1, 1), **same, member: first}, {"range": at(2, 0, 2, 1), **same, member: second}]

    different = compact({"uri": "u", "diagnostics": [{k: v for k, v in d.items() if v is not None} for d in pair]})
    equal = compact({"uri": "u", "diagnostics": [pair[0], {**pair[0], "range": at(2, 0, 2, 1)}]})

    assert len(different["diagnostics"]) == 2
    assert len(equal["diagnostics"]) == 1


def test_what_the_specification_does_not_know_is_compressed_all_the_same() -> None:
    """Severity 9, tag 7 and a MarkupContent message survive; lsprotocol alone raises on the first."""
    odd = {
        "severity": 9,
        "tags": [1, 7],
        "code": 0,
        "message": {"kind": "markdown", "value": "Import `sys` may be unused"},
        "codeDescription": {"href": "https://example.org/" + "x" * 100},
    }
    payload = {"uri": "u", "diagnostics": [{"range": at(1, 2, 1, 3), **odd}, {"range": at(2, 2, 2, 3), **odd}]}

    small = compact(payload)

    assert small["diagnostics"] == [
        {
            "m": "Import `sys` may be unused",
            "s": 9,
            "r": [[1, 2, 1, 3], [1, 0, 1, 0]],
            "c": 0,
            "t": "U,7",
            "n": 2,
            "mk": "markdown",
        }
    ]
    assert lspz.decompress(PUBLISH, small)["diagnostics"][1] == {
        "range": at(2, 2, 2, 3),
        **{k: v for k, v in odd.items() if k != "codeDescription"},
    }
    (one,) = folded(payload)["diagnostics"]
    assert one["message"] == "Import `sys` may be unused (+1 more: 3:3)"
    assert (one["severity"], one["tags"]) == (9, [1, 7])


@pytest.mark.parametrize(
    "broken",
    [
        {"range": at(1, 0, 1, 1), "message": "m", "code": {"value": 1}},
        {"range": at(1, 0, 1, 1), "message": "m", "code": True},
        {"range": at(1, 0, 1, 1), "message": "m", "severity": "high"},
        {"range": at(1, 0, 1, 1), "message": "m", "tags": ["x"]},
        {"range": at(1, 0, 1, 1), "message": 5},
        {"range": at(1, 0, 1, 1)},
        {"message": "m"},
        {"range": {"start": {"line": 1}, "end": {}}, "message": "m"},
        {"range": at(1, 0, 1, "2"), "message": "m"},  # type: ignore[arg-type]
        "text",
    ],
)
@pytest.mark.parametrize("form", ["compact", "folded"])
@pytest.mark.parametrize("pruning", [True, False])
def test_what_the_form_cannot_hold_goes_out_as_it_came(broken: object, form: str, pruning: bool) -> None:
    """One such diagnostic keeps the whole list as the server wrote it."""
    payload = {"uri": "u", "diagnostics": [*RUST["diagnostics"], broken]}  # type: ignore[misc]

    out = lspz.compress(PUBLISH, payload, format=form, config=config(enable_field_pruning=pruning))

    assert out is payload


@pytest.mark.parametrize(
    "payload", [None, [], {"uri": "u"}, {"uri": "u", "diagnostics": {}}, {"uri": "u", "diagnostics": []}]
)
def test_what_is_no_list_of_diagnostics_goes_out_as_it_came(payload: object) -> None:
    """Empty lists and anything malformed."""
    assert compact(payload) is payload
    assert folded(payload) is payload


def test_a_kept_field_appears_under_its_lsp_name() -> None:
    """What `keep_fields` names is part of what makes two diagnostics equal; the rest is pruned."""
    other = {"range": at(12, 5, 12, 15), **UNUSED, "source": "clippy"}
    payload = {**RUST, "diagnostics": [*RUST["diagnostics"], other]}  # type: ignore[misc]

    entries = compact(payload, keep_fields=("message", "range", "source"))["diagnostics"]

    assert [(e["source"], len(e["r"])) for e in entries] == [("rust-analyzer", 2), ("rust-analyzer", 1), ("clippy", 1)]
    assert not {"s", "c"} & entries[0].keys()


def test_without_pruning_everything_comes_back() -> None:
    """Data, links, related information and members that LSP does not know: expanding gives the original."""
    full = {
        "message": "m",
        "severity": 1,
        "code": 12,
        "source": "s",
        "tags": [2],
        "relatedInformation": [{"location": {"uri": "file:///b", "range": at(0, 0, 0, 1)}, "message": ""}],
        "data": {"big": 123456789012345678901234567890, "float": 0.1, "null": None},
        "className": {"relativeRange": at(0, 0, 0, 1)},
        "codeDescription": {"href": "https://example.org", "vendor": 1},
    }
    payload = {
        "uri": "u",
        "version": 3,
        "isClear": True,
        "diagnostics": [{"range": at(n, 0, n, 1), **full} for n in range(3)],
    }

    small = compact(payload, enable_field_pruning=False)

    assert len(small["diagnostics"]) == 1
    assert lspz.decompress(PUBLISH, small) == payload
    nothing = {**full, "data": None, "relatedInformation": []}
    empty = {"uri": "u", "diagnostics": [{"range": at(n, 0, n, 1), **nothing} for n in range(3)]}
    assert lspz.decompress(PUBLISH, compact(empty, enable_field_pruning=False)) == empty
    (one,) = folded(payload, enable_field_pruning=False)["diagnostics"]
    one["codeDescription"]["vendor"] = 1  # the one thing that folding does not keep: what LSP's own members do not know
    assert one == {**full, "range": at(0, 0, 0, 1), "message": "m (+2 more: 2:1, 3:1)"}


def test_a_member_named_like_one_of_the_form_has_no_place() -> None:
    """A diagnostic's own `n` would be read as a count; the original goes out."""
    payload = {"uri": "u", "diagnostics": [{**d, "n": 5} for d in RUST["diagnostics"]]}  # type: ignore[dict-item]
    assert compact(payload, enable_field_pruning=False) is payload
    named = {**RUST, "format": "x"}
    assert compact(named) is named


def test_each_strategy_can_be_off_on_its_own() -> None:
    """No merging, numbers in place of letters, absolute ranges (which the params say)."""
    assert [e.get("n") for e in compact(RUST, enable_dedup=False)["diagnostics"]] == [None, None, None]
    numbers = compact(RUST, enable_enum_compression=False)["diagnostics"][0]
    assert (numbers["s"], numbers["t"]) == (2, [1])
    absolute = compact(RUST, enable_range_delta=False)
    assert absolute["delta"] is False
    assert absolute["diagnostics"][0]["r"] == [[10, 5, 10, 15], [11, 5, 11, 15]]


def test_folded_is_standard_lsp_and_names_every_position() -> None:
    """One diagnostic a group at its first position, the others in its message, counted from 1."""
    payload = {**RUST, "version": 4, "vendor": None}

    out = folded(payload)

    assert (out["uri"], out["version"]) == (RUST["uri"], 4)
    assert out["diagnostics"] == [
        {
            "range": at(10, 5, 10, 15),
            "message": "unused variable: `x` (+1 more: 12:6)",
            "severity": 2,
            "code": "unused_variables",
            "tags": [1],
        },
        {
            "range": at(20, 0, 20, 10),
            "message": "cannot find value `y` in this scope",
            "severity": 1,
            "code": "E0425",
        },
    ]
    assert lspz.decompress(PUBLISH, out) is out


def test_folded_does_not_merge_across_sources() -> None:
    """Two linters that say the same stay two, though the source is pruned."""
    pair = [{"range": at(n, 0, n, 1), **UNUSED, "source": s} for n, s in enumerate(("a", "b"))]
    assert len(folded({"uri": "u", "diagnostics": pair})["diagnostics"]) == 2


SMALL = st.integers(0, 40)
DIAGNOSTIC = st.fixed_dictionaries(
    {
        "range": st.builds(at, SMALL, SMALL, SMALL, SMALL),
        "message": st.one_of(
            st.sampled_from(["same", "`x` (+1 more: 2:3)"]),
            st.text(st.characters(codec="utf-8"), max_size=8),
            st.builds(
                lambda kind, value: {"kind": kind, "value": value},
                st.sampled_from(["markdown", "plaintext"]),
                st.text(st.characters(codec="utf-8"), max_size=3),
            ),
        ),
    },
    optional={
        "severity": st.one_of(st.integers(1, 4), st.integers(-1, 9)),
        "code": st.one_of(st.integers(), st.sampled_from([0, 17, "17", "", "E1"])),
        "tags": st.lists(st.integers(0, 5), max_size=3),
        "source": st.sampled_from(["a", "b"]),
        "data": st.one_of(st.integers(), st.dictionaries(st.text(max_size=2), st.integers(), max_size=2)),
        "codeDescription": st.just({"href": "https://example.org"}),
        "vendor": st.sampled_from([0, False, "x"]),
    },
)
STRATEGIES = st.builds(
    CompressionConfig,
    enable_dedup=st.booleans(),
    enable_field_pruning=st.booleans(),
    enable_enum_compression=st.booleans(),
    enable_range_delta=st.booleans(),
    keep_fields=st.sets(st.sampled_from(["severity", "code", "source", "data"])).map(
        lambda more: ("message", "range", *sorted(more))
    ),
)


def key(diagnostic: dict[str, Any], strategies: CompressionConfig) -> str:
    """All of a diagnostic that must survive."""
    kept = {
        name: value
        for name, value in diagnostic.items()
        if name == "tags" or strategies.kept is None or name in strategies.kept
    }
    if not kept.get("tags"):
        kept.pop("tags", None)
    return json.dumps(kept, sort_keys=True)


@given(st.lists(DIAGNOSTIC, max_size=12), STRATEGIES, st.sampled_from([PUBLISH, PULL]))
def test_nothing_is_lost(diagnostics: list[dict[str, Any]], strategies: CompressionConfig, method: str) -> None:
    """The law: the multiset of diagnostics, with every kept field, is the same before and after."""
    member = "diagnostics" if method == PUBLISH else "items"
    payload = {"uri": "u"} if method == PUBLISH else {"kind": "full"}
    payload = {**payload, member: diagnostics}  # type: ignore[dict-item]

    small = lspz.compress(method, payload, config=Config(compression=strategies))
    back = lspz.decompress(method, small)

    assert Counter(key(d, strategies) for d in back[member]) == Counter(key(d, strategies) for d in diagnostics)
    assert len(json.dumps(small)) <= len(json.dumps(payload))


@given(st.lists(DIAGNOSTIC, max_size=12), STRATEGIES)
def test_folded_is_always_readable_and_complete(
    diagnostics: list[dict[str, Any]], strategies: CompressionConfig
) -> None:
    """Every folded message structures as lsprotocol's type, and as many positions are named as there were."""
    payload = {"uri": "u", "diagnostics": diagnostics}

    out = lspz.compress(PUBLISH, payload, format="folded", config=Config(compression=strategies))

    read = get_converter().structure(out, types.PublishDiagnosticsParams)
    named: Counter[tuple[int, int]] = Counter()
    originals = Counter((d["range"]["start"]["line"], d["range"]["start"]["character"]) for d in diagnostics)
    for d in read.diagnostics:
        named[d.range.start.line, d.range.start.character] += 1
        text = d.message if isinstance(d.message, str) else d.message.value
        if len(read.diagnostics) < len(diagnostics) and " more: " in text:
            for place in text.rpartition(" more: ")[2].rstrip(")").split(", "):
                line, _, character = place.partition(":")
                named[int(line) - 1, int(character) - 1] += 1
    assert originals <= named


@given(
    st.lists(DIAGNOSTIC, min_size=1, max_size=12),
    st.sampled_from([PUBLISH, PULL]),
    st.sampled_from(["compact", "folded"]),
)
def test_both_readings_give_the_same_bytes(diagnostics: list[dict[str, Any]], method: str, form: str) -> None:
    """msgspec's reading of the core members and lsprotocol's types lead to the same output."""
    from lspz.interceptors.base import Direction, run_inline
    from lspz.interceptors.chain import Chain
    from lspz.interceptors.diagnostics import DiagnosticsCompressor

    class Wide(DiagnosticsCompressor):
        def reader(self, method: str) -> None:
            return None

    payload = {"uri": "u", "diagnostics": diagnostics} if method == PUBLISH else {"kind": "full", "items": diagnostics}
    raw = json.dumps(payload).encode()
    fast = run_inline(Chain([DiagnosticsCompressor(form)], get_converter).run(method, raw, Direction.TO_CLIENT))
    wide = run_inline(Chain([Wide(form)], get_converter).run(method, raw, Direction.TO_CLIENT))

    assert fast is not None
    assert wide is not None
    assert json.loads(fast) == json.loads(wide)


@pytest.mark.parametrize(
    ("change", "path", "reason"),
    [
        ({"version": 2}, "version", "newer"),
        ({"version": 0}, "version", "no format version 0"),
        ({"version": "1"}, "version", "right type"),
        ({"uri": 5}, "uri", "right type"),
        ({"delta": 0}, "delta", "true or false"),
        ({"diagnostics": [{"m": "x", "r": [[0, 0, 0]]}]}, "diagnostics[0].r[0]", "four integers"),
        ({"diagnostics": [{"m": "x", "r": [[0, 0, 0, True]]}]}, "diagnostics[0].r[0]", "four integers"),
        ({"diagnostics": [{"m": "x", "r": []}]}, "diagnostics[0].r", "at least one"),
        ({"diagnostics": [{"r": [[0, 0, 0, 0]]}]}, "diagnostics[0].m", "is missing"),
        ({"diagnostics": [{"m": "x", "r": [[0, 0, 0, 0]], "n": 2}]}, "diagnostics[0].n", "1 ranges"),
        ({"diagnostics": [{"m": "x", "r": [[0, 0, 0, 0], [1, 0, 1, 0]]}]}, "diagnostics[0].n", "2 ranges"),
        ({"diagnostics": [{"m": "x", "r": [[0, 0, 0, 0]], "s": "X"}]}, "diagnostics[0].s", "one of E, W, I, H"),
        ({"diagnostics": [{"m": "x", "r": [[0, 0, 0, 0]], "t": "Q"}]}, "diagnostics[0].t", "tags"),
        ({"diagnostics": [{"m": "x", "r": [[0, 0, 0, 0]], "c": 1.5}]}, "diagnostics[0].c", "string or an integer"),
        ({"diagnostics": [{"m": "x", "r": [[0, 0, 0, 0]], "mk": "html"}]}, "diagnostics[0].mk", "markdown"),
        ({"diagnostics": [{"m": "x", "r": [[0, 0, 0, 0]]}, 5]}, "diagnostics[1]", "object"),
    ],
)
def test_a_damaged_message_is_refused_with_position_and_reason(change: dict[str, Any], path: str, reason: str) -> None:
    """Never a wrong value, never a guess."""
    with pytest.raises(DecodeError) as caught:
        lspz.decompress(PUBLISH, {**compact(RUST), **change})

    assert caught.value.path == path
    assert reason in caught.value.reason
    assert isinstance(caught.value, UnsupportedVersion) == (reason == "newer")


def test_related_documents_keep_their_diagnostics() -> None:
    """Also where a report's kind is empty, as gopls has it; and in a process that has read nothing before."""
    related = {"file:///b": {"kind": "", "resultId": "x", "items": RUST["diagnostics"]}}
    report = {"kind": "full", "items": RUST["diagnostics"], "relatedDocuments": related}
    code = "import json, sys, lspz\nprint(json.dumps(lspz.compress('textDocument/diagnostic', json.load(sys.stdin))))\n"
    done = subprocess.run(
        [sys.executable, "-c", code], input=json.dumps(report), capture_output=True, text=True, check=True
    )
    small = json.loads(done.stdout)
    assert small == compact(report, PULL)
    assert keys.key(PULL, lspz.decompress(PULL, small)) == keys.key(PULL, report)


def test_plain_lsp_is_told_from_compact() -> None:
    """`version` alone is the document's; plain params and reports come back as they are."""
    for odd in ({"uri": "u", "diagnostics": [], "kind": 1}, {"uri": "u", "diagnostics": [{"r": 1, "range": 2}]}):
        assert lspz.decompress(PUBLISH, odd) is odd
    plain = {"uri": "u", "version": 1, "diagnostics": RUST["diagnostics"]}
    assert lspz.decompress(PUBLISH, plain) is plain
    report = {"kind": "full", "items": []}
    assert lspz.decompress(PULL, report) is report
    assert lspz.decompress("textDocument/hover", {"diagnostics": []}) == {"diagnostics": []}


def test_the_model_reads_as_what_it_means() -> None:
    """Library users get names, absolute ranges and counts; `expand` gives lsprotocol's types."""
    model = get_converter().structure(compact(RUST), lspz.CompactDiagnosticsParams)

    first = model.diagnostics[0]
    assert (first.message, first.severity, first.tags, first.count) == ("unused variable: `x`", 2, (1,), 2)
    assert first.ranges == ((10, 5, 10, 15), (11, 5, 11, 15))
    expanded = model.expand()
    assert isinstance(expanded, types.PublishDiagnosticsParams)
    assert expanded.diagnostics[1].range.start == types.Position(11, 5)
    assert expanded.diagnostics[0].severity is types.DiagnosticSeverity.Warning
    with pytest.raises(attrs.exceptions.FrozenInstanceError):
        first.message = "other"  # type: ignore[misc]


def test_wrong_arguments_are_named() -> None:
    """A form or field that does not exist is refused with what is allowed."""
    with pytest.raises(ConfigError, match="format='zip': must be one of passthrough, folded, compact"):
        lspz.compress(PUBLISH, RUST, format="zip")
    with pytest.raises(ConfigError, match=r"keep_fields='message': must hold message and range"):
        CompressionConfig(keep_fields=("message",))
    with pytest.raises(ConfigError, match="colour"):
        CompressionConfig(keep_fields=("message", "range", "colour"))
