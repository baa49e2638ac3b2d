"""Only what changed: reports as differences, sent and read (text_format.md §7)."""

from __future__ import annotations

import json
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from lsprotocol import types

import lspz
from lspz import DiagnosticsReceiver, DiagnosticsSender, Limits
from lspz.errors import ConfigError, DecodeError, ReportLost
from lspz.interceptors import streams
from lspz.interceptors.increments import Increment

from .. import keys
from ..payloads import text, uris

PUBLISH = "textDocument/publishDiagnostics"
PULL = "textDocument/diagnostic"
URI = "file:///project/app.py"
FORMS = ["text", "compact"]


def diagnostic(line: int, message: str = "`os` imported but unused", character: int = 7, **more: Any) -> dict[str, Any]:
    """On one line (0-based), nine characters long."""
    place = {"start": {"line": line, "character": character}, "end": {"line": line, "character": character + 9}}
    return {"range": place, "severity": 2, "code": "unused-import", "message": message, **more}


def params(*diagnostics: Any, version: int | None = None, uri: str = URI) -> dict[str, Any]:
    return {"uri": uri, **({} if version is None else {"version": version}), "diagnostics": list(diagnostics)}


def name(line: int, character: int, what: str, **more: Any) -> dict[str, Any]:
    """A diagnostic about a name, whose range is as long as that."""
    place = {"start": {"line": line, "character": character}, "end": {"line": line, "character": character + len(what)}}
    return {"range": place, **more}


def says(method: str, value: Any) -> Any:
    return keys.key(method, value)


def test_the_worked_example() -> None:
    """What is gone, kept, moved and new; nothing changed; clean: as text_format.md §7 has it."""
    unused = {"severity": 2, "code": "unused-import", "tags": [1]}

    def named(line: int, what: str) -> dict[str, Any]:
        text = f"`{what}` imported but unused\n\nhelp: Remove unused import: `{what}`"
        return name(line, 7, what, message=text, **unused)

    words = "Undefined attribute|Line too long|Missing docstring|Bad indentation|No newline|Shadows a name|Unreachable"
    others = [diagnostic(10 + i, said, 80, code=said.split()[0]) for i, said in enumerate(words.split("|"))]
    lower = [json.loads(json.dumps(other)) for other in others]
    for other in lower:
        for end in ("start", "end"):
            other["range"][end]["line"] += 1
    undefined = name(4, 0, "foo", severity=1, code="undefined-name", message="Undefined name `foo`")
    sender, receiver = DiagnosticsSender("text"), DiagnosticsReceiver()

    def sent(*diagnostics: Any, version: int) -> str:
        said = params(*diagnostics, version=version)
        got = sender.send(PUBLISH, said)
        assert says(PUBLISH, receiver.receive(PUBLISH, got)) == says(PUBLISH, said)
        return str(got.get("text", "")) or "as it came"

    assert sent(named(2, "os"), *others, version=4).startswith(f"{URI} v4 #1\nwarning unused-import unnecessary\n3:8 ")
    assert sent(undefined, *lower, version=5) == (
        f"{URI} v5 #2: 7 kept\n"
        "gone\n"
        "warning unused-import unnecessary\n"
        "3:8 `os` imported but unused\n\n help: Remove unused import: `os`\n"
        "moved +1 from 11\n"
        "new\n"
        "error undefined-name\n"
        "5:1 Undefined name `foo`"
    )
    assert sent(undefined, *lower, version=6) == f"{URI} v6 #3: 8 kept"
    assert sent(version=7) == "as it came", "an empty list is shorter than any text"
    assert sent(undefined, *lower, version=8).startswith(f"{URI} v8 #5\n"), "after an original everything is said"


