"""lspz as a library: what an agent written in Python needs to hear about the files it edits.

Run it where lspz and basedpyright are installed (`pip install 'lspz[demo]'`)::

    python docs/examples/agent_demo.py

It opens a small project, prints what is wrong with each file, edits one file as an agent would, and asks again.
"""

from __future__ import annotations

import asyncio
from pathlib import Path

from lspz import CompactDiagnosticsParams, Config, Proxy

PROJECT = Path(__file__).resolve().parent / "project"
LETTERS = {1: "error", 2: "warning", 3: "info", 4: "hint"}


def show(found: CompactDiagnosticsParams, most: int = 5) -> None:
    """Print the problems of one file, the most frequent first: what, how often, and the lines."""
    total = sum(entry.count for entry in found.diagnostics)
    print(f"\n{Path(found.uri).name}, version {found.document_version}: {total} in {len(found.diagnostics)} groups")
    for entry in sorted(found.diagnostics, key=lambda entry: -entry.count)[:most]:
        lines = ", ".join(str(start_line + 1) for start_line, *_ in entry.ranges[:8])
        more = " ..." if entry.count > 8 else ""
        what = entry.message.splitlines()[0]
        print(f"  {entry.count:>2} x {LETTERS.get(entry.severity or 0, '?')} {entry.code}: {what} (line {lines}{more})")


async def main() -> None:
    """Ask, edit, ask again."""
    config = Config.builder().backend("basedpyright-langserver", "--stdio").build()
    async with Proxy(config, root=PROJECT) as proxy:
        for file in sorted(PROJECT.glob("*.py")):
            await proxy.open_file(file.as_uri())
            show(await proxy.diagnostics(file.as_uri()))

        # The agent mends what one message said sixteen times: `money` is called `format_money` now.
        pricing = PROJECT / "pricing.py"
        mended = pricing.read_text(encoding="utf-8").replace(" money(", " format_money(")
        await proxy.open_file(pricing.as_uri(), mended)  # the file itself stays as it is
        print("\nafter the edit:", end="")
        show(await proxy.diagnostics(pricing.as_uri()))

        saved = proxy.server.metrics
        print(f"\n{saved.rewritten} messages, {saved.bytes_before} -> {saved.bytes_after} bytes")


if __name__ == "__main__":
    asyncio.run(main())
