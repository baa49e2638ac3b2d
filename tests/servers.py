"""The real language servers that lspz is tested with: a table, and where to find them.

`python -m tests.servers` prints the names of those that are missing; with `--required`, of those that CI must have.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from functools import cache
from pathlib import Path
from typing import Any

import attrs

ROOT = Path(__file__).parent.parent

PYTHON = '''\
import math


class Point:
    """A place on a line."""

    def __init__(self, x: int) -> None:
        self.x = x

    def double(self) -> int:
        """Twice x."""
        return self.x * 2


point = Point(1)
print(point.double())
print(missing)
print(missing)
print(missing)
'''

TYPESCRIPT = """\
import { area } from "./shapes";

const box = { width: 2, height: 3 };
export const covered = area(box.width, box.height);
missing(1);
missing(2);
missing(3);
"""

SHAPES = """\
/** How much a box covers. */
export function area(width: number, height: number): number {
  return width * height;
}
"""

GO = """\
package main

import "fmt"

// Box is a rectangle.
type Box struct {
	Width, Height int
}

// Area is how much it covers.
func (b Box) Area() int {
	return b.Width * b.Height
}

func main() {
	box := Box{Width: 2, Height: 3}
	fmt.Println(box.Area())
	fmt.Println(missing)
	fmt.Println(missing)
	fmt.Println(missing)
}
"""

C = """\
/// A rectangle.
struct box {
  int width;
  int height;
};

/// How much it covers.
static int area(struct box b) { return b.width * b.height; }

int main(void) {
  struct box box = {2, 3};
  int sum = area(box);
  sum += missing;
  sum += missing;
  sum += missing;
  return sum;
}
"""

YAML = """\
# yaml-language-server: $schema=./schema.json
name: sample
width: wide
height: high
depth: deep
owner:
  name: somebody
"""

SCHEMA = """\
{
  "type": "object",
  "properties": {
    "name": { "type": "string", "description": "What it is called." },
    "width": { "type": "integer", "description": "In metres." },
    "height": { "type": "integer", "description": "In metres." },
    "depth": { "type": "integer", "description": "In metres." },
    "owner": { "type": "object", "properties": { "name": { "type": "string" }, "mail": { "type": "string" } } }
  }
}
"""

RUST = """\
/// A rectangle.
struct Rect {
    width: u32,
    height: u32,
}

impl Rect {
    /// How much it covers.
    fn area(&self) -> u32 {
        self.width * self.height
    }
}

fn main() {
    let rect = Rect { width: 2, height: 3 };
    let _ = rect.area();
    let _ = rect.area(1);
    let _ = rect.area(2);
    let _ = rect.area(3);
}
"""

CARGO = """\
[package]
name = "sample"
version = "0.1.0"
edition = "2021"
"""


@attrs.frozen
class Server:
    """A language server, and a small project with mistakes in it."""

    name: str
    command: tuple[str, ...]
    language: str
    file: str
    """The document to open, with `text` in it."""
    text: str
    mistakes: tuple[str, ...] = ("missing",)
    """Each line that holds one of these must have a diagnostic, or the server has not finished."""
    hover: str = ""
    """Where to ask: some text of the document that occurs once, with `|` at the place. So are the next two."""
    completion: str = ""
    definition: str = ""
    files: dict[str, str] = attrs.field(factory=dict)
    """What else the project needs, text by path."""
    settings: dict[str, Any] = attrs.field(factory=dict)
    """What `workspace/configuration` answers."""
    options: dict[str, Any] = attrs.field(factory=dict)
    """`initializationOptions`."""
    pull_options: dict[str, Any] = attrs.field(factory=dict)
    """What is added to them so that diagnostics can be pulled."""
    pulls: bool = False
    """Whether its diagnostics can be pulled."""
    own_cache: bool = False
    """Whether each process needs its own cache: jedi's is spoilt when several processes fill it at once."""
    reports_status: bool = False
    """Whether it sends `experimental/serverStatus`, which tells when it has loaded everything."""
    required: bool = False
    """Whether CI must have it."""

    @property
    def executable(self) -> str | None:
        """The path of its program; None where it is not installed or cannot run."""
        return find(self.command[0])

    def place(self, marked: str) -> tuple[int, int]:
        """Line and character of the `|` in some text of the document."""
        plain = marked.replace("|", "", 1)
        assert self.text.count(plain) == 1, f"{plain!r} must occur once in {self.file}"
        before = self.text[: self.text.index(plain) + marked.index("|")]
        return before.count("\n"), len(before) - (before.rfind("\n") + 1)

    def lay_out(self, folder: Path) -> None:
        """Write the project."""
        for path, text in {**self.files, self.file: self.text}.items():
            (folder / path).parent.mkdir(parents=True, exist_ok=True)
            (folder / path).write_text(text)

    @property
    def mistaken_lines(self) -> frozenset[int]:
        """Lines that must have a diagnostic."""
        lines = enumerate(self.text.splitlines())
        return frozenset(number for number, line in lines if any(text in line for text in self.mistakes))


