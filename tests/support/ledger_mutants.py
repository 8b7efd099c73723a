"""Mistakes in the run time, made on purpose: each must be found by stories that are made up at random.

A mistake is a few edits of the run time's own text: `edit(where, old, new)` takes the source of a function, exchanges
the one place that reads `old`, and puts the result in its place. Where a guarantee is held twice, a mistake breaks both
holds; a text that no longer reads as the edit says fails here, so that no mistake is silently a mistake no more.
"""

from __future__ import annotations
import __future__

import inspect
import sys
import textwrap
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import pytest
from tests.support.ledger_stories import story

from fullcount.runtime.act import aftermath, apply, foreseen, group, guard, repeating, resolve, stop, taking_back, undo
from fullcount.runtime.act.recheck import fields_to_read
from fullcount.runtime.journal.entry import parse_canonical
from fullcount.runtime.store import applying, elsewhere, leases, ledger, ledger_rows, plans, rounds, undone
from fullcount.runtime.store.ledger_rows import entry_of


def hunt(mistake: Sequence[Mistake], stories: range) -> int | None:
    """Return the first of these made-up stories in which a mistake is found; None: in none of them.

    Raises `AssertionError` where that story ends badly without the mistake as well, and so tells nothing of it.
    """
    with pytest.MonkeyPatch.context() as patch:
        for each in mistake:
            each.make(patch)
        seed = next((seed for seed in stories if _ends_badly(seed)), None)
    if seed is not None:
        story(seed)
    return seed


def _ends_badly(seed: int) -> bool:
    try:
        story(seed)
    except AssertionError:
        return True
    return False


@dataclass(frozen=True)
class Edit:
    """A changed function of `owner`, a module or a class: of each pair, the first is what it reads, once."""

    owner: Any
    name: str
    swaps: tuple[tuple[str, str], ...]

    def make(self, patch: pytest.MonkeyPatch) -> None:
        """Change it. Raises `ValueError` unless each place is there, once."""
        function = getattr(self.owner, self.name)
        text = textwrap.dedent(inspect.getsource(function))
        for old, new in self.swaps:
            if text.count(old) != 1:
                msg = f"`{self.name}` has {text.count(old)} places that read `{old}`"
                raise ValueError(msg)
            text = text.replace(old, new)
        made: dict[str, Any] = {}
        code = compile(text, f"<mistake in {self.name}>", "exec", __future__.annotations.compiler_flag)
        exec(code, function.__globals__, made)
        _everywhere(patch, self.owner, self.name, made[self.name])


@dataclass(frozen=True)
class Without:
    """Checks of the guard that are left out."""

    names: tuple[str, ...]

    def make(self, patch: pytest.MonkeyPatch) -> None:
        """Leave them out. Raises `ValueError` for one that is not there."""
        kept = tuple(check for check in guard.CHECKS if check.__name__ not in self.names)
        if len(kept) + len(self.names) != len(guard.CHECKS):
            msg = f"the guard has not all of {self.names}"
            raise ValueError(msg)
        patch.setattr(guard, "CHECKS", kept)


@dataclass(frozen=True)
class Instead:
    """A function in place of one of `owner`, a module or a class."""

    owner: Any
    name: str
    by: Callable[..., Any]

    def make(self, patch: pytest.MonkeyPatch) -> None:
        """Replace it."""
        _everywhere(patch, self.owner, self.name, self.by)


def edit(owner: Any, name: str, *texts: str) -> Edit:
    """Return an edit: `old, new, old, new, …`."""
    return Edit(owner, name, tuple(zip(texts[::2], texts[1::2], strict=True)))


def _everywhere(patch: pytest.MonkeyPatch, owner: Any, name: str, new: Any) -> None:
    """Replace a function wherever a module of the product knows it."""
    old = getattr(owner, name)
    for module in [each for path, each in sys.modules.items() if path.startswith("fullcount.")]:
        if getattr(module, name, None) is old:
            patch.setattr(module, name, new)
    patch.setattr(owner, name, new)
    patch.setattr(guard, "CHECKS", tuple(new if check is old else check for check in guard.CHECKS))


Mistake = Edit | Without | Instead


