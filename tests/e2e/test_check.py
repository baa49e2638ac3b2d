"""`lspz check`: what it prints, and the exit status that a pipeline relies on."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit
from urllib.request import url2pathname

import pytest
from sarif_pydantic import Sarif

from lspz import count_tokens
from tests.e2e.recording import descendants

pytestmark = [pytest.mark.server("basedpyright"), pytest.mark.server("ruff")]

BOTH = ("--server", "basedpyright", "--server", "ruff")
WRONG = "import os\nprint(missing)\nprint(missing)\n"


def check(folder: Path, *arguments: str, **options: Any) -> subprocess.CompletedProcess[str]:
    """Run `lspz check` in a folder."""
    command = [sys.executable, "-m", "lspz", "check", *arguments]
    options.setdefault("env", {**os.environ, "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"})
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=120, check=False, **options)


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """Two Python files with mistakes, one without, and one that nobody looks at."""
    (tmp_path / "a.py").write_text(WRONG)
    (tmp_path / "pkg").mkdir()
    (tmp_path / "pkg" / "b.py").write_text("print(missing)\n")
    (tmp_path / "pkg" / "c.py").write_text("x = 1\n")
    (tmp_path / ".venv").mkdir()
    (tmp_path / ".venv" / "d.py").write_text(WRONG)
    return tmp_path.resolve()


def test_each_problem_is_printed_once(project: Path) -> None:
    """By server, over all files, errors alone; exit status 1, and nothing on stderr in a pipe."""
    done = check(project, *BOTH)

    assert (done.returncode, done.stderr) == (1, "")
    assert done.stdout.count('"missing" is not defined') == 1
    assert done.stdout.count("Undefined name `missing`") == 1
    assert "a.py\n2:7 3" in done.stdout
    assert "pkg/b.py\n1:7" in done.stdout
    assert "imported but unused" not in done.stdout
    assert ".venv" not in done.stdout
    assert f"{project}" not in done.stdout


def test_the_exit_status_follows_the_severity(project: Path) -> None:
    """0 where nothing at or above it is wrong."""
    (project / "a.py").write_text("import os\n")

    assert check(project, "a.py", *BOTH).returncode == 0
    done = check(project, "a.py", *BOTH, "--min-severity", "warning")
    assert done.returncode == 1
    assert "`os` imported but unused" in done.stdout
    done = check(project, "pkg/c.py", *BOTH, "--min-severity", "hint")
    assert (done.returncode, done.stderr) == (0, "")


def test_every_format(project: Path) -> None:
    """Plain LSP and SARIF are valid, and every form has the same problems; text has the fewest tokens."""
    printed = {
        form: check(project, *BOTH, "--format", form).stdout for form in ("text", "toon", "compact", "json", "sarif")
    }

    items = json.loads(printed["json"])["items"]
    found = [
        (item["uri"].rsplit("/", 1)[-1], d["range"]["start"]["line"], d["source"])
        for item in items
        for d in item["items"]
    ]
    assert sorted(found) == sorted(
        (file, line, source)
        for file, line in (("a.py", 1), ("a.py", 2), ("b.py", 0))
        for source in ("basedpyright", "Ruff")
    )
    sarif = Sarif.model_validate_json(printed["sarif"])
    assert [run.tool.driver.name for run in sarif.runs] == ["basedpyright", "ruff"]
    assert [len(run.results or ()) for run in sarif.runs] == [3, 3]
    region = json.loads(printed["sarif"])["runs"][1]["results"][0]["locations"][0]["physicalLocation"]
    assert region == {
        "artifactLocation": {"uri": "a.py"},
        "region": {"startLine": 2, "startColumn": 7, "endLine": 2, "endColumn": 14},
    }
    assert set(json.loads(printed["compact"])["servers"]) == {"basedpyright", "ruff"}
    tokens = {form: count_tokens(text).tokens for form, text in printed.items()}
    assert min(tokens, key=lambda form: tokens[form]) == "text"


def test_a_cap_is_kept_and_said(project: Path) -> None:
    """So many tokens and no more."""
    for number in range(30):
        (project / f"f{number}.py").write_text(f"print(missing_{number})\n")
    done = check(project, *BOTH, "--max-tokens", "100")
    assert count_tokens(done.stdout).tokens <= 100
    assert "omitted" in done.stdout


def test_what_is_not_known_is_not_clean(project: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    """A server that is missing, one that is not known, one that crashes: exit status 2, each named with what to do."""
    folder = tmp_path_factory.mktemp("bin")
    path = {**os.environ, "PATH": f"{folder}{os.pathsep}{os.defpath}"}
    done = check(project, *BOTH, env=path)
    assert done.returncode == 2
    assert (
        "--server=basedpyright: basedpyright-langserver is not installed; install it with: pip install" in done.stderr
    )
    done = check(project, env=path)
    assert done.returncode == 2
    assert "not checked: python files: basedpyright is not installed" in done.stderr
    done = check(project, "--server", "nonsense")
    assert (done.returncode, done.stdout) == (2, "")
    assert "server='nonsense': must be one of" in done.stderr
    crashing = folder / "ruff"
    crashing.write_text("#!/bin/sh\necho cannot go on >&2\nexit 7\n")
    crashing.chmod(0o755)
    done = check(project, "--server", "ruff", env=path)
    assert done.returncode == 2
    assert "ruff: a.py, pkg/b.py, pkg/c.py: the language server exited with status 7: cannot go on" in done.stderr


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("nowhere",), "nowhere: there is no such file or folder"),
        (("data.unheard",), "no server is known for unheard"),
        (("--format", "xml"), "invalid choice: 'xml'"),
        (("--max-tokens", "-1"), "'-1': must be a number, 0 for no cap"),
        (("--timeout", "0"), "'0': must be a number of seconds above 0"),
        (("--changed-since", "main"), "is no git checkout, or git is not installed"),
        (("--min-sev", "error"), "unrecognized arguments"),
    ],
)
def test_mistakes_on_the_command_line(project: Path, arguments: tuple[str, ...], says: str) -> None:
    """Each is named; exit status 2, and nothing on stdout."""
    (project / "data.unheard").write_text("")
    done = check(project, *arguments)
    assert (done.returncode, done.stdout) == (2, "")
    assert says in done.stderr


def test_only_what_changed(project: Path) -> None:
    """Since a git revision: what was edited, what is new; nothing changed is nothing to check, and no failure."""

    def git(*arguments: str) -> None:
        identity = ["-c", "user.name=n", "-c", "user.email=e", "-c", "commit.gpgsign=false"]
        subprocess.run(["git", *identity, *arguments], cwd=project, check=True, capture_output=True)

    git("init", "-q", "-b", "main")
    (project / ".gitignore").write_text("ignored.py\n")
    git("add", ".")
    git("commit", "-qm", "one")
    done = check(project, *BOTH, "--changed-since", "HEAD")
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "lspz check: no files to check\n")
    (project / "pkg" / "c.py").write_text("print(new)\n")
    (project / "fresh é.py").write_text("print(newer)\n")
    (project / "ignored.py").write_text("print(ignored)\n")
    (project / "a.py").unlink()
    done = check(project, *BOTH, "--changed-since", "HEAD")
    assert done.returncode == 1
    assert "fresh é.py" in done.stdout
    assert "pkg/c.py" in done.stdout
    assert "b.py" not in done.stdout
    assert "ignored" not in done.stdout
    done = check(project, "--changed-since", "no-such-revision")
    assert done.returncode == 2
    assert "git knows no such revision" in done.stderr


def test_a_closed_pipe_ends_it_quietly(project: Path) -> None:
    """Whoever reads has had enough: no traceback."""
    command = f"{sys.executable} -m lspz check --server ruff --format json | head -c 1"
    env = {**os.environ, "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"}
    for number in range(200):
        (project / f"f{number}.py").write_text("print(missing)\n" * 50)
    done = subprocess.run(
        command, shell=True, cwd=project, capture_output=True, text=True, timeout=60, check=False, env=env
    )
    assert done.stderr == ""
    assert done.stdout == "{"


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_an_interrupt_leaves_nothing(project: Path, number: signal.Signals) -> None:
    """Ctrl-C ends it with 130 and no traceback; whatever ends it, the servers are gone."""
    for index in range(300):
        (project / f"f{index}.py").write_text("import os, sys, json, re\n" * 20)
    env = {**os.environ, "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"}
    command = [sys.executable, "-m", "lspz", "check", "--server", "basedpyright"]
    process = subprocess.Popen(command, cwd=project, stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=env)
    end = time.monotonic() + 20
    while not (servers := descendants(process.pid)) and time.monotonic() < end:
        time.sleep(0.01)
    assert servers
    process.send_signal(number)
    _, stderr = process.communicate(timeout=30)
    end = time.monotonic() + 5
    while (left := [pid for pid in servers if _runs(pid)]) and time.monotonic() < end:
        time.sleep(0.02)
    assert left == []
    if number == signal.SIGINT:
        assert (process.returncode, stderr) == (130, "")


def _runs(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except OSError:
        return False


def test_a_terminal_sees_how_far_it_is(project: Path) -> None:
    """A line that is taken away at the end, and how much is left out; the result itself is the same."""
    import pty

    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-m", "lspz", "check", "--server", "ruff"],
        cwd=project,
        stdout=subprocess.PIPE,
        stderr=theirs,
        text=True,
        env={**os.environ, "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}", "COLUMNS": "80"},
    )
    os.close(theirs)
    shown = b""
    with suppress(OSError):  # the terminal is closed
        while part := os.read(ours, 4096):
            shown += part
    os.close(ours)
    assert process.communicate(timeout=30)[0] == check(project, "--server", "ruff").stdout
    assert "3/3" in shown.decode()
    assert "████████████████████" in shown.decode()
    assert "2 milder left out: --min-severity hint shows all" in shown.decode()


MEMORY = 150.0
"""Megabytes that lspz itself may take for a package of some hundred files."""


def test_a_large_package_is_as_the_servers_own_command_finds_it(tmp_path: Path) -> None:
    """pip's sources: the very diagnostics of `basedpyright --outputjson`, in bounded memory, in fewer tokens."""
    import pip

    shutil.copytree(Path(pip.__file__).parent, tmp_path / "pip", ignore=shutil.ignore_patterns("__pycache__", "*.pyc"))
    root = tmp_path.resolve()
    files = len(list(root.rglob("*.py")))
    assert files >= 200
    env = {**os.environ, "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"}
    own = subprocess.run(["basedpyright", "--outputjson", "pip"], cwd=root, env=env, capture_output=True, check=False)
    expected = {
        (
            Path(d["file"]).relative_to(root).as_posix(),
            *(d["range"]["start"][part] if "range" in d else 0 for part in ("line", "character")),
            d.get("rule"),
            d["severity"],
        )
        for d in json.loads(own.stdout)["generalDiagnostics"]
    }
    command = [sys.executable, "-m", "lspz", "check", "--server", "basedpyright", "--min-severity", "info"]
    command += ["--format", "json", "--timeout", "300", "pip"]
    with (tmp_path / "out").open("w+") as out:
        process = subprocess.Popen(command, cwd=root, env=env, stdout=out, stderr=subprocess.PIPE, text=True)
        peak = 0.0
        while process.poll() is None:
            peak = max(peak, _peak(process.pid))
            time.sleep(0.05)
        assert process.stderr is not None
        assert (process.returncode, process.stderr.read()) == (1, "")
        out.seek(0)
        report = out.read()
    found = {
        (
            url2pathname(urlsplit(item["uri"]).path).removeprefix(f"{root}/"),
            d["range"]["start"]["line"],
            d["range"]["start"]["character"],
            d.get("code"),
            {1: "error", 2: "warning", 3: "information"}[d["severity"]],
        )
        for item in json.loads(report)["items"]
        for d in item["items"]
    }
    assert found == expected
    assert len(found) > 1000
    assert peak <= MEMORY
    text = check(root, "--server", "basedpyright", "--min-severity", "info", "--timeout", "300", "pip").stdout
    print(f"{files} files, {len(found)} diagnostics, peak {peak:.0f} MB, {len(text)} characters for {len(report)}")
    assert 5 * len(text) < len(report)


def _peak(pid: int) -> float:
    """The most memory that a process had so far, in megabytes; 0 where it has ended."""
    try:
        lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    except OSError:
        return 0.0
    return next((int(line.split()[1]) / 1024 for line in lines if line.startswith("VmHWM:")), 0.0)
