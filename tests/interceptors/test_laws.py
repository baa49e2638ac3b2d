"""What holds for every kind of message in every form, whatever a server says."""

from __future__ import annotations

import copy
import json
from contextlib import suppress
from typing import Any

import attrs
import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import lspz
from lspz import CompressionConfig, Config, Limits
from lspz.codec import chain_for
from lspz.errors import CannotCompress, ConfigError, DecodeError
from lspz.formats import FORMATS
from lspz.interceptors import INTERCEPTORS
from lspz.interceptors.base import Direction, run_inline

from .. import keys
from ..payloads import PAYLOADS, items, uris

FORMS = ("compact", "toon", "text")
CASES = [(method, form) for method in PAYLOADS if method not in keys.LOCATIONS[1:] for form in FORMS]
each = pytest.mark.parametrize(("method", "form"), CASES, ids=[f"{m.split('/')[-1]}-{f}" for m, f in CASES])

few = settings(max_examples=max(settings().max_examples // 6, 1))
"""There are many cases of each law. `--hypothesis-profile deep` tries a hundred times as much."""

PLAIN = Config(fold_hover=False)

KEPT = ("message", "range", "severity", "code")

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


CAPPED = {
    keys.PUBLISH: ("max_diags", lambda value: len(value["diagnostics"])),
    keys.COMPLETION: ("max_completions", lambda value: len(value if isinstance(value, list) else value["items"])),
    keys.SYMBOLS: ("max_symbols", lambda value: len(keys.key(keys.SYMBOLS, value))),
    keys.WORKSPACE_SYMBOLS: ("max_symbols", len),
}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("method", CAPPED, ids=lambda method: method.split("/")[-1])
@given(data=st.data(), cap=st.integers(1, 4))
@few
def test_what_a_cap_leaves_out_is_counted(method: str, form: str, cap: int, data: Any) -> None:
    """What is kept and what is omitted are all there was, unless the original was shorter and went out."""
    limit, count = CAPPED[method]
    payload = data.draw(PAYLOADS[method])
    if payload is None:
        return
    written = lspz.compress(method, payload, format=form, config=Config(limits=Limits(**{limit: cap})))
    row = next(row for row in INTERCEPTORS if method in row.methods)
    model: Any = row.read(method, over_the_wire(written))
    if model is None:
        assert written == payload
        return
    left = count(model.to_lsp())
    assert left == min(cap, count(payload))
    assert left + model.omitted == count(payload)


@each
@given(data=st.data())
@few
def test_a_damaged_message_is_a_named_error_or_reads_as_something(method: str, form: str, data: Any) -> None:
    """Members that are missing or of another type, texts that were cut or changed: never any other exception.

    A text that was cut is always noticed.
    """
    payload = data.draw(PAYLOADS[method])
    written = over_the_wire(lspz.compress(method, payload, format=form, config=PLAIN))
    if not isinstance(written, dict):
        return
    inner = written["value"] if method == keys.PROGRESS else written
    if isinstance(inner.get("text"), str) and "format" in inner:
        text = inner["text"]
        at = data.draw(st.integers(0, max(len(text) - 1, 0)))
        how = data.draw(st.sampled_from(["cut", "swap", "drop"]))
        if how == "cut":
            inner["text"] = text[:at]
        else:
            inner["text"] = (
                text[:at] + (data.draw(st.sampled_from('x0:- \n"#$\t')) if how == "swap" else "") + text[at + 1 :]
            )
            inner["length"] = len(inner["text"])
        if how == "cut" and text:
            with pytest.raises(DecodeError):
                lspz.decompress(method, written)
            return
    else:
        damage(inner, data)
    with suppress(DecodeError):
        lspz.decompress(method, written)


def damage(value: Any, data: Any) -> None:
    """Change one thing somewhere in JSON."""
    places: list[tuple[Any, Any]] = []

    def walk(node: Any) -> None:
        for key, child in node.items() if isinstance(node, dict) else enumerate(node):
            places.append((node, key))
            if isinstance(child, dict | list):
                walk(child)

    walk(value)
    if not places:
        return
    node, key = data.draw(st.sampled_from(places))
    if isinstance(node, dict) and data.draw(st.booleans()):
        del node[key]
    else:
        node[key] = data.draw(st.sampled_from([None, True, -1, 1.5, "", "W", [], [1], {}, {"a": 1}, [[1, 2, 3]]]))


@given(data=st.data(), method=st.sampled_from(sorted(PAYLOADS)))
@few
def test_tokens_are_kept_to_by_leaving_out_whole_rows(data: Any, method: str) -> None:
    """Under a cap in tokens the message still decodes, and says how many it left out; nothing fits in one token."""
    payload = data.draw(PAYLOADS[method])
    for form in FORMS:
        config = Config(fold_hover=False, limits=Limits(max_tokens=30))
        lspz.decompress(method, over_the_wire(lspz.compress(method, payload, format=form, config=config)))


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
