"""From workflow text and rows to the inputs of a plan, with real snapshots and no source."""

from __future__ import annotations

import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
from tests.support.catalogs import EXAMPLE
from tests.support.snapshots import table

from fullcount.compiler import program
from fullcount.compiler.assumptions import assumptions
from fullcount.compiler.claims import Consistency
from fullcount.compiler.lower.world import Bindings
from fullcount.compiler.params import bind_params
from fullcount.compiler.pipeline import compile_source
from fullcount.compiler.values import Cell, FieldState, Row
from fullcount.dsl.source import Source
from fullcount.runtime.collect.coerce import coerce_cell
from fullcount.runtime.collect.intake import fields_to_read
from fullcount.runtime.collect.snapshots import SnapshotStore, digest_of
from fullcount.runtime.evidence.codes import Reason, Way
from fullcount.runtime.evidence.envelope import (
    Completeness,
    Continuation,
    Envelope,
    Incompleteness,
    Scope,
    Status,
    Work,
)
from fullcount.runtime.plan.build import PlanInputs, build_plan
from fullcount.runtime.plan.cells import microseconds
from fullcount.runtime.plan.document import CertificateDoc, PlanDocument
from fullcount.runtime.workspace.exemptions import Exemption

NOW = datetime(2026, 11, 30, 2, 0, tzinfo=UTC)

ORPHANS = """
workflow disable_orphaned_accounts {
  describe "Disable production service accounts that nobody owns and nobody uses."
  owner    "iam-team"
  param idle: duration = 90d
  inventory accounts from directory.accounts {
    key         id
    incarnation entry_uuid
    fields      { id: text, entry_uuid: text, owner: text?, team: text, created: timestamp, last_login: timestamp? }
  }
  inventory people from hr.employees {
    key id
    fields { id: text, active: bool }
  }
  verify accounts { complete, fresh within 1h }
  verify people   { complete, fresh within 24h }
  propose disable from accounts as a {
    where (a.last_login else a.created) < now - idle
      and (a.owner is absent or no people as p where (p.id == a.owner and p.active))
    except when a.team == "platform"
    limit  50, 50%
    show   a.owner, a.last_login, a.team
    expect no accounts as x where (x.team == "platform") because "worlds may be small"
    expect no accounts as x where (x.owner is present) because "worlds may be small"
    expect no accounts as x where (x.last_login is present) because "worlds may be small"
    expect no people as xp where (xp.id == a.owner) because "worlds may be small"
    expect no people as xp where (xp.active) because "worlds may be small"
  }
  approve disable { 2 of role "iam-admin" not by author, expires after 3d }
  act disable with directory.accounts.update(id: a.id, locked: true) {
    undo directory.accounts.update(id: a.id, locked: false)
    rate 10 per second
    concurrency 4
    stop after 3 failures
  }
}
"""

STRICT = "".join(line for line in ORPHANS.splitlines(keepends=True) if "expect no" not in line)
"""The same workflow, which excuses nothing: for worlds that bear out what its rule takes for granted."""


def compiled(text: str = ORPHANS) -> program.Workflow:
    """Compile one workflow against the example catalogue; of what it expects of nobody, what its rule asks."""
    made = compile_source(Source("orphans.fcw", text), EXAMPLE)
    while (beside := next((d for d in made.diagnostics if d.code == "FC350"), None)) is not None:
        line = text.rfind("\n", 0, beside.span.start)
        text = text[:line] + text[text.index("\n", beside.span.end) :]
        made = compile_source(Source("orphans.fcw", text), EXAMPLE)
    assert made.program is not None, [f"{d.code} {d.message}" for d in made.diagnostics]
    return made.program.workflows[0]


def excused(workflow: program.Workflow) -> program.Workflow:
    """Return the workflow with everything excused that its rule takes for granted: its worlds are of one object."""
    (proposal,) = workflow.proposals
    expects = tuple(
        program.Expectation(each.sentence, "worlds may be small", "expect …") for each in assumptions(proposal, None)
    )
    return replace(workflow, proposals=(replace(proposal, expects=expects),))


def account(key: str, **values: Any) -> dict[str, Any]:
    """Return an account that the rule selects, with changes; a `FieldState` stands for a cell in that state."""
    return {
        "id": key,
        "entry_uuid": f"uuid-{key}",
        "revision": 7,
        "owner": None,
        "team": "payments",
        "created": datetime(2024, 1, 1, tzinfo=UTC),
        "last_login": datetime(2026, 6, 1, tzinfo=UTC),
    } | values


def person(key: str, **values: Any) -> dict[str, Any]:
    """Return an active employee, with changes."""
    return {"id": key, "active": True} | values


