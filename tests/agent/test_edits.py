"""WorkspaceEdits on disk: right to the letter, all or nothing."""

from __future__ import annotations

import os
import stat
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lspz.agent import placing as module
from lspz.agent.edits import apply_text_edits, apply_workspace_edit
from lspz.errors import EditConflict, EditRefused
from lspz.wire.text import ENCODINGS, Text, units


def at(a: int, b: int, c: int, d: int) -> dict[str, Any]:
    return {"start": {"line": a, "character": b}, "end": {"line": c, "character": d}}


def change(path: Path, *edits: tuple[dict[str, Any], str], version: int | None = None) -> dict[str, Any]:
    """A TextDocumentEdit."""
    document = {"uri": path.as_uri(), "version": version}
    return {"textDocument": document, "edits": [{"range": range, "newText": new} for range, new in edits]}


def everything(root: Path) -> dict[str, tuple[bytes, int]]:
    """All files below a folder: contents and permissions."""
    return {
        str(path.relative_to(root)): (path.read_bytes(), stat.S_IMODE(path.stat().st_mode))
        for path in root.rglob("*")
        if path.is_file()
    }


# one text


CHARS = st.sampled_from(["a", "b", " ", "é", "𝕏", "\n", "\r\n", "\r", "\u2028", "\udc80"])


@st.composite
def texts_and_edits(draw: Any) -> tuple[str, list[tuple[int, int, str]]]:
    """A text, and spans of it (code points) that do not overlap, each with what it becomes, in any order."""
    text = "".join(draw(st.lists(CHARS, max_size=30)))
    places = [i for i in range(len(text) + 1) if not (0 < i < len(text) and text[i - 1 : i + 1] == "\r\n")]
    cuts = sorted(draw(st.lists(st.sampled_from(places), max_size=8)))
    new = st.text(alphabet="xyz𝕐", max_size=3)
    spans = [(start, end, draw(new)) for start, end in zip(cuts[::2], cuts[1::2], strict=False)]
    return text, draw(st.permutations(spans))


def position(text: str, offset: int, encoding: str) -> dict[str, int]:
    """A place in a text as LSP has it, worked out apart from lspz."""
    before = text[:offset].replace("\r\n", "\n").replace("\r", "\n")
    line = before[before.rfind("\n") + 1 :]
    size = {"utf-8": lambda c: len(c.encode("utf-8", "surrogatepass")), "utf-16": lambda c: 1 + (c > "\uffff")}
    return {"line": before.count("\n"), "character": sum(map(size.get(encoding, lambda c: 1), line))}


@given(case=texts_and_edits(), encoding=st.sampled_from(ENCODINGS))
def test_edits_in_any_order_are_as_if_done_from_the_end(case: Any, encoding: str) -> None:
    """In each position encoding, with all line ends, at the text's ends, and with what no encoding has."""
    text, spans = case
    edits = [
        {"range": {"start": position(text, a, encoding), "end": position(text, b, encoding)}, "newText": new}
        for a, b, new in spans
    ]
    expected = text
    # inserts at one place in their order, and before what is replaced from there
    order = sorted(enumerate(spans), key=lambda item: (item[1][0], item[1][1] > item[1][0], item[0]))
    for _, (start, end, new) in reversed(order):
        expected = expected[:start] + new + expected[end:]

    assert apply_text_edits(text, edits, encoding) == expected


@given(text=st.lists(CHARS, max_size=20).map("".join), encoding=st.sampled_from(ENCODINGS), data=st.data())
def test_places_and_offsets_are_inverse(text: str, encoding: str, data: Any) -> None:
    """Wherever a position can be."""
    offset = data.draw(st.integers(0, len(text)))
    document = Text(text, encoding)
    place = document.place(offset)
    back = document.offset(*place)
    assert back == offset or text[back : offset + 1] == "\r\n"
    assert place.character <= units(document.line(place.line), encoding)


def test_positions_beyond_the_end_are_the_end() -> None:
    """As LSP has it: of the line, and of the text. A negative one is refused."""
    assert apply_text_edits("ab\ncd\n", [{"range": at(0, 99, 0, 99), "newText": "!"}]) == "ab!\ncd\n"
    assert apply_text_edits("ab\ncd\n", [{"range": at(0, 0, 99, 0), "newText": "all"}]) == "all"
    with pytest.raises(EditRefused, match="negative"):
        apply_text_edits("ab", [{"range": at(0, -1, 0, 0), "newText": ""}])


