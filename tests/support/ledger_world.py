"""The world of the ledger's stories: accounts of people who left, and plans to lock them, made once for all stories."""

from __future__ import annotations

import asyncio
import tempfile
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from functools import cache
from pathlib import Path

from tests.support.acting import Orphans
from tests.support.applying import Stage
from tests.support.ledger_target import declared

from fullcount.compiler import program
from fullcount.compiler.claims import Fresh
from fullcount.runtime.plan.document import PlanDocument
from fullcount.runtime.store.views import StoredPlan

APPROVED_FOR = timedelta(hours=30)
EVIDENCE_FOR = timedelta(hours=70)
CANARY_WAIT = timedelta(minutes=10)


@dataclass(frozen=True)
class Setting:
    """The world of a story. `extra`: `canary` (the first object comes first), `stop` (after the first failure)."""

    objects: int = 2
    concurrency: int = 1
    kind: str = "condition"
    extra: str = "none"


PLAIN = Setting()


@dataclass(frozen=True)
class Template:
    """What was done once, for every story: a plan of some objects, and one of all of them, approved, in a store."""

    some: PlanDocument
    all: StoredPlan
    folder: Path
    approved: datetime


def world(setting: Setting) -> Orphans:
    """Return the accounts to act on."""
    canary = program.Canary(1, CANARY_WAIT // timedelta(microseconds=1)) if setting.extra == "canary" else None
    made = Orphans(
        accounts=setting.objects,
        concurrency=setting.concurrency,
        verify_age=int(EVIDENCE_FOR / timedelta(hours=1)),
        canary=canary,
        stop=program.Stop(1, None) if setting.extra == "stop" else None,
    )
    update = declared(made.accounts.operations["update"], setting.kind)
    made.accounts = replace(made.accounts, operations={**made.accounts.operations, "update": update})
    made.account_table.resource = made.accounts
    (approval,) = made.workflow.approvals
    expires = APPROVED_FOR // timedelta(microseconds=1)
    verifies = {
        name: (*claims[:-1], Fresh(EVIDENCE_FOR // timedelta(microseconds=1)))
        for name, claims in made.workflow.verifies.items()
    }
    made.workflow = replace(made.workflow, approvals=(replace(approval, expires=expires),), verifies=verifies)
    return made


@cache
def template(setting: Setting) -> Template:
    """Return the plans, made as a run makes them: all but the last account, and all of them."""
    folder = Path(tempfile.mkdtemp(dir=shared_memory()))
    stage = Stage(folder, world(setting))
    last = stage.world.account_table.objects.pop((f"a{setting.objects}",))
    some = asyncio.run(stage.plan()).document
    stage.world.account_table.put(last)
    whole = asyncio.run(stage.approved())
    stage.store.close()
    return Template(some, whole, folder, stage.world.clock())


def shared_memory() -> str | None:
    """Return where files cost no disk, if there is such a place."""
    return "/dev/shm" if Path("/dev/shm").is_dir() else None
