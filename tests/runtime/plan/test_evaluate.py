"""The rule over snapshots: candidates, kept and undecided objects, with reasons."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta

import pytest
from tests.support.planning import NOW, ORPHANS, account, evidence, exemption, person

from fullcount.compiler.values import FieldState
from fullcount.runtime.plan import evaluate
from fullcount.runtime.plan.digest import check_document
from fullcount.runtime.plan.errors import PlanError, SumsError

USED = NOW - timedelta(days=3)


def reasons(doc):
    """How many objects are kept for which reason."""
    return {group.reason: group.count for group in doc.kept}


@pytest.mark.requirement("R7", "R20", "R21")
@pytest.mark.parametrize("state", [s for s in FieldState if s not in (FieldState.PRESENT, FieldState.ABSENT)])
def test_a_field_that_is_not_known_never_selects_and_is_named(tmp_path, state):
    """An owner that was not read is not an absent owner: the object is undecided, and the plan says which field."""
    doc = evidence(tmp_path, [account("a", owner=state), account("b")], [person("ana")]).plan()
    assert [row.key for row in doc.rows] == [("b",)]
    assert [(row.key, row.missing) for row in doc.undecided] == [(("a",), (f"owner: {state.value.replace('_', ' ')}",))]
    assert check_document(doc) == []


def test_an_unknown_cell_of_another_inventory_makes_undecided_and_is_counted(tmp_path):
    """One employee whose id is hidden could be anybody: nobody with an owner is proposed, and the plan says why."""
    people = [person("bo", active=False), person("x", id=FieldState.FORBIDDEN)]
    doc = evidence(tmp_path, [account("a", owner="ana"), account("b")], people).plan()
    assert [row.key for row in doc.rows] == [("b",)]
    assert doc.undecided[0].missing == ("people: 1 row without known id (forbidden)",)


@pytest.mark.requirement("R19", "R20")
def test_rows_that_were_not_returned_never_select(tmp_path):
    """Over a list that was cut short nobody counts as gone, even if the plan were built in spite of it."""
    world = evidence(tmp_path, [account("a", owner="ana"), account("b")])
    world.add("people", [], complete=False)
    doc = world.plan()
    assert [row.key for row in doc.rows] == [("b",)]
    assert doc.undecided[0].missing == ("people: not all rows were returned",)


def test_an_unknown_test_that_changes_nothing_is_not_missing(tmp_path):
    """Where the rule is false anyway, an unknown field makes nothing undecided."""
    doc = evidence(tmp_path, [account("a", owner=FieldState.FORBIDDEN, last_login=USED)], [person("ana")]).plan()
    assert doc.undecided == ()
    assert reasons(doc) == {"not matched by the rule": 1}


def test_each_kept_object_has_one_reason_and_the_sums_hold(tmp_path):
    """False rule, condition, condition that can't be ruled out, and list: each counted once."""
    rows = [
        account("used", last_login=USED),
        account("owned", owner="ana"),
        account("plat", team="platform"),
        account("plat-used", team="platform", last_login=USED),
        account("dark", team=FieldState.FORBIDDEN),
        account("listed"),
        account("free"),
    ]
    text = ORPHANS.replace("except when", "except in exemptions\n    except when")
    doc = evidence(tmp_path, rows, [person("ana")], text=text).plan(
        exemptions={"exemptions": (exemption("listed"), exemption("listed", date(2027, 5, 1)))}
    )
    assert [row.key for row in doc.rows] == [("free",)]
    assert reasons(doc) == {
        "not matched by the rule": 3,
        "exempted by list `exemptions` until 2026-12-31": 1,
        'excepted: `a.team == "platform"`': 1,
        'kept because `a.team == "platform"` could not be ruled out': 1,
    }
    assert doc.kept[0].examples == (("owned",), ("plat-used",), ("used",))
    assert (doc.sums.inventory, doc.sums.candidates, doc.sums.kept, doc.sums.undecided) == (7, 1, 6, 0)


