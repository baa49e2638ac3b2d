"""`lspz`: stand in front of a server, on stdin and stdout.

The order matters: read the options, start the server, and only then import what is slow.
"""

from __future__ import annotations

import gc
import os
import sys

from .._version import __version__
from ..config.options import OPTIONS, SEVERITIES, Option, from_environment, split_backends
from ..errors import BackendError, BackendNotFound, ConfigError
from ..formats import FORMATS
from ..proxy.spawn import EarlySignals, spawn
from ..transports.address import is_address

TYPE_CHECKING = False  # typing itself would be loaded before the server is started
if TYPE_CHECKING:
    import argparse
    from subprocess import Popen

EXIT_FAILED = 1
EXIT_USAGE = 2
EXIT_NOT_FOUND = 127

EPILOG = """\
examples:
  lspz -- basedpyright-langserver --stdio          the form follows from the client
  lspz --format compact -- gopls                   for an agent that decodes it
  lspz --backend "ruff server" --log-level info    say at the end what was saved
  lspz -- basedpyright-langserver --stdio -- ruff server
                                                   two servers that the client takes for one
  lspz --listen tcp://127.0.0.1:7000 -- gopls      a server for each client that connects
  lspz -- wss://build.example:7000/python          in front of a server that runs elsewhere
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
    early = EarlySignals()
    try:
        values = from_environment(os.environ)
        for option in OPTIONS:
            text = flags.get(option.name)
            if text is not None and option.flag:
                values[option.name] = option.read(text, option.flag)
        if command and flags.get("backend") is not None:
            raise ConfigError("give the server once: with --backend, or after --")
        if command:
            values["backend"] = command
        backend = values.get("backend")
        if not isinstance(backend, tuple) or not backend:
            raise ConfigError(
                "no server: say which one, for example  lspz -- basedpyright-langserver --stdio  "
                "(or --backend, or LSPZ_BACKEND_CMD)"
            )
        log_file = values.get("log_file")
        if isinstance(log_file, str):
            _check_log_file(log_file)
        commands = split_backends(backend)
        if not all(commands):
            raise ConfigError("a server is missing before or after --")
        processes: list[Popen[bytes] | None] = []
        if values.get("listen") is None:  # else each client gets a server of its own
            _check_streams()
            for command in commands:
                processes.append(None if is_address(command) else early.watch(spawn(command)))
    except ConfigError as error:
        print(f"lspz: {error}", file=sys.stderr)
        return EXIT_USAGE
    except BackendNotFound as error:
        early.end()
        print(f"lspz: {error}", file=sys.stderr)
        return EXIT_NOT_FOUND
    gc.disable()  # what is imported now stays for good: nothing of it is garbage, now or later
    from .serve import serve

    gc.freeze()
    gc.enable()
    try:
        return serve(values, processes)
    except (BackendError, ConfigError) as error:
        early.end()
        print(f"lspz: {error}", file=sys.stderr)
        return EXIT_USAGE if isinstance(error, ConfigError) else EXIT_FAILED


def _split(argv: list[str]) -> tuple[list[str], tuple[str, ...]]:
    """Options, and the server's command behind `--`."""
    if "--" not in argv:
        return argv, ()
    at = argv.index("--")
    return argv[:at], tuple(argv[at + 1 :])


def _flags(options: list[str]) -> dict[str, str | None]:
    """What the flags say, by their options' names. Where one is no plain flag with its value, argparse decides."""
    names = {option.flag: option.name for option in OPTIONS if option.flag and not option.is_switch}
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
        usage='lspz [options] -- COMMAND [ARG ...] [-- COMMAND ...]\n       lspz [options] --backend "COMMAND ARG ..."',
        description="Stand between an LSP client and a language server, and make what the server says cheaper to read.",
        epilog=EPILOG + _variables(),
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    forms = "; ".join(f"{name}: {summary}" for name, summary in FORMATS.items())
    for option in OPTIONS:
        if option.flag and option.is_switch:
            parser.add_argument(option.flag, action="store_const", const="true", dest=option.name, help=option.help)
        elif option.flag:
            more = f". {forms}" if option.name == "format" else ""
            about = f"{option.help}{_default(option)}{more}"
            parser.add_argument(option.flag, metavar=option.metavar, dest=option.name, help=about)
    parser.add_argument("--version", action="version", version=f"lspz {__version__}")
    return parser


def _variables() -> str:
    width = max(len(option.variable) for option in OPTIONS)
    return "\n".join(f"  {option.variable:<{width}}  {option.help}{_default(option)}" for option in OPTIONS)


def _default(option: Option) -> str:
    if option.default is None or option.default == ():
        return ""
    value = SEVERITIES[-1] if option.name == "min_severity" else option.default
    text = ",".join(value) if isinstance(value, tuple) else str(value).lower()
    return f" (default {text})"
