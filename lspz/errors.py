"""Every error lspz raises, split by who must act.

::

    LspzError
    ├── ConfigError                the user: an option, variable or file holds something that is not allowed
    ├── BackendError               the server behind lspz, or the command that starts it
    │   ├── BackendNotFound        the command is not there, or may not be run
    │   ├── BackendDied            it ended while it was needed
    │   ├── BackendRefused         it answered a request of lspz's own with an error
    │   ├── NotOffered             it does not offer what is asked
    │   └── AnswerTimeout          it has not answered within the limit
    ├── DiagnosticsTimeout         no diagnostics for the open version within the limit
    ├── DocumentNotOpen            a question about a document that was not opened
    ├── NotReady                   the server is still at work, and half an answer would do harm: ask again
    ├── PlaceNotFound              a place that is told by its text is not there, or is in several places
    ├── EditError                  a WorkspaceEdit is not applied, and every file is as it was
    │   ├── EditRefused            it is no valid edit, or leaves the workspace
    │   └── EditConflict           versions or files are not those that it was made for: ask again
    ├── NotKept                    the original of a message is asked for, and lspz no longer has it
    ├── ReportLost                 only what changed came, and the report before it did not; names the document
    ├── DecodeError                a compressed message is damaged; names position and reason
    │   └── UnsupportedVersion     it is of a newer format version than this lspz reads
    └── CannotCompress             a message has no place in the form asked for; the original is used
"""

from __future__ import annotations


class LspzError(Exception):
    """The root of the tree."""


class ConfigError(LspzError):
    """An option has a value that is not allowed; the text names the option, the value, and what is allowed."""


class BackendError(LspzError):
    """The server behind lspz cannot do what is asked."""


class BackendNotFound(BackendError):
    """The backend command does not exist or is not executable."""


class BackendDied(BackendError):
    """The backend ended while it was needed."""


class BackendRefused(BackendError):
    """The backend answered a request of lspz's own with an error; `code` is the answer's."""

    def __init__(self, message: str, code: int | None = None) -> None:
        super().__init__(message)
        self.code = code


class NotOffered(BackendError):
    """The server does not offer what is asked; the text names the capability."""


class AnswerTimeout(BackendError):
    """The server has not answered within the limit. This says nothing about the answer."""


class NotReady(LspzError):
    """The server is still at work, and what it knows so far is not enough to act on: ask again."""


class PlaceNotFound(LspzError):
    """A place that is told by its text is not in the document, or is in it more than once; the text lists where."""


class DiagnosticsTimeout(LspzError):
    """No diagnostics came for the open version of a document within the limit. This says nothing about the file."""


class DocumentNotOpen(LspzError):
    """The document must be opened first."""


class EditError(LspzError):
    """A WorkspaceEdit is not applied. Every file is as it was."""


class EditRefused(EditError):
    """It is no valid edit, or it leaves the workspace."""


class EditConflict(EditError):
    """Versions or files are not those that the edit was made for: ask the server again."""


class NotKept(LspzError):
    """The original of a message is asked for, and lspz does not have it, or no longer."""


class ReportLost(LspzError):
    """A report that says only what changed cannot be read, since the one before it did not arrive.

    `uri` is the document's. Ask lspz for its `lspz/original`; the next report on it is full.
    """

    def __init__(self, uri: str, reason: str) -> None:
        super().__init__(f"{uri}: {reason}: ask for lspz/original, and the next report is full")
        self.uri = uri


class DecodeError(LspzError, ValueError):
    """A compressed message cannot be read.

    `path` says where in the message, in the manner of `diagnostics[3].r[1]`; `reason` what is wrong there.
    """

    def __init__(self, path: str, reason: str) -> None:
        super().__init__(f"{path}: {reason}" if path else reason)
        self.path = path
        self.reason = reason


class UnsupportedVersion(DecodeError):
    """The message is of a newer format version."""

    def __init__(self, version: object, supported: int) -> None:
        super().__init__("version", f"format version {version} is newer than {supported}, the newest this lspz reads")
        self.version = version
        self.supported = supported


class CannotCompress(LspzError):
    """The message holds something that the form has no place for. The stream carries the original instead."""
