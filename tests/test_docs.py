"""The documentation cannot drift: what it lists is what the code has."""

from __future__ import annotations

import ast
import json
import re
import tomllib
from importlib import import_module
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from lspz.config.options import LOG_LEVELS, OPTIONS, SEVERITIES, Option
from lspz.formats import CHOICES
from lspz.proxy.session import TRANSITIONS, State

from .servers import ROOT

PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
BLOCK = re.compile(r"^```(\w+)(.*)\n((?:.*\n)*?)```$", re.MULTILINE)


def page(name: str) -> str:
    return (ROOT / name).read_text(encoding="utf-8")


def blocks(*languages: str) -> list[Any]:
    """The fenced blocks of some languages on all pages."""
    return [
        pytest.param(text, id=f"{path.name}:{path.read_text(encoding='utf-8')[: found.start()].count(chr(10)) + 1}")
        for path in PAGES
        for found in BLOCK.finditer(path.read_text(encoding="utf-8"))
        for language, _, text in [found.groups()]
        if language in languages
    ]


# architecture.md


def lifecycle() -> str:
    """The table of transitions as a Mermaid diagram."""
    lines = ["stateDiagram-v2", "    [*] --> Created"]
    for state, moves in TRANSITIONS.items():
        for event, target in moves.items():
            lines.append(f"    {_name(state)} --> {_name(target)}: {event.value}")
    lines += [f"    {_name(state)} --> [*]" for state, moves in TRANSITIONS.items() if not moves]
    return "\n".join(lines)


def _name(state: State) -> str:
    return "".join(word.title() for word in state.name.split("_"))


def limits() -> list[str]:
    """Every named number of the package with the reason in its docstring, as a row of a Markdown table."""
    units = ("Bytes", "Seconds", "Messages", "Payloads", "Documents", "Files")
    rows = []
    for path in sorted((ROOT / "lspz").rglob("*.py")):
        body = ast.parse(path.read_text(encoding="utf-8")).body
        for node, after in pairwise(body):
            if not (isinstance(node, ast.Assign) and isinstance(node.value, ast.Constant | ast.BinOp)):
                continue
            if not isinstance(after, ast.Expr):
                continue
            target, reason = node.targets[0], after.value
            if not (isinstance(target, ast.Name) and isinstance(reason, ast.Constant)):
                continue
            words = " ".join(str(reason.value).split())
            if target.id.isupper() and words.startswith(units):
                where = path.relative_to(ROOT / "lspz")
                rows.append(f"| `{where}` | `{target.id}` | {ast.unparse(node.value)} | {words} |")
    return rows


def test_the_lifecycle_diagram_is_the_table_of_transitions() -> None:
    """docs/architecture.md draws exactly the moves that proxy/session.py allows."""
    drawn = [block.values[0].strip() for block in blocks("mermaid") if "stateDiagram" in block.values[0]]

    assert drawn == [lifecycle()]


def test_every_limit_is_listed_with_its_reason() -> None:
    """The limits in docs/architecture.md are the named numbers of the code, with the same values and reasons."""
    listed = re.findall(r"^\| `[\w/]+\.py` \| `[A-Z_]+` \|.*\|$", page("docs/architecture.md"), re.MULTILINE)

    assert "\n".join(listed) == "\n".join(limits())


def test_the_code_map_names_every_file() -> None:
    """Each file of the package has its line in docs/architecture.md, and no line is about a file that is gone."""
    named = set(re.findall(r"^\| `([\w/]+\.py)` \|[^|]*\|$", page("docs/architecture.md"), re.MULTILINE))
    there = {str(path.relative_to(ROOT / "lspz")) for path in (ROOT / "lspz").rglob("*.py")}

    assert named == there


# configuration.md


def written(option: Option) -> str:
    """A default as it is written in the environment."""
    if option.default is None or option.default == ():
        return ""
    if option.name == "min_severity":
        return SEVERITIES[option.default - 1]
    return ",".join(option.default) if isinstance(option.default, tuple) else str(option.default).lower()


