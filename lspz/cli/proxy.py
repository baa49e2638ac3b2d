"""`lspz`: stand in front of a server, on stdin and stdout.

The order matters: read the options, start the server, and only then import what is slow.
"""

from __future__ import annotations

import gc
import os
import sys

from .._version import __version__
from ..config.options import LOG_LEVELS, OPTIONS, Option, from_environment
from ..errors import BackendNotFound, ConfigError
from ..formats import CHOICES, FORMATS
from ..proxy.spawn import EarlySignals, spawn

TYPE_CHECKING = False  # typing itself would be loaded before the server is started
if TYPE_CHECKING:
    import argparse

EXIT_USAGE = 2
EXIT_NOT_FOUND = 127

EPILOG = """\
examples:
  lspz -- basedpyright-langserver --stdio          the form follows from the client
  lspz --format compact -- gopls                   for an agent that decodes it
  lspz --backend "ruff server" --log-level info    say at the end what was saved
  lspz compress --help; lspz decompress --help     the same for single messages, as filters
  lspz check --help                                what servers find wrong in files, for people and CI
  lspz mcp --help                                  the same servers as tools of the Model Context Protocol

Point your client at lspz as if it were the server. Every option but --help and --version can be set
in the environment; a flag wins. What is rewritten, and how, is set there alone:
"""


def main(argv: list[str]) -> int:
    """Run the proxy; return the exit status."""
    options, command = _split(argv)
    flags = _flags(options)
    try:
        values = from_environment(os.environ)
        for option in OPTIONS:
            text = flags.get(option.name)
            if text is not None and option.flag:
                values[option.name] = option.read(text, option.flag)
        if command and flags.get("backend") is not None:
            raise ConfigError("give the server once: with --backend, or after --")
        if command:
            values["backend"] = tuple(command)
        backend = values.get("backend")
        if not isinstance(backend, tuple) or not backend:
            raise ConfigError(
                "no server: say which one, for example  lspz -- basedpyright-langserver --stdio  "
                "(or --backend, or LSPZ_BACKEND_CMD)"
            )
        log_file = values.get("log_file")
        if isinstance(log_file, str):
            _check_log_file(log_file)
        _check_streams()
        early = EarlySignals()
        process = early.watch(spawn(backend))
    except ConfigError as error:
        print(f"lspz: {error}", file=sys.stderr)
        return EXIT_USAGE
    except BackendNotFound as error:
        print(f"lspz: {error}", file=sys.stderr)
        return EXIT_NOT_FOUND
    gc.disable()  # what is imported now stays for good: nothing of it is garbage, now or later
    from .serve import serve

    gc.freeze()
    gc.enable()
    return serve(values, process)


def _split(argv: list[str]) -> tuple[list[str], list[str]]:
    """Options, and the server's command behind `--`."""
    if "--" not in argv:
        return argv, []
    at = argv.index("--")
    return argv[:at], argv[at + 1 :]


def _flags(options: list[str]) -> dict[str, str | None]:
    """What the flags say, by their options' names. Where one is no plain flag with its value, argparse decides."""
    names = {option.flag: option.name for option in OPTIONS if option.flag}
    pairs = list(zip(options[::2], options[1::2], strict=False))
    if len(options) % 2 or any(flag not in names or text.startswith("-") for flag, text in pairs):
        return vars(_parser().parse_args(options))
    return {names[flag]: text for flag, text in pairs}


def _check_streams() -> None:
    for number, name in enumerate(("stdin", "stdout")):
        try:
            os.fstat(number)
        except OSError:
            raise ConfigError(f"{name} is closed, and a client speaks over it") from None


def _check_log_file(path: str) -> None:
    try:
        open(path, "a").close()
    except OSError as error:
        raise ConfigError(f"--log-file={path!r}: cannot be written: {error.strerror}") from None


def _parser() -> argparse.ArgumentParser:
    import argparse  # only now: it takes longer to load than a plain command line takes to read

    parser = argparse.ArgumentParser(
        prog="lspz",
        usage='lspz [options] -- COMMAND [ARG ...]\n       lspz [options] --backend "COMMAND ARG ..."',
        description="Stand between an LSP client and a language server, and make what the server says cheaper to read.",
        epilog=EPILOG + _variables(),
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    forms = "; ".join(f"{name}: {summary}" for name, summary in FORMATS.items())
    parser.add_argument(
        "--backend", metavar='"COMMAND ARG ..."', help="the server's command line, instead of -- COMMAND"
    )
    parser.add_argument("--format", metavar="FORM", help=f"{', '.join(CHOICES)} (default auto: by client). {forms}")
    parser.add_argument("--min-severity", metavar="SEVERITY", help="leave out milder diagnostics, and count them")
    parser.add_argument("--log-level", metavar="LEVEL", help=f"{', '.join(LOG_LEVELS)} (default warn)")
    parser.add_argument("--log-file", metavar="FILE", help="where the log goes (default stderr)")
    parser.add_argument("--version", action="version", version=f"lspz {__version__}")
    return parser


def _variables() -> str:
    width = max(len(option.variable) for option in OPTIONS)
    return "\n".join(f"  {option.variable:<{width}}  {option.help}{_default(option)}" for option in OPTIONS)


def _default(option: Option) -> str:
    if option.default is None or option.default == ():
        return ""
    value = option.default
    text = ",".join(value) if isinstance(value, tuple) else str(value).lower()
    return f" (default {text})"
