"""Over any evidence: nothing is lost, nothing unknown is proposed, and the plan agrees with the rule on one object."""

from __future__ import annotations

import tempfile
from datetime import timedelta
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.support.planning import NOW, account, evidence, person
from tests.support.snapshots import HeldWorld

from fullcount.compiler import ir
from fullcount.compiler.lower.closure import compile_truth
from fullcount.compiler.lower.world import Related
from fullcount.compiler.values import Cell, FieldState
from fullcount.runtime.collect.coerce import coerce_cell
from fullcount.runtime.plan.digest import check_document

UNKNOWN = st.sampled_from([state for state in FieldState if state not in (FieldState.PRESENT, FieldState.ABSENT)])
OWNERS = st.none() | st.sampled_from(["ana", "bo", "chen"]) | UNKNOWN
LOGINS = st.none() | st.integers(1, 200).map(lambda days: NOW - timedelta(days=days)) | UNKNOWN
TEAMS = st.sampled_from(["payments", "platform"]) | UNKNOWN
ACCOUNTS = st.lists(st.tuples(OWNERS, LOGINS, TEAMS), max_size=12)
PEOPLE = st.dictionaries(st.sampled_from(["ana", "bo", "chen"]), st.booleans() | UNKNOWN, max_size=3)


def held(workflow, name, rows):
    """The rows as the closure sees them."""
    fields = workflow.inventories[name].fields
    return [
        {
            field: Cell(row[field], None) if isinstance(row[field], FieldState) else coerce_cell(of, row[field])
            for field, of in fields.items()
        }
        for row in rows
    ]


@pytest.mark.requirement("R7", "R20", "R21")
@settings(max_examples=40, deadline=None)
@given(accounts=ACCOUNTS, people=PEOPLE, complete=st.booleans())
def test_every_object_is_accounted_for_and_only_the_proven_are_proposed(accounts, people, complete):
    """For rows in any state, over complete and cut lists: sums hold, candidates are those proven true and not kept."""
    rows = [
        account(f"a{n}", owner=owner, last_login=login, team=team) for n, (owner, login, team) in enumerate(accounts)
    ]
    staff = [person(key, active=active) for key, active in people.items()]
    with tempfile.TemporaryDirectory() as folder:
        world = evidence(Path(folder), rows)
        world.add("people", staff, complete=complete)
        inputs = world.inputs()
        doc = world.plan()
    assert check_document(doc) == []
    assert doc.sums.inventory == len(rows)
    proposal = inputs.proposal
    rule = compile_truth(proposal.where, inputs.bindings)
    kept = compile_truth(proposal.excepts[0].condition or ir.TRUE, inputs.bindings)
    around = HeldWorld({"people": Related(held(world.workflow, "people", staff), complete)})
    verdicts = {
        row["id"].value: (rule({"a": row}, around), kept({"a": row}, around))
        for row in held(world.workflow, "accounts", rows)
    }
    assert {row.key[0] for row in doc.rows} == {key for key, said in verdicts.items() if said == (True, False)}
    assert {row.key[0] for row in doc.undecided} == {
        key for key, (selected, excepted) in verdicts.items() if selected is None and excepted is not True
    }
    assert all(len(row.missing) > 0 and "can't be decided" not in row.missing[0] for row in doc.undecided)
