"""Small projects of two files each, for asking real servers about them: a function in one, used in the other."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import attrs

from tests.servers import BY_NAME


@attrs.frozen
class Project:
    """A project without mistakes."""

    server: str
    """A name in tests/servers.py."""
    files: dict[str, str]
    main: str
    """The file that uses `area` of the other one."""
    shapes: str
    """The file that defines it."""
    declares: str
    """The file that `main` sees of it."""
    wrong: str
    """A line that is wrong at the end of `main`."""
    says: str = "missing"
    """What is said about it."""
    later: tuple[str, str] = ("", "")
    """A file that is missing, and its text: `wants_later` is clean once it is there."""
    wants_later: str = ""
    """What `main` is when it needs that file."""
    offers: frozenset[str] = frozenset()
    """The questions that it answers; none: all."""

    def lay_out(self, folder: Path) -> None:
        """Write the project."""
        for name, text in self.files.items():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_text(text.replace("$ROOT", str(folder)))

    @property
    def command(self) -> tuple[str, ...]:
        """How the server is started."""
        server = BY_NAME[self.server]
        return (server.executable or server.command[0], *server.command[1:])

    @property
    def options(self) -> dict[str, Any]:
        """`initializationOptions`."""
        return {} if self.server == "rust-analyzer" else BY_NAME[self.server].options  # where it need not check


PROJECTS = (
    Project(
        "basedpyright",
        {
            "pyproject.toml": '[tool.basedpyright]\ntypeCheckingMode = "standard"\n',
            "shapes.py": '''\
def area(width: int, height: int) -> int:
    """How much it covers."""
    return width * height
''',
            "main.py": """\
from shapes import area


def covered() -> int:
    return area(2, 3)


print(covered())
""",
        },
        main="main.py",
        shapes="shapes.py",
        declares="shapes.py",
        wrong="print(missing)\n",
        later=("later.py", "def late() -> int:\n    return 1\n"),
        wants_later="from later import late\n\nprint(late())\n",
    ),
    Project(
        "typescript-language-server",
        {
            "tsconfig.json": '{ "compilerOptions": { "strict": true, "lib": ["es5"], "types": [] } }\n',
            "shapes.ts": """\
/** How much it covers. */
export function area(width: number, height: number): number {
  return width * height;
}
""",
            "main.ts": """\
import { area } from "./shapes";

export function covered(): number {
  return area(2, 3);
}

covered();
""",
        },
        main="main.ts",
        shapes="shapes.ts",
        declares="shapes.ts",
        wrong="missing();\n",
        later=("later.ts", "export function late(): number {\n  return 1;\n}\n"),
        wants_later='import { late } from "./later";\n\nlate();\n',
    ),
    Project(
        "gopls",
        {
            "go.mod": "module example.com/sample\n\ngo 1.21\n",
            "shapes.go": """\
package main

// area is how much it covers.
func area(width, height int) int {
	return width * height
}
""",
            "main.go": """\
package main

func covered() int {
	return area(2, 3)
}

func main() {
	println(covered())
}
""",
        },
        main="main.go",
        shapes="shapes.go",
        declares="shapes.go",
        wrong="var wrong int = missing\n",
        later=("later.go", "package main\n\nfunc late() int {\n\treturn 1\n}\n"),
        wants_later="package main\n\nfunc main() {\n\tprintln(late())\n}\n",
    ),
    Project(
        "clangd",
        {
            "compile_commands.json": json.dumps(
                [
                    {"directory": "$ROOT", "file": name, "arguments": ["cc", "-std=c11", "-c", name]}
                    for name in ("main.c", "shapes.c")
                ]
            ),
            "shapes.h": "/// How much it covers.\nint area(int width, int height);\n",
            "shapes.c": """\
#include "shapes.h"

int area(int width, int height) { return width * height; }
""",
            "main.c": """\
#include "shapes.h"

int covered(void) { return area(2, 3); }

int main(void) { return covered(); }
""",
        },
        main="main.c",
        shapes="shapes.c",
        declares="shapes.h",
        wrong="int wrong = missing;\n",
        later=("later.h", "int late(void);\n"),
        wants_later='#include "later.h"\n\nint main(void) { return late(); }\n',
    ),
    Project(
        "rust-analyzer",
        {
            "Cargo.toml": '[package]\nname = "sample"\nversion = "0.1.0"\nedition = "2021"\n',
            "src/shapes.rs": """\
/// How much it covers.
pub fn area(width: u32, height: u32) -> u32 {
    width * height
}
""",
            "src/main.rs": """\
mod shapes;
use shapes::area;

fn covered() -> u32 {
    area(2, 3)
}

fn main() {
    covered();
}
""",
        },
        main="src/main.rs",
        shapes="src/shapes.rs",
        declares="src/shapes.rs",
        wrong="fn wrong() { covered(1); }\n",
        says="expected 0 arguments",
        later=("src/later.rs", "pub fn late() -> u32 {\n    1\n}\n"),
        wants_later="mod later;\n\nfn main() {\n    later::late();\n}\n",
    ),
    Project(
        "ruff",
        {"ruff.toml": "", "shapes.py": "def area():\n    pass\n", "main.py": "from shapes import area\n\narea()\n"},
        main="main.py",
        shapes="shapes.py",
        declares="shapes.py",
        wrong="print(missing)\n",
        offers=frozenset({"hover", "code_actions", "formatting"}),
    ),
)
