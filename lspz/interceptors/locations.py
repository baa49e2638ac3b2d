"""Where something is: answers to references, definition, declaration, implementation and typeDefinition.

A server answers with a location, a list of them, a list of links, or null. Each URI is said once. What is kept: URIs
in order of appearance, ranges, and of a link its target range. Not kept: which of the shapes it was, the order within
a file, and a link's origin range, since the client knows where it asked.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar, NamedTuple, Self

import attrs
import msgspec

from ..errors import DecodeError
from ..formats import VERSION, spelling
from ..formats.json import count, numbers, typed
from ..formats.text.lines import Lines, common_base, read_path, write_path
from ..formats.text.positions import Memory, Span, read_positions, take_positions, write_positions
from .base import Direction, Settings
from .compressor import Compressor
from .core import CoreRange
from .lsp import lsp_range, span_of
from .names import read_range, write_range

METHODS = (
    "textDocument/references",
    "textDocument/definition",
    "textDocument/declaration",
    "textDocument/implementation",
    "textDocument/typeDefinition",
)


class Place(NamedTuple):
    """A place in a file."""

    range: Span
    """The range to select."""
    target: Span | None = None
    """What surrounds it, such as a whole function, where a link says so."""

    @property
    def _key(self) -> tuple[Span, Span | tuple[()]]:
        return self.range, self.target or ()


@attrs.frozen
class CompactLocations:
    """Places, by file."""

    files: Mapping[str, tuple[Place, ...]]
    """By URI, in order of appearance; the places sorted."""
    omitted: int = 0
    """How many were left out for a cap."""

    @property
    def size(self) -> int:
        """How many places there are."""
        return sum(len(places) for places in self.files.values())

    def first(self, count: int) -> Self:
        """The same with its first `count` places, and the others counted as omitted."""
        files = {}
        room = count
        for uri, places in self.files.items():
            if room > 0:
                files[uri] = places[:room]
                room -= len(places)
        return attrs.evolve(self, files=files, omitted=self.omitted + max(self.size - count, 0))

    def envelope(self) -> dict[str, Any]:
        """Nothing: it names its files."""
        return {}

    def to_lsp(self) -> list[dict[str, Any]]:
        """Locations, or links where any has a target range, as LSP's JSON."""
        places = [(uri, place) for uri, found in self.files.items() for place in found]
        if any(place.target for _, place in places):
            return [
                {
                    "targetUri": uri,
                    "targetRange": lsp_range(place.target or place.range),
                    "targetSelectionRange": lsp_range(place.range),
                }
                for uri, place in places
            ]
        return [{"uri": uri, "range": lsp_range(place.range)} for uri, place in places]

    # compact: rows of numbers, lines relative to the row before

    def to_compact(self) -> dict[str, Any]:
        """`{"version":1,"locations":{uri: rows}}` (text_format.md §6)."""
        out = {"version": VERSION, "locations": {uri: _write_rows(places) for uri, places in self.files.items()}}
        return {**out, "omitted": self.omitted} if self.omitted else out

    @classmethod
    def from_compact(cls, value: Mapping[str, Any]) -> Self:
        """Read compact locations. Raises DecodeError."""
        files = typed(value, "locations", dict, "locations")
        read = {uri: _read_rows(rows, f"locations[{uri!r}]") for uri, rows in files.items()}
        return cls(read, count(value, "omitted"))

    # names: a file and its ranges

    def to_names(self) -> dict[str, Any]:
        """The ranges of each file, in one line; `10,5-15/8,0-20,1` is a range and its target."""
        out: dict[str, Any] = {
            "locations": {
                uri: " ".join([_write_named(place) for place in places]) for uri, places in self.files.items()
            }
        }
        return {**out, "omitted": self.omitted} if self.omitted else out

    @classmethod
    def from_names(cls, value: Mapping[str, Any]) -> Self:
        """Read `to_names`' values. Raises DecodeError."""
        files = {}
        for uri, places in typed(value, "locations", dict, "locations").items():
            path = f"locations[{uri!r}]"
            if not isinstance(places, str):
                raise DecodeError(path, f"must be ranges, not {places!r:.80}")
            files[uri] = tuple(_read_named(word, path) for word in places.split(" "))
        return cls(files, count(value, "omitted"))

    # text: a path, then its positions

    def to_text(self) -> str:
        """The text of text_format.md §5.2. Raises CannotCompress."""
        if not self.files and not self.omitted:
            return "none"
        base = common_base(self.files)
        out = [f"in {base}"] if base else []
        for uri, places in self.files.items():
            out.append(write_path(uri, base))
            plain = [place.range for place in places if place.target is None]
            if plain:
                out.append(write_positions(plain, None, Memory()))
            out += [f"{_write_whole(p.range)} in {_write_whole(p.target)}" for p in places if p.target is not None]
        if self.omitted:
            out.append(f"omitted {self.omitted}")
        return "\n".join(out)

    @classmethod
    def from_text(cls, text: str) -> Self:
        """Read `to_text`'s text. Raises DecodeError."""
        found: dict[str, list[Place]] = {}
        places: list[Place] | None = None
        omitted = 0
        base = ""
        lines = Lines(text if text != "none" else "", continued=False)
        for line in lines if text != "none" else ():
            with lines.named():
                if line.startswith("in ") and not found:
                    base = line[3:]
                elif line.startswith("omitted "):
                    omitted = int(line[8:])
                    lines.end()
                elif not (line[:1].isascii() and line[:1].isdigit()):
                    places = found.setdefault(read_path(line, base), [])
                elif places is None:
                    raise ValueError("a position that stands in no file")
                else:
                    places += _read_line(line)
        if text != "none" and not (found or omitted):
            raise DecodeError("line 1", "must be a path")
        for uri, read in found.items():
            if not read:
                raise DecodeError("", f"no position in {uri}")
        return cls({uri: _sorted(read) for uri, read in found.items()}, omitted)