def test_several_conditions_are_told_apart(tmp_path):
    """With two conditions each object is counted under the first that keeps it."""
    text = ORPHANS.replace(
        'except when a.team == "platform"', 'except when a.team == "platform"\n    except when a.id == "b"'
    )
    rows = [account("a", team="platform"), account("b"), account("c"), account("d", team=FieldState.INDETERMINATE)]
    doc = evidence(tmp_path, rows, text=text).plan()
    assert reasons(doc) == {
        'excepted: `a.team == "platform"`': 1,
        'excepted: `a.id == "b"`': 1,
        'kept because `a.team == "platform"` could not be ruled out': 1,
    }
    assert [row.key for row in doc.rows] == [("c",)]


def test_an_exemption_that_ended_protects_no_longer_and_is_noted(tmp_path):
    """Through its last day an entry protects; the day after it does not, and the plan says so."""
    text = ORPHANS.replace("except when", "except in exemptions\n    except when")
    world = evidence(tmp_path, [account("a"), account("b"), account("c")], text=text)
    entries = (
        exemption("a", date(2026, 11, 30)),
        exemption("b", date(2026, 11, 29)),
        exemption("c", workflow="another_workflow"),
        exemption("gone{0}"),
    )
    doc = world.plan(exemptions={"exemptions": entries})
    assert [row.key for row in doc.rows] == [("b",), ("c",)]
    assert doc.notes == (
        "list `exemptions`: 1 entry ended and protects no longer: `b` (2026-11-29)",
        "list `exemptions`: 1 entry matches no object that was read: `gone{0}`",
    )


def test_an_exemption_that_stands_twice_and_matches_nothing_is_counted_twice(tmp_path):
    """Neither of the two protects anything, whatever the other one says."""
    text = ORPHANS.replace("except when", "except in exemptions\n    except when")
    entries = (exemption("gone"), exemption("gone", date(2027, 1, 1)), exemption("a"), exemption("a"))
    doc = evidence(tmp_path, [account("a")], text=text).plan(exemptions={"exemptions": entries})
    assert [(use.entries, use.matched, use.unused) for use in doc.lists] == [(4, 2, 2)]
    assert doc.notes == ("list `exemptions`: 2 entries match no object that was read: `gone`, `gone`",)


def test_an_exemption_list_that_was_not_read_is_never_taken_as_empty(tmp_path):
    """Without the list there is no plan."""
    text = ORPHANS.replace("except when", "except in exemptions\n    except when")
    with pytest.raises(PlanError, match="can't be taken as empty"):
        evidence(tmp_path, [account("a")], text=text).plan(exemptions={})


def test_objects_outside_the_scope_are_not_part_of_the_population(tmp_path):
    """What the scope leaves out is neither kept nor a part of a percentage; what may be in it is undecided."""
    text = ORPHANS.replace("    key         id\n", '    key         id\n    scope       team == "payments"\n')
    rows = [account("a"), account("b", team="other"), account("c", team=FieldState.SOURCE_FAILED)]
    doc = evidence(tmp_path, rows, text=text).plan()
    assert doc.sums.inventory == 2
    assert [row.key for row in doc.rows] == [("a",)]
    assert doc.undecided[0].missing == ("team: source failed",)


@pytest.mark.parametrize("rows", [[account("a"), account("a")], [account("a", id=FieldState.FORBIDDEN)]])
def test_keys_that_do_not_tell_objects_apart_give_no_plan(tmp_path, rows):
    """A key that stands twice, or is not known, is refused."""
    with pytest.raises(PlanError) as caught:
        evidence(tmp_path, rows).plan()
    assert caught.value.code == "FC911"


def test_sums_that_do_not_hold_give_no_plan(tmp_path):
    """A certificate over another number of rows than the snapshot has is found before anything is written."""
    world = evidence(tmp_path, [account("a"), account("b")])
    inputs = world.inputs()
    wrong = [c.model_copy(update={"rows": 3}) if c.inventory == "accounts" else c for c in inputs.certificates]
    with pytest.raises(SumsError) as caught:
        world.plan(certificates=wrong)
    assert caught.value.code == "FC910"
    assert caught.value.exit == 7