async def _nothing_seen(*_: Any) -> bool:
    return False


_AFTERMATH = aftermath.aftermath


async def _as_left(reader: Any, acted: Any, base: Any, planned: Any, entry: Any) -> Any:
    found = await _AFTERMATH(reader, acted, base, planned, entry)
    reading = await reader.read(acted.base, planned.key, fields_to_read(base))
    return replace(found, left=aftermath.Aftereffect.AS_LEFT, live=reading.cells)


class _UndoneError(Exception):
    """Nothing of a transaction is to be kept."""


def _undone(_plan: Any, _kind: Any, _fence: Any, rows: Any, _seals: Any) -> Any:
    raise _UndoneError(rows)


_INTENTS, _RECORD = group.GroupRunner._intents, group.GroupRunner._record
_PENDING: dict[int, Any] = {}


def _not_yet(self: Any, due: Any) -> Any:
    """Say what the intents will be."""
    try:
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(ledger, "intents_payload", _undone)
            return _INTENTS(self, due)
    except _UndoneError as error:
        rows = {tuple(parse_canonical(row["object_key"])): row for row in error.args[0]}
    if len(rows) < len(due):
        return _INTENTS(self, due)
    _PENDING[id(self)] = due
    return tuple(entry_of(rows[each.item.row.key], fresh=True) for each in due)


def _too_late(self: Any, outcomes: Any, *, with_intent: Any) -> None:
    """Record the intents right before the outcomes."""
    due = _PENDING.pop(id(self), None)
    if due is not None:
        _INTENTS(self, due)
    _RECORD(self, outcomes, with_intent=with_intent)


NOT_NEW = edit(
    group.GroupRunner,
    "_act",
    "if not entry.fresh and (due.item.intent is None or entry.outcome not in",
    "if (False and",
)
"""An intent that is not new is acted on all the same."""
OTHER_PARAMETERS = edit(ledger, "_same_or_refused", "if known.operation != intent.operation or", "if False and")

