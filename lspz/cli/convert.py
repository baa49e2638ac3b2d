"""`lspz compress METHOD` and `lspz decompress METHOD`: filters for those who write a decoder or look at a log."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator
from typing import Any

from ..codec import compress, decompress
from ..config import Config
from ..errors import ConfigError, DecodeError
from ..formats import FORMATS
from ..interceptors import INTERCEPTORS

EXIT_DAMAGED = 1
EXIT_USAGE = 2

METHODS = tuple(method for row in INTERCEPTORS for method in row.methods)

HELP = {
    "compress": "Read what a server says, and write what a client gets in its place.",
    "decompress": "Read what a client of lspz got in any form, and write the LSP that it stands for.",
}

EPILOG = """\
Standard input holds one JSON value or several: the params of the notification, or the results of the request,
METHOD. Each becomes one line. METHOD is one of:

"""

EXAMPLES = {
    "compress": """

examples:
  lspz compress textDocument/publishDiagnostics < params.json
  lspz compress textDocument/hover --format text < result.json | jq -r .text

What a form has no place for, or would not make smaller, comes out as it is. The LSPZ_ variables of `lspz --help`
hold here as well.
""",
    "decompress": """

examples:
  lspz decompress textDocument/publishDiagnostics < compact.json
  lspz compress workspace/symbol < result.json | lspz decompress workspace/symbol
""",
}


def main(argv: list[str]) -> int:
    """Run one of the filters, `argv[0]`; return the exit status."""
    name = argv[0]
    options = _parser(name).parse_args(argv[1:])
    try:
        if options.method not in METHODS:
            raise ConfigError(f"{options.method!r} is not rewritten: METHOD must be one of {', '.join(METHODS)}")
        if name == "compress":
            config = Config.from_env()
            if options.format not in FORMATS:
                raise ConfigError(f"--format={options.format!r}: must be one of {', '.join(FORMATS)}")
    except ConfigError as error:
        print(f"lspz {name}: {error}", file=sys.stderr)
        return EXIT_USAGE
    text = sys.stdin.buffer.read().decode("utf-8", "surrogateescape")
    count = 0
    try:
        for value in _values(text):
            count += 1
            if name == "compress":
                out = compress(options.method, value, format=options.format, config=config)
            else:
                out = decompress(options.method, value)
            line = json.dumps(out, ensure_ascii=False, separators=(",", ":"))
            sys.stdout.buffer.write(line.encode("utf-8", "surrogateescape") + b"\n")
    except json.JSONDecodeError as error:
        print(f"lspz {name}: standard input, line {error.lineno} column {error.colno}: {error.msg}", file=sys.stderr)
        return EXIT_DAMAGED
    except DecodeError as error:
        print(f"lspz {name}: value {count}: {error}", file=sys.stderr)
        return EXIT_DAMAGED
    if not count:
        print(f"lspz {name}: standard input is empty: it must hold the params or the result", file=sys.stderr)
        return EXIT_DAMAGED
    return 0


def _values(text: str) -> Iterator[Any]:
    """The JSON values in a text, one after another. Raises JSONDecodeError."""
    decoder = json.JSONDecoder()
    at = _skip_space(text, 0)
    while at < len(text):
        value, at = decoder.raw_decode(text, at)
        yield value
        at = _skip_space(text, at)


def _skip_space(text: str, at: int) -> int:
    while at < len(text) and text[at] in " \t\r\n":
        at += 1
    return at


def _parser(name: str) -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog=f"lspz {name}",
        description=HELP[name],
        epilog=EPILOG + "\n".join(f"  {method}" for method in METHODS) + EXAMPLES[name],
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.add_argument("method", metavar="METHOD", help="the LSP method that the message belongs to")
    if name == "compress":
        forms = "; ".join(f"{form}: {summary}" for form, summary in FORMATS.items())
        parser.add_argument("--format", metavar="FORM", default="compact", help=f"default compact. {forms}")
    return parser
