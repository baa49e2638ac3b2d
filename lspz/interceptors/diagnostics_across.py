"""Diagnostics of several files as one text, grouped over all of them (text_format.md §4).

in file:///project/
error missing-import: Cannot find module `$1`
@ src/a.py
3:8 utils
@ src/b.py
10:1 abc
"""

from __future__ import annotations

from collections.abc import Sequence

from ..errors import DecodeError
from ..formats.text.lines import Lines, common_base, indent, read_path, write_path
from ..formats.text.positions import Memory, Span, write_positions
from ..formats.text.templates import has_hole
from .diagnostics_text import OMITTED, GroupReader, Head, Message, blocks, by_head, count_lines, read_counts, write_head
from .entries import CompactFile, Row, entries_of


def write_across(files: Sequence[CompactFile]) -> str:
    """The diagnostics of several files, grouped over all of them (§4); `clean` when there are none.

    A file's version, resultId and whether it is unchanged have no place here, and what was left out is counted over all
    files. Raises CannotCompress.
    """
    base = common_base(dict.fromkeys(file.uri for file in files if file.diagnostics))
    out = [f"in {base}"] if base else []
    groups: dict[Head, dict[str, dict[str | None, list[Span]]]] = {}
    for file in files:
        for head, messages in by_head(file.diagnostics or (), file.uri).items():
            for message, places in messages.items():
                for uri, spans in places.items():
                    groups.setdefault(head, {}).setdefault(message, {}).setdefault(uri, []).extend(spans)
    for head, messages in groups.items():
        label = write_head(head)
        repeated = [m for m, places in messages.items() if sum(map(len, places.values())) > 1 and not has_hole(m)]
        for template, rows in blocks(messages, repeated):
            out.append(label if template is None else f"{label}: {indent(template)}")
            label = ""
            in_file: dict[str | None, list[tuple[Message, list[Span]]]] = {}
            for row in rows:
                for uri, spans in messages[row.message].items():
                    in_file.setdefault(uri, []).append((row, spans))
            for uri, found in in_file.items():
                out.append(f"@ {write_path(uri or '', base)}")
                memory = Memory()
                for row, spans in sorted(found, key=lambda pair: min(pair[1])):
                    positions = write_positions(spans, row.name_length, memory)
                    out.append(f"{positions} {row.text}" if row.text else positions)
    out += count_lines(sum(file.omitted for file in files), sum(file.filtered for file in files))
    return "\n".join(out) or "clean"


def read_across(text: str) -> list[CompactFile]:
    """What `write_across` wrote, the files in order of appearance; counts are read over. Raises DecodeError."""
    lines = Lines(text)
    reader = GroupReader()
    found: dict[str, list[Row]] = {}
    base = ""
    if text == "clean":
        lines.take()
    elif (line := lines.peek()) is not None and line.startswith("in "):
        lines.take()
        base = line[3:]
    while (line := lines.peek()) is not None and not OMITTED.fullmatch(line):
        lines.take()
        with lines.named():
            if line.startswith("@ "):
                reader.begin_file(read_path(line[2:], base))
            else:
                reader.read(line)
    read_counts(lines)
    lines.end()
    for uri, row in reader.rows:
        if uri is None:
            raise DecodeError("", "a row that stands in no file")
        found.setdefault(uri, []).append(row)
    return [CompactFile(uri, entries_of(rows)) for uri, rows in found.items()]