@pytest.mark.parametrize("name", ["README.md", "docs/configuration.md"])
@pytest.mark.parametrize("option", OPTIONS, ids=lambda option: option.name)
def test_every_option_is_documented(option: Option, name: str) -> None:
    """The tables of options have each variable, with its flag and its default."""
    (row,) = re.findall(rf"^\|.*`{option.variable}`.*\|$", page(name), re.MULTILINE)

    assert f"`{option.flag}`" in row if option.flag else "`--" not in row
    default = written(option)
    assert f"`{default}`" in row if default else re.search(r"\| (unset|none)\b", row)


def test_no_variable_is_documented_that_does_not_exist() -> None:
    """Whatever the pages call LSPZ_SOMETHING is an option."""
    known = {option.variable for option in OPTIONS} | {"LSPZ_DIAG_", "LSPZ_SHARED", "LSPZ_TOKEN"}

    assert {name for path in PAGES for name in re.findall(r"LSPZ_\w+", path.read_text(encoding="utf-8"))} <= known


def test_every_choice_is_documented() -> None:
    """docs/configuration.md names all forms and all log levels."""
    text = page("docs/configuration.md")

    assert all(f"`{choice}`" in text for choice in (*CHOICES, *LOG_LEVELS))


# benchmarks.md


def tables(name: str) -> list[list[list[str]]]:
    """The tables of a page, as rows of cells, with neither head nor rule."""
    found = re.findall(r"(?:^\|.*\|\n)+", page(name), re.MULTILINE)
    return [[[cell.strip() for cell in row.strip("|").split("|")] for row in table.splitlines()[2:]] for table in found]


def test_every_saving_reaches_its_floor() -> None:
    """The measured tables of docs/benchmarks.md have a figure for each floor, and it is not below."""
    by_kind, floors, _, by_server, _ = tables("docs/benchmarks.md")
    saved = {(kind, form.split(",")[0]): row[3] for kind, form, *row in by_kind}
    for form, cell in zip(("compact", "toon", "text"), by_server[-1][-3:], strict=True):
        saved["median of the servers", form] = cell
    compared = 0
    for kind, *cells in floors:
        for form, floor in zip(("compact", "toon", "text"), cells, strict=True):
            if floor:
                assert float(saved[kind, form].removesuffix("%")) >= float(floor), (kind, form)
                compared += 1

    assert compared == 25


# every page


@pytest.mark.parametrize("text", blocks("json"))
def test_json_on_a_page_is_json(text: str) -> None:
    """A block that is marked as JSON can be copied."""
    assert json.loads(text)


@pytest.mark.parametrize("text", blocks("toml"))
def test_toml_on_a_page_is_toml(text: str) -> None:
    """A block that is marked as TOML can be copied."""
    assert tomllib.loads(text)


@pytest.mark.parametrize("text", blocks("python"))
def test_python_on_a_page_is_python(text: str) -> None:
    """A block that is marked as Python compiles, and what it imports from lspz is there."""
    tree = compile(text, "page", "exec", ast.PyCF_ONLY_AST | ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module and node.module.startswith("lspz"):
            module = import_module(node.module)
            assert all(hasattr(module, alias.name) for alias in node.names), ast.unparse(node)


def test_the_interceptors_page_shows_the_example_that_runs() -> None:
    """The program in docs/interceptors.md is docs/examples/own_server.py, which another test runs."""
    (shown,) = (
        text for mark, text in re.findall(r"^```python (\S+)\n(.*?)^```$", page("docs/interceptors.md"), re.M | re.S)
    )

    assert shown == page("docs/examples/own_server.py")


def _anchor(heading: str) -> str:
    return re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.name)
def test_links_within_the_project_lead_somewhere(path: Path) -> None:
    """Each relative link names a file that exists and, with a #, a heading in it."""
    for target in re.findall(r"\]\((?!https?:)([^)]+)\)", path.read_text(encoding="utf-8")):
        name, _, anchor = target.partition("#")
        linked = (path.parent / name) if name else path
        assert linked.exists(), target
        if anchor:
            headings = re.findall(r"^#+ (.*)$", linked.read_text(encoding="utf-8"), re.MULTILINE)
            assert anchor in map(_anchor, headings), target
