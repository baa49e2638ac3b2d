"""The table of language servers."""

from __future__ import annotations

from pathlib import Path

import pytest

from lspz.config.servers import PLAIN, builtin_servers
from lspz.errors import ConfigError

TABLE = builtin_servers()


@pytest.mark.parametrize(
    ("name", "language"),
    [
        ("a.py", "python"),
        ("A.PY", "python"),
        ("a.tsx", "typescriptreact"),
        ("a.h", "c"),
        ("Dockerfile", "dockerfile"),
        ("CMakeLists.txt", "cmake"),
        ("a.unheard-of", "unheard-of"),
        ("LICENSE", PLAIN),
        (".gitignore", PLAIN),
    ],
)
def test_a_file_has_a_language(name: str, language: str) -> None:
    """By its name, by its ending in any case, else the ending itself."""
    assert TABLE.language_of(f"/p/{name}") == language


def test_a_file_has_servers() -> None:
    """Several where several are used by default; none where nothing is known."""
    assert [server.name for server in TABLE.servers_for("a.py")] == ["basedpyright", "ruff"]
    assert [server.name for server in TABLE.servers_for("a.go")] == ["gopls"]
    assert TABLE.servers_for("a.unheard-of") == ()


def test_the_table_is_whole() -> None:
    """Some 30 servers; all languages of theirs are there, no ending has two, and every default can be started."""
    assert len(TABLE.servers) >= 25
    endings = [ending for found in TABLE.languages.values() for ending in found]
    assert len(endings) == len(set(endings))
    for server in TABLE.servers.values():
        assert set(server.languages) <= TABLE.languages.keys(), server.name
        assert server.command


def test_the_nearest_root_wins_and_none_is_above_the_workspace(tmp_path: Path) -> None:
    """A folder with a marker, from the file upwards; the workspace where there is none."""
    workspace = tmp_path / "workspace"
    file = workspace / "packages" / "one" / "src" / "a.ts"
    file.parent.mkdir(parents=True)
    file.write_text("")
    server = TABLE.servers["typescript"]
    (tmp_path / "package.json").write_text("{}")
    assert server.root_of(file, workspace) == workspace.resolve()
    (workspace / "package.json").write_text("{}")
    assert server.root_of(file, workspace) == workspace.resolve()
    (workspace / "packages" / "one" / "tsconfig.json").write_text("{}")
    assert server.root_of(file, workspace) == (workspace / "packages" / "one").resolve()
    (workspace / "packages" / "app.csproj").write_text("")
    assert TABLE.servers["csharp"].root_of(file, workspace) == (workspace / "packages").resolve()


def test_the_table_can_be_changed() -> None:
    """What is said anew replaces what was; the rest stays. The table itself never changes."""
    changed = TABLE.changed_by(
        {
            "servers": {
                "basedpyright": {"default": False},
                "pyright": {"default": True, "settings": {"python": {"x": 1}}},
                "mine": {"command": ["my-server"], "languages": ["mine"], "default": True},
            },
            "languages": {"mine": [".mine"]},
        }
    )
    assert [server.name for server in changed.servers_for("a.py")] == ["pyright", "ruff"]
    assert changed.servers["pyright"].command == TABLE.servers["pyright"].command
    assert [server.name for server in changed.servers_for("a.mine")] == ["mine"]
    assert TABLE.servers["basedpyright"].default


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"server": {}}, "server: the table has servers and languages"),
        ({"servers": {"x": {"languages": ["python"]}}}, "servers.x: .*command"),
        ({"servers": {"ruff": {"comand": ["x"]}}}, "servers.ruff: may hold background, checks_saved, command"),
        ({"servers": {"ruff": {"command": "ruff server"}}}, "servers.ruff: command='ruff server': must be a list"),
        ({"servers": {"ruff": 7}}, "servers.ruff: may hold"),
    ],
)
def test_a_wrong_change_is_named(changes: dict[str, object], says: str) -> None:
    """Server and member, and what is allowed."""
    with pytest.raises(ConfigError, match=says):
        TABLE.changed_by(changes)
