"""Approvals that the people of their roles could never give, found before anybody waits for one."""

from __future__ import annotations

from dataclasses import replace

import pytest
from tests.support.catalogs import EXAMPLE
from tests.support.compiling import with_rule

from fullcount.compiler.catalog import UndoQuorum
from fullcount.compiler.pipeline import compile_source
from fullcount.compiler.seats import seat
from fullcount.dsl.source import Source

PLAIN = with_rule("a.locked")
ASKED = '2 of role "iam-admin" not by author'


def found(quorums, *authors, allow=""):
    """Return the findings of a workflow with these quorums; `ops` is 71 and 72, `duty` 71, `on-call` nobody."""
    text = PLAIN.replace("  approve disable", f"{allow}  approve disable").replace(ASKED, quorums)
    return list(compile_source(Source("tidy.fcw", text), EXAMPLE, authors=frozenset(authors)).diagnostics)


@pytest.mark.requirement("R24", "R39")
def test_a_role_with_nobody_in_it_is_refused():
    """Empty is never everybody."""
    (finding,) = found('1 of role "on-call"')
    assert (finding.code, finding.severity) == ("FC409", "error")


@pytest.mark.requirement("R24", "R39")
@pytest.mark.parametrize(
    ("quorums", "authors", "could"),
    [
        ('3 of role "ops"', (), "only 2 people could fill it"),
        ('1000000000 of role "ops"', (), "only 2 people could fill it"),
        ('2 of role "ops" not by author', ("uid:71",), "only 1 person could fill it, not counting the author `uid:71`"),
        ('1 of role "duty" not by author', ("uid:71",), "nobody could fill it"),
        ('2 of role "ops", 1 of role "duty"', (), "only 2 people could fill it"),
        ('1 of role "ops", 1 of role "duty" not by author', ("uid:71",), "only 1 person could fill it"),
    ],
)
def test_more_people_than_the_roles_have_are_warned_of(quorums, authors, could):
    """One person counts once, and authors not at all where they are barred."""
    (finding,) = found(quorums, *authors)
    assert (finding.code, finding.severity) == ("FC408", "warning")
    assert could in finding.message


@pytest.mark.parametrize(
    ("quorums", "authors"),
    [
        ('2 of role "ops"', ("uid:71",)),
        ('2 of role "ops" not by author', ("uid:99",)),
        ('1 of role "ops", 1 of role "duty"', ()),
        ('99 of role "iam-admin" not by author', ("uid:71",)),  # nobody knows who is in it
        ('9 of role "iam-admin", 2 of role "ops"', ()),
    ],
)
def test_enough_people_and_roles_that_nobody_knows_are_left_alone(quorums, authors):
    """What can't be known is not guessed at."""
    assert found(quorums, *authors) == []


def undo(*quorums, authors=()):
    """Return the findings of a workflow that is right, in a workspace that asks these to approve an undo."""
    catalog = replace(EXAMPLE, undo=quorums)
    return list(compile_source(Source("tidy.fcw", PLAIN), catalog, authors=frozenset(authors)).diagnostics)


@pytest.mark.requirement("R24", "R39")
@pytest.mark.parametrize(
    ("quorums", "authors", "code", "said"),
    [
        ((UndoQuorum(1, "nobody-role"),), (), "FC120", "`nobody-role`, which is not in this workspace"),
        ((UndoQuorum(1, "on-call"),), (), "FC409", "`on-call`, and there is nobody in it"),
        ((UndoQuorum(3, "ops"),), (), "FC408", "of an undo, `3 of role"),
        ((UndoQuorum(2, "ops"), UndoQuorum(1, "duty")), (), "FC408", "only 2 people could fill it"),
        ((UndoQuorum(2, "ops"),), ("uid:71",), "FC408", "not counting the author `uid:71`"),
    ],
)
def test_a_policy_by_which_nobody_could_approve_an_undo_is_said_at_the_act(quorums, authors, code, said):
    """It would be found out when something has to be taken back; the finding names where it is asked for."""
    (finding,) = undo(*quorums, authors=authors)
    assert (finding.code, said in finding.message) == (code, True), finding.message
    assert "[policy] undo_approvals" in f"{finding.why} {finding.note}"
    assert PLAIN[finding.span.start : finding.span.end] == "disable"


def test_a_policy_by_which_people_can_approve_an_undo_is_left_alone():
    """As is a role whose people nobody knows."""
    assert undo(UndoQuorum(1, "ops"), UndoQuorum(1, "duty")) == []
    assert undo(UndoQuorum(2, "ops", not_by_author=False), authors=("uid:71",)) == []
    assert undo(UndoQuorum(99, "iam-admin")) == []


def test_the_warning_can_be_allowed_with_a_reason():
    """Somebody may know of people who are still to come."""
    assert found('3 of role "ops"', allow="  # allow FC408: because two join on Monday\n") == []


def test_people_are_seated_so_that_as_many_quorums_as_possible_are_filled():
    """The one who may sit in both leaves the seat that another can take."""
    quorums = [(1, frozenset({1, 2})), (1, frozenset({1}))]
    assert seat(quorums, frozenset({1, 2})) == {(0, 0): 2, (1, 0): 1}
    assert len(seat(quorums, frozenset({1}))) == 1
    assert seat(quorums, frozenset()) == {}
