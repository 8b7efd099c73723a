"""The values of an audit: what was asked of each operation, and what its schema answers.

They say what a *document* promises, never what a server does. `PROVABLE` is only said of a schema that affirms the end
of the collection (R2); whatever could not be read is named and never counts as proven.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from fullcount.runtime.evidence.codes import Reason, WarningCode


class Verdict(StrEnum):
    """Whether completeness can be proven from the schema; the worst first."""

    UNPROVABLE = "unprovable"
    DEPENDS = "depends"
    PROVABLE = "provable"

    @property
    def rank(self) -> int:
        """Return its place in a report: the worst is 0."""
        return list(Verdict).index(self)


class Kind(StrEnum):
    """What an operation returns."""

    LIST = "list"
    SEARCH = "search"
    AGGREGATE = "aggregate"
    STREAM = "stream"


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that the schema does not say, in the words of the one list of codes."""

    code: Reason | WarningCode
    says: str
    decides: bool = False
    """Whether the verdict rests on it; the others are what evidence lacks besides."""
    declare: str = ""
    """What a dialect would have to declare, out of what the provider's documentation says."""
    add: Mapping[str, object] | None = None
    """What to add to the document, as a part of it."""


@dataclass(frozen=True, slots=True)
class Way:
    """How the schema says that a list goes on and ends, as far as it does: what a dialect can be begun with."""

    items: str
    end: Mapping[str, object] | None = None
    """A condition on the body, in the words of a dialect; None where none is affirmed."""
    cursor: str | None = None
    query: str | None = None
    link: bool = False
    total: str | None = None
    total_exact: bool = False
    cut: tuple[str, ...] = ()
    """Flags that say by true that something is missing."""
    failed: tuple[str, ...] = ()
    """Lists of what did not answer or went wrong."""


@dataclass(frozen=True, slots=True)
class Judged:
    """One operation and its verdict."""

    method: str
    path: str
    name: str
    """Its `operationId`; empty if it has none."""
    kind: Kind
    verdict: Verdict
    proofs: tuple[str, ...]
    """What in the schema affirms the end."""
    findings: tuple[Finding, ...]
    way: Way | None = None

    @property
    def title(self) -> str:
        """Return the operation as people name it."""
        return f"{self.method} {self.path}"

    @property
    def deciding(self) -> tuple[Finding, ...]:
        """Return the findings that the verdict rests on."""
        return tuple(each for each in self.findings if each.decides)


@dataclass(frozen=True, slots=True)
class Unjudged:
    """An operation of which the document does not say what it returns: perhaps a list."""

    method: str
    path: str
    why: str


@dataclass(frozen=True, slots=True)
class Audit:
    """A whole document. `judged` is in the order of a report, the worst first."""

    title: str
    version: str
    operations: int
    judged: tuple[Judged, ...]
    unjudged: tuple[Unjudged, ...]
    remote: tuple[str, ...]
    """References that lead out of the document; they were not followed."""

    @property
    def proven(self) -> bool:
        """Whether every operation that returns or may return a list is provable."""
        return len(self.unjudged) == 0 and all(each.verdict is Verdict.PROVABLE for each in self.judged)
