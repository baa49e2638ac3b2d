"""`lspz compress` and `lspz decompress` as filters."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import Any

import pytest

from lspz.cli.convert import METHODS

PUBLISH = "textDocument/publishDiagnostics"
POSITION = {"line": 1, "character": 2}
PARAMS = {
    "uri": "file:///ä.py",
    "diagnostics": [{"range": {"start": POSITION, "end": POSITION}, "message": "twice the same", "severity": 2}] * 2,
}


def run(*arguments: str, given: bytes = b"", **env: str) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(
        [sys.executable, "-m", "lspz", *arguments], input=given, capture_output=True, timeout=30, check=False, env=env
    )


@pytest.mark.parametrize("form", ["compact", "toon", "text"])
def test_there_and_back(form: str) -> None:
    """Several values, one line each; what comes back says the same."""
    given = json.dumps(PARAMS, indent=2).encode() * 2
    there = run("compress", PUBLISH, "--format", form, given=given)
    back = run("decompress", PUBLISH, given=there.stdout)

    assert (there.returncode, there.stderr, back.returncode, back.stderr) == (0, b"", 0, b"")
    assert len(there.stdout.splitlines()) == 2
    assert there.stdout != given
    assert [json.loads(line) for line in back.stdout.splitlines()] == [PARAMS, PARAMS]


def test_compact_is_the_default_and_the_environment_holds() -> None:
    """As in the proxy."""
    plain: Any = json.loads(run("compress", PUBLISH, given=json.dumps(PARAMS).encode()).stdout)
    capped: Any = json.loads(
        run("compress", PUBLISH, given=json.dumps(PARAMS).encode(), LSPZ_MAX_DIAGS="1", LSPZ_DIAG_ENUM="no").stdout
    )

    assert plain["diagnostics"][0]["s"] == "W"
    assert (capped["diagnostics"][0]["s"], capped["omitted"]) == (2, 1)


@pytest.mark.parametrize(
    ("arguments", "given", "status", "says"),
    [
        (["decompress", PUBLISH], b'{"a": 1}\n{"b": }', 1, "line 2 column 7"),
        (
            ["decompress", PUBLISH],
            b'{"version":1,"uri":"u","diagnostics":[{"m":"x","r":[[1]]}]}',
            1,
            "value 1: diagnostics[0].r",
        ),
        (["decompress", PUBLISH], b'{"version":9,"uri":"u","format":"text","text":""}', 1, "newer"),
        (["compress", PUBLISH], b"  \n", 1, "is empty"),
        (["compress", "textDocument/rename"], b"{}", 2, "METHOD must be one of textDocument/publishDiagnostics"),
        (["compress", PUBLISH, "--format", "zip"], b"{}", 2, "must be one of passthrough, folded, compact, toon, text"),
        (["compress"], b"{}", 2, "required: METHOD"),
    ],
)
def test_what_is_wrong_is_named(arguments: list[str], given: bytes, status: int, says: str) -> None:
    """Where it stands, and what is allowed."""
    done = run(*arguments, given=given)

    assert done.returncode == status
    assert says in done.stderr.decode()
    assert b"Traceback" not in done.stderr


@pytest.mark.parametrize("name", ["compress", "decompress"])
def test_help_teaches_by_example(name: str) -> None:
    """And names every method."""
    out = run(name, "--help").stdout.decode()

    assert f"lspz {name} {PUBLISH} <" in out
    assert all(method in out for method in METHODS)
