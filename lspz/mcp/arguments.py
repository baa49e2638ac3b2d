"""What the tools take, as a model reads it: each description is paid for in every session."""

from __future__ import annotations

from typing import Literal, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

from ..agent.locators import At

Severity = Literal["error", "warning", "info", "hint"]
Format = Literal["text", "compact", "toon"]


class Arguments(BaseModel):
    """Nothing but what is declared."""

    model_config = ConfigDict(extra="forbid")


class InWorkspace(Arguments):
    """In one workspace."""

    workspace: str | None = Field(None, description="Folder, if not that of set_workspace")


class Answered(InWorkspace):
    """Whose answer is shown in a form."""

    format: Format = "text"
    max_tokens: int | None = Field(None, ge=100)


class InFile(Answered):
    """About one file."""

    path: str


class AtPlace(InFile):
    """About one place in a file."""

    line: int | None = Field(None, ge=1, description="From 1. Or give text")
    column: int | None = Field(None, ge=1, description="From 1")
    text: str | None = Field(None, description="The line's text, in place of numbers")
    symbol: str | None = Field(None, description="Name in that line, or one that is in the file once")

    @model_validator(mode="after")
    def _says_where(self) -> Self:
        if self.line is None and self.text is None and self.symbol is None:
            raise ValueError("say where: line and column, or text and symbol")
        return self

    def at(self, path: str) -> At:
        """The place, in a file of this path."""
        return At(path, self.line, self.column, text=self.text, symbol=self.symbol, one_based=True)


class Diagnose(Answered):
    """Of get_diagnostics."""

    path: str | None = Field(None, description="One file")
    paths: list[str] | None = Field(None, description="Files and folders; without path or paths: the workspace")
    min_severity: Severity = Field("hint", description="Leave out what is milder")
    since: int | None = Field(None, description="Number of an earlier report: only what changed")

    @model_validator(mode="after")
    def _one_of_them(self) -> Self:
        if self.path is not None and self.paths is not None:
            raise ValueError("give path or paths, not both")
        return self


class References(AtPlace):
    """Of get_references."""

    include_declaration: bool = True


class Search(Answered):
    """Of search_symbols."""

    query: str = Field(description="Part of a name")


class Rename(AtPlace):
    """Of rename_symbol."""

    new_name: str
    dry_run: bool = Field(False, description="Only show the diff")


class Actions(AtPlace):
    """Of get_code_actions."""

    end_line: int | None = Field(None, ge=1)
    kind: str | None = Field(None, description="quickfix, refactor, source.organizeImports, …")


class Apply(InWorkspace):
    """Of apply_code_action."""

    action: str = Field(description="Its id in the answer of get_code_actions")


class SetWorkspace(Arguments):
    """Of set_workspace."""

    path: str = Field(description="Absolute folder of the project")
