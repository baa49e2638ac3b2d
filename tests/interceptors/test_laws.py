"""What holds for every kind of message in every form, whatever a server says."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import attrs
import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from lsprotocol import types
from lsprotocol.converters import get_converter

import lspz
from lspz import CompressionConfig, Config, Limits
from lspz.codec import chain_for
from lspz.errors import CannotCompress, ConfigError
from lspz.formats import FORMATS
from lspz.interceptors import INTERCEPTORS
from lspz.interceptors.base import Direction, run_inline

from .. import keys
from ..payloads import PAYLOADS, items, uris

FORMS = ("compact", "toon", "text")
CASES = [(method, form) for method in PAYLOADS if method not in keys.LOCATIONS[1:] for form in FORMS]
each = pytest.mark.parametrize(("method", "form"), CASES, ids=[f"{m.split('/')[-1]}-{f}" for m, f in CASES])

few = settings(max_examples=max(settings().max_examples // 16, 1))
"""There are many cases of each law. `--hypothesis-profile deep` tries a hundred times as much."""

PLAIN = Config(fold_hover=False)

STANDARD = get_converter()

switches = st.builds(
    CompressionConfig,
    enable_dedup=st.booleans(),
    enable_enum_compression=st.booleans(),
    enable_range_delta=st.booleans(),
    keep_fields=st.sampled_from(
        [("message", "range", "severity", "code"), ("message", "range", "severity", "code", "data")]
    ),
)


def size(value: Any) -> int:
    return len(json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "surrogatepass"))


def compress(method: str, payload: Any, form: str, config: Config) -> Any:
    """As `lspz.compress`, but nothing is caught except what a form has no place for."""
    chain = chain_for(attrs.evolve(config, enable_diag_compress=None), form)
    with suppress(CannotCompress, UnicodeEncodeError):
        raw = msgspec.json.encode(payload)
        written = run_inline(chain.run(method, raw, Direction.TO_CLIENT))
        assert written is not None
        return json.loads(written)
    return payload


def over_the_wire(value: Any) -> Any:
    return json.loads(json.dumps(value))


def test_every_method_has_payloads() -> None:
    """A new kind of message gets its strategy, and so all laws."""
    assert set(PAYLOADS) == {method for row in INTERCEPTORS for method in row.methods} == set(keys.METHODS)


@each
@given(data=st.data())
@few
def test_decoding_gives_back_what_must_survive(method: str, form: str, data: Any) -> None:
    """For any message, under any switches; never larger; and the message itself is left alone."""
    payload = data.draw(PAYLOADS[method])
    config = Config(fold_hover=False, compression=data.draw(switches))
    before = copy.deepcopy(payload)
    written = compress(method, payload, form, config)

    assert payload == before
    assert size(written) <= size(payload)
    assert keys.key(method, lspz.decompress(method, over_the_wire(written))) == keys.key(method, payload)


@pytest.mark.parametrize("method", keys.LOCATIONS[1:])
@given(data=st.data())
@few
def test_all_ways_to_ask_for_locations_are_alike(method: str, data: Any) -> None:
    """The method makes no difference."""
    payload = data.draw(PAYLOADS[method])
    for form in FORMS:
        written = lspz.compress(method, payload, format=form)
        assert written == lspz.compress(keys.REFERENCES, payload, format=form)
        assert keys.key(method, lspz.decompress(method, written)) == keys.key(method, payload)


MEMBERS = ("message", "range", "source", "data", "codeDescription", "relatedInformation")


@pytest.mark.parametrize("form", FORMS)
@given(
    params=PAYLOADS[keys.PUBLISH],
    fields=st.lists(st.sampled_from([*MEMBERS[2:], "severity", "code"]), unique=True),
    prunes=st.booleans(),
    merges=st.booleans(),
)
@few
def test_the_members_that_are_kept_survive(
    form: str, params: Any, fields: list[str], prunes: bool, merges: bool
) -> None:
    """Each of them, as it came; what is pruned is gone from what was rewritten; without pruning nothing goes."""
    strategies = CompressionConfig(
        keep_fields=("message", "range", *fields), enable_field_pruning=prunes, enable_dedup=merges
    )
    written = compress(keys.PUBLISH, params, form, Config(compression=strategies))
    back = lspz.decompress(keys.PUBLISH, over_the_wire(written))

    def said(diagnostics: list[Any]) -> list[str]:
        stays = ("message", "range", "tags", *fields)
        return sorted(
            json.dumps(
                {k: v for k, v in d.items() if v not in (None, []) and (k in stays or not prunes)}, sort_keys=True
            )
            for d in diagnostics
        )

    assert said(back["diagnostics"]) == said(params["diagnostics"])
    if prunes and written != params:
        assert all(d.keys() <= {"message", "range", "tags", *fields} for d in back["diagnostics"])


@given(data=st.data(), method=st.sampled_from(sorted(PAYLOADS)), form=st.sampled_from(sorted(FORMATS)))
@few
def test_what_has_no_utf8_goes_out_as_it_came(method: str, form: str, data: Any) -> None:
    """A lone surrogate in any text: no form can write it, and none tries."""
    payload = data.draw(PAYLOADS[method])
    spoilt = spoil(payload)
    if spoilt != payload:
        assert lspz.compress(method, spoilt, format=form) is spoilt


def spoil(value: Any) -> Any:
    """JSON with half a character behind every text."""
    if isinstance(value, str):
        return f"{value}\ud800"
    if isinstance(value, dict):
        return {name: spoil(member) for name, member in value.items()}
    return [spoil(member) for member in value] if isinstance(value, list) else value


@given(items)
@few
def test_folded_diagnostics_are_one_a_group(found: list[Any]) -> None:
    """The first place of each group as its range, the others in its message; all else that is kept is as it was.

    What lsprotocol reads it still reads.
    """
    params = {"uri": "file:///p/a.py", "version": 3, "diagnostics": found}
    written = lspz.compress(keys.PUBLISH, params, format="folded")
    groups: dict[Any, list[Any]] = {}
    for d in found:
        groups.setdefault((*keys.diagnostic(d)[1:], d.get("source")), []).append(d)
    expected = []
    for group in groups.values():
        first, *others = sorted(keys.span(d["range"]) for d in group)
        severity, code, _, text, _, tags = keys.diagnostic(group[0])[1:]
        more = f" (+{len(others)} more: {', '.join(f'{a + 1}:{b + 1}' for a, b, _, _ in others)})" if others else ""
        expected.append((first, severity, code, text + more, tags))

    assert (written["uri"], written["version"]) == ("file:///p/a.py", 3)
    if written != params:
        assert [
            (keys.span(d["range"]), d.get("severity"), d.get("code"), d["message"], tuple(d.get("tags") or ()))
            for d in written["diagnostics"]
        ] == expected
        assert all(d.keys() <= {"range", "severity", "code", "message", "tags"} for d in written["diagnostics"])
    try:
        STANDARD.structure(params, types.PublishDiagnosticsParams)
    except Exception:
        return
    STANDARD.structure(written, types.PublishDiagnosticsParams)


@pytest.mark.parametrize("method", [m for m in PAYLOADS if m not in keys.LOCATIONS[1:]])
@given(data=st.data())
@few
def test_folded_is_plain_lsp(method: str, data: Any) -> None:
    """Whatever is folded can be read as what it was; kinds that are not folded come back as they are."""
    payload = data.draw(PAYLOADS[method])
    written = lspz.compress(method, payload, format="folded", config=Config(fold_hover=False))
    assert lspz.decompress(method, written) is written
    assert size(written) <= size(payload)
    if method not in (keys.PUBLISH, keys.PULL, keys.WORKSPACE, keys.PROGRESS):
        assert keys.key(method, written) == keys.key(method, payload)


def worst(diagnostics: list[Any], cap: int) -> list[Any]:
    """By severity, without one as errors, then by place."""
    return sorted(diagnostics, key=lambda d: (d.get("severity") or 1, *keys.span(d["range"])[:2]))[:cap]


def worst_of(report: Any, cap: int) -> Any:
    """The worst of what each document of a report has."""
    out = {**report, "items": worst(report["items"], cap)} if "items" in report else report
    related = report.get("relatedDocuments") or {}
    return {**out, "relatedDocuments": {uri: worst_of(other, cap) for uri, other in related.items()}}


def preferred(answer: Any, cap: int) -> Any:
    """Preselected items, then by `sortText`, which is the label where there is none; in the server's order."""
    whole = {"items": answer} if isinstance(answer, list) else answer

    def rank(at: int) -> Any:
        item = whole["items"][at]
        return (not item.get("preselect"), item.get("sortText") or item["label"])

    best = sorted(sorted(range(len(whole["items"])), key=rank)[:cap])
    cut = {**whole, "isIncomplete": True, "items": [whole["items"][at] for at in best]}
    return keys.key(keys.COMPLETION, cut if len(best) < len(whole["items"]) else answer)


