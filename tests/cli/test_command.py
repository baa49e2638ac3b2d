"""The `lspz` command as a person meets it: help, wrong options, logs."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

import lspz
from lspz.cli import proxy
from lspz.config.options import OPTIONS


def run(*arguments: str, **env: str) -> subprocess.CompletedProcess[str]:
    """Run the command to its end, with nothing on its stdin."""
    import os

    clean = {name: value for name, value in os.environ.items() if not name.startswith("LSPZ_")}
    return subprocess.run(
        [sys.executable, "-m", "lspz", *arguments],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=30,
        env={**clean, **env},
        check=False,
    )


def test_help_teaches_by_example() -> None:
    """Forms, examples, and every variable with its default."""
    out = run("--help").stdout

    assert "lspz -- basedpyright-langserver --stdio" in out
    for option in OPTIONS:
        assert option.variable in out
    assert "(default message,severity,range,code)" in out


def test_version() -> None:
    """The one version."""
    assert run("--version").stdout == f"lspz {lspz.__version__}\n"


@pytest.mark.parametrize(
    ("arguments", "env", "says"),
    [
        ([], {}, "no server: say which one, for example  lspz -- basedpyright-langserver --stdio"),
        (["--"], {}, "no server"),
        (["--format", "zip", "--", "x"], {}, "--format='zip': must be one of auto, passthrough, folded, compact"),
        (["--", "x"], {"LSPZ_DIAG_ENUM": "ja"}, "LSPZ_DIAG_ENUM='ja': must be true or false"),
        (["--backend", "x", "--", "y"], {}, "give the server once"),
        (["--log-file", "/no/such/dir/log", "--", "x"], {}, "cannot be written: No such file or directory"),
        (["--formt", "compact", "--", "x"], {}, "unrecognized arguments: --formt"),
    ],
)
def test_a_wrong_option_is_named_and_exits_2(arguments: list[str], env: dict[str, str], says: str) -> None:
    """One line on stderr that says what is allowed; nothing on stdout, no server started."""
    done = run(*arguments, **env)

    assert says in done.stderr
    assert done.stdout == ""
    assert done.returncode == 2
    assert "Traceback" not in done.stderr


def test_a_flag_wins_over_the_environment() -> None:
    """`--log-level` beats `LSPZ_LOG_LEVEL`, and the server may come from the environment."""
    done = run("--format", "bad", "--", "x", LSPZ_FORMAT="compact")
    assert "--format='bad'" in done.stderr
    missing = run(LSPZ_BACKEND_CMD="no-such-server --stdio")
    assert missing.stderr == "lspz: no-such-server: command not found; is it installed, and on PATH?\n"
    assert missing.returncode == 127


def test_a_directory_or_a_text_is_no_server(tmp_path: Path) -> None:
    """What exists but cannot be run is one clear line as well."""
    text = tmp_path / "server"
    text.write_text("no program")
    done = run("--", str(text))
    assert done.returncode == 127
    assert done.stderr == f"lspz: {text}: cannot be run: Permission denied\n"


def test_the_savings_are_said_at_the_end_at_level_info() -> None:
    """One line on stderr; at the default level a clean session says nothing at all."""
    server = "import sys; sys.stdin.read()"
    assert run("--", sys.executable, "-c", server).stderr == ""
    done = run("--log-level", "info", "--", sys.executable, "-c", server)
    assert done.stderr.endswith("lspz: no message was rewritten\n")


def test_the_log_can_go_to_a_file(tmp_path: Path) -> None:
    """With the time, for people who look later; stderr stays silent."""
    path = tmp_path / "lspz.log"
    server = "import sys; print('noise'); sys.stdin.read()"

    done = run("--log-file", str(path), "--log-level", "debug", "--", sys.executable, "-c", server)

    assert done.stderr == ""
    assert "INFO lspz: no message was rewritten" in path.read_text()


@pytest.mark.parametrize("redirection", ["<&-", ">&-"])
def test_a_closed_stream_is_named(redirection: str) -> None:
    """A client speaks over stdin and stdout; without one of them nothing is started."""
    command = f"exec '{sys.executable}' -m lspz -- '{sys.executable}' -c 'print(1)' {redirection}"
    done = subprocess.run(["sh", "-c", command], capture_output=True, text=True, timeout=30, check=False)
    assert done.returncode == 2
    assert "is closed, and a client speaks over it" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize(
    "options",
    [
        [],
        ["--format", "compact"],
        ["--format=compact"],
        ["--format", "compact", "--log-level", "info", "--format", "folded"],
        ["--backend", "ruff server", "--log-file=x"],
        ["--log-file", ""],
    ],
)
def test_a_plain_command_line_is_read_as_argparse_reads_it(options: list[str]) -> None:
    """A flag and its value need no argparse; the last one wins, and it makes no difference who read it."""
    given = {name: text for name, text in vars(proxy._parser().parse_args(options)).items() if text is not None}

    assert {name: text for name, text in proxy._flags(options).items() if text is not None} == given


@pytest.mark.parametrize("options", [["--format"], ["--format", "--log-level"], ["format", "compact"], ["--help", "x"]])
def test_what_is_no_plain_flag_is_left_to_argparse(options: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    """It knows how to say what is wrong, and how to help."""
    with pytest.raises(SystemExit):
        proxy._flags(options)
    assert "usage: lspz" in "".join(capsys.readouterr())
