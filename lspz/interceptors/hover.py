"""What a server says about the thing under the cursor: the answer to `textDocument/hover`.

The text is all that a reader needs, whichever of LSP's five shapes it came in. What is kept: the text, as Markdown,
and in compact the range. Not kept: the shape, whether it was Markdown or plain text, and in TOON and text the range.

Folding the Markdown is the one declared loss: trailing spaces, more than one blank line in a row, and the data of
base64 images, of which `data:` stays. An image cannot be seen by a model, and lspz keeps the original.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any, ClassVar, Self

import attrs
import msgspec

from ..errors import DecodeError
from ..formats import VERSION, spelling
from ..formats.json import numbers, typed
from ..formats.text.positions import Span
from .base import Direction, Settings
from .compressor import Compressor
from .core import CoreRange
from .lsp import lsp_range, span_of

METHOD = "textDocument/hover"

_IMAGE = re.compile(r"data:[\w/+.-]+;base64,[A-Za-z0-9+/=%]{40,}")
_BLANK_LINES = re.compile(r"\n[ \t]*\n(?:[ \t]*\n)+")
_TRAILING = re.compile(r"[ \t]+(?=\n)|[ \t]+\Z")


def fold_markdown(text: str) -> str:
    """Without trailing spaces, runs of blank lines and the data of images. Code keeps its indentation."""
    return _BLANK_LINES.sub("\n\n", _TRAILING.sub("", _IMAGE.sub("data:", text)))


@attrs.frozen
class CompactHover:
    """The text of a hover."""

    markdown: str
    range: Span | None = None

    @property
    def size(self) -> int:
        """How many lines it has."""
        return self.markdown.count("\n") + 1

    def first(self, count: int) -> Self:
        """The same with its first `count` lines, and a line that says how many more there are."""
        lines = self.markdown.split("\n")
        if count >= len(lines):
            return self
        return attrs.evolve(self, markdown="\n".join([*lines[:count], f"… {len(lines) - count} more lines"]))

    def envelope(self) -> dict[str, Any]:
        """Nothing: the request says where it is."""
        return {}

    def to_lsp(self) -> dict[str, Any]:
        """A hover, as LSP's JSON."""
        out: dict[str, Any] = {"contents": {"kind": "markdown", "value": self.markdown}}
        return out if self.range is None else {**out, "range": lsp_range(self.range)}

    def to_compact(self) -> dict[str, Any]:
        """`{"version":1,"m":markdown,"r":range}` (text_format.md §6)."""
        out: dict[str, Any] = {"version": VERSION, "m": self.markdown}
        return out if self.range is None else {**out, "r": self.range}

    @classmethod
    def from_compact(cls, value: Mapping[str, Any]) -> Self:
        """Read a compact hover. Raises DecodeError."""
        markdown = typed(value, "m", str, "m")
        if "r" not in value:
            return cls(markdown)
        span = numbers(value["r"], "r")
        if len(span) != 4:
            raise DecodeError("r", f"must be four integers, not {span!r}")
        return cls(markdown, (span[0], span[1], span[2], span[3]))

    def to_names(self) -> dict[str, Any]:
        """The text."""
        return {"markdown": self.markdown}

    @classmethod
    def from_names(cls, value: Mapping[str, Any]) -> Self:
        """Read `to_names`' values. Raises DecodeError."""
        return cls(typed(value, "markdown", str, "markdown"))

    def to_text(self) -> str:
        """The Markdown itself, with no-break spaces as they are meant (text_format.md §5.5)."""
        if not self.markdown:
            return "none"
        if "\xa0" in self.markdown or self.markdown.startswith(("\\", "none")):
            return f"\\{self.markdown}"
        return self.markdown.replace("&nbsp;", "\xa0")

    @classmethod
    def from_text(cls, text: str) -> Self:
        """Read `to_text`'s text. Raises DecodeError."""
        if text == "none":
            return cls("")
        if not text:
            raise DecodeError("", "a hover is never empty")
        return cls(text[1:] if text[0] == "\\" else text.replace("\xa0", "&nbsp;"))


class Contents(msgspec.Struct, gc=False):
    """Mirrors `MarkupContent`, or a `MarkedString` with a language."""

    value: str
    kind: str = ""
    language: str | None = None


class HoverAnswer(msgspec.Struct):
    """Mirrors `Hover`."""

    contents: str | Contents | list[str | Contents]
    range: CoreRange | None = None


_read = msgspec.json.Decoder(HoverAnswer | None).decode


def read_hover(answer: Any) -> CompactHover:
    """The text of a hover, of lsprotocol's type or the mirror of it: parts are joined by an empty line."""
    contents = answer.contents
    parts = [_markdown(part) for part in (contents if isinstance(contents, list | tuple) else [contents])]
    return CompactHover(
        "\n\n".join(part for part in parts if part),
        None if answer.range is None else span_of(answer.range),
    )


def _markdown(part: Any) -> str:
    if isinstance(part, str):
        return part
    language = getattr(part, "language", None)
    value: str = part.value
    return value if language is None else f"```{language}\n{value}\n```"


@attrs.frozen
class HoverCompressor(Compressor):
    """Rewrites hovers in one form; `folded` is LSP with its Markdown folded."""

    name: ClassVar[str] = "hover"
    methods: ClassVar[tuple[str, ...]] = (METHOD,)

    folds: bool = False
    """Whether Markdown is folded."""

    def reader(self, method: str) -> Callable[[bytes], Any]:
        """msgspec's."""
        return lambda raw: () if raw == b"null" else _read(raw)

    def model(self, method: str, raw: bytes) -> CompactHover:
        """The text of a hover, folded where Markdown is folded."""
        answer = _read(raw)
        return CompactHover("") if answer is None else self._model(answer)

    def _model(self, answer: Any) -> CompactHover:
        model = read_hover(answer)
        return attrs.evolve(model, markdown=fold_markdown(model.markdown)) if self.folds else model

    async def intercept(self, method: str, params: Any, direction: Direction) -> Any:
        """Return the compact model, or a hover whose Markdown is folded. Nothing to say stays as it is."""
        if not params:
            return params
        model = self._model(params)
        if self.form != "folded":
            return model
        kind = getattr(params.contents, "kind", "markdown") or "markdown"
        return {**model.to_lsp(), "contents": {"kind": getattr(kind, "value", kind), "value": model.markdown}}


def create(settings: Settings, form: str) -> HoverCompressor | None:
    """The compressor for a client that gets `form`; None where the form leaves hovers alone."""
    folds = settings.fold_hover if settings.fold_hover is not None else form == "text"
    return None if form == "folded" and not folds else HoverCompressor(form, folds, limits=settings.limits)


def read(method: str, value: Any) -> CompactHover | None:
    """The model of a hover in one of lspz's forms, None of plain LSP. Raises DecodeError."""
    return spelling.read(CompactHover, value) if spelling.is_ours(value) else None
