"""Hypothesis strategies of what servers say: plain LSP (JSON), one for each method, with values nobody expects."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from . import keys

NASTY = [
    "",
    " ",
    "a",
    "`x` is unused",
    "`y` is unused",
    "'é🎉' ≠ \"x\"",
    "two\nlines",
    "\n",
    "\n\nline\n",
    "a\tb",
    "\\",
    '"',
    '"quoted"',
    "| bar",
    "|",
    "#1",
    " #2: 3 kept",
    "$1 costs $2",
    "$",
    "(deprecated)",
    "(markdown)",
    "none",
    "clean",
    "unchanged",
    "full",
    "omitted 3",
    "in file:///",
    "@ a",
    ": b",
    "moved +1 from 2",
    "gone",
    "new",
    " leading",
    "trailing ",
    "12",
    "3:4",
    "3:4-5 x",
    "-1",
    "true",
    "null",
    "a: b",
    "a, b",
    "[3]{a,b}:",
    "- item",
    "\u2028",
    "\u0085",
    "\x0b",
    "\r\n",
    "\x00",
    "\xa0 &nbsp;",
    "\\&nbsp;",
    "data:#1",
    "data:image/png;base64," + "A" * 44,
    "0",
    "01",
    "1e5",
    "x" * 70,
]
text = st.one_of(st.sampled_from(NASTY), st.text(max_size=12))
numbers = st.one_of(st.integers(0, 12), st.integers(0, 3), st.just(2**31 - 1))
uris = st.one_of(
    st.sampled_from(
        ["file:///p/a.py", "file:///p/b.py", "file:///p/q/c.py", "file:///p%20q/ä.py", "untitled:1", "", "full"]
    ),
    text,
)


def optional(**members: Any) -> st.SearchStrategy[dict[str, Any]]:
    """A dict in which any member may be missing."""
    return st.fixed_dictionaries({}, optional=members)


def merged(*parts: st.SearchStrategy[dict[str, Any]]) -> st.SearchStrategy[dict[str, Any]]:
    return st.tuples(*parts).map(lambda dicts: {name: value for part in dicts for name, value in part.items()})


@st.composite
def ranges(draw: Any) -> dict[str, Any]:
    """Mostly on one line; some over several, some reversed."""
    line, character = draw(numbers), draw(numbers)
    down = draw(st.sampled_from([0, 0, 0, 0, 1, 3]))
    end = draw(numbers) if down else max(0, character + draw(st.sampled_from([0, 1, 1, 9, -1])))
    return {"start": {"line": line, "character": character}, "end": {"line": line + down, "character": end}}


markup = st.fixed_dictionaries({"kind": st.sampled_from(["markdown", "plaintext"]), "value": text})

diagnostics = merged(
    st.fixed_dictionaries({"range": ranges(), "message": st.one_of(text, text, text, markup)}),
    optional(
        severity=st.sampled_from([1, 2, 3, 4, 9]),
        code=st.one_of(st.integers(-1, 2), text),
        tags=st.lists(st.sampled_from([1, 2, 7]), max_size=2),
        source=text,
        data=st.just({"fix": 1}),
        codeDescription=st.just({"href": "https://example.org"}),
    ),
)


def repeated(one: st.SearchStrategy[Any], most: int = 8) -> st.SearchStrategy[list[Any]]:
    """Lists in which some are there twice."""
    return st.tuples(st.lists(one, max_size=most), st.integers(0, 3)).map(lambda found: found[0] + found[0][: found[1]])


items = repeated(diagnostics)
full = merged(st.fixed_dictionaries({"kind": st.just("full"), "items": items}), optional(resultId=text))
unchanged = st.fixed_dictionaries({"kind": st.just("unchanged"), "resultId": text})
reports = st.one_of(full, full, unchanged)
in_workspace = merged(reports, st.fixed_dictionaries({"uri": uris, "version": st.one_of(st.none(), numbers)}))
workspace = st.fixed_dictionaries({"items": st.lists(in_workspace, max_size=4, unique_by=lambda item: item["uri"])})

edits = st.one_of(
    st.fixed_dictionaries({"range": ranges(), "newText": text}),
    st.fixed_dictionaries({"insert": ranges(), "replace": ranges(), "newText": text}),
)
completion_items = merged(
    st.fixed_dictionaries({"label": text}),
    optional(
        kind=st.one_of(st.integers(1, 25), st.just(99)),
        detail=text,
        labelDetails=optional(detail=text, description=text),
        documentation=st.one_of(text, markup),
        insertText=text,
        insertTextFormat=st.sampled_from([1, 2]),
        textEdit=edits,
        textEditText=text,
        deprecated=st.booleans(),
        tags=st.just([1]),
        data=st.just({"id": 1}),
        sortText=text,
        preselect=st.booleans(),
    ),
)
defaults = optional(insertTextFormat=st.sampled_from([1, 2]), editRange=ranges(), data=st.just(7))
completions = st.one_of(
    st.none(),
    repeated(completion_items),
    merged(
        st.fixed_dictionaries({"isIncomplete": st.booleans(), "items": repeated(completion_items)}),
        optional(itemDefaults=defaults, applyKind=st.just({"data": 2})),
    ),
)

marked = st.one_of(text, st.fixed_dictionaries({"language": st.sampled_from(["py", ""]), "value": text}))
hovers = st.one_of(
    st.none(),
    merged(
        st.fixed_dictionaries({"contents": st.one_of(marked, markup, st.lists(marked, max_size=3))}),
        optional(range=ranges()),
    ),
)

kinds = st.one_of(st.integers(1, 26), st.just(77))
symbols = st.recursive(
    merged(
        st.fixed_dictionaries({"name": text, "kind": kinds, "range": ranges(), "selectionRange": ranges()}),
        optional(detail=text, deprecated=st.booleans(), tags=st.just([1])),
    ),
    lambda children: st.tuples(children, st.lists(children, max_size=3)).map(
        lambda found: {**found[0], "children": found[1]}
    ),
    max_leaves=6,
)
location = st.fixed_dictionaries({"uri": uris, "range": ranges()})


@st.composite
def flat_symbols(draw: Any) -> list[Any]:
    uri = draw(uris)
    one = merged(
        st.fixed_dictionaries(
            {"name": text, "kind": kinds, "location": st.fixed_dictionaries({"uri": st.just(uri), "range": ranges()})}
        ),
        optional(containerName=text, deprecated=st.booleans(), tags=st.just([1])),
    )
    found: list[Any] = draw(st.lists(one, max_size=6))
    return found


outlines = st.one_of(st.none(), st.lists(symbols, max_size=4), flat_symbols())
links = merged(
    st.fixed_dictionaries({"targetUri": uris, "targetRange": ranges(), "targetSelectionRange": ranges()}),
    optional(originSelectionRange=ranges()),
)
locations = st.one_of(st.none(), location, repeated(location), repeated(links))
found_symbols = merged(
    st.fixed_dictionaries(
        {
            "name": text,
            "kind": kinds,
            "location": st.one_of(location, st.fixed_dictionaries({"uri": uris})),
        }
    ),
    optional(containerName=text, deprecated=st.booleans(), tags=st.just([1])),
)

PAYLOADS: dict[str, st.SearchStrategy[Any]] = {
    keys.PUBLISH: merged(st.fixed_dictionaries({"uri": uris, "diagnostics": items}), optional(version=numbers)),
    keys.PULL: st.one_of(
        reports,
        merged(full, st.fixed_dictionaries({"relatedDocuments": st.dictionaries(uris, reports, max_size=2)})),
    ),
    keys.WORKSPACE: workspace,
    keys.PROGRESS: st.fixed_dictionaries({"token": st.one_of(numbers, text), "value": workspace}),
    keys.COMPLETION: completions,
    keys.HOVER: hovers,
    keys.SYMBOLS: outlines,
    **dict.fromkeys(keys.LOCATIONS, locations),
    keys.WORKSPACE_SYMBOLS: st.one_of(st.none(), repeated(found_symbols)),
}
"""By method: the params of a notification, or the result of a request."""
