"""What `scripts/demo` shows: a client, lspz and a real server, and what the client has to read.

Opens the files of docs/examples/project through running `lspz` processes, one for each form, and prints how many tokens
arrive. The client below knows nothing of lspz but how to start it.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any

import lspz

PROJECT = Path(__file__).resolve().parent.parent / "docs" / "examples" / "project"
FORMS = ("passthrough", "compact", "folded")

BASEDPYRIGHT = ("basedpyright-langserver", "--stdio")
RUFF = ("ruff", "server")
RUFF_OPTIONS = {"settings": {"configurationPreference": "editorOnly", "lint": {"select": ["E", "F", "UP", "B", "RET"]}}}

PUSHED = {
    "publishDiagnostics": {"versionSupport": True, "relatedInformation": True, "tagSupport": {"valueSet": [1, 2]}}
}
PULLED = {"diagnostic": {"relatedInformation": True}}

LIMIT = 50.0
"""Seconds for one session with a server; it takes three."""

NOTHING: dict[str, Any] = {"diagnostics": []}

QUIET = 0.4
"""Seconds without a message after which a server has said all it has to say."""

VOCABULARY_LIMIT = 10.0
"""Seconds that tiktoken has to fetch its vocabulary; after that tokens are estimated."""


# A client


class Client:
    """Just enough of an LSP client: requests, notifications, and the diagnostics that come."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self._process = process
        self._answers: dict[int, asyncio.Future[Any]] = {}
        self._reading = asyncio.create_task(self._read())
        self.published: dict[str, Any] = {}
        self.heard = time.monotonic()

    def send(self, **message: Any) -> None:
        body = json.dumps({"jsonrpc": "2.0", **message}).encode()
        self._process.stdin.write(b"Content-Length: %d\r\n\r\n%b" % (len(body), body))

    async def ask(self, method: str, params: Any) -> Any:
        number = len(self._answers)
        self._answers[number] = answer = asyncio.get_running_loop().create_future()
        self.send(id=number, method=method, params=params)
        await self.until(answer.done)
        return answer.result()

    def open(self, file: Path) -> None:
        item = {"uri": file.as_uri(), "languageId": "python", "version": 1, "text": file.read_text(encoding="utf-8")}
        self.send(method="textDocument/didOpen", params={"textDocument": item})

    async def until(self, condition: Callable[[], bool]) -> None:
        while not condition():
            if self._reading.done():
                raise SystemExit("demo: lspz ended too early; what it said is above")
            await asyncio.sleep(0.01)

    async def _read(self) -> None:
        stream = self._process.stdout
        with suppress(asyncio.IncompleteReadError):
            while True:
                head = await stream.readuntil(b"\r\n\r\n")
                length = next(line for line in head.lower().split(b"\r\n") if line.startswith(b"content-length"))
                self._receive(json.loads(await stream.readexactly(int(length.split(b":")[1]))))

    def _receive(self, message: dict[str, Any]) -> None:
        self.heard = time.monotonic()
        if "method" not in message:
            self._answers[message["id"]].set_result(message.get("result"))
        elif message["method"] == "textDocument/publishDiagnostics":
            self.published[message["params"]["uri"]] = message["params"]
        elif message["method"] == "workspace/configuration":
            self.send(id=message["id"], result=[None for _ in message["params"]["items"]])
        elif "id" in message:
            self.send(id=message["id"], result=None)