def test_overlapping_edits_are_refused() -> None:
    """Which one is named; touching ones are none."""
    touching = [{"range": at(0, 0, 0, 2), "newText": "x"}, {"range": at(0, 2, 0, 4), "newText": "y"}]
    assert apply_text_edits("abcd", touching) == "xy"
    with pytest.raises(EditRefused, match="edit 0 overlaps"):
        apply_text_edits("abcd", [{"range": at(0, 1, 0, 4), "newText": ""}, {"range": at(0, 0, 0, 2), "newText": ""}])
    with pytest.raises(EditRefused, match="ends before"):
        apply_text_edits("abcd", [{"range": at(0, 3, 0, 1), "newText": ""}])
    with pytest.raises(EditRefused, match="no TextEdit"):
        apply_text_edits("abcd", [{"range": at(0, 3, 0, 4)}])


# files


def test_an_edit_over_several_files(tmp_path: Path) -> None:
    """Edited, created, renamed, deleted, in order; what is returned tells of it, as lines and as a diff."""
    root = tmp_path.resolve()
    one, two, old = root / "one.py", root / "sub" / "two.py", root / "old.py"
    two.parent.mkdir()
    one.write_text("import old\nold.f()\n")
    two.write_text("x = 1\n")
    old.write_text("def f(): ...\n")
    (root / "gone.py").write_text("gone\n")
    new = root / "deep" / "new.py"
    applied = apply_workspace_edit(
        {
            "documentChanges": [
                change(one, (at(0, 7, 0, 10), "new"), (at(1, 0, 1, 3), "new")),
                {"kind": "rename", "oldUri": old.as_uri(), "newUri": new.as_uri()},
                change(new, (at(0, 4, 0, 5), "g")),
                {"kind": "create", "uri": (root / "fresh.py").as_uri()},
                change(root / "fresh.py", (at(0, 0, 0, 0), "fresh = True\n")),
                {"kind": "delete", "uri": (root / "gone.py").as_uri()},
            ]
        },
        root,
    )

    assert one.read_text() == "import new\nnew.f()\n"
    assert new.read_text() == "def g(): ...\n"
    assert (root / "fresh.py").read_text() == "fresh = True\n"
    assert two.read_text() == "x = 1\n"
    assert not old.exists()
    assert not (root / "gone.py").exists()
    assert sorted(applied.lines()) == [
        "created fresh.py",
        "deleted gone.py",
        "edited one.py",
        "renamed old.py -> deep/new.py",
    ]
    diff = applied.diff()
    assert "--- a/one.py\n+++ b/one.py\n" in diff
    assert "-import old\n-old.f()\n+import new\n+new.f()\n" in diff
    assert "--- /dev/null\n+++ b/fresh.py\n" in diff
    assert "--- a/gone.py\n+++ /dev/null\n" in diff
    assert "--- a/old.py\n+++ b/deep/new.py\n" in diff


def test_changes_by_uri(tmp_path: Path) -> None:
    """The older of the two shapes; an edit of nothing changes nothing."""
    path = tmp_path / "ä b.py"
    path.write_text("x\n")
    uri = path.as_uri()
    apply_workspace_edit({"changes": {uri: [{"range": at(0, 0, 0, 1), "newText": "y"}]}}, tmp_path)
    assert path.read_text() == "y\n"
    assert apply_workspace_edit({}, tmp_path).lines() == ()
    assert apply_workspace_edit({"changes": {uri: []}}, tmp_path).changes == ()


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (b"a = 1\r\nb = 2\r\n", b"a = 1\r\nnew\r\nb = 2\r\n"),
        (b"\xef\xbb\xbf" + "ä = 1\n".encode(), b"\xef\xbb\xbf" + "ä = 1\nnew\n".encode()),
        ("\ufeffä\n".encode("utf-16-le"), "\ufeffä\nnew\n".encode("utf-16-le")),
        ("\ufeffä\r\n".encode("utf-16-be"), "\ufeffä\r\nnew\r\n".encode("utf-16-be")),
        (b"caf\xe9\n", b"caf\xe9\nnew\n"),
    ],
    ids=["crlf", "utf-8 with a mark", "utf-16-le", "utf-16-be", "latin-1"],
)
def test_line_ends_and_encodings_are_kept(before: bytes, after: bytes, tmp_path: Path) -> None:
    """New lines end as the file's do, and bytes that are no UTF-8 stay what they are. So do permissions."""
    path = tmp_path / "file"
    path.write_bytes(before)
    path.chmod(0o754)
    apply_workspace_edit({"documentChanges": [change(path, (at(1, 0, 1, 0), "new\n"))]}, tmp_path)
    assert path.read_bytes() == after
    assert stat.S_IMODE(path.stat().st_mode) == 0o754


