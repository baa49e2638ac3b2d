"""Messages that differ in a few places share one line with holes, `` `$1` is unused `` (text_format.md §3)."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from typing import NamedTuple

from .lines import has_space, maybe_unquote, quote, take_word
from .positions import begins_with_position, is_position

MAX_WORDS = 60
"""Words of a message that is compared with others word by word; longer ones differ in more than one."""

MAX_COMPARED = 1_000
"""Messages under one head that are compared word by word; with more it would take seconds, and save little."""

_ATOM = re.compile(r"""("[^"\n]*"|'[^'\n]*'|`[^`\n]*`|“[^”\n]*”|(?<![\w.])[0-9]+(?![\w.]))""")
_WORD = re.compile(r""""[^"\n]*"|'[^'\n]*'|`[^`\n]*`|[^\s"'`]+|["'`]|\s+""")
_HOLE = re.compile(r"\$([0-9]+)")
_CORE = re.compile(r"""([\"'`“(\[]*)(.*?)([\"'`”.,:;)\]]*)""", re.DOTALL)


class Template(NamedTuple):
    """A text with holes, and what stands in them for each message."""

    text: str
    arguments: list[tuple[str, ...]]
    rows: list[str]
    """The arguments as they are written."""
    messages: list[str]


# Writing


def find_templates(messages: Collection[str]) -> tuple[list[Template], list[str]]:
    """The templates that make distinct messages shorter, and the messages that are left."""
    if len(messages) == 1:
        return [], list(messages)
    shapes: dict[tuple[str, ...], list[tuple[str, tuple[str, ...]]]] = {}
    rest, found = [], []
    for message in messages:
        if has_hole(message):
            rest.append(message)
        else:
            literals, atoms = _split(message)
            shapes.setdefault(literals, []).append((message, atoms))
    for literals, members in shapes.items():
        if len(members) == 1:
            rest.append(members[0][0])
            continue
        columns = zip(*(atoms for _, atoms in members), strict=True)
        found.append(_make(literals, list(columns), [message for message, _ in members]))
    if 1 < len(rest) <= MAX_COMPARED:
        by_word, rest = _differ_in_a_word(rest)
        found += by_word
    kept = []
    for template in found:
        if _pays(template):
            kept.append(template)
        else:
            rest += template.messages
    return kept, rest


def _split(message: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The text around atoms, and the atoms: names in quotes, and whole numbers."""
    parts = _ATOM.split(message)
    for i in range(1, len(parts), 2):
        atom = parts[i]
        if not atom[0].isdigit():  # its quotes belong to the text around it
            parts[i - 1] += atom[0]
            parts[i] = atom[1:-1]
            parts[i + 1] = atom[-1] + parts[i + 1]
    return tuple(parts[::2]), tuple(parts[1::2])


def _make(literals: Sequence[str], columns: Sequence[tuple[str, ...]], messages: list[str]) -> Template:
    """A hole for each column that varies; columns that vary together share one."""
    text = literals[0]
    holes: dict[tuple[str, ...], int] = {}
    for column, literal in zip(columns, literals[1:], strict=True):
        if all(value == column[0] for value in column):
            text += column[0]
        else:
            text += f"${holes.setdefault(column, len(holes) + 1)}"
        text += literal
    arguments = list(zip(*holes, strict=True))
    return Template(text, arguments, [write_arguments(values) for values in arguments], messages)


def _differ_in_a_word(messages: list[str]) -> tuple[list[Template], list[str]]:
    """Templates of messages that differ in exactly one word, and the messages that are left."""
    cut: dict[tuple[str, str], list[tuple[str, str]]] = {}
    for message in messages:
        words = _WORD.findall(message)
        if len(words) <= MAX_WORDS and not has_hole(message):
            start = 0
            for word in words:
                end = start + len(word)
                if not word.isspace():
                    cut.setdefault((message[:start], message[end:]), []).append((message, word))
                start = end
    found, used = [], set[str]()
    shared = [item for item in cut.items() if len(item[1]) > 1]
    for (before, after), members in sorted(shared, key=lambda item: -len(item[1])):
        members = [(message, word) for message, word in members if message not in used]
        if len(members) < 2:
            continue
        left, column, right = _common_punctuation([word for _, word in members])
        names = [message for message, _ in members]
        found.append(_make((before + left, right + after), [tuple(column)], names))
        used.update(names)
    return found, [message for message in messages if message not in used]


def _common_punctuation(words: list[str]) -> tuple[str, list[str], str]:
    """What all words begin and end with in quotes and punctuation, and what is between."""
    cores = [found.groups() for word in words if (found := _CORE.fullmatch(word)) is not None]
    left = cores[0][0] if len({core[0] for core in cores}) == 1 else ""
    right = cores[0][2] if len({core[2] for core in cores}) == 1 else ""
    if any(len(word) <= len(left) + len(right) for word in words):
        left = right = ""
    return left, [word[len(left) : len(word) - len(right)] for word in words], right


def _pays(template: Template) -> bool:
    """Whether template and arguments are shorter than the messages (§3.2.4)."""
    spent = 4 + len(template.text) + sum(map(len, template.rows)) + len(template.rows)
    return spent < sum(map(len, template.messages)) + len(template.messages)


def write_arguments(arguments: Sequence[str]) -> str:
    """What stands in the holes, as the rest of a row."""
    if len(arguments) != 1:
        return " ".join(_write_word(argument) for argument in arguments)
    value = arguments[0]
    plain = value and value == value.strip() and "\n" not in value and value[0] != '"'
    return value if plain and not is_position(value.split(" ", 1)[0]) else quote(value)


def _write_word(value: str) -> str:
    plain = value and value[0] != '"' and not has_space(value) and not is_position(value)
    return value if plain else quote(value)


def write_message(message: str) -> str:
    """A message behind positions, set off where it could be misread."""
    odd = not message or message[0] in " |\n" or begins_with_position(message)
    return f"| {message}" if odd else message


def name_length(message: str) -> int | None:
    """How many code points the name in a message has, if its first atom is one: the default length of its ranges."""
    found = _ATOM.search(message)
    if found is None or found[0][0].isdigit():
        return None
    return len(found[0]) - 2


# Reading


def has_hole(text: str) -> bool:
    """Whether a text holds `$` and a number."""
    return "$" in text and _HOLE.search(text) is not None


def count_holes(template: str) -> int:
    """How many arguments a template takes. Raises ValueError for holes that do not count from 1."""
    holes = {int(number) for number in _HOLE.findall(template)}
    if holes != set(range(1, len(holes) + 1)):
        raise ValueError(f"the holes of template {template!r} do not count from 1")
    return len(holes)


def fill(template: str, arguments: Sequence[str]) -> str:
    """The message that a template and its arguments make."""
    return _HOLE.sub(lambda hole: arguments[int(hole[1]) - 1], template)


def read_arguments(text: str, count: int) -> list[str]:
    """The arguments from the rest of a row. Raises ValueError unless there are just `count`."""
    if count == 1:
        return [maybe_unquote(text)]
    arguments, at = [], 0
    for _ in range(count):
        if at >= len(text):
            raise ValueError(f"a row with fewer than the {count} arguments of its template")
        value, _, at = take_word(text, at)
        arguments.append(value)
    if at <= len(text):
        raise ValueError(f"more than the {count} arguments of its template: {text[at:]!r}")
    return arguments


def read_message(text: str) -> str:
    """A message from what `write_message` wrote."""
    return text.removeprefix("| ")
