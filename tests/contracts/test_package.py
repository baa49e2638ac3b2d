"""What holds for the package as a whole: its public names, its layers, its registries."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import lspz
from lspz import errors
from lspz.config.options import OPTIONS
from lspz.formats import CHOICES, FORMATS
from lspz.interceptors import INTERCEPTORS
from lspz.interceptors.base import Direction

ROOT = Path(lspz.__file__).parent

LAYERS = [
    {"__main__"},
    {"cli"},
    {"mcp"},
    {"agent"},
    {"proxy"},
    {"codec"},
    {"converters"},
    {"config"},
    {"interceptors", "transports"},
    {"formats", "wire"},
    {"metrics", "tokens"},
    {"errors", "_version"},
]
"""A module imports only from layers below its own; modules of one layer do not import each other."""


def _layer(name: str) -> int:
    return next(i for i, names in enumerate(LAYERS) if name in names)


def _modules() -> list[Path]:
    return sorted(path for path in ROOT.rglob("*.py") if path != ROOT / "__init__.py")


def _imports(path: Path) -> set[str]:
    """The parts of lspz that a module imports at run time, anywhere in it."""
    package = path.relative_to(ROOT).parts[:-1]
    found = set()
    for node in ast.walk(_without_type_checking(ast.parse(path.read_text(encoding="utf-8")))):
        if isinstance(node, ast.ImportFrom) and node.level:
            base = list(package)[: len(package) - node.level + 1]
            names = [node.module.split(".")] if node.module else [[alias.name] for alias in node.names]
            found |= {(base + name)[0] for name in names}
        elif isinstance(node, ast.ImportFrom) and node.module and node.module.split(".")[0] == "lspz":
            found.add(node.module.split(".")[1])
    return found


def _without_type_checking(tree: ast.Module) -> ast.Module:
    class Drop(ast.NodeTransformer):
        def visit_If(self, node: ast.If) -> ast.AST | None:
            return None if isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING" else node

    dropped = Drop().visit(tree)
    assert isinstance(dropped, ast.Module)
    return dropped


@pytest.mark.parametrize("path", _modules(), ids=lambda path: str(path.relative_to(ROOT)))
def test_a_layer_imports_only_what_lies_below(path: Path) -> None:
    """The order is `LAYERS`; everything may import what is not lspz's."""
    own = path.relative_to(ROOT).parts[0].removesuffix(".py")
    for name in _imports(path) - {own}:
        assert _layer(name) > _layer(own), f"{path} imports {name}"


def test_heavy_libraries_are_imported_where_they_belong() -> None:
    """pygls behind the proxy, tiktoken in tokens, websockets only where a WebSocket is opened."""
    allowed = {
        "pygls": {"proxy", "converters.py"},
        "tiktoken": {"tokens.py"},
        "toon_format": {"formats"},
        "websockets": {"transports", "proxy"},
        "lsprotocol": {"proxy", "converters.py", "interceptors"},
        "cattrs": {"converters.py", "interceptors", "codec.py"},
        "asyncio": {"agent", "cli", "mcp", "proxy", "transports"},
        "mcp": {"cli", "mcp"},
        "mcp_types": {"mcp"},
        "pydantic": {"mcp"},
        "uvicorn": {"mcp"},
        "watchfiles": {"agent"},
    }
    for path in _modules():
        own = path.relative_to(ROOT).parts[0]
        for node in ast.walk(_without_type_checking(ast.parse(path.read_text(encoding="utf-8")))):
            modules = [node.module] if isinstance(node, ast.ImportFrom) and not node.level else []
            modules += [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            for module in modules:
                top = (module or "").split(".")[0]
                assert own in allowed.get(top, {own}), f"{path} imports {module}"


def test_the_public_names_are_sorted_and_exist() -> None:
    """`__all__` is complete, in order, and every name can be had."""
    assert lspz.__all__ == sorted(lspz.__all__)
    for name in lspz.__all__:
        assert getattr(lspz, name) is not None
    assert set(dir(lspz)) == set(lspz.__all__)
    with pytest.raises(AttributeError, match="no attribute 'nonsense'"):
        _ = lspz.nonsense  # type: ignore[attr-defined]


def test_importing_the_package_loads_nothing() -> None:
    """`import lspz` is cheap; what is heavy comes with the first use."""
    code = "import sys, lspz; print(sorted(m for m in sys.modules if m.split('.')[0] in "
    code += "('asyncio', 'attrs', 'cattrs', 'lsprotocol', 'msgspec', 'pygls', 'tiktoken')))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


def test_every_error_is_in_the_tree() -> None:
    """The picture in the docstring names them all, and all have one root."""
    for name, value in vars(errors).items():
        if isinstance(value, type) and issubclass(value, Exception):
            assert issubclass(value, errors.LspzError)
            assert name in (errors.__doc__ or "")
            assert value.__doc__


def test_registries_hold_no_duplicates() -> None:
    """Options, forms and kinds are told apart by their names."""
    for names in (
        [option.name for option in OPTIONS],
        [option.variable for option in OPTIONS],
        [row.name for row in INTERCEPTORS],
        [method for row in INTERCEPTORS for method in row.methods],
    ):
        assert len(names) == len(set(names))
    assert ("auto", *FORMATS) == CHOICES


@pytest.mark.parametrize("row", INTERCEPTORS, ids=lambda row: row.name)
@pytest.mark.parametrize("form", FORMATS)
def test_every_interceptor_is_what_its_row_says(row: object, form: str) -> None:
    """Made for every form but passthrough, asked about its methods on their way to the client, and off when told so.

    Inside LSP's own schema little can be saved: folded, most kinds stay as they are.
    """
    from lspz import Config, Limits
    from lspz.interceptors import Row

    assert isinstance(row, Row)
    made = row.create(Config(enable_diag_compress=None, limits=Limits(max_completions=9), fold_hover=True), form)
    stays = row.name in ("document-symbols", "locations", "workspace-symbols")
    assert (made is None) == (form == "passthrough" or (form == "folded" and stays))
    switches = {} if row.switch == "diag" else {row.switch: False}
    assert row.create(Config(enable_diag_compress=False, switches=switches), form) is None
    if made is not None:
        assert (made.name, made.methods) == (row.name, row.methods)
        for method in row.methods:
            assert made.applies_to(method, Direction.TO_CLIENT)
            assert not made.applies_to(method, Direction.TO_SERVER)


TESTS = Path(__file__).parents[1]


@pytest.mark.parametrize("path", sorted(TESTS.rglob("test_*.py")), ids=lambda path: str(path.relative_to(TESTS)))
def test_every_test_says_what_it_shows(path: Path) -> None:
    """A docstring in each, for those who read a failure."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name.startswith("test_"):
            assert ast.get_docstring(node), f"{path}: {node.name}"
