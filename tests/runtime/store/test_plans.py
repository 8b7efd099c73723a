"""Plans in the store: a damaged one is never half used, a newer one takes the place of an older one."""

from __future__ import annotations

import json

import pytest
from sqlalchemy.exc import IntegrityError
from tests.support.stores import AUTHOR, WORKFLOW, Office

from fullcount.runtime.exit_codes import Exit
from fullcount.runtime.plan.digest import canonical_bytes, sealed, sha256_text
from fullcount.runtime.store import tables
from fullcount.runtime.store.errors import PlanCorrupt, PlanNotFound, PlanRefused, StoreError
from fullcount.runtime.store.views import PlanState


def tampered(office: Office, plan_id: str, **columns: object) -> None:
    """Change a stored plan the way only someone with the file in hand can."""
    with office.store.writing() as tx:
        tx.session.connection().exec_driver_sql("DROP TRIGGER IF EXISTS plans_no_change")
        tx.session.query(tables.Plan).filter_by(plan_id=plan_id).update(columns)


@pytest.mark.parametrize("place", ["digest", "row", "sum", "cap", "nothing at all"])
def test_a_document_that_does_not_fit_itself_is_not_stored(office, place):
    """Digest, rows, sums and caps are checked before a plan is kept."""
    plan = office.document("a", "b")
    broken = {
        "digest": plan.model_copy(update={"digest": "sha256:" + "0" * 64}),
        "row": plan.model_copy(update={"rows": plan.rows[:1]}),
        "sum": sealed(plan.model_copy(update={"sums": plan.sums.model_copy(update={"inventory": 7})})),
        "cap": sealed(plan.model_copy(update={"caps": plan.caps.model_copy(update={"effective": 9_999})})),
    }
    head = office.store.head()
    if place in broken:
        with pytest.raises(PlanCorrupt) as found:
            office.store.save_plan(broken[place])
        assert found.value.code == "FC715"
        assert office.store.head() == head
    else:
        assert office.store.save_plan(plan).state is PlanState.WAITING


def test_a_stored_plan_whose_text_was_changed_is_corrupt(office):
    """Another text under the old hash is noticed at once, also where it would still be a valid plan."""
    plan = office.plan("a", "b")
    text = canonical_bytes(plan.document).decode().replace("iam-team", "its-team")
    tampered(office, plan.document.plan_id, document=text)
    for load in (
        lambda: office.store.load_plan(plan.document.plan_id),
        lambda: office.store.latest_plan(WORKFLOW, "disable"),
    ):
        with pytest.raises(PlanCorrupt, match="does not fit its hash") as found:
            load()
        assert found.value.exit is Exit.ERROR


@pytest.mark.parametrize(
    "change",
    [
        lambda body: body["rows"].pop(),
        lambda body: body["sums"].update(kept=0),
        lambda body: body.update(surprise=1),
        lambda body: body.pop("rule"),
        lambda body: body.update(rule="all"),
        lambda body: body.update(plan_id="01JDZ8M3Q5W7X9Y1Z3A5B7C9D2"),
    ],
)
def test_a_stored_plan_whose_hash_was_changed_along_is_corrupt(office, change):
    """Whoever changes text and hash still fails at digest, sums, schema, or the columns beside it."""
    plan = office.plan("a", "b")
    body = json.loads(canonical_bytes(plan.document))
    change(body)
    text = canonical_bytes(body).decode()
    tampered(office, plan.document.plan_id, document=text, sha256=sha256_text(text.encode()))
    with pytest.raises(PlanCorrupt):
        office.store.load_plan(plan.document.plan_id)


@pytest.mark.parametrize(
    "text", ["", "null", "[]", "{", '{"a": 1}', "\ud800".encode("utf-8", "surrogatepass").decode("latin-1")]
)
def test_what_is_not_a_plan_at_all_is_corrupt(office, text):
    """Any text instead of the document is a clear error, never a crash."""
    plan = office.plan("a")
    tampered(office, plan.document.plan_id, document=text, sha256=sha256_text(text.encode()))
    with pytest.raises(PlanCorrupt):
        office.store.load_plan(plan.document.plan_id)


