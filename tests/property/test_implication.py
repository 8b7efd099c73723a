"""A proof by shape holds in every world: what `implication` claims of two conditions is so for every object.

The claims are about truth in three values. For each pair of conditions that a generated edit leads from and to, and for
each object of a world and of a faithful partial view of it, a claim that is made is checked against the closure.
"""

from __future__ import annotations

from random import Random

import pytest
from hypothesis import HealthCheck, Phase, event, find, given, settings
from tests.support.edits import Edited, edits
from tests.support.profiles import examples
from tests.support.snapshots import HeldWorld
from tests.support.worlds import BINDINGS

from fullcount.compiler.implication import implies, refutes
from fullcount.compiler.lower.closure import compile_truth
from fullcount.compiler.normal import negation, normal

pytestmark = pytest.mark.requirement("R19")


def truths(expr, view):
    """The truth of a condition over the base object `a`, for each object."""
    test, world = compile_truth(expr, BINDINGS), HeldWorld(view)
    return [test({"a": row}, world) for row in view["base"].rows]


@given(edits())
@examples(700)
def test_the_normal_form_has_the_same_truth(edited: Edited):
    """Written another way a condition is true, false and unknown for the same objects; so is a negation's."""
    where = edited.before.proposal.where
    for view in (edited.world, edited.view):
        assert truths(normal(where), view) == truths(where, view)
        opposite = {True: False, False: True, None: None}
        assert truths(negation(normal(where)), view) == [opposite[t] for t in truths(where, view)]


@given(edits())
@examples(1500)
def test_a_proven_implication_holds_for_every_object(edited: Edited):
    """Where one condition is true the other is; where one is refuted the other is; over worlds and partial views."""
    p, q = edited.before.proposal.where, edited.after.proposal.where
    for premise, conclusion in ((p, q), (q, p)):
        shown, refuted = implies(premise, conclusion), refutes(premise, conclusion)
        event(f"implies {shown}, refutes {refuted}")
        for view in (edited.world, edited.view):
            for given_, then in zip(truths(premise, view), truths(conclusion, view), strict=True):
                assert not (shown and given_ is True and then is not True)
                assert not (refuted and given_ is False and then is not False)


@pytest.mark.filterwarnings("ignore:Generating overly large repr")  # of a find that is not shown to anybody
def test_the_proof_is_not_empty():
    """Generated edits do have proofs that are no identities, so that the property above is about something."""

    def proves(edited: Edited) -> bool:
        p, q = edited.before.proposal.where, edited.after.proposal.where
        return normal(p) != normal(q) and implies(q, p) and not implies(p, q)

    find(
        edits(),
        proves,
        settings=settings(
            max_examples=2000, database=None, phases=[Phase.generate], suppress_health_check=list(HealthCheck)
        ),
        random=Random(7),
    )
