"""Places that are told by their text, so that nobody counts columns."""

from __future__ import annotations

from pathlib import Path

import pytest

from lspz import At
from lspz.agent.locators import path_of
from lspz.errors import PlaceNotFound
from lspz.wire.text import Text

SOURCE = """\
def add(a, b):
    return a + b


class Sum:
    def add(self):
        total = add(1, 2)
        return total


total = add(1, 2)
total = add(1, 2)  # again
"""
DOCUMENT = Text(SOURCE)


@pytest.mark.parametrize(
    ("at", "line", "character"),
    [
        (At("f", 1, 11), 1, 11),
        (At("f", 2, 12, one_based=True), 1, 11),
        (At("f", 1), 1, 4),
        (At("f", 6, symbol="add"), 6, 16),
        (At("f", 7, symbol="add", one_based=True), 6, 16),
        (At("f", symbol="Sum"), 4, 6),
        (At("f", text="return a + b"), 1, 4),
        (At("f", text="return   a +\tb", symbol="b"), 1, 15),
        (At("f", text="def add(self):\n total = add(1, 2)", symbol="total"), 6, 8),
        (At("f", text="# again"), 11, 19),
        (At("f", 9, text="total = add(1, 2)", symbol="add"), 10, 8),
        (At("f", 5, text="total = add(1, 2)", symbol="add"), 6, 16),
        (At("f", text="def add(self)", symbol="Sum.add"), 5, 8),
        (At("f", 1, 999), 1, 16),
        (At("f", 999, text="return a + b"), 1, 4),
    ],
)
def test_a_place_is_found(at: At, line: int, character: int) -> None:
    """By numbers from zero or one, by a line's text however it is spaced, by a name, by the nearest of several."""
    assert DOCUMENT.place(at.offset(DOCUMENT)) == (line, character)


@pytest.mark.parametrize(
    ("at", "says"),
    [
        (At("f", 13), "f: there is no line 13: they are 0 to 12"),
        (At("f", 0, one_based=True), "f: there is no line 0: they are 1 to 13"),
        (At("f", None, 3), "character 3 needs a line, and is 0 at least"),
        (At("f", 1, 0, one_based=True), "character 0 needs a line, and is 1 at least"),
        (At("f"), "say where: a line and a character, a text, or a symbol"),
        (At("f", text=" "), "the text to look for is empty"),
        (At("f", 1, symbol=" "), "the symbol to look for is empty"),
        (At("f", 1, 2, symbol="a"), "say a character, or a text and a symbol, not both"),
        (At("f", text="return a + b", symbol="Sum"), "the symbol 'Sum' is not in that text"),
        (At("f", text="nowhere"), "the text 'nowhere' is not in it; has the file changed?"),
        (At("f", symbol="ad"), "the symbol 'ad' is not in it"),
        (At("f", symbol="add"), "the symbol 'add' is in it 5 times: say which line: 0, 5, 6, 10, 11"),
        (At("f", symbol="add", one_based=True), "say which line: 1, 6, 7, 11, 12"),
        (At("f", text="total = add(1, 2)"), "is in it 2 times: say which line: 6, 10"),
    ],
)
def test_a_place_that_is_not_there_is_said(at: At, says: str) -> None:
    """With what there is instead, counted as the caller counts."""
    with pytest.raises(PlaceNotFound) as caught:
        at.offset(DOCUMENT)
    assert says in str(caught.value)


def test_files_are_paths_or_uris(tmp_path: Path) -> None:
    """Paths are absolute or from the root; another scheme than `file` is no file."""
    there = tmp_path / "a b.py"
    for file in ("a b.py", there, str(there), there.as_uri()):
        assert path_of(file, tmp_path) == there
    with pytest.raises(PlaceNotFound, match="untitled:/1: is no file"):
        path_of("untitled:/1", tmp_path)
    for odd in ("a\0b", "file://[x/y"):
        with pytest.raises(PlaceNotFound):
            path_of(odd, tmp_path)
    assert path_of("//[x/y.py", tmp_path) == Path("//[x/y.py")
    assert path_of("C:odd", tmp_path) == tmp_path / "C:odd"