def test_the_compact_form() -> None:
    """The same in JSON: report, kept, gone, moved, add."""
    sender = DiagnosticsSender("compact")
    there = [diagnostic(line, f"line too long ({line})") for line in range(10, 14)]
    moved = [diagnostic(line + 2, f"line too long ({line})") for line in range(10, 14)]
    first = sender.send(PUBLISH, params(diagnostic(3), *there))
    second = sender.send(PUBLISH, params(diagnostic(5, "new"), *moved, version=2))

    assert first["report"] == 1
    assert second == {
        "version": 1,
        "uri": URI,
        "documentVersion": 2,
        "report": 2,
        "kept": 4,
        "gone": [{"m": "`os` imported but unused", "s": "W", "r": [[3, 7, 3, 16]], "c": "unused-import"}],
        "moved": [[10, 2]],
        "add": [{"m": "new", "s": "W", "r": [[5, 7, 5, 16]], "c": "unused-import"}],
    }


def test_a_pulled_report_is_about_the_document_asked_for() -> None:
    """Each document is a stream, and pulling is another than pushing; `resultId` comes with each report."""
    sender, receiver = DiagnosticsSender("text"), DiagnosticsReceiver()
    items = [diagnostic(line, f"number {line}") for line in range(5)]

    def pull(uri: str, result: str, *found: Any) -> tuple[Any, Any]:
        report = {"kind": "full", "resultId": result, "items": list(found)}
        got = sender.send(PULL, report, uri)
        back = receiver.receive(PULL, got, uri)
        assert says(PULL, back) == says(PULL, report)
        return got, back

    sender.send(PUBLISH, params(*items))
    pull("file:///a", "1", *items)
    pull("file:///b", "1", *items)
    got, back = pull("file:///a", "2", *items[1:])
    assert got["text"].startswith('full "2" #2: 4 kept\ngone\n')
    assert back["resultId"] == "2"
    unchanged = {"kind": "unchanged", "resultId": "2"}
    assert sender.send(PULL, unchanged, "file:///a") == receiver.receive(PULL, unchanged, "file:///a") == unchanged
    got, _ = pull("file:///a", "3", *items[1:])
    assert got["text"] == 'full "3" #3: 4 kept', "an unchanged report has no number"
    assert receiver.receive(PULL, None, "file:///a") is None


