"""Replay of cases: each through the connector of its API, its verdict beside the expected one."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from fullcount.runtime.conformance import protocols
from fullcount.runtime.conformance.case import Case
from fullcount.runtime.conformance.verdict import Difference, Verdict, differences


@dataclass(frozen=True, slots=True)
class Replayed:
    """One case, the verdict that was reached, and in what it differs from the expected one."""

    case: Case
    verdict: Verdict
    differences: tuple[Difference, ...]

    @property
    def agrees(self) -> bool:
        """Whether the verdict is the expected one."""
        return len(self.differences) == 0


def replay(cases: Iterable[Case]) -> Iterator[Replayed]:
    """Yield each case with the verdict that the connector of its API reaches."""
    import asyncio

    for case in cases:
        verdict = asyncio.run(decide(case))
        yield Replayed(case, verdict, differences(case, verdict))


def by_plain_http(case: Case) -> bool:
    """Whether nothing is known of a case's API, so that it is judged as plain HTTP, which proves the least."""
    from fullcount.runtime.connectors.http.catalogue import is_known

    return not (protocols.is_known(case.api) or case.api.endswith("_sync") or is_known(case.api))


async def decide(case: Case) -> Verdict:
    """Return the verdict on a case: by its protocol, or by the dialect of its HTTP API."""
    own = protocols.verdict_of(case)
    if own is not None:
        return own
    from fullcount.runtime.conformance.http_replay import act_case, read_case
    from fullcount.runtime.connectors.http.catalogue import dialect_for

    if case.api.endswith("_sync"):
        from fullcount.runtime.conformance.compare import compare_case

        return await compare_case(case)
    dialect = dialect_for(case.api)
    return await (read_case(case, dialect) if case.phase == "read" else act_case(case, dialect))