CAPPED: dict[str, tuple[str, Callable[[Any, int], Any]]] = {
    keys.PUBLISH: (
        "max_diags",
        lambda params, cap: keys.key(keys.PUBLISH, {**params, "diagnostics": worst(params["diagnostics"], cap)}),
    ),
    keys.PULL: ("max_diags", lambda report, cap: keys.report(worst_of(report, cap))),
    keys.WORKSPACE: (
        "max_diags",
        lambda report, cap: keys.workspace({"items": [worst_of(item, cap) for item in report["items"]]}),
    ),
    keys.COMPLETION: ("max_completions", preferred),
    keys.SYMBOLS: ("max_symbols", lambda answer, cap: keys.key(keys.SYMBOLS, answer)[:cap]),
    keys.WORKSPACE_SYMBOLS: ("max_symbols", lambda answer, cap: keys.key(keys.WORKSPACE_SYMBOLS, answer[:cap])),
}
"""The limit, and what must survive of the rows that it leaves."""

HUGE = 1_000_000


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("method", CAPPED, ids=lambda method: method.split("/")[-1])
@given(data=st.data(), cap=st.integers(1, 4))
@few
def test_a_cap_leaves_the_best_and_counts_the_others(method: str, form: str, cap: int, data: Any) -> None:
    """What is kept and what is omitted are all there was, unless the original was shorter and went out."""
    limit, best = CAPPED[method]
    payload = data.draw(PAYLOADS[method])
    left, whole = (
        read(method, over_the_wire(compress(method, payload, form, Config(limits=Limits(**{limit: most})))))
        for most in (cap, HUGE)
    )
    if left is None or whole is None:
        return
    assert keys.key(method, left.to_lsp()) == best(payload, cap)
    for some, all_ in zip(counted(left), counted(whole), strict=True):
        assert sum(some) == sum(all_)
        assert all_[1] == 0


