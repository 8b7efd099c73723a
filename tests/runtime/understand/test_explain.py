"""Why a plan decided about an object as it did: the same verdict, the facts, and nothing where nothing can be said."""

from __future__ import annotations

import json
import tempfile
from datetime import timedelta
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.runtime.understand.conftest import LISTED, Asked, accounts, ago
from tests.support.planning import NOW, ORPHANS, account, evidence, exemption, person
from tests.support.profiles import examples

from fullcount.compiler.values import FieldState
from fullcount.runtime.collect.snapshots import SnapshotCorrupt, SnapshotMissing
from fullcount.runtime.plan.document import UndecidedRow
from fullcount.runtime.understand.decision import Because, Verdict
from fullcount.runtime.understand.errors import ContradictionError, NoAnswerError
from fullcount.runtime.understand.explain import explain, planned_verdict
from fullcount.runtime.workspace.errors import WorkspaceError

pytestmark = pytest.mark.requirement("R25")


# -- refused --------------------------------------------------------------------------------------------------------


def test_an_object_that_was_not_read_is_named_with_what_is_close(asked):
    """There is no explanation of an object that is not in the snapshot; similar keys are offered."""
    with pytest.raises(NoAnswerError) as caught:
        asked.why("orphans")
    assert caught.value.code == "FC680"
    assert "is not among the 9 rows" in caught.value.message
    assert "`orphan`" in caught.value.help


def test_nothing_close_says_what_that_can_mean(asked):
    """Without a similar key the message says what may be the cause, and claims nothing about the source."""
    with pytest.raises(NoAnswerError) as caught:
        asked.why("zzzzzzzz")
    assert "outside of the scope" in caught.value.help


def test_rows_that_were_cut_short_are_said_to_be_so(tmp_path):
    """Over a reading that did not reach its end, a missing object may exist all the same, and the message says so."""
    world = evidence(tmp_path, [account("a")], [person("ana")])
    world.add("accounts", [account("a")], complete=False)
    with pytest.raises(NoAnswerError, match="not all there were"):
        Asked(world).why("b")


def test_a_snapshot_that_was_changed_explains_nothing(asked):
    """Rows that are not those of the plan are no evidence of why it decided."""
    digest = asked.document.envelopes[0].snapshot_digest
    path = asked.world.store.path(digest)
    path.write_bytes(path.read_bytes() + b"x")
    with pytest.raises(SnapshotCorrupt):
        asked.why("orphan")


def test_a_snapshot_that_is_gone_explains_nothing(asked):
    """The same for rows that are not there at all."""
    for envelope in asked.document.envelopes:
        asked.world.store.path(envelope.snapshot_digest).unlink()
    with pytest.raises(SnapshotMissing, match="is not stored"):
        asked.why("orphan")


@pytest.mark.parametrize("changed", ["candidate", "undecided", "kept"])
def test_a_plan_that_says_otherwise_is_contradicted_and_not_explained(asked, changed):
    """If the plan holds an object as what its rule does not make of it, there is an error and no explanation."""
    document, rows = asked.document, {row.key: row for row in asked.document.rows}
    forged = {
        "candidate": {"rows": (*document.rows, rows["orphan",].model_copy(update={"key": ("owned",)}))},
        "undecided": {"undecided": (*document.undecided, UndecidedRow(key=("owned",), missing=("x",)))},
        "kept": {"undecided": ()},
    }[changed]
    key = "dark" if changed == "kept" else "owned"
    with pytest.raises(ContradictionError) as caught:
        explain(document.model_copy(update=forged), asked.world.store, key, lambda _: ())
    assert caught.value.code == "FC914"


# -- one of each ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("key", "verdict", "because"),
    [
        ("orphan", Verdict.CANDIDATE, Because.SELECTED),
        ("left", Verdict.CANDIDATE, Because.SELECTED),
        ("never", Verdict.CANDIDATE, Because.SELECTED),
        ("used", Verdict.KEPT, Because.RULE),
        ("owned", Verdict.KEPT, Because.RULE),
        ("plat", Verdict.KEPT, Because.EXCEPTED),
        ("team-dark", Verdict.KEPT, Because.PERHAPS_EXCEPTED),
        ("listed", Verdict.KEPT, Because.LISTED),
        ("dark", Verdict.UNDECIDED, Because.UNKNOWN),
    ],
)
def test_each_object_has_the_verdict_of_its_plan_and_the_part_that_decided(asked, key, verdict, because):
    """Candidates, kept and undecided objects are all explained, each by what decided."""
    found = asked.why(key, {"exemptions": (exemption("listed"),)})
    assert (found.decision.verdict, found.decision.because) == (verdict, because)
    assert planned_verdict(asked.document, (key,))[0] is verdict


