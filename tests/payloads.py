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
    "👩‍👩‍👧 \u202eabc",
    "²",
    "٣:٤",
    " : a => b",
    "a (deprecated) b",
    "x [doc 1]",
    "incomplete",
    "flat file:///",
    "/",
    "~",
    "\u2028\u2029\x1c\x85",
    "-",
    "- variable x",
    "1 variable x",
    "deprecated x",
    "from 1:1",
    "a 1:1-2:2 from 3:4",
    "\x7f\ufeff",
]
text = st.one_of(st.sampled_from(NASTY), st.text(max_size=12))
numbers = st.one_of(st.integers(0, 12), st.integers(0, 3), st.sampled_from([2**31 - 1, 2**53 + 1, 2**64]))
uris = st.one_of(
    st.sampled_from(
        [
            *(f"file:///p/q%20r/{name}" for name in ("a.py", "b.py", "s/c.py", "s/d e.py", "12", "-", ":", '"')),
            "file:///p/q%20r/",
            "file:///c%3A/p/ä.py",
            "untitled:1",
            "jar:file:///p/x.jar!/y",
            "",
            "full",
            "a:",
        ]
    ),
    text,
)


def optional(**members: Any) -> st.SearchStrategy[dict[str, Any]]:
    """A dict in which any member may be missing, or null as some servers write it."""
    return st.fixed_dictionaries({}, optional={n: st.one_of(m, m, m, m, st.none()) for n, m in members.items()})


def merged(*parts: st.SearchStrategy[dict[str, Any]]) -> st.SearchStrategy[dict[str, Any]]:
    return st.tuples(*parts).map(lambda dicts: {name: value for part in dicts for name, value in part.items()})


@st.composite
def ranges(draw: Any) -> dict[str, Any]:
    """Mostly on one line; some over several, some reversed, few with numbers below zero."""
    line, character = draw(numbers), draw(numbers)
    down = draw(st.sampled_from([0, 0, 0, 0, 1, 3, -1]))
    end = draw(numbers) if down else character + draw(st.sampled_from([0, 1, 1, 9, -1]))
    return {"start": {"line": line, "character": character}, "end": {"line": line + down, "character": end}}


markup = st.fixed_dictionaries({"kind": st.sampled_from(["markdown", "plaintext"]), "value": text})

diagnostics = merged(
    st.fixed_dictionaries({"range": ranges(), "message": st.one_of(text, text, text, markup)}),
    optional(
        severity=st.sampled_from([1, 2, 3, 4, 9, 0, -1]),
        code=st.one_of(st.integers(-1, 2), st.just(2**53 + 1), text),
        tags=st.lists(st.sampled_from([1, 2, 7, 0, -1]), max_size=2),
        source=st.sampled_from(["lint", "types", ""]),
        data=st.sampled_from([{"fix": 1}, {"fix": 2}, 0, [], "x"]),
        codeDescription=st.just({"href": "https://example.org"}),
        relatedInformation=st.lists(
            st.fixed_dictionaries(
                {"location": st.fixed_dictionaries({"uri": uris, "range": ranges()}), "message": text}
            ),
            max_size=1,
        ),
    ),
    st.fixed_dictionaries({}, optional={"x-own": st.booleans()}),
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
        kind=st.one_of(st.integers(1, 25), st.integers(1, 25), st.sampled_from([99, 0, -1])),
        detail=text,
        labelDetails=optional(detail=text, description=text),
        documentation=st.one_of(text, markup),
        insertText=text,
        insertTextFormat=st.sampled_from([1, 2]),
        textEdit=edits,
        textEditText=text,
        deprecated=st.booleans(),
        tags=st.lists(st.sampled_from([1, 9]), max_size=2),
        data=st.just({"id": 1}),
        sortText=text,
        filterText=text,
        preselect=st.booleans(),
        commitCharacters=st.just(["."]),
        additionalTextEdits=st.just([]),
    ),
)
defaults = optional(
    insertTextFormat=st.sampled_from([1, 2]),
    insertTextMode=st.sampled_from([1, 2]),
    commitCharacters=st.just([";"]),
    editRange=st.one_of(ranges(), st.fixed_dictionaries({"insert": ranges(), "replace": ranges()})),
    data=st.just(7),
)
completions = st.one_of(
    st.none(),
    repeated(completion_items),
    merged(
        st.fixed_dictionaries({"isIncomplete": st.booleans(), "items": repeated(completion_items)}),
        optional(itemDefaults=defaults, applyKind=st.just({"data": 2, "commitCharacters": 1})),
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

kinds = st.one_of(st.integers(1, 26), st.integers(1, 26), st.sampled_from([77, 0, -1]))
symbols = st.recursive(
    merged(
        st.fixed_dictionaries({"name": text, "kind": kinds, "range": ranges(), "selectionRange": ranges()}),
        optional(detail=text, deprecated=st.booleans(), tags=st.lists(st.sampled_from([1, 9]), max_size=2)),
    ),
    lambda children: st.tuples(children, st.lists(children, max_size=3)).map(
        lambda found: {**found[0], "children": found[1]}
    ),
    max_leaves=6,
)
location = st.fixed_dictionaries({"uri": uris, "range": ranges()})


@st.composite
def flat_symbols(draw: Any) -> list[Any]:
    """Nearly always of one document."""
    uri, other = draw(uris), draw(uris)
    where = st.fixed_dictionaries({"uri": st.sampled_from([uri] * 9 + [other]), "range": ranges()})
    one = merged(
        st.fixed_dictionaries({"name": text, "kind": kinds, "location": where}),
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