def counted(model: Any) -> list[tuple[int, int]]:
    """How many rows a model has and how many it leaves out; of a workspace, in each file."""
    if not hasattr(model, "files"):
        return [(model.size, model.omitted)]
    return [(sum(len(e.ranges) for e in file.diagnostics or ()), file.omitted) for file in model.files]


@pytest.mark.parametrize("form", FORMS)
@given(
    params=PAYLOADS[keys.PUBLISH],
    least=st.integers(1, 4),
    sources=st.lists(st.sampled_from(["lint", "types"]), max_size=1),
    codes=st.lists(st.sampled_from(["0", "1", "", "a"]), max_size=2),
)
@few
def test_what_is_filtered_is_counted(form: str, params: Any, least: int, sources: list[str], codes: list[str]) -> None:
    """Diagnostics that are too mild, or of a source or code nobody wants, are gone, and the message says how many."""
    limits = Limits(min_severity=least, ignore_sources=tuple(sources), ignore_codes=tuple(codes))
    model = read(keys.PUBLISH, over_the_wire(compress(keys.PUBLISH, params, form, Config(limits=limits))))
    if model is None:
        return
    left = [
        d
        for d in params["diagnostics"]
        if (d.get("severity") or 1) <= least
        and d.get("source") not in sources
        and (d.get("code") is None or str(d["code"]) not in codes)
    ]
    assert keys.key(keys.PUBLISH, model.to_lsp()) == keys.key(keys.PUBLISH, {**params, "diagnostics": left})
    assert model.filtered == len(params["diagnostics"]) - len(left)