def test_an_undecided_object_is_explained_with_the_plans_own_words(asked):
    """What is missing stands in the plan, and the explanation repeats it."""
    assert asked.why("dark").reasons == ("owner: forbidden",)


def test_a_list_that_has_changed_since_is_told_apart(asked):
    """Whether a list held then is taken from the plan; what the list says now is said as such."""
    gone = asked.why("listed")
    assert gone.decision.because is Because.LISTED
    assert gone.notes == ("a list named it when the plan was made, and none does now",)
    added = asked.why("orphan", {"exemptions": (exemption("orphan"),)})
    assert added.decision.verdict is Verdict.CANDIDATE
    assert added.notes[0].startswith("the list `exemptions` names it by now (iam-team: agreed with the owner)")


def test_a_list_that_can_not_be_read_now_is_said_and_does_not_hide_the_reason(asked):
    """The plan knows that a list kept the object, whatever became of the list."""

    def lost(name):
        raise WorkspaceError("FC609", f"the exemption list `{name}` can't be read")

    found = explain(asked.document, asked.world.store, "listed", lost)
    assert found.decision.because is Because.LISTED
    assert found.notes[0] == "the list `exemptions` can't be read now: the exemption list `exemptions` can't be read"


def test_an_object_for_which_the_act_has_no_call_is_undecided(tmp_path):
    """A rule that is true is not enough: without a value for the act's argument the plan holds it as undecided."""
    text = ORPHANS.replace("last_login: timestamp? }", "last_login: timestamp?, locked: bool }")
    text = text.replace("update(id: a.id, locked: true)", "update(id: a.id, locked: not a.locked)")
    rows = [account("a", locked=False), account("b", locked=FieldState.FORBIDDEN)]
    asked = Asked(evidence(tmp_path, rows, [person("ana")], text=text))
    found = asked.why("b")
    assert (found.decision.verdict, found.decision.because) == (Verdict.UNDECIDED, Because.NO_CALL)
    assert found.reasons == ("argument locked: indeterminate",)
    assert "`a.locked` is known" in " ".join(change.text for flip in found.flips for change in flip.changes)
    assert asked.why("a").decision.verdict is Verdict.CANDIDATE


# -- the same for any plan --------------------------------------------------------------------------------------------

_STATES = [s for s in FieldState if s not in (FieldState.PRESENT, FieldState.ABSENT)]


@st.composite
def directories(draw):
    """A few accounts with fields in any state, people of whom some are hidden, and a list."""

    def cell(values):
        return draw(st.sampled_from([*values, *values, *values, draw(st.sampled_from(_STATES))]))

    logins = [None, ago(89), ago(90), ago(91), ago(400), NOW + timedelta(days=1)]
    keys = [f"a{n}" for n in range(draw(st.integers(1, 6)))]
    rows = [
        account(
            key,
            owner=cell([None, "ana", "bo", "nobody"]),
            team=cell(["payments", "platform"]),
            last_login=cell(logins),
            created=cell([ago(500), ago(10)]),
        )
        for key in keys
    ]
    people = [
        person(key, id=cell([key]), active=cell([True, False]))
        for key in draw(st.lists(st.sampled_from(["ana", "bo"]), unique=True))
    ]
    listed = draw(st.lists(st.sampled_from([*keys, "zz"]), unique=True, max_size=2))
    return rows, [p for p in people if not isinstance(p["id"], FieldState)], listed


@given(directories(), st.booleans())
@examples(300)
def test_every_explanation_agrees_with_its_plan(made, complete):
    """Over any directory, each object's explanation has the verdict that the stored plan holds, and every part."""
    rows, people, listed = made
    with tempfile.TemporaryDirectory() as folder:
        world = evidence(Path(folder), rows, people, text=LISTED)
        if not complete:
            world.add("people", people, complete=False)
        entries = tuple(exemption(key) for key in listed)
        asked = Asked(world, exemptions={"exemptions": entries})
        for row in rows:
            found = asked.why(row["id"], {"exemptions": entries})
            assert found.decision.verdict is planned_verdict(asked.document, (row["id"],))[0]
            assert found.document is asked.document
            assert all(flip.becomes is not found.decision.verdict for flip in found.flips)


def test_the_accounts_of_these_tests_are_all_in_the_plan(asked):
    """Nothing that the tests ask about was left out of the plan."""
    assert asked.document.sums.inventory == len(accounts())
    assert json.loads(asked.document.model_dump_json())["sums"]["candidates"] == 3
