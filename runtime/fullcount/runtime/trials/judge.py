"""What a test expected against what came: every difference, each with its place in the test and the reason.

Guarantees: nothing passes that was not expected. A refusal fails a test that does not expect it, undecided objects fail
one that does not name them, and an object that is expected and one that came too much are both explained by `why`.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Final

from fullcount.compiler.trials.model import (
    Counted,
    Ended,
    Expected,
    Kept,
    Key,
    Named,
    Planned,
    Refused,
    Undecided,
)
from fullcount.dsl.source import Span
from fullcount.runtime import format as fmt
from fullcount.runtime.act.ending import UNDECIDED
from fullcount.runtime.act.recheck import Standing
from fullcount.runtime.connectors.base import Outcome
from fullcount.runtime.errors import FullcountError
from fullcount.runtime.plan.cells import to_json
from fullcount.runtime.text import plain
from fullcount.runtime.trials.rehearse import Came
from fullcount.runtime.understand.decision import Because
from fullcount.runtime.understand.explain import Explanation, explain
from fullcount.runtime.understand.explain_text import explanation_lines

_EXPLAINED: Final = 2
"""How many objects of one difference are explained."""
_LISTED: Final = 12


@dataclass(frozen=True, slots=True)
class Miss:
    """One difference. `why` are lines for people."""

    span: Span
    expected: str
    came: str
    why: tuple[str, ...] = ()


def judge(came: Came) -> tuple[Miss, ...]:
    """Return everything in which a test came out differently from what it expects; nothing if it passed."""
    return tuple(_Judge(came).misses())


class _Judge:
    def __init__(self, came: Came) -> None:
        self._came = came
        base = came.workflow.inventories[came.proposal.inventory]
        self._types = [base.fields[name].type for name in base.key]

    def misses(self) -> list[Miss]:
        expects = self._came.trial.expects
        found = self._refusal(next((each for each in expects if isinstance(each, Refused)), None))
        planned = self._came.planned
        if planned is None:
            # what else was expected can't have come; that it was refused is the one thing to say of it
            if len(found) == 0 and any(not isinstance(each, Refused) for each in expects):
                found = [self._no_plan(each) for each in expects if not isinstance(each, Refused)]
            return found
        if not any(isinstance(each, Undecided) for each in expects):
            found += self._undecided(Undecided((), self._came.trial.span))
        for each in expects:
            found += self._one(each)
        return found

    def _one(self, each: Expected) -> list[Miss]:
        match each:
            case Planned():
                return self._planned(each)
            case Counted(count=count, span=span):
                rows = self._rows()
                came = f"count {len(rows)}: {_keys(rows)}"
                return [] if len(rows) == count else [Miss(span, f"count {count}", came)]
            case Undecided():
                return self._undecided(each)
            case Kept():
                return self._kept(each)
            case Ended():
                return self._ended(each)
            case Refused():
                return []

    # -- refusals -----------------------------------------------------------------------------------------------------

    def _refusal(self, expected: Refused | None) -> list[Miss]:
        codes = self._came.codes
        wanted = () if expected is None else expected.codes
        if set(codes) == set(wanted):
            return []
        why = tuple(
            dict.fromkeys(
                f"{finding.code}  {plain(finding.message)}"
                + (f" ({plain(finding.detail)})" if finding.detail not in ("", finding.message) else "")
                for finding in self._came.refusals
            )
        )
        came = f"refused {', '.join(codes)}" if codes else self._went_on()
        span = self._came.trial.span if expected is None else expected.span
        return [Miss(span, f"refused {', '.join(wanted)}" if wanted else "no refusal", came, why)]

    def _went_on(self) -> str:
        rows = self._rows()
        return f"no refusal, and a plan of {fmt.counted(len(rows), 'object')}: {_keys(rows)}"

    def _no_plan(self, each: Expected) -> Miss:
        return Miss(each.span, "a plan", f"refused {', '.join(self._came.codes)}, as expected, so there is none")

    # -- the plan -----------------------------------------------------------------------------------------------------

    def _planned(self, each: Planned) -> list[Miss]:
        wanted, rows = [self._json(key) for key in each.keys], self._rows()
        missing = [key for key in wanted if key not in rows]
        extra = [key for key in rows if key not in wanted]
        if len(missing) + len(extra) == 0:
            return []
        return [Miss(each.span, f"plan {_keys(wanted)}", f"plan {_keys(rows)}", self._why([*extra, *missing]))]

    def _undecided(self, each: Undecided) -> list[Miss]:
        planned = self._came.planned
        found = {} if planned is None else {row.key: row.missing for row in planned.undecided}
        wanted = [self._json(named.key) for named in each.objects]
        if set(found) != set(wanted):
            differing = sorted(set(found) ^ set(wanted), key=str)
            expected = f"undecided {_keys(wanted)}" if wanted else "nothing undecided"
            came = f"undecided {_keys(list(found))}" if found else "nothing undecided"
            return [Miss(each.span, expected, came, self._why(differing))]
        return [
            Miss(each.span, f"{_key(key)} undecided because {named.because!r}", f"because {'; '.join(found[key])}")
            for named, key in zip(each.objects, wanted, strict=True)
            if named.because is not None and not any(named.because in text for text in found[key])
        ]

    def _kept(self, each: Kept) -> list[Miss]:
        found = [self._one_kept(named, each.span) for named in each.objects]
        return [miss for miss in found if miss is not None]

    def _one_kept(self, named: Named, span: Span) -> Miss | None:
        key = self._json(named.key)
        expected = f"{_key(key)} kept" + ("" if named.because is None else f" because {named.because!r}")
        explained = self._explained(key)
        if isinstance(explained, str):
            return Miss(span, expected, explained)
        verdict = explained.decision.verdict
        if verdict != "kept":
            return Miss(span, expected, f"it is {verdict}", _lines(explained))
        reasons = explained.reasons or self._reasons(key, explained.decision.because)
        if named.because is None or any(named.because in reason for reason in reasons):
            return None
        return Miss(span, expected, f"kept because {'; '.join(map(plain, reasons))}", _lines(explained))

    def _reasons(self, key: tuple[Any, ...], because: Because) -> tuple[str, ...]:
        """Return the plan's words for why it keeps an object, where the explanation leaves these to its own."""
        kept = () if self._came.planned is None else self._came.planned.kept
        beginning = _BEGINNINGS.get(because, "")
        return tuple(group.reason for group in kept if group.reason.startswith(beginning))

    # -- the act ------------------------------------------------------------------------------------------------------

    def _ended(self, each: Ended) -> list[Miss]:
        key, acted = self._json(each.key), self._came.acted
        expected = f"outcome {_key(key)} = {each.outcome}" + ("" if each.code is None else f" {each.code}")
        if acted is None:
            why = self._why([key]) if key not in self._rows() else ()
            return [Miss(each.span, expected, "the act did not begin", why)]
        row = next((row for row in acted.rows if row.key == key), None)
        if row is None:
            return [Miss(each.span, expected, "it was not planned, so nothing was done with it", self._why([key]))]
        word = _word(row.outcome, row.reason)
        if word == each.outcome and each.code in (None, row.reason):
            return []
        came = f"{word} {row.reason}" if row.reason is not None and word == "refused" else word
        return [Miss(each.span, expected, came, (plain(row.detail),) if row.detail else ())]

    # -- parts --------------------------------------------------------------------------------------------------------

    def _rows(self) -> list[tuple[Any, ...]]:
        planned = self._came.planned
        return [] if planned is None else [row.key for row in planned.rows]

    def _json(self, key: Key) -> tuple[Any, ...]:
        return tuple(to_json(part, of) for part, of in zip(key, self._types, strict=True))

    def _why(self, keys: Sequence[tuple[Any, ...]]) -> tuple[str, ...]:
        lines: list[str] = []
        for key in keys[:_EXPLAINED]:
            explained = self._explained(key)
            lines += ["", *([explained] if isinstance(explained, str) else _lines(explained))]
        if len(keys) > _EXPLAINED:
            lines += ["", f"and {len(keys) - _EXPLAINED} more"]
        return tuple(lines)

    def _explained(self, key: tuple[Any, ...]) -> Explanation | str:
        """Return why the plan decided about an object as it did, or in words why that can't be said."""
        came = self._came
        if came.planned is None:
            return "there is no plan"
        text = str(key[0]) if len(key) == 1 else json.dumps(list(key))
        try:
            return explain(came.planned, came.snapshots, text, came.workspace.exemptions)
        except FullcountError as error:
            return plain(error.message)