@pytest.mark.parametrize("outside", ["../outside.py", "link/outside.py", "link-to-file"])
def test_nothing_outside_the_root_is_touched(outside: str, tmp_path: Path) -> None:
    """Not by a path and not through a link; and then nothing inside, either."""
    root, other = tmp_path / "root", tmp_path / "other"
    root.mkdir()
    other.mkdir()
    for path in (root / "a.py", other / "outside.py", tmp_path / "outside.py"):
        path.write_text("x\n")
    (root / "link").symlink_to(other)
    (root / "link-to-file").symlink_to(other / "outside.py")
    before = everything(tmp_path)
    target = root / outside
    edit = {"documentChanges": [change(root / "a.py", (at(0, 0, 0, 1), "y")), change(target, (at(0, 0, 0, 1), "y"))]}
    with pytest.raises(EditRefused, match="is outside"):
        apply_workspace_edit(edit, root)
    with pytest.raises(EditRefused, match="is no file"):
        apply_workspace_edit({"changes": {"untitled:1": []}}, root)
    assert everything(tmp_path) == before


def test_a_link_inside_is_followed_by_edits_and_left_alone_otherwise(tmp_path: Path) -> None:
    """What it leads to is edited; whose end a deletion would be nobody can tell."""
    (tmp_path / "a.py").write_text("x\n")
    link = tmp_path / "link.py"
    link.symlink_to(tmp_path / "a.py")
    apply_workspace_edit({"documentChanges": [change(link, (at(0, 0, 0, 1), "y"))]}, tmp_path)
    assert link.is_symlink()
    assert (tmp_path / "a.py").read_text() == "y\n"
    with pytest.raises(EditRefused, match="is a link"):
        apply_workspace_edit({"documentChanges": [{"kind": "delete", "uri": link.as_uri()}]}, tmp_path)


def test_an_edit_for_another_version_is_a_conflict(tmp_path: Path) -> None:
    """The version that is open is compared; of what is not open there is none."""
    path = tmp_path / "a.py"
    path.write_text("x\n")
    edit = {"documentChanges": [change(path, (at(0, 0, 0, 1), "y"), version=3)]}
    with pytest.raises(EditConflict, match="is for version 3, and 4 is open"):
        apply_workspace_edit(edit, tmp_path, version_of=lambda uri: 4)
    assert path.read_text() == "x\n"
    apply_workspace_edit(edit, tmp_path, version_of=lambda uri: None)
    assert path.read_text() == "y\n"


CREATE, RENAME, DELETE = "create", "rename", "delete"


@pytest.mark.parametrize(
    ("operation", "options", "outcome"),
    [
        (CREATE, {}, EditConflict),
        (CREATE, {"ignoreIfExists": True}, "x\n"),
        (CREATE, {"overwrite": True, "ignoreIfExists": True}, ""),
        (RENAME, {}, EditConflict),
        (RENAME, {"ignoreIfExists": True}, "x\n"),
        (RENAME, {"overwrite": True}, "y\n"),
    ],
)
def test_what_is_there_is_overwritten_only_when_told_so(
    operation: str, options: Any, outcome: Any, tmp_path: Path
) -> None:
    """The options of LSP; overwriting wins over ignoring."""
    path, other = tmp_path / "a.py", tmp_path / "b.py"
    path.write_text("x\n")
    other.write_text("y\n")
    names = {"uri": path.as_uri()} if operation == CREATE else {"oldUri": other.as_uri(), "newUri": path.as_uri()}
    edit = {"documentChanges": [{"kind": operation, **names, "options": options}]}
    if outcome is EditConflict:
        with pytest.raises(EditConflict, match="is there already"):
            apply_workspace_edit(edit, tmp_path)
    else:
        apply_workspace_edit(edit, tmp_path)
        assert path.read_text() == outcome


