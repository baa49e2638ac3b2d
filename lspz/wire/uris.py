"""One key for all spellings of a URI: client and server need not write the same document the same way."""

from __future__ import annotations

import re
from functools import lru_cache

_DRIVE = re.compile(r"^(file:///)([A-Za-z])(?=:)")


@lru_cache(maxsize=4096)
def uri_key(uri: str) -> str:
    """A key that is equal for `file:///c%3A/[id].ts`, `file:///C:/%5Bid%5D.ts` and the like; not itself a URI."""
    from urllib.parse import unquote  # takes a while to load, and a session that rewrites nothing needs no key

    return _DRIVE.sub(lambda drive: drive[1] + drive[2].lower(), unquote(uri, errors="surrogateescape"))