def _sorted(places: Sequence[Place]) -> tuple[Place, ...]:
    return tuple(sorted(places, key=lambda place: place._key))


def _write_rows(places: Sequence[Place]) -> list[list[int]]:
    rows = []
    line, length = 0, None
    for (a, b, c, d), target in places:
        row = [a - line, b, d - b] if a == c else [a - line, b, c - a, d]
        if a == c and target is None:
            if d - b == length:
                row.pop()
            length = d - b
        elif target is not None:
            row += [a - target[0], target[1], target[2] - a, target[3]]
        line = a
        rows.append(row)
    return rows


def _read_rows(rows: Any, path: str) -> tuple[Place, ...]:
    if not isinstance(rows, list | tuple) or not rows:
        raise DecodeError(path, f"must be a list of rows, not {rows!r:.80}")
    places = []
    line, length = 0, None
    for i, value in enumerate(rows):
        row = numbers(value, f"{path}[{i}]")
        if len(row) not in (2, 3, 4, 7, 8):
            raise DecodeError(f"{path}[{i}]", f"must have 2, 3, 4, 7 or 8 numbers, not {len(row)}")
        linked, row = row[-4:] if len(row) > 4 else None, row[:-4] if len(row) > 4 else row
        a = line = line + row[0]
        if len(row) == 4:
            span = (a, row[1], a + row[2], row[3])
        else:
            size = row[2] if len(row) == 3 else length
            if size is None:
                raise DecodeError(f"{path}[{i}]", "leaves its length to the row before, and there is none")
            if linked is None:
                length = size
            span = (a, row[1], a, row[1] + size)
        target = None if linked is None else (a - linked[0], linked[1], a + linked[2], linked[3])
        places.append(Place(span, target))
    return tuple(places)


def _write_named(place: Place) -> str:
    span = write_range(place.range)
    return span if place.target is None else f"{span}/{write_range(place.target)}"


def _read_named(word: str, path: str) -> Place:
    span, linked, target = word.partition("/")
    return Place(read_range(span, path), read_range(target, path) if linked else None)


def _write_whole(span: Span) -> str:
    """A range with both its ends."""
    a, b, c, d = span
    spelled = write_positions([span], None, Memory())
    return spelled if a != c or d != b else f"{a + 1}:{b + 1}-{d + 1}"


def _read_line(line: str) -> list[Place]:
    selection, linked, target = line.partition(" in ")
    words, rest = take_positions(selection)
    spans = read_positions(words, None, Memory())
    if rest:
        raise ValueError(f"{rest!r} is no position")
    if not linked:
        return [Place(span) for span in spans]
    words, rest = take_positions(target)
    targets = read_positions(words, None, Memory())
    if rest or len(spans) != 1 or len(targets) != 1:
        raise ValueError(f"{line!r} must be one range in another")
    return [Place(spans[0], targets[0])]


# LSP's shapes


class Location(msgspec.Struct, gc=False):
    """Mirrors `Location`, or `LocationLink`: one of the two URIs is there."""

    uri: str | None = None
    range: CoreRange | None = None
    target_uri: str | None = msgspec.field(name="targetUri", default=None)
    target_range: CoreRange | None = msgspec.field(name="targetRange", default=None)
    target_selection_range: CoreRange | None = msgspec.field(name="targetSelectionRange", default=None)


_read = msgspec.json.Decoder(Location | list[Location] | None).decode


def read_locations(answer: Any) -> CompactLocations:
    """The places in an answer: of lsprotocol's types, or of mirrors of them. Raises TypeError."""
    found: dict[str, list[Place]] = {}
    for item in answer if isinstance(answer, list | tuple) else [answer] if answer is not None else ():
        link = getattr(item, "target_selection_range", None)
        if link is not None and item.target_uri is not None:
            selection, target = span_of(link), span_of(item.target_range)
            place = Place(selection, None if target == selection else target)
            found.setdefault(item.target_uri, []).append(place)
        elif item.range is not None and item.uri is not None:
            found.setdefault(item.uri, []).append(Place(span_of(item.range)))
        else:
            raise TypeError("a location must have a URI and a range")
    return CompactLocations({uri: _sorted(places) for uri, places in found.items()})


@attrs.frozen
class LocationsCompressor(Compressor):
    """Rewrites locations in one form. Folded, they stay as they are."""

    name: ClassVar[str] = "locations"
    methods: ClassVar[tuple[str, ...]] = METHODS

    def reader(self, method: str) -> Callable[[bytes], Any]:
        """msgspec's."""
        return lambda raw: () if raw in (b"null", b"[]") else _read(raw)

    def model(self, method: str, raw: bytes) -> CompactLocations:
        """The places, by file."""
        return read_locations(_read(raw))

    async def intercept(self, method: str, params: Any, direction: Direction) -> Any:
        """Return the compact model. Nothing found stays as it is."""
        return read_locations(params) if params else params


def create(settings: Settings, form: str) -> LocationsCompressor | None:
    """The compressor for a client that gets `form`; None where a form leaves locations alone."""
    return None if form == "folded" else LocationsCompressor(form, limits=settings.limits)


def read(method: str, value: Any) -> CompactLocations | None:
    """The model of locations in one of lspz's forms, None of plain LSP. Raises DecodeError."""
    return spelling.read(CompactLocations, value) if spelling.is_ours(value) else None