_PYTHON: dict[str, Any] = {
    "language": "python",
    "file": "main.py",
    "text": PYTHON,
    "hover": "point.dou|ble",
    "completion": "prin|t(point",
    "definition": "point = Po|int(1)",
}

SERVERS = (
    Server("basedpyright", ("basedpyright-langserver", "--stdio"), **_PYTHON, pulls=True, required=True),
    Server("ruff", ("ruff", "server"), **_PYTHON, pulls=True, required=True),
    Server(
        "ty",
        ("ty", "server"),
        **_PYTHON,
        options={"completions": {"autoImport": False}},
        pulls=True,
    ),
    Server("pylsp", ("pylsp",), **_PYTHON, own_cache=True),
    Server(
        "typescript-language-server",
        ("typescript-language-server", "--stdio"),
        "typescript",
        "main.ts",
        TYPESCRIPT,
        hover="box.wid|th",
        completion="box.|width",
        definition="ar|ea(box",
        files={
            "shapes.ts": SHAPES,
            "tsconfig.json": '{ "compilerOptions": { "strict": true, "lib": ["es5"], "types": [] } }\n',
        },
        options={"disableAutomaticTypingAcquisition": True, "tsserver": {"useSyntaxServer": "never"}},
        required=True,
    ),
    Server(
        "gopls",
        ("gopls",),
        "go",
        "main.go",
        GO,
        hover="box.Ar|ea()",
        completion="box.|Area()",
        definition="box := Bo|x{",
        files={"go.mod": "module example.com/sample\n\ngo 1.21\n"},
        options={"completionBudget": "0s"},
        pull_options={"pullDiagnostics": True},
        pulls=True,
        required=True,
    ),
    Server(
        "clangd",
        ("clangd",),
        "c",
        "main.c",
        C,
        hover="sum = ar|ea",
        completion="return b.|width",
        definition="sum = ar|ea",
    ),
    Server(
        "yaml-language-server",
        ("yaml-language-server", "--stdio"),
        "yaml",
        "main.yaml",
        YAML,
        mistakes=("wide", "high", "deep"),
        hover="wid|th",
        completion="  |name: somebody",
        files={"schema.json": SCHEMA},
        settings={
            "yaml": {"schemaStore": {"enable": False}, "hover": True, "completion": True, "validate": True},
        },
    ),
    Server(
        "rust-analyzer",
        ("rust-analyzer",),
        "rust",
        "src/main.rs",
        RUST,
        mistakes=("area(1)", "area(2)", "area(3)"),
        hover="rect.ar|ea();",
        completion="rect.|area();",
        definition="rect = Re|ct {",
        files={"Cargo.toml": CARGO},
        options={"checkOnSave": False, "cachePriming": {"enable": False}, "cargo": {"sysroot": None}},
        pulls=True,
        reports_status=True,
        required=True,
    ),
)


BY_NAME = {server.name: server for server in SERVERS}


def in_ci() -> bool:
    """Whether a missing required server is a failure."""
    return os.environ.get("CI", "").lower() in ("1", "true")


@cache
def find(program: str) -> str | None:
    """The path of a program that `scripts/test` installed, or that is on PATH; None when it is not there."""
    cargo = os.environ.get("CARGO_INSTALL_ROOT") or os.environ.get("CARGO_HOME") or Path.home() / ".cargo"
    folders = (
        Path(sys.executable).parent,
        ROOT / ".servers" / "bin",
        ROOT / ".servers" / "node_modules" / ".bin",
        *os.get_exec_path(),
        Path(cargo) / "bin",
    )
    for folder in folders:
        found = shutil.which(program, path=os.fspath(folder))
        if found is not None and (program != "rust-analyzer" or _runs(found)):
            return found
    return None


def _runs(path: str) -> bool:
    """rustup leaves a `rust-analyzer` on PATH that only says that there is none."""
    return subprocess.run([path, "--version"], capture_output=True, check=False).returncode == 0


def missing(required: bool = False) -> list[str]:
    """The names of servers that are not installed."""
    return [server.name for server in SERVERS if (server.required or not required) and server.executable is None]


if __name__ == "__main__":
    print(*missing(required="--required" in sys.argv[1:]))