@pytest.mark.requirement("R21")
def test_a_certificate_of_another_snapshot_gives_no_plan(tmp_path):
    """The ids that are selected are bound to the snapshot that was certified."""
    world = evidence(tmp_path, [account("a")])
    inputs = world.inputs()
    other = [c.model_copy(update={"snapshot_digest": "sha256:" + "0" * 64}) for c in inputs.certificates]
    with pytest.raises(PlanError, match="another snapshot"):
        world.plan(certificates=other)
    with pytest.raises(PlanError, match="no certificate for `people`"):
        world.plan(certificates=[c for c in inputs.certificates if c.inventory == "accounts"])
    with pytest.raises(PlanError, match="no snapshot of `people`"):
        world.plan(envelopes=[e for e in inputs.envelopes if e.inventory == "accounts"])


def test_more_objects_than_can_be_looked_at_give_no_plan(tmp_path, monkeypatch):
    """A list that nobody can read is not put before a person."""
    monkeypatch.setattr(evaluate, "LISTED", 1)
    with pytest.raises(PlanError, match="2 objects of `accounts` are selected"):
        evidence(tmp_path, [account("a"), account("b")]).plan()
    hidden = [account(name, owner=FieldState.FORBIDDEN) for name in "ab"]
    with pytest.raises(PlanError, match="2 objects of `accounts` could not be decided"):
        evidence(tmp_path, hidden, [person("ana")]).plan()


def test_nothing_is_left_behind_in_the_workspace(tmp_path):
    """The folder that a session may spill into is empty again."""
    evidence(tmp_path, [account("a")]).plan()
    assert list((tmp_path / ".work").iterdir()) == []


def test_an_object_for_which_the_act_has_no_call_is_undecided(tmp_path):
    """An argument without a known value is missing evidence, not a blank."""
    text = ORPHANS.replace("update(id: a.id, locked: true)", "update(id: a.id, locked: true, note: a.team)").replace(
        '    except when a.team == "platform"\n', ""
    )
    rows = [account("a", team=FieldState.FORBIDDEN), account("b")]
    doc = evidence(tmp_path, rows, text=text).plan()
    assert [row.key for row in doc.rows] == [("b",)]
    assert doc.undecided[0].missing == ("argument note: forbidden",)
    assert doc.rows[0].arguments == {"id": "b", "locked": True, "note": "payments"}


def test_instants_stand_in_the_plan_as_iso_8601_in_utc(tmp_path):
    """Cells are JSON with exact instants; what people see is formatted."""
    login = datetime(2026, 6, 1, 12, 30, 15, 250_000, tzinfo=UTC)
    doc = evidence(tmp_path, [account("a", last_login=login)]).plan()
    row = doc.rows[0]
    assert row.fields["last_login"].value == "2026-06-01T12:30:15.250000Z"
    assert row.fields["owner"].state is FieldState.ABSENT
    assert row.shown == {"a.owner": "(none)", "a.last_login": "2026-06-01 12:30Z", "a.team": "payments"}
    assert (row.incarnation, row.version) == ("uuid-a", "7")
    assert doc.parameters == {"idle": "90d"}


def test_too_few_rows_for_an_aggregate_make_undecided_and_are_named(tmp_path):
    """No data is no reason to select: the plan says how many rows would have been needed."""
    rule = 'count people as q where (q.active) >= 1 and min people as p where (p.id == a.team) of p.id needs 2 < "zz"'
    text = ORPHANS.replace("(a.owner is absent or no people as p where (p.id == a.owner and p.active))", f"({rule})")
    people = [person("payments")]
    doc = evidence(tmp_path, [account("a")], people, text=text).plan()
    assert doc.rows == ()
    assert doc.undecided[0].missing == ("people: fewer than 2 rows with a known value",)


@pytest.mark.parametrize(
    ("key", "said"),
    [("svc\u202e-a", "turns the direction"), ("svc-\u200ba", "cannot be seen"), ("svc-p\u0430y", "Cyrillic")],
)
def test_a_key_that_looks_like_another_is_worth_a_closer_look(tmp_path, key, said):
    """A reviewer who reads the name of an object must not approve another one."""
    doc = evidence(tmp_path, [account(key), account("svc-pay")]).plan()
    notes = {row.key[0]: "; ".join(row.notes) for row in doc.rows}
    assert said in notes[key]
    assert "its key has" not in notes["svc-pay"]
    assert doc.rows[0].key == (key,)