@asynccontextmanager
async def session(form: str, server: tuple[str, ...], text_document: Any, options: Any = None):
    """A client connected to `lspz --format FORM -- SERVER`; the process is gone afterwards, whatever happens."""
    command = [sys.executable, "-m", "lspz", "--format", form, "--", *server]
    environment = os.environ | {"PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ.get('PATH', '')}"}
    pipe = asyncio.subprocess.PIPE
    process = await asyncio.create_subprocess_exec(*command, stdin=pipe, stdout=pipe, env=environment, cwd=PROJECT)
    try:
        async with asyncio.timeout(LIMIT):
            client = Client(process)
            folder = {"uri": PROJECT.as_uri(), "name": PROJECT.name}
            await client.ask(
                "initialize",
                {
                    "processId": os.getpid(),
                    "clientInfo": {"name": "lspz-demo"},
                    "rootUri": folder["uri"],
                    "workspaceFolders": [folder],
                    "capabilities": {"textDocument": text_document, "workspace": {"configuration": True}},
                    "initializationOptions": options,
                },
            )
            client.send(method="initialized", params={})
            yield client
            await client.ask("shutdown", None)
            client.send(method="exit")
            process.stdin.close()
            await process.wait()
    except TimeoutError:
        raise SystemExit(f"demo: {' '.join(command)} did not finish within {LIMIT:g} s") from None
    finally:
        if process.returncode is None:
            process.terminate()
            await process.wait()


async def pushed(form: str, files: list[Path]) -> dict[str, Any]:
    """What basedpyright publishes for each file, as a client of this form gets it."""
    async with session(form, BASEDPYRIGHT, PUSHED) as client:
        for file in files:
            client.open(file)
        # while it works, basedpyright publishes empty lists; every file of the project has something
        await client.until(lambda: all(entries(client.published.get(f.as_uri(), NOTHING)) for f in files))
        await client.until(lambda: time.monotonic() - client.heard > QUIET)
        return {file.name: client.published[file.as_uri()] for file in files}


async def pulled(form: str, files: list[Path]) -> dict[str, Any]:
    """What ruff answers when it is asked about each file."""
    async with session(form, RUFF, PULLED, RUFF_OPTIONS) as client:
        answers = {}
        for file in files:
            client.open(file)
            question = {"textDocument": {"uri": file.as_uri()}}
            answers[file.name] = await client.ask("textDocument/diagnostic", question)
        return answers


async def in_every_form(get: Callable[[str, list[Path]], Any], files: list[Path]) -> dict[str, dict[str, Any]]:
    """Three sessions at once, each with a server of its own."""
    return dict(zip(FORMS, await asyncio.gather(*(get(form, files) for form in FORMS)), strict=True))


# Counting


def entries(message: Any) -> list[Any]:
    """The diagnostics of a message of either kind, in any form."""
    return message["diagnostics"] if "diagnostics" in message else message["items"]