def test_folders(tmp_path: Path) -> None:
    """Renamed with all that is in them; deleted only when the edit says so."""
    folder = tmp_path / "old" / "deep"
    folder.mkdir(parents=True)
    (folder / "a.py").write_text("a")
    (tmp_path / "old" / "b.py").write_text("b")
    old, new = (tmp_path / "old").as_uri(), (tmp_path / "new").as_uri()
    apply_workspace_edit({"documentChanges": [{"kind": "rename", "oldUri": old, "newUri": new}]}, tmp_path)
    assert (tmp_path / "new" / "deep" / "a.py").read_text() == "a"
    assert (tmp_path / "new" / "b.py").read_text() == "b"
    with pytest.raises(EditConflict, match="does not say"):
        apply_workspace_edit({"documentChanges": [{"kind": "delete", "uri": new}]}, tmp_path)
    delete = {"kind": "delete", "uri": new, "options": {"recursive": True}}
    assert len(apply_workspace_edit({"documentChanges": [delete]}, tmp_path).changes) == 2
    assert not list(tmp_path.rglob("*.py"))


@pytest.mark.parametrize(
    "wrong",
    [
        {"kind": "teleport"},
        {"kind": "create"},
        {"textDocument": {"uri": "file:///x"}},
        {"kind": "delete", "uri": 7},
    ],
)
def test_what_is_no_edit_is_refused(wrong: Any, tmp_path: Path) -> None:
    """A named error, whatever a server sends; nothing is touched."""
    (tmp_path / "a.py").write_text("x\n")
    before = everything(tmp_path)
    good = change(tmp_path / "a.py", (at(0, 0, 0, 1), "y"))
    with pytest.raises(EditRefused):
        apply_workspace_edit({"documentChanges": [good, wrong]}, tmp_path)
    assert everything(tmp_path) == before


