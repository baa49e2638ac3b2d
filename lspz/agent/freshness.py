"""Whether diagnostics are those of the document as it is now: never "clean" for "not known yet".

A judge without a clock. It hears what happens to one document, each time with the time at which it happened, and says
what is known at a time, and when to ask again. Whoever does I/O asks it.
"""

from __future__ import annotations

import attrs

LIMIT = 30.0
"""Seconds that a question waits for its answer; the slowest server of those tried took 12 to begin."""

QUIET = 0.5
"""Seconds without another publish after which one for the current version counts: servers publish in steps, the syntax
first and the types later."""

UNVERSIONED_QUIET = 1.0
"""Seconds for servers that do not say which version they speak of."""

FIRST_EMPTY_QUIET = 5.0
"""Seconds for an empty list that is a document's first, or its server's: many publish one when a document is opened,
and look at it only then. Also for a list that may be about the text before the last edit."""

MARGIN = 1.5
"""How many times as long as was seen before is waited for the same to happen again."""


@attrs.frozen
class Patience:
    """How long is waited for what, in seconds."""

    limit: float = LIMIT
    """For an answer, all in all."""
    quiet: float = QUIET
    """Without another publish, from a server that names versions."""
    unversioned_quiet: float = UNVERSIONED_QUIET
    """The same, from one that does not."""
    first_empty_quiet: float = FIRST_EMPTY_QUIET
    """After an empty list that is the first of its document or server, or may be about an older text."""


@attrs.frozen
class Fresh:
    """What is known is about the document as it is."""

    version: int | None
    """The document's; None of an answer about the whole workspace."""
    count: int
    """How many there are of what was asked for."""


@attrs.frozen
class Pending:
    """It is not known yet."""

    reason: str
    until: float | None = attrs.field(default=None, eq=False)
    """When time alone makes it known; None where something must happen first."""


@attrs.frozen
class Unavailable:
    """It will not be known."""

    reason: str


Freshness = Fresh | Pending | Unavailable


@attrs.define
class Habits:
    """How one server publishes, as far as it was seen."""

    names_versions: bool = False
    has_meant_empty: bool = False
    """An empty list of its was its last word."""
    fills_in_after: float = 0.0
    """The longest time between an empty list and a full one for the same text."""
    looks_within: float = 0.0
    """The longest time between an edit and the first list for it, up to FIRST_EMPTY_QUIET."""