def read(method: str, written: Any) -> Any:
    """The model of a message, None where the original went out."""
    return next(row for row in INTERCEPTORS if method in row.methods).read(method, written)


@given(data=st.data(), cap=st.integers(1, 4))
@few
def test_a_cap_is_kept_to_in_plain_lsp(cap: int, data: Any) -> None:
    """Folded: the last message says how many are not shown, and a list that was cut is incomplete."""
    params = data.draw(PAYLOADS[keys.PUBLISH])
    left_out = max(len(params["diagnostics"]) - cap, 0)
    written = compress(keys.PUBLISH, params, "folded", Config(limits=Limits(max_diags=cap)))
    if written != params and left_out:
        assert written["diagnostics"][-1]["message"].endswith(f" ({left_out} more not shown)")

    answer = data.draw(PAYLOADS[keys.COMPLETION])
    cut = compress(keys.COMPLETION, answer, "folded", Config(limits=Limits(max_completions=cap)))
    assert cut == answer or len(cut["items"]) == cap
    if answer is not None and size(cut) < size(answer):
        assert keys.key(keys.COMPLETION, cut) == preferred(answer, cap)


@pytest.mark.parametrize("form", FORMS)
@given(data=st.data(), method=st.sampled_from(sorted(PAYLOADS)), tokens=st.integers(1, 60))
@few
def test_tokens_are_kept_to_by_leaving_out_whole_rows(method: str, form: str, data: Any, tokens: int) -> None:
    """Under a cap in tokens a message still decodes, and rows that are left and that are omitted are all there were."""
    payload = data.draw(PAYLOADS[method])
    whole = read(method, over_the_wire(compress(method, payload, form, PLAIN)))
    capped = Config(fold_hover=False, limits=Limits(max_tokens=tokens))
    left = read(method, over_the_wire(compress(method, payload, form, capped)))
    if whole is not None and hasattr(whole, "omitted"):
        assert left.size + left.omitted == whole.size


@pytest.mark.parametrize("form", FORMS)
@given(files=st.dictionaries(uris, items, max_size=4), switched=switches)
@few
def test_files_together_say_what_each_says(form: str, files: dict[str, Any], switched: CompressionConfig) -> None:
    """Grouped over all files; text leaves out files without diagnostics."""
    try:
        written = lspz.compress_files(files, format=form, config=Config(compression=switched))
    except (CannotCompress, UnicodeEncodeError):
        return
    back = lspz.decompress(keys.WORKSPACE, over_the_wire(written))["items"]
    found = {file["uri"]: keys.diagnostics(file["items"]) for file in back}
    assert len(found) == len(back)
    assert found == {uri: keys.diagnostics(list_) for uri, list_ in files.items() if list_ or form != "text"}


def test_one_mistake_in_many_files_is_said_once() -> None:
    """With its place in each; what a cap left out is counted over all."""
    place = {"start": {"line": 4, "character": 0}, "end": {"line": 4, "character": 5}}
    missing = {"range": place, "severity": 1, "message": '"total" is not a known attribute'}
    files = {f"file:///project/src/{name}.py": [missing] * 3 for name in ("a", "b", "c")}
    config = Config(limits=Limits(max_diags=2))

    assert lspz.compress_files(files, config=config)["text"] == (
        'in file:///project/src/\nerror: "total" is not a known attribute\n'
        "@ a.py\n5:1,1\n@ b.py\n5:1,1\n@ c.py\n5:1,1\nomitted 3"
    )
    assert lspz.compress_files({}, format="text")["text"] == "clean"
    with pytest.raises(ConfigError, match="must be one of compact, toon, text"):
        lspz.compress_files(files, format="folded")


def test_the_forms_are_those_that_there_are() -> None:
    """A new form is held to all laws."""
    assert set(FORMATS) == {"passthrough", "folded", *FORMS}
