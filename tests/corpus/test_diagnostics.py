"""What 43 real servers sent: every captured message of diagnostics survives, and the savings are what they should be.

The captures are found in `LSPZ_SHARED` or `../shared`; without them these tests are skipped, in CI they must be there.
"""

from __future__ import annotations

import json
import os
import statistics
from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
import pytest
from lsprotocol import types

import lspz
from lspz.converters import get_converter

ROOT = Path(os.environ.get("LSPZ_SHARED") or Path(__file__).parents[3] / "shared")
PUBLISH = "textDocument/publishDiagnostics"
PULL = "textDocument/diagnostic"

WHOLE_CORPUS = 0.655
MEDIAN_OVER_SERVERS = 0.565
"""The shares of tokens (o200k_base) that compact must save at least: formats.md §7."""


class Message(NamedTuple):
    server: str
    method: str
    payload: dict[str, Any]

    @property
    def diagnostics(self) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = self.payload["diagnostics" if self.method == PUBLISH else "items"]
        return found


@pytest.fixture(scope="module")
def messages() -> list[Message]:
    """Every captured publish and full report that is not empty."""
    if not (ROOT / "corpus").is_dir():
        assert not os.environ.get("CI"), f"in CI the captured sessions must be in {ROOT}"
        pytest.skip("the captured sessions are not here (LSPZ_SHARED)")
    return [message for message in _read() if message.diagnostics]


def _read() -> Iterator[Message]:
    for path in sorted((ROOT / "corpus").glob("*.jsonl")):
        server = path.name.split("__")[0]
        for line in path.open(encoding="utf-8"):
            record = json.loads(line)
            message = record["msg"]
            if record["dir"] != "s2c":
                continue
            if message.get("method") == PUBLISH:
                yield Message(server, PUBLISH, message["params"])
            elif record.get("method_of_response") == PULL and (message.get("result") or {}).get("kind") == "full":
                yield Message(server, PULL, message["result"])


def key(diagnostic: dict[str, Any]) -> str:
    kept = {name: diagnostic.get(name) for name in ("range", "message", "severity", "code")}
    return json.dumps({**kept, "tags": diagnostic.get("tags") or []}, sort_keys=True)


def test_every_message_compresses_and_nothing_is_lost(messages: list[Message]) -> None:
    """The law of the format on every message, and none of them becomes larger, in bytes."""
    assert len(messages) > 800
    for message in messages:
        small = lspz.compress(message.method, message.payload)
        assert small is not message.payload
        assert len(msgspec.json.encode(small)) < len(msgspec.json.encode(message.payload))
        back = lspz.decompress(message.method, small)
        after = back["diagnostics" if message.method == PUBLISH else "items"]
        assert Counter(map(key, after)) == Counter(map(key, message.diagnostics))
        assert {k: v for k, v in back.items() if k not in ("diagnostics", "items")} == {
            k: v for k, v in message.payload.items() if k not in ("diagnostics", "items") and v is not None
        }


def test_every_message_comes_back_whole_without_pruning(messages: list[Message]) -> None:
    """With pruning off every member of every diagnostic survives: data, links, what LSP does not know."""
    config = lspz.Config(compression=lspz.CompressionConfig(enable_field_pruning=False))
    empty = (None, [])
    for message in messages:
        back = lspz.decompress(message.method, lspz.compress(message.method, message.payload, config=config))
        after = back["diagnostics" if message.method == PUBLISH else "items"]

        def whole(diagnostic: dict[str, Any]) -> str:
            return json.dumps({k: v for k, v in diagnostic.items() if v not in empty}, sort_keys=True)

        assert Counter(map(whole, after)) == Counter(map(whole, message.diagnostics))


def test_every_folded_message_is_standard_and_names_every_position(messages: list[Message]) -> None:
    """Each structures as lsprotocol's type, keeps the document's version, and loses no position."""
    converter = get_converter()
    for message in messages:
        out = lspz.compress(message.method, message.payload, format="folded")
        type_: Any = types.PublishDiagnosticsParams
        if message.method == PULL:
            type_ = types.RelatedFullDocumentDiagnosticReport
        read = converter.structure(out, type_)
        diagnostics = read.diagnostics if message.method == PUBLISH else read.items
        named = Counter((d.range.start.line, d.range.start.character) for d in diagnostics)
        for d in diagnostics:
            assert isinstance(d.message, str)
            if " more: " in d.message and d.message.endswith(")"):
                for place in d.message.rpartition(" more: ")[2][:-1].split(", "):
                    line, _, character = place.partition(":")
                    named[int(line) - 1, int(character) - 1] += 1
        originals = [d["range"]["start"] for d in message.diagnostics]
        assert Counter((p["line"], p["character"]) for p in originals) <= named
        assert out.get("version") == message.payload.get("version")


def test_compact_saves_what_it_should(messages: list[Message]) -> None:
    """Over the whole corpus, and as the median over servers."""
    before: defaultdict[str, int] = defaultdict(int)
    after: defaultdict[str, int] = defaultdict(int)
    for message in messages:
        small = lspz.compress(message.method, message.payload)
        for counts, value in ((before, message.payload), (after, small)):
            counted = lspz.count_tokens(json.dumps(value, separators=(",", ":"), ensure_ascii=False))
            assert counted.encoding == "o200k_base"
            counts[message.server] += counted.tokens

    whole = 1 - sum(after.values()) / sum(before.values())
    median = statistics.median(1 - after[server] / before[server] for server in before)

    assert whole >= WHOLE_CORPUS, f"{whole:.4f}"
    assert median >= MEDIAN_OVER_SERVERS, f"{median:.4f}"