def minified(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


class TokenCounter:
    """Counts tokens; says with what."""

    def __init__(self) -> None:
        loading = threading.Thread(target=lspz.count_tokens, args=("",), daemon=True)
        loading.start()
        loading.join(VOCABULARY_LIMIT)
        self._waits = loading.is_alive()  # for a network that does not answer
        self.encoding = "estimate" if self._waits else lspz.count_tokens("").encoding

    def __call__(self, message: Any) -> int:
        text = minified(message)
        return (len(text.encode()) + 3) // 4 if self._waits else lspz.count_tokens(text).tokens

    @property
    def description(self) -> str:
        if self.encoding == "estimate":
            return "estimated at four bytes to the token, as tiktoken's vocabulary could not be fetched"
        return f"counted with tiktoken's {self.encoding}"


KEPT = ("message", "range", "severity", "code", "tags")


def same_after_decoding(method: str, raw: Any, compact: Any) -> bool:
    """Whether the compact message decodes to the server's own diagnostics, in all the fields that are kept."""
    decoded = lspz.decompress(method, compact)
    wanted, found = (
        Counter(
            json.dumps({k: d[k] for k in KEPT if d.get(k) not in (None, [])}, sort_keys=True) for d in entries(message)
        )
        for message in (raw, decoded)
    )
    return wanted == found


# Printing


class Paint:
    """Bold and colours, on a terminal that wants them."""

    def __init__(self) -> None:
        self._on = sys.stdout.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"

    def _paint(self, code: str, text: str) -> str:
        return f"\033[{code}m{text}\033[0m" if self._on else text

    def bold(self, text: str) -> str:
        return self._paint("1", text)

    def green(self, text: str) -> str:
        return self._paint("32", text)

    def dim(self, text: str) -> str:
        return self._paint("2", text)


paint = Paint()


def saved(before: int, after: int) -> str:
    return f"{100 * (1 - after / before):.0f} %"


def print_table(results: dict[str, dict[str, Any]], count: TokenCounter) -> None:
    raw, compact, folded = (results[form] for form in FORMS)
    rows = [
        (name, len(entries(raw[name])), count(raw[name]), count(compact[name]), count(folded[name])) for name in raw
    ]
    rows.append(("total", *(sum(row[i] for row in rows) for i in range(1, 5))))
    print(paint.dim("                                  tokens                          saved"))
    print(paint.dim("file             diagnostics         raw → compact →  folded    compact  folded"))
    for name, diagnostics, a, b, c in rows:
        line = f"{name:<17}{diagnostics:>11,}   {a:>9,} → {b:>7,} → {c:>7,}    "
        end = paint.green(f"{saved(a, b):>7}") + f"  {saved(a, c):>6}"
        print((paint.bold(line) if name == "total" else line) + end)


def print_example(results: dict[str, dict[str, Any]], count: TokenCounter) -> None:
    """One message before and after. Of its diagnostics only one group is written out: all would fill the screen."""
    groups = [(entry, name) for name, message in results["compact"].items() for entry in entries(message)]
    group, name = min(groups, key=lambda pair: abs(pair[0].get("n", 1) - 4))
    titles = (
        "as the server wrote it",
        "--format compact: ranges after the first are differences, n says how many",
        "--format folded: standard LSP for every client, the other positions in the message",
    )
    print(paint.bold(f"One message before and after, {name}:"))
    for form, title in zip(FORMS, titles, strict=True):
        message = results[form][name]
        mine = [entry for entry in entries(message) if says(entry, group["m"])]
        others = len(entries(message)) - len(mine)
        head, tail = minified(message | {"diagnostics": [0]}).replace(PROJECT.as_uri(), "file:///project").split("[0]")
        print(f"\n{paint.green(title)}, {count(message):,} tokens\n{head}[")
        for entry in mine:
            print(f"  {minified(entry)},")
        print(paint.dim(f"  ... and {others} more") + f"\n]{tail}")


def says(entry: dict[str, Any], text: str) -> bool:
    message = entry.get("m") or entry["message"]
    return message == text or message.startswith(f"{text} (+")


async def main() -> None:
    started = time.monotonic()
    files = sorted(PROJECT.glob("*.py"))
    count = TokenCounter()

    print(paint.bold("client -- lspz -- basedpyright:"), f"{len(files)} files of docs/examples/project, pushed\n")
    basedpyright = await in_every_form(pushed, files)
    print_table(basedpyright, count)

    print(paint.bold("\nclient -- lspz -- ruff:"), "the same files, pulled\n")
    ruff = await in_every_form(pulled, files)
    print_table(ruff, count)

    both = (("textDocument/publishDiagnostics", basedpyright), ("textDocument/diagnostic", ruff))
    messages = [(method, r["passthrough"][f.name], r["compact"][f.name]) for method, r in both for f in files]
    whole = sum(same_after_decoding(*message) for message in messages)
    print(f"\nTokens are {count.description}.")
    print(f"{whole} of {len(messages)} compact messages decode to exactly the server's diagnostics: message, range,")
    print("severity, code and tags of each. Left out are source, links and fix data.\n")

    print_example(basedpyright, count)
    print(paint.dim(f"\nTook {time.monotonic() - started:.0f} s. To try your own server: .venv/bin/lspz --help"))
    if whole < len(messages):
        raise SystemExit("demo: compression lost something, which it never may: please report it")


if __name__ == "__main__":
    try:
        asyncio.run(main())
    except KeyboardInterrupt:
        raise SystemExit(130) from None
    except BrokenPipeError:  # `scripts/demo | head`
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
