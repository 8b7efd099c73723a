"""The collapse alarm: whether a reading fits the series of earlier certified readings of the same question.

`change at most` compares with one reading, and only where somebody wrote it. This compares with what is usual, by
median and MAD, wherever a conclusion rests on absence. A smaller count never passes where a larger one is refused,
and the order of the series does not matter. It only ever refuses: a series says nothing in favour of a reading.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from statistics import median
from typing import Final

import rfc8785

from fullcount.compiler import ir, program
from fullcount.compiler.claims import Change, Claim
from fullcount.compiler.document import encode
from fullcount.compiler.lower.facts import walk
from fullcount.compiler.values import Value
from fullcount.runtime.evidence.envelope import Envelope
from fullcount.runtime.evidence.refusal import Finding
from fullcount.runtime.evidence.wording import title, verify_way
from fullcount.runtime.format import counted

LENGTH: Final = 20
"""How many of the latest certified readings make the series."""
LEAST: Final = 5
"""With fewer readings nobody can say what is usual."""
_MADS: Final = Fraction("3.5")
_SCALE: Final = Fraction("1.4826")
"""Makes the MAD of a normal distribution its standard deviation."""
_SHARE: Final = Fraction(1, 10)
_ALL: Final = 100


@dataclass(frozen=True, slots=True)
class Usual:
    """What a series says. `lowest`: the fewest rows that still fit it; a fraction, so that no rounding decides."""

    readings: int
    median: Fraction
    lowest: Fraction


def usual(series: Sequence[int], stated: Decimal | None = None) -> Usual | None:
    """Return what is usual; None where the series is too short to say.

    A drop fits up to 3.5 scaled MADs, a tenth of the median, or a single row, whichever is most, or up to the
    percentage that `change at most` states: the operator's word widens the bound and never narrows it. An empty reading
    after a series without one never fits, unless all of it may go.
    """
    if len(series) < LEAST:
        return None
    middle = Fraction(median(map(Fraction, series)))
    spread = Fraction(median(abs(rows - middle) for rows in series)) * _SCALE
    drop = max(_MADS * spread, _SHARE * middle, Fraction(1), Fraction(stated or 0) * middle / _ALL)
    lowest = middle - drop
    if min(series) > 0 and (stated is None or stated < _ALL):
        lowest = max(lowest, Fraction(1))
    return Usual(len(series), middle, lowest)


def collapsed(rows: int, series: Sequence[int], stated: Decimal | None = None) -> bool:
    """Whether a count is far below its series. False also where the series is too short to say."""
    found = usual(series, stated)
    return found is not None and rows < found.lowest


def stated_in(claims: Sequence[Claim]) -> Decimal | None:
    """Return the percentage that `change at most` allows; None: nothing is said of it."""
    return max((claim.percent for claim in claims if isinstance(claim, Change)), default=None)


def collapse(envelope: Envelope, claims: Sequence[Claim], series: Sequence[int]) -> tuple[Finding, ...]:
    """Return the finding against a complete reading that is far below its series, the latest reading first.

    What was not read to its end has no count to compare: other findings speak against it.
    """
    rows, stated = envelope.work.rows, stated_in(claims)
    found = usual(series, stated)
    if found is None or rows >= found.lowest or not envelope.complete:
        return ()
    least = math.ceil(found.lowest)
    lost = math.ceil(max(_lost(rows, found.median), _lost(rows, Fraction(series[0]))))
    words = "raise" if stated is not None else "write"
    return (
        Finding(
            code="FC736",
            message=f"{title(envelope)} has {counted(rows, 'row')}, far below what is usual: {whole(found.median)} "
            f"(median of the last {found.readings} certified readings); with fewer than {least:,} nothing may "
            f"rest on what is not in it",
            inventory=envelope.inventory,
            ways_on=(
                f"find out what became of the collection   {envelope.scope.source}",
                verify_way(f"if it really became that small, {words} `change at most {lost}%`", envelope.inventory),
            ),
        ),
    )


def _lost(rows: int, before: Fraction) -> Fraction:
    """Return how many percent are gone; 0 where nothing is."""
    return max(Fraction(0), (before - rows) * _ALL / before) if before > 0 else Fraction(0)


def whole(rows: Fraction) -> str:
    """Return a median as people read it: `4,212`, or `4,212.5` between two readings."""
    return f"{int(rows):,}" if rows.denominator == 1 else f"{float(rows):,.1f}"


def in_words(rows: int, series: Sequence[int]) -> str:
    """Return how a certified reading stands to its series, for a plan."""
    found = usual(series)
    if found is None:
        return f"not compared with a series: {len(series)} of {LEAST} certified readings"
    return f"usual {whole(found.median)} (median of {counted(found.readings, 'reading')})" + (
        ", far below: allowed by `change at most`" if rows < found.lowest else ""
    )


def question_of(inventory: program.Inventory, params: Mapping[str, Value]) -> str:
    """Return the fingerprint of what was asked: readings with the same one are one series.

    Who reads and which fields is left out: rows that are lost because a reader changed are what the alarm is for.
    """
    scope = inventory.scope
    named = set() if scope is None else {node.name for node in walk(scope) if isinstance(node, ir.Param)}
    asked = {
        "source": inventory.source,
        "resource": inventory.resource,
        "key": encode(inventory.key),
        "scope": encode(scope),
        "across": encode(inventory.across),
        "params": {name: encode(params.get(name)) for name in sorted(named)},
    }
    return "sha256:" + hashlib.sha256(rfc8785.dumps(asked)).hexdigest()
