"""A graduated act over the orphans of `acting.py`: warned, locked fourteen days later, deleted seven days after that.

night = Nights(tmp_path)               # three accounts that are due
report = await night.pass_()           # plan, approve, apply; None where nothing was due
night.later(days=14)
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

from tests.support.acting import DAY, Orphans, field_of
from tests.support.applying import Stage
from tests.support.fake_source import FakeSource, FakeTable, fake_resource, message_operation

from fullcount.compiler import ir, program
from fullcount.compiler.program import RELEASE
from fullcount.compiler.types import BOOL
from fullcount.runtime.act.context import ApplyReport
from fullcount.runtime.journal.verify import verify
from fullcount.runtime.plan.document import PlanDocument
from fullcount.runtime.store.views import StepRow, StoredPlan


def setting(world: Orphans, locked: bool, *, reversible: bool = True) -> program.OperationCall:
    """Return `update(id: a.id, locked: …)`."""
    arguments = {"id": field_of("a", world.accounts, "id"), "locked": ir.Const(locked, BOOL)}
    return program.OperationCall("fake", "accounts", "update", arguments, reversible)


def deleting(world: Orphans) -> program.OperationCall:
    """Return `delete(id: a.id)`."""
    return program.OperationCall(
        "fake",
        "accounts",
        "delete",
        {"id": field_of("a", world.accounts, "id")},
        reversible=False,
        deletes=True,
    )


def with_mail(world: Orphans) -> FakeSource:
    """Give the world a source of messages, and return it."""
    messages = fake_resource("messages", "id: text", source="mail", operations=(message_operation(),))
    world.others["mail"] = FakeSource(FakeTable(messages, []), name="mail")
    return world.others["mail"]


def telling(world: Orphans) -> program.OperationCall:
    """Return `mail.send(to: a.owner, about: a.id)`."""
    a = world.accounts
    arguments: dict[str, ir.Expr] = {"to": field_of("a", a, "owner"), "about": field_of("a", a, "id")}
    return program.OperationCall("mail", "messages", "send", arguments, reversible=False, own=False)


def by_version(world: Orphans) -> None:
    """Let accounts have no incarnation any more: only their version tells one from another."""
    world.accounts = replace(world.accounts, incarnation=None)
    world.account_table.resource = world.accounts
    accounts = replace(world.workflow.inventories["accounts"], incarnation=None)
    world.workflow = replace(world.workflow, inventories={**world.workflow.inventories, "accounts": accounts})


def steps_of(world: Orphans, *, first_after: int = 0) -> tuple[program.Step, ...]:
    """Return the three steps."""
    return (
        program.Step("warn", setting(world, locked=False), setting(world, locked=False), first_after),
        program.Step("lock", setting(world, locked=True), setting(world, locked=False), 14 * DAY),
        program.Step("delete", deleting(world), None, 7 * DAY),
    )


class Nights(Stage):
    """Nights of one graduated clean-up."""

    def __init__(
        self,
        folder: Path,
        world: Orphans | None = None,
        *,
        steps: Iterable[program.Step] | None = None,
        release: bool = True,
        first_after: int = 0,
    ) -> None:
        super().__init__(folder, Orphans() if world is None else world)
        self.graduate(steps_of(self.world, first_after=first_after) if steps is None else tuple(steps), release=release)

    def graduate(self, steps: tuple[program.Step, ...], *, release: bool = True) -> None:
        """Give the act these steps."""
        world = self.world
        (act,) = world.workflow.acts
        let_go = setting(world, locked=False, reversible=False) if release else None
        graduated = replace(act, call=None, undo=None, steps=steps, release=let_go)
        world.workflow = replace(world.workflow, acts=(graduated,))

    def later(self, **by: float) -> None:
        """Let time pass, as `timedelta` takes it."""
        from datetime import timedelta

        self.world.clock.advance(timedelta(**by).total_seconds())

    async def pass_(self, **changes: Any) -> ApplyReport | None:
        """Plan, approve and apply what is due; None where nothing is."""
        plan = await self.plan()
        if len(plan.document.rows) == 0:
            return None
        return await self.apply(self.approve(plan), **changes)

    @property
    def clocks(self) -> dict[str, StepRow]:
        """Every running clock by the account's name."""
        return {row.object_key[0]: row for row in self.store.steps("disable_orphans", "disable")}

    @property
    def stands(self) -> dict[str, str | None]:
        """The last step of each account whose clock runs."""
        return {key: row.step for key, row in self.clocks.items()}

    def effects(self) -> list[tuple[str, str]]:
        """What the target saw since the last look: operation and account."""
        seen = [(operation, key[0]) for operation, key in self.source.effects]
        self.source.effects.clear()
        return seen

    def verified(self) -> None:
        """Hold the record against itself."""
        report = verify(self.store)
        assert report.ok, [str(problem) for problem in report.problems]


def due(plan: StoredPlan | PlanDocument) -> dict[str, str]:
    """Return the step that a plan lists, by account."""
    document = plan if isinstance(plan, PlanDocument) else plan.document
    return {row.key[0]: row.step.label for row in document.rows if row.step is not None}


def waiting(plan: StoredPlan | PlanDocument) -> dict[str, str]:
    """Return the step that is not due yet, by account."""
    document = plan if isinstance(plan, PlanDocument) else plan.document
    assert document.steps is not None
    return {row.key[0]: row.step.label for row in document.steps.waiting}


__all__ = [
    "RELEASE", "Nights", "by_version", "deleting", "due", "setting", "steps_of", "telling", "waiting", "with_mail",
]  # fmt: skip