MISTAKES: dict[str, tuple[Mistake, ...]] = {
    "what became of an open intent is not read": (Instead(resolve, "took_effect", _nothing_seen),),
    "what the ledger holds is not looked up": (
        edit(apply._Applying, "_go_on", "if row.key not in seen", "if True"),
        NOT_NEW,
        OTHER_PARAMETERS,
    ),
    "a key is used again with other parameters": (
        OTHER_PARAMETERS,
        edit(group.GroupRunner, "_same_call", "if intent is None or", "if True or"),
    ),
    "the fence is not compared": (
        Without(("_fence",)),
        edit(
            leases,
            "check",
            "if lease is None or lease.token != fence.token or lease.holder != fence.holder:",
            "if lease is None:",
            "if lease.expires_at <= now:",
            "if False:",
        ),
    ),
    "a lease that ran out still counts": (edit(leases, "check", "if lease.expires_at <= now:", "if False:"),),
    "a lease is given to a second one": (edit(leases, "claim", "lease.expires_at > tx.now", "False"),),
    "intents are committed after their calls": (
        Instead(group.GroupRunner, "_intents", _not_yet),
        Instead(group.GroupRunner, "_record", _too_late),
    ),
    "an approval that was taken back still counts": (
        edit(rounds, "revoke", "_end(tx, round_.round_id, REVOKED, because)", "pass"),
    ),
    "an approval that ran out still counts": (
        edit(guard, "_approval", "if given.at >= given.approval.expires_at:", "if False:"),
        edit(rounds, "require_valid", "if round_.expires_at <= now:", "if False:"),
        edit(rounds, "_view", "lapsed=found.expires_at <= now", "lapsed=False"),
        edit(plans, "state_of", "round_.expires_at > now", "True"),
    ),
    "old evidence still counts": (Without(("_evidence",)),),
    "a plan that was replaced is gone on with": (
        Without(("_superseded", "_usable")),
        edit(plans, "check_usable", "if plan.superseded_by is not None:", "if False:"),
    ),
    "the kill switch is not looked at": (
        Without(("_halted",)),
        edit(applying, "require_ready", "if halt_stops:", "if False:"),
    ),
    "an act of which nothing is known has failed": (
        edit(
            group,
            "_outcome",
            "if outcome is Outcome.NOT_STARTED:",
            "if outcome is Outcome.UNKNOWN:\n        outcome = Outcome.FAILED\n    if outcome is Outcome.NOT_STARTED:",
        ),
    ),
    "an act of which nothing is known is done": (
        edit(
            group,
            "_outcome",
            "if outcome is Outcome.NOT_STARTED:",
            "if outcome is Outcome.UNKNOWN:\n        outcome = Outcome.DONE\n    if outcome is Outcome.NOT_STARTED:",
        ),
    ),
    "a call that was lost is made again at once": (
        edit(
            repeating,
            "wait_before_again",
            "if result.outcome is not Outcome.FAILED or trouble_of(result) not in AGAIN or tries >= TRIES:",
            "if tries >= TRIES or result.outcome is not Outcome.UNKNOWN:",
            "if not may_repeat(operation, timedelta(0)):",
            "if False:",
        ),
    ),
    "what must not be repeated is repeated": (
        edit(
            repeating,
            "may_repeat",
            "if operation.escalates or operation.idempotency is Idempotency.NONE:",
            "if False:",
        ),
    ),
    "a key is relied on for longer than it lives": (edit(repeating, "retry_window", "- KEY_MARGIN", "+ KEY_MARGIN"),),
    "a call that may still arrive is taken for none": (Instead(group, "is_final", lambda *_: True),),
    "the acts before a crash do not count": (
        edit(
            apply._Applying,
            "_go_on",
            "sum(1 for e in ledger if e.intent_at is not None and e.object_key not in resuming)",
            "0",
        ),
    ),
    "an act that is gone on with and left alone does not count": (
        edit(group.GroupRunner, "_admitted", "self.acts += answer.meant", "pass"),
    ),
    "the failures before do not count": (edit(stop, "stop_rule", "rule.saw(entry.outcome)", "pass"),),
    "an undo is made twice": (
        edit(undo, "_apply", "if context.plan.state is PlanState.APPLIED:", "if False:"),
        edit(undo, "_under_lease", "if watch.state == PlanState.APPLIED:", "if False:"),
        Without(("_used", "_usable")),
        edit(plans, "check_usable", "if plan.state == APPLIED:", "if False:"),
        edit(undo._Undoing, "_go_on", "if row.key not in seen", "if True"),
        Instead(taking_back, "aftermath", _as_left),
        Instead(taking_back.TakingBack, "_as_approved", lambda _self, due, _entry: due),
        NOT_NEW,
        OTHER_PARAMETERS,
    ),
    "an undo does not look at what other undos took back": (
        edit(
            foreseen,
            "_found",
            "if earlier is not None and earlier.done:",
            "if False:",
            "if earlier is not None:",
            "if False:",
        ),
        edit(undo._Undoing, "_judged", "if other is None:", "if True:"),
        edit(
            undone,
            "check_may_be",
            "elif not left_alone and key in taken and not taken[key].done:",
            "elif False:",
            "elif not left_alone and key in taken:",
            "elif False:",
        ),
        Instead(elsewhere, "require_none", lambda *_: None),
    ),
    "the approval of the act counts for the undo": (
        edit(
            rounds,
            "current_round",
            "found: tables.ApprovalRound | None =",
            "plan = plan if plan.undoes is None else session.get(tables.Plan, plan.undoes)\n    found =",
        ),
        edit(guard, "_approval", "if given.approval.digest != given.plan_digest:", "if False:"),
        edit(ledger, "_rounds_for", "if round_.used_by != plan.plan_id:", "if False:"),
    ),
    "an undo that was replaced is gone on with": (
        edit(guard, "_superseded", 'given.plan_state != "superseded"', "True"),
        edit(guard, "_usable", "if given.plan_state in allowed:", "if True:"),
        edit(plans, "check_usable", "if plan.superseded_by is not None:", "if plan.superseded_by and not plan.undoes:"),
    ),
    "the journal is not told of an outcome": (
        edit(ledger_rows, "outcomes_payload", "for act_id, key, row in written", "for act_id, key, row in written[:1]"),
    ),
}