_BEGINNINGS: Final = {
    Because.RULE: "not matched by the rule",
    Because.EXCEPTED: "excepted:",
    Because.PERHAPS_EXCEPTED: "kept because",
}
"""How the words begin in which a plan says what an explanation says in its own (`plan/evaluate.py`)."""


def _word(outcome: Outcome, reason: str | None) -> str:
    """Return how a test calls the outcome of an act."""
    if outcome is Outcome.ALREADY_GONE:
        return "gone"
    if outcome is Outcome.CHANGED and reason == Standing.RECREATED:
        return "recreated"
    if outcome is Outcome.REFUSED and reason == UNDECIDED:
        return "undecided"
    return outcome.value


def _lines(explained: Explanation) -> tuple[str, ...]:
    """Return an explanation without the plan that it is of, which is gone with the test."""
    head, _workflow, _plan, _blank, *rest = explanation_lines(explained)
    return (head, *rest)


def _key(key: Iterable[Any]) -> str:
    parts = [json.dumps(part, ensure_ascii=False) if isinstance(part, str) else str(part) for part in key]
    return plain(parts[0] if len(parts) == 1 else f"[{', '.join(parts)}]")


def _keys(keys: Sequence[tuple[Any, ...]]) -> str:
    if len(keys) == 0:
        return "empty"
    more = f", … {len(keys) - _LISTED} more" if len(keys) > _LISTED else ""
    return f"[{', '.join(map(_key, keys[:_LISTED]))}{more}]"