class Judge:
    """What is known of one document's diagnostics, pushed or pulled.

    Times are seconds of one clock that does not go back, such as the event loop's.
    """

    def __init__(self, habits: Habits | None = None) -> None:
        self._habits = habits or Habits()
        self._version: int | None = None
        self._told = 0.0  # when the server was told of the version
        self._published: tuple[float, int | None, int, bool] | None = None  # when, version, how many, doubtful
        self._pulled: tuple[int, int] | None = None  # for which version, how many
        self._edited = False  # the server knew another version before
        self._processed = True  # it is known to have read this one
        self._has_settled = False  # a publish for this document has counted
        self._disturbed = self._outdated = 0.0
        self._before: int | None = None  # how many were published last for the version before
        self._touched = False
        self._gone: str | None = None

    # what happens

    def opened(self, version: int, at: float = 0.0, touched: bool = False) -> None:
        """The server was told of the document, or of a new version of it; `touched`: one with the same text."""
        if self._published is not None:
            self._before = self._published[2]
        self._touched = touched
        self._edited = self._version is not None
        self._processed = not self._edited
        self._version = version
        self._told = at
        self._published = None
        self._pulled = None

    def closed(self) -> None:
        """The server was told that the document is closed."""
        self._version = None
        self._published = self._pulled = self._before = None
        self._has_settled = False

    def processed(self, version: int) -> None:
        """The server answered something that it was asked after it was told of this version."""
        self._processed |= version == self._version

    def published(self, version: int | None, count: int, at: float) -> bool:
        """The server published `count` diagnostics for a version, None where it names none.

        Return whether they may be about the document as it is.
        """
        habits = self._habits
        habits.names_versions |= version is not None
        if self._version is None or (version is not None and version != self._version):
            return False
        if self._published is None:
            if self._edited:
                habits.looks_within = max(habits.looks_within, min(at - self._told, FIRST_EMPTY_QUIET))
        else:
            before, _, was, _ = self._published
            if count and not was and self._disturbed <= before:
                habits.fills_in_after = max(habits.fills_in_after, at - before)
        self._published = (at, version, count, version is None and not self._processed)
        return True

    def pulled(self, version: int, count: int, asked: float) -> None:
        """The server answered a question that was asked at this time, when the document had this version."""
        if version == self._version and asked >= self._outdated:
            self._pulled = (version, count)

    def outdated(self, at: float) -> None:
        """What was answered to questions before this time no longer counts."""
        self._outdated = at
        self._pulled = None

    def disturbed(self, at: float) -> None:
        """The server was told that another document or a file changed."""
        self._disturbed = at
        self.outdated(at)

    def died(self, reason: str) -> None:
        """The server is gone."""
        self._gone = reason

    # what is known

    @property
    def is_doubtful(self) -> bool:
        """Whether what a server that names no versions publishes may be about the text before the last edit."""
        return not self._processed and not self._habits.names_versions

    def wants_touch(self, now: float, patience: Patience) -> bool:
        """Whether something else changed, and the server has not said anything about the document since.

        It is given a moment to; then it is best told of the document again, so that it looks.
        """
        last = max(self._told, self._published[0] if self._published is not None else 0.0)
        return self._disturbed > last and now >= self._disturbed + patience.quiet

    @property
    def is_pulled(self) -> bool:
        """Whether the server answered about the document as it is."""
        return self._pulled is not None

    def at(
        self, now: float, busy: str | None = None, idle_since: float = 0.0, patience: Patience | None = None
    ) -> Freshness:
        """What is known at a time. `busy` is what the server says it is at work with; it has been idle since."""
        if self._gone is not None:
            return Unavailable(self._gone)
        if self._version is None:
            return Unavailable("the document is not open")
        if busy is not None:
            return Pending(f"the server is at work: {busy}")
        if self._pulled is not None:
            return Fresh(*self._pulled)
        if self._published is None:
            return self._silent(now, idle_since, patience or Patience())
        published, version, count, doubtful = self._published
        wait = self._wait(version, count, doubtful, patience or Patience())
        settled = max(published, idle_since) + wait
        if self._disturbed > max(published, self._told):
            return Pending("something else changed since", self._disturbed + (patience or Patience()).quiet)
        if now < settled:
            what = "an empty list, which may not be its last word" if not count else "diagnostics, and may publish more"
            return Pending(f"the server has published {what}", settled)
        self._has_settled = True
        self._habits.has_meant_empty |= not count
        return Fresh(self._version, count)

    def _silent(self, now: float, idle_since: float, patience: Patience) -> Freshness:
        """What is known where nothing was published for this version.

        Servers may keep silent when they would say what they said before: about the same text, or, if they name no
        versions, "nothing" once more. That is believed as late as any empty list.
        """
        reason = f"the server has not published diagnostics for version {self._version}"
        before = self._before
        if before is not None and (
            self._touched or (not before and self._processed and not self._habits.names_versions)
        ):
            settled = max(self._told, idle_since) + patience.first_empty_quiet
            return Fresh(self._version, before) if now >= settled else Pending(reason, settled)
        return Pending(reason)

    def _wait(self, version: int | None, count: int, doubtful: bool, patience: Patience) -> float:
        wait = patience.quiet if version is not None or self._habits.names_versions else patience.unversioned_quiet
        if doubtful or not (count or (self._has_settled and self._habits.has_meant_empty)):
            wait = max(wait, patience.first_empty_quiet)
        return wait if count else max(wait, MARGIN * self._habits.fills_in_after)