@pytest.mark.parametrize("columns", [{"candidates": 1}, {"over_cap": True}, {"workflow": "x"}, {"digest": "sha256:0"}])
def test_columns_that_do_not_fit_the_document_make_the_plan_corrupt(office, columns):
    """What the store says beside the document is compared with it."""
    plan = office.plan("a", "b")
    tampered(office, plan.document.plan_id, **columns)
    with pytest.raises(PlanCorrupt):
        office.store.load_plan(plan.document.plan_id)


def test_the_database_itself_refuses_to_change_or_remove_a_plan(office):
    """Document, digest and sums of a stored plan can't be updated by a slip of the program."""
    plan = office.plan("a")
    for statement in ("UPDATE plans SET document = '{}'", "UPDATE plans SET digest = 'x'", "DELETE FROM plans"):
        with pytest.raises(IntegrityError, match="is a record"), office.store.writing() as tx:
            tx.session.connection().exec_driver_sql(statement)
    assert office.store.load_plan(plan.document.plan_id).document == plan.document


@pytest.mark.parametrize("wanted", ["01ZZZZ", "", "%", "_", "x' OR 1=1 --", "../x", "01JDZ8M3Q5W7X9Y1Z3A5B7C9D11"])
def test_an_id_that_no_plan_has_is_a_usage_error(office, wanted):
    """Nothing is matched by accident: no wildcard, no empty beginning."""
    office.plan("a")
    with pytest.raises(PlanNotFound) as found:
        office.store.load_plan(wanted)
    assert (found.value.code, found.value.exit) == ("FC713", Exit.USAGE)


def test_a_beginning_that_two_plans_share_is_refused_with_both_named(office):
    """An ambiguous id never picks one."""
    plans = [office.plan("a"), office.plan("b")]
    with pytest.raises(PlanNotFound) as found:
        office.store.load_plan("0")
    assert found.value.code == "FC714"
    assert all(plan.document.plan_id in found.value.message for plan in plans)


def test_a_plan_is_found_by_a_beginning_of_its_id_in_any_case(office):
    """People copy half an id."""
    plan = office.plan("a")
    assert office.store.load_plan(plan.document.plan_id[:20].lower()).document == plan.document


def test_a_plan_is_stored_once(office):
    """The same id again is refused, whatever the content."""
    plan = office.plan("a")
    with pytest.raises(PlanRefused):
        office.store.save_plan(plan.document)


def test_a_plan_belongs_to_a_run(office):
    """A plan of a run that this store does not know can't be kept."""
    run_id = office.store.begin_run(WORKFLOW, "plan", AUTHOR)
    assert office.store.runs()[0].run_id == run_id
    with pytest.raises(StoreError) as found:
        office.store.save_plan(office.document("a").model_copy(update={"run_id": "01JDZ8M3Q5W7X9Y1Z3A5B7C9D0"}))
    assert found.value.code == "FC733"


def test_a_newer_plan_supersedes_older_ones_of_its_proposal_only(office):
    """Same workflow and proposal: superseded. Another proposal or workflow: untouched."""
    old = office.plan("a")
    others = [office.plan("a", proposal="delete"), office.plan("a", workflow="another")]
    new = office.plan("b")
    states = [office.store.load_plan(plan.document.plan_id) for plan in (old, *others, new)]
    assert [state.state for state in states] == [
        PlanState.SUPERSEDED,
        PlanState.WAITING,
        PlanState.WAITING,
        PlanState.WAITING,
    ]
    assert states[0].superseded_by == new.document.plan_id
    assert office.store.latest_plan(WORKFLOW, "disable").document == new.document
    assert office.store.latest_plan(WORKFLOW, "nothing") is None
    assert [brief.plan_id for brief in office.store.plans(2, workflow=WORKFLOW)] == [
        new.document.plan_id,
        others[0].document.plan_id,
    ]


def test_integers_beyond_those_of_json_survive(office):
    """A key such as 2^63 - 1 comes back as the same number."""
    document = office.document()
    changes = {"key": (2**63 - 1, -(2**60)), "arguments": {"$int": "7", "n": 2**55}}
    row = document.rows[1].model_copy(update=changes)
    made = sealed(document.model_copy(update={"rows": (row, document.rows[0])}))
    stored = office.store.save_plan(made)
    assert stored.document == made
    assert stored.document.rows[0].key == (2**63 - 1, -(2**60))