@pytest.mark.parametrize("failing", range(5))
def test_a_file_that_fails_leaves_all_as_they_were(
    failing: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Byte for byte, with permissions and without anything left beside them, at whichever file it fails."""
    for name in "abc":
        (tmp_path / name).write_text(f"{name}\n")
        (tmp_path / name).chmod(0o640)
    before, folders = everything(tmp_path), sorted(tmp_path.rglob("*"))
    done = 0
    replace, unlink = os.replace, Path.unlink

    def count() -> None:
        nonlocal done
        done += 1
        if done == failing + 1:
            raise OSError(28, "No space left on device")

    def failing_replace(source: Any, target: Any) -> None:
        count()
        replace(source, target)

    def failing_unlink(self: Path, missing_ok: bool = False) -> None:
        if not self.name.startswith(".lspz-"):
            count()
        unlink(self, missing_ok)

    monkeypatch.setattr(module.os, "replace", failing_replace)
    monkeypatch.setattr(Path, "unlink", failing_unlink)
    uris = [(tmp_path / name).as_uri() for name in "abc"]
    edit = {
        "documentChanges": [
            change(tmp_path / "a", (at(0, 0, 0, 1), "A")),
            {"kind": "rename", "oldUri": uris[1], "newUri": (tmp_path / "new" / "b").as_uri()},
            {"kind": "delete", "uri": uris[2]},
            {"kind": "create", "uri": (tmp_path / "d").as_uri()},
        ]
    }
    with pytest.raises(OSError, match="No space left"):
        apply_workspace_edit(edit, tmp_path)
    assert everything(tmp_path) == before
    assert sorted(tmp_path.rglob("*")) == folders


def test_a_file_that_somebody_changed_meanwhile_is_a_conflict(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What others write is never lost."""
    for name in "ab":
        (tmp_path / name).write_text("x\n")
    write = module._write_beside

    def while_others_write(path: Path, data: bytes, like: Path) -> Path:
        (tmp_path / "b").write_text("somebody else's\n")
        return write(path, data, like)

    monkeypatch.setattr(module, "_write_beside", while_others_write)
    edit = {"documentChanges": [change(tmp_path / name, (at(0, 0, 0, 1), "y")) for name in "ab"]}
    with pytest.raises(EditConflict, match="changed while"):
        apply_workspace_edit(edit, tmp_path)
    assert everything(tmp_path).keys() == {"a", "b"}
    assert (tmp_path / "a").read_text() == "x\n"
    assert (tmp_path / "b").read_text() == "somebody else's\n"


def renamed(root: Path, old: str, new: str) -> dict[str, str]:
    """A RenameFile."""
    return {"kind": "rename", "oldUri": (root / old).as_uri(), "newUri": (root / new).as_uri()}


def test_names_that_are_used_again(tmp_path: Path) -> None:
    """A file that is moved away and one of its name made, two that swap names, one moved there and back."""
    for name in ("a", "b", "c", "d"):
        (tmp_path / name).write_text(f"{name}\n")
    steps = [
        renamed(tmp_path, "a", "moved"),
        {"kind": "create", "uri": (tmp_path / "a").as_uri()},
        change(tmp_path / "a", (at(0, 0, 0, 0), "stub")),
        renamed(tmp_path, "b", "t"),
        renamed(tmp_path, "c", "b"),
        renamed(tmp_path, "t", "c"),
        renamed(tmp_path, "d", "e"),
        renamed(tmp_path, "e", "d"),
    ]
    apply_workspace_edit({"documentChanges": steps}, tmp_path)

    held = {name: data.decode() for name, (data, _) in everything(tmp_path).items()}
    assert held == {"a": "stub", "moved": "a\n", "b": "c\n", "c": "b\n", "d": "d\n"}


def test_edits_of_a_document_in_several_entries_speak_of_one_text(tmp_path: Path) -> None:
    """They are applied together; an overlap is refused, and so are several versions."""
    path = tmp_path / "a"
    path.write_text("abcdef")
    first, second = change(path, (at(0, 0, 0, 1), "XXXX")), change(path, (at(0, 3, 0, 4), "Y"))
    apply_workspace_edit({"documentChanges": [first, second]}, tmp_path)
    assert path.read_text() == "XXXXbcYef"
    overlap = change(path, (at(0, 3, 0, 6), "Z"))
    with pytest.raises(EditRefused, match="overlaps"):
        apply_workspace_edit({"documentChanges": [second, overlap]}, tmp_path)
    with pytest.raises(EditConflict, match="several versions"):
        apply_workspace_edit({"documentChanges": [first, change(path, (at(0, 3, 0, 4), "Y"), version=3)]}, tmp_path)


def test_folders_that_are_moved_and_deleted_go(tmp_path: Path) -> None:
    """With the folders in them, empty ones too; a folder that holds a link is refused."""
    (tmp_path / "old" / "deep" / "empty").mkdir(parents=True)
    (tmp_path / "old" / "deep" / "a").write_text("a")
    (tmp_path / "gone" / "empty").mkdir(parents=True)
    delete = {"kind": "delete", "uri": (tmp_path / "gone").as_uri(), "options": {"recursive": True}}
    apply_workspace_edit({"documentChanges": [renamed(tmp_path, "old", "new"), delete]}, tmp_path)
    assert sorted(path.relative_to(tmp_path).as_posix() for path in tmp_path.rglob("*")) == [
        "new",
        "new/deep",
        "new/deep/a",
    ]
    (tmp_path / "new" / "link").symlink_to(tmp_path / "new" / "deep" / "a")
    with pytest.raises(EditRefused, match="is a link"):
        apply_workspace_edit({"documentChanges": [renamed(tmp_path, "new", "newer")]}, tmp_path)


def test_a_target_that_appears_meanwhile_is_a_conflict(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What others put where a file is moved to is not lost."""
    (tmp_path / "a").write_text("a")
    write = module._write_beside

    def while_others_write(path: Path, data: bytes, like: Path) -> Path:
        (tmp_path / "b").write_text("somebody else's")
        return write(path, data, like)

    monkeypatch.setattr(module, "_write_beside", while_others_write)
    with pytest.raises(EditConflict, match="changed while"):
        apply_workspace_edit({"documentChanges": [renamed(tmp_path, "a", "b")]}, tmp_path)
    assert everything(tmp_path).keys() == {"a", "b"}
    assert (tmp_path / "b").read_text() == "somebody else's"


def test_names_and_texts_that_tools_stumble_over(tmp_path: Path) -> None:
    """A name as long as there may be one, and a form feed, which ends no line of a diff."""
    path = tmp_path / ("n" * 255)
    path.write_text("a\x0cb\u2028c\nd\n")
    applied = apply_workspace_edit({"documentChanges": [change(path, (at(1, 0, 1, 1), "D"))]}, tmp_path)
    assert path.read_text() == "a\x0cb\u2028c\nD\n"
    assert applied.diff().splitlines(keepends=True)[-1] == "+D\n"
    assert "\n a\x0cb\u2028c\n-d\n" in applied.diff()
    assert "No newline" not in applied.diff()