def test_a_document_may_be_called_like_a_pulled_report() -> None:
    """Its name stands in quotes then."""
    sender, receiver = DiagnosticsSender("text"), DiagnosticsReceiver()
    items = [diagnostic(line, f"number {line}") for line in range(5)]
    for version, said in enumerate([items, items[1:]]):
        sent = params(*said, version=version, uri="full")
        got = sender.send(PUBLISH, sent)
        assert says(PUBLISH, receiver.receive(PUBLISH, got)) == says(PUBLISH, sent)
    assert got["text"].startswith('"full" v1 #2: 4 kept')


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("moves", range(9))
def test_a_change_is_never_longer_than_a_full_report(form: str, moves: int) -> None:
    """Also of the shortest diagnostics there are, one a line, all equal, when lines moved and nothing else did."""

    def places(lines: list[int]) -> dict[str, Any]:
        return params(*(name(line, 0, "", severity=1, message="") for line in lines))

    changes = 0
    for count in range(1, 160, 3):
        step = count // (moves + 1) + 1
        sender = DiagnosticsSender(form)
        sender.send(PUBLISH, places(list(range(count))))
        after = places([line + min(line // step, moves) for line in range(count)])
        told, full = sender.send(PUBLISH, after), DiagnosticsSender(form).send(PUBLISH, after)
        assert len(json.dumps(told)) <= len(json.dumps(full))
        changes += " kept" in told.get("text", "") or "kept" in told
    assert changes


@pytest.mark.parametrize("form", FORMS)
def test_a_lost_report_is_noticed(form: str) -> None:
    """The reader says whose report it is and what to do, and reads nothing more until a full one comes."""
    sender, receiver = DiagnosticsSender(form), DiagnosticsReceiver()
    lists = [params(*(diagnostic(line, f"message {line}") for line in range(n, n + 9))) for n in range(5)]
    receiver.receive(PUBLISH, sender.send(PUBLISH, lists[0]))
    sender.send(PUBLISH, lists[1])
    for lost in lists[2:4]:
        with pytest.raises(ReportLost, match=r"file:///project/app\.py.*lspz/original") as caught:
            receiver.receive(PUBLISH, sender.send(PUBLISH, lost))
        assert caught.value.uri == URI
    sender.forget("file:///project/%61pp.py")
    assert says(PUBLISH, receiver.receive(PUBLISH, sender.send(PUBLISH, lists[4]))) == says(PUBLISH, lists[4])


@pytest.mark.parametrize("form", FORMS)
def test_a_report_on_others_is_noticed(form: str) -> None:
    """A reader that has other diagnostics under the same number: what is gone is not there, or what is kept is not."""
    sender, other, receiver = DiagnosticsSender(form), DiagnosticsSender(form), DiagnosticsReceiver()
    sender.send(PUBLISH, params(*(diagnostic(line, f"message {line}") for line in range(9))))
    receiver.receive(PUBLISH, other.send(PUBLISH, params(*(diagnostic(line, "others") for line in range(7)))))
    change = sender.send(PUBLISH, params(*(diagnostic(line, f"message {line}") for line in range(1, 9))))
    with pytest.raises(ReportLost, match="are kept where 8 should be"):
        receiver.receive(PUBLISH, change)


@pytest.mark.parametrize("form", FORMS)
def test_what_has_no_place_in_a_form_goes_out_as_it_came_and_counts(form: str) -> None:
    """Both ends count it, and the report after it is full."""
    sender, receiver = DiagnosticsSender(form), DiagnosticsReceiver()
    many = params(*(diagnostic(line, f"message {line}") for line in range(9)))
    odd = params(diagnostic(1, code=1.5))
    unknown = {**many, "isClear": False}
    read = []
    for said in (many, odd, many, many, unknown, many, many):
        got = sender.send(PUBLISH, said)
        assert says(PUBLISH, receiver.receive(PUBLISH, got)) == says(PUBLISH, said)
        read.append("kept" in json.dumps(got))
    assert read == [False, False, False, True, False, False, True]


def test_a_reader_without_memory_says_who_can_read_it() -> None:
    """`decompress` knows no earlier report."""
    for form in FORMS:
        sender = DiagnosticsSender(form)
        many = params(*(diagnostic(line, f"message {line}") for line in range(9)))
        full, change = sender.send(PUBLISH, many), sender.send(PUBLISH, many)
        assert says(PUBLISH, lspz.decompress(PUBLISH, full)) == says(PUBLISH, many)
        with pytest.raises(DecodeError, match="DiagnosticsReceiver"):
            lspz.decompress(PUBLISH, change)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize(
    "odd",
    [
        None,
        {"diagnostics": []},
        {"uri": 5, "diagnostics": []},
        params({"message": 1}),
        params(diagnostic(1, "\ud800")),
    ],
)
def test_what_cannot_be_written_comes_back_as_it_is(form: str, odd: Any) -> None:
    """Whatever it is, on both ends; and where it says of which document it is, both count it."""
    sender, receiver = DiagnosticsSender(form), DiagnosticsReceiver()
    many = params(*(diagnostic(line, f"message {line}") for line in range(9)))
    for said in (many, odd, many, many):
        got = sender.send(PUBLISH, said)
        assert got is said or said is many
        back = receiver.receive(PUBLISH, got)
        assert back is odd if said is odd else says(PUBLISH, back) == says(PUBLISH, many)


@pytest.mark.parametrize("form", FORMS)
def test_a_client_with_a_converter_gets_its_types(form: str) -> None:
    """What lspz's converter for pygls clients read of a message is read by a receiver, and an original as it is."""
    converter = lspz.converters.client_converter_factory()
    sender, receiver = DiagnosticsSender(form), DiagnosticsReceiver()
    many = [diagnostic(line, f"message {line}") for line in range(9)]
    for said in (params(*many), params(*many[1:]), params(), params(*many)):
        message = {"jsonrpc": "2.0", "method": PUBLISH, "params": sender.send(PUBLISH, said)}
        read = converter.structure(message, types.PublishDiagnosticsNotification).params
        back = receiver.receive(PUBLISH, read)
        assert isinstance(back, types.PublishDiagnosticsParams)
        assert says(PUBLISH, converter.unstructure(back)) == says(PUBLISH, said)
    for items in (many, many[1:], None, [], many):
        report = {"kind": "unchanged", "resultId": "1"} if items is None else {"kind": "full", "items": items}
        answer = {"jsonrpc": "2.0", "id": 1, "result": sender.send(PULL, report, URI)}
        result = converter.structure(answer, types.DocumentDiagnosticResponse).result
        back = receiver.receive(PULL, result, URI)
        assert isinstance(result, Increment) == (items == many[1:])
        assert says(PULL, converter.unstructure(back)) == says(PULL, report)


@pytest.mark.parametrize(
    ("method", "text"),
    [
        (PUBLISH, "file:///a #2: 1 kept\nmoved +1"),
        (PUBLISH, "file:///a #2: 1 kept\nmoved +1 from 5, +2 from 4"),
        (PUBLISH, "file:///a #2: 1 kept\nmoved -5 from 3"),
        (PUBLISH, "file:///a #2: 1 kept\nmoved +1 from 0"),
        (PUBLISH, "file:///a #2: 1 kept\nnew\nerror\n1:1-2 x\ngone"),
        (PUBLISH, "file:///a #2: 1 kept\nerror\n1:1-2 x"),
        (PUBLISH, "file:///a #2: clean\nerror\n1:1-2 x"),
        (PUBLISH, "file:///a #2"),
        (PUBLISH, 'file:///a "id" #2: 1 kept'),
        (PUBLISH, "file:///b #2: 1 kept"),
        (PUBLISH, "full #2: 1 kept"),
        (PULL, "full v3 #2: 1 kept"),
        (PULL, "file:///a #2: 1 kept"),
    ],
)
def test_a_damaged_text_is_refused(method: str, text: str) -> None:
    """Also one of another document, or of another kind; the report after it is lost."""
    receiver = DiagnosticsReceiver()

    def message(text: str) -> dict[str, Any]:
        return {"version": 1, "uri": "file:///a", "format": "text", "length": len(text), "text": text}

    receiver.receive(PUBLISH, message("file:///a #1\nerror\n9:1-2 x"))
    receiver.receive(PULL, message("full #1\nerror\n9:1-2 x"), "file:///a")
    with pytest.raises(DecodeError, match="text"):
        receiver.receive(method, message(text), "file:///a")
    with pytest.raises(ReportLost):
        receiver.receive(method, message(f"{'file:///a' if method == PUBLISH else 'full'} #2: 1 kept"), "file:///a")


@pytest.mark.parametrize("moved", [[[1]], [[3, 1], [2, 1]], [[1, -2]], {}, [["1", 2]], [[-1, 1]]])
def test_damaged_moves_are_refused(moved: Any) -> None:
    """In compact, with the member that is wrong."""
    receiver = DiagnosticsReceiver()
    sent = DiagnosticsSender("compact").send(PUBLISH, params(diagnostic(9, "a message that is not short")))
    receiver.receive(PUBLISH, sent)
    with pytest.raises(DecodeError) as error:
        receiver.receive(PUBLISH, {"version": 1, "uri": URI, "report": 2, "kept": 1, "moved": moved})
    assert error.value.path.startswith("moved")


@pytest.mark.parametrize("form", FORMS)
def test_lines_below_zero_do_not_move(form: str) -> None:
    """No reader takes such a move, so what some servers send is told as gone and new."""
    sender, receiver = DiagnosticsSender(form), DiagnosticsReceiver()
    for line in (2, -1, 4):
        said = params(*(diagnostic(line, character=at) for at in range(20)))
        assert says(PUBLISH, receiver.receive(PUBLISH, sender.send(PUBLISH, said))) == says(PUBLISH, said)


def test_only_two_forms_can_say_what_changed() -> None:
    """A named error says which."""
    with pytest.raises(ConfigError, match="only compact and text"):
        DiagnosticsSender("toon")


def test_caps_hold_and_are_said_in_each_report() -> None:
    """What is left out is counted in a change as well."""
    sender, receiver = DiagnosticsSender("text", limits=Limits(max_diags=5)), DiagnosticsReceiver()
    many = [diagnostic(line, f"message {line}") for line in range(9)]
    sender_full = sender.send(PUBLISH, params(*many))
    receiver.receive(PUBLISH, sender_full)
    change = sender.send(PUBLISH, params(*many[1:]))

    assert sender_full["text"].endswith("\nomitted 4")
    assert change["text"].endswith("\nomitted 3")
    assert len(receiver.receive(PUBLISH, change)["diagnostics"]) == 5


def test_what_is_remembered_has_a_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    """The stream that was silent for longest says everything again; nothing is lost."""
    monkeypatch.setattr(streams, "MAX_DIAGNOSTICS", 20)
    sender, receiver = DiagnosticsSender("text"), DiagnosticsReceiver()
    kept = []
    for uri in ("a", "a", "b", "b", "c", "a", "c", "b"):
        said = params(*(diagnostic(line, f"message {line}") for line in range(9)), uri=f"file:///{uri}")
        got = sender.send(PUBLISH, said)
        assert says(PUBLISH, receiver.receive(PUBLISH, got)) == says(PUBLISH, said)
        kept.append(got["text"].partition("\n")[0].endswith(" kept"))
    assert kept == [False, True, False, True, False, False, True, False]


LINES = st.integers(0, 30)
MESSAGES = st.sampled_from(["a", "unused `x`", "gone", "new", "moved +1 from 2", "omitted 3", "two\nlines", ""]) | text


@st.composite
def found(draw: Any) -> dict[str, Any]:
    line, character = draw(LINES), draw(st.integers(0, 9))
    end = line + draw(st.sampled_from([0, 0, 0, 2]))
    out = {
        "range": {"start": {"line": line, "character": character}, "end": {"line": end, "character": character + 3}},
        "message": draw(MESSAGES),
    }
    severity, code = draw(st.sampled_from([None, 1, 2, 9])), draw(st.sampled_from([None, 0, "", "17", 17, "E501"]))
    return out | ({} if severity is None else {"severity": severity}) | ({} if code is None else {"code": code})


@st.composite
def histories(draw: Any) -> list[tuple[bool, list[Any]]]:
    """Lists of diagnostics, each the one before after an edit; and whether the report on it arrives."""
    current = draw(st.lists(found(), max_size=12))
    out = []
    for _ in range(draw(st.integers(1, 6))):
        out.append((draw(st.integers(0, 5)) > 0, current))
        at, by = draw(LINES), draw(st.sampled_from([-2, 0, 1, 1, 3]))
        edited = json.loads(json.dumps(current))
        for d in edited:
            for end in ("start", "end"):
                if d["range"][end]["line"] >= at:
                    d["range"][end]["line"] = max(0, d["range"][end]["line"] + by)
        gone = draw(st.sets(st.integers(0, 11), max_size=3))
        current = [d for i, d in enumerate(edited) if i not in gone] + draw(st.lists(found(), max_size=2))
        if draw(st.booleans()) and current:
            current.append(current[0])
    return out


@pytest.mark.parametrize("form", FORMS)
@given(history=histories(), pulled=st.booleans(), uri=uris)
def test_what_is_read_is_what_was_sent_or_is_known_to_be_lost(form: str, history: Any, pulled: bool, uri: str) -> None:
    """Over any edits, with reports that get lost: never another list. A client that asks gets a full one next."""
    sender, receiver = DiagnosticsSender(form), DiagnosticsReceiver()
    whole = True
    for arrives, diagnostics in history:
        method, said = (
            (PULL, {"kind": "full", "items": diagnostics}) if pulled else (PUBLISH, params(*diagnostics, uri=uri))
        )
        got = sender.send(method, said, uri)
        assert len(msgspec.json.encode(got)) <= len(msgspec.json.encode(said))
        if not arrives:
            whole = False
            continue
        try:
            back = receiver.receive(method, got, uri)
        except ReportLost:
            assert not whole
            sender.forget(uri)
        else:
            assert says(method, back) == says(method, said)
            whole = True