@dataclass
class Evidence:
    """Snapshots and envelopes of one made-up world."""

    root: Path
    workflow: program.Workflow
    envelopes: dict[str, Envelope] = field(default_factory=dict)

    @property
    def store(self) -> SnapshotStore:
        return SnapshotStore(self.root)

    def add(self, name: str, rows: Sequence[Mapping[str, Any]], *, complete: bool = True) -> None:
        """Store the rows of an inventory; fields that a row leaves out are as the source left them out."""
        inventory = self.workflow.inventories[name]
        fields = fields_to_read(inventory, EXAMPLE.resources(inventory.source)[inventory.resource])
        cells: list[Row] = [{f: _cell(fields[f], row[f]) for f in fields} for row in rows]
        self.root.mkdir(parents=True, exist_ok=True)
        path = self.root / "new.parquet"
        pq.write_table(table(fields, cells), path)
        digest = digest_of(path)
        place = self.root / digest[7:9] / f"{digest[7:]}.parquet"
        place.parent.mkdir(exist_ok=True)
        shutil.move(path, place)
        self.envelopes[name] = _envelope(inventory, len(rows), digest, complete=complete)

    def inputs(self, **changes: Any) -> PlanInputs:
        """Return the inputs of a plan over this evidence."""
        proposal = self.workflow.proposals[0]
        params = bind_params(self.workflow, changes.pop("given", {}))
        acts = self.workflow.acts
        approvals = self.workflow.approvals
        values: dict[str, Any] = {
            "workflow": self.workflow,
            "proposal": proposal,
            "approval": approvals[0] if len(approvals) > 0 else None,
            "act": acts[0] if len(acts) > 0 else None,
            "certificates": [_certificate(envelope) for envelope in self.envelopes.values()],
            "envelopes": list(self.envelopes.values()),
            "snapshots": self.store,
            "bindings": Bindings(params, microseconds(NOW)),
            "target": {"directory": {"target": "ldap://corp/production", "user": "reader"}},
            "engine_version": "0.1.0",
            "connector_versions": {"directory": "1.0", "hr": "1.0"},
            "exemptions": {"exemptions": ()},
            "authors": ("uid:1000",),
            "plan_id": "01JDZ8M3Q5W7X9Y1Z3A5B7C9D1",
            "run_id": "01JDZ8M3Q5W7X9Y1Z3A5B7C9D0",
            "created_by": "uid:1000",
            "created_at": NOW,
        }
        return PlanInputs(**(values | changes))

    def plan(self, **changes: Any) -> PlanDocument:
        """Build the plan."""
        return build_plan(self.inputs(**changes))


def evidence(
    root: Path,
    accounts: Sequence[Mapping[str, Any]],
    people: Sequence[Mapping[str, Any]] = (),
    *,
    text: str = ORPHANS,
) -> Evidence:
    """Return complete evidence over accounts and people."""
    world = Evidence(root, compiled(text))
    world.add("accounts", accounts)
    if "people" in world.workflow.inventories:
        world.add("people", people)
    return world


def exemption(key: str, until: date = date(2026, 12, 31), workflow: str | None = None) -> Exemption:
    """Return an exemption of one account."""
    return Exemption((key,), workflow, "iam-team", "agreed with the owner", until)


def _cell(of: Any, raw: Any) -> Cell:
    if isinstance(raw, FieldState):
        return Cell(raw, None)
    return coerce_cell(of, raw)


def _envelope(inventory: program.Inventory, rows: int, digest: str, *, complete: bool) -> Envelope:
    reasons = (Incompleteness(code=Reason.RESULT_LIMIT_REACHED, detail="the source stopped at its limit"),)
    way = Continuation(way=Way.NARROW_QUERY, preserves_snapshot=False)
    return Envelope(
        inventory=inventory.name,
        status=Status.COMPLETE if complete else Status.PARTIAL,
        completeness=Completeness(complete=True)
        if complete
        else Completeness(complete=False, reasons=reasons, continuation=way),
        scope=Scope(
            source=inventory.source,
            resource=inventory.resource,
            visibility="all",
            consistency=Consistency.PINNED,
            started_at=NOW,
            finished_at=NOW,
        ),
        work=Work(rows=rows, distinct_keys=rows, end_marker="the query ended" if complete else None),
        snapshot_digest=digest,
    )


def _certificate(envelope: Envelope) -> CertificateDoc:
    return CertificateDoc(
        inventory=envelope.inventory,
        source=envelope.scope.source,
        resource=envelope.scope.resource,
        snapshot_digest=str(envelope.snapshot_digest),
        rows=envelope.work.rows,
        distinct_keys=envelope.work.distinct_keys,
        claims=("complete", "snapshot pinned", "fresh within 1h"),
        consistency="pinned",
        visibility="all",
        end_marker=str(envelope.work.end_marker),
    )
