"""Who may approve, and when enough have: refused first."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.support.stores import ANA, AUTHOR, BO, CHEN, DORA, ROLES

from fullcount.compiler.program import Quorum
from fullcount.runtime.approve.electorate import resolve
from fullcount.runtime.store.errors import ApprovalRefused

TWO = (Quorum(2, "iam-admin", not_by_author=True),)


def refused(quorums, roles, authors=("uid:1000",)):
    with pytest.raises(ApprovalRefused) as found:
        resolve(quorums, roles, authors)
    return found.value


@pytest.mark.requirement("R24", "R39")
def test_a_role_that_is_not_configured_lets_nobody_approve():
    """A missing role is an error, not an empty one and not everybody."""
    assert refused(TWO, {}).code == "FC705"


@pytest.mark.requirement("R27", "R39")
@pytest.mark.parametrize("member", ["*", "", "no-such-user-here", "uid:x", "@wheel", "%wheel"])
def test_an_unknown_member_of_a_role_is_refused_and_never_a_wildcard(member):
    """One name that does not resolve makes the role unusable until it is mended."""
    error = refused(TWO, {"iam-admin": ("uid:1", "uid:2", member)})
    assert error.code == "FC705"
    assert f"`{member}`" in error.message


@pytest.mark.requirement("R24")
@pytest.mark.parametrize("quorums", [(), (Quorum(0, "iam-admin", False),), (*TWO, Quorum(0, "security", False))])
def test_a_quorum_of_nobody_is_never_reached(quorums):
    """No quorum, or one of zero people, is refused instead of being met at once."""
    assert refused(quorums, ROLES).code == "FC706"


@pytest.mark.parametrize("authors", [(), ("mallory@corp",), ("uid:1000", "no-such-user-here")])
def test_an_author_whom_nobody_knows_bars_the_approval_where_authors_may_not_approve(authors):
    """`not by author` can't be told when the author can't be resolved, so it is refused."""
    assert refused(TWO, ROLES, authors).code == "FC702"
    assert resolve((Quorum(2, "iam-admin", False),), ROLES, authors).seats[0].eligible


@pytest.mark.requirement("R24", "R39")
def test_a_quorum_no_longer_stands_without_one_of_those_who_filled_it():
    """Whoever left the role is named; the others do not make up for them."""
    left = {"iam-admin": (f"uid:{BO.uid}", f"uid:{CHEN.uid}")}
    why = resolve(TWO, left, ("uid:1000",)).no_longer([ANA, BO])
    assert str(ANA) in why
    assert str(BO) not in why
    assert "2 of `iam-admin`" in why
    assert resolve(TWO, {"iam-admin": ()}, ("uid:1000",)).no_longer([ANA, BO]) is not None
    assert resolve(TWO, ROLES, ("uid:1000",)).no_longer([]) is not None


def test_a_quorum_stands_while_all_who_filled_it_are_in_the_role():
    """Who else joined or left the role does not matter."""
    now = {"iam-admin": (f"uid:{BO.uid}", f"uid:{ANA.uid}", "uid:4711")}
    assert resolve(TWO, now, ("uid:1000",)).no_longer([ANA, BO]) is None


@pytest.mark.requirement("R24", "R39")
def test_people_of_two_roles_who_changed_places_no_longer_fill_the_seats():
    """Both may still approve something, but not the seats that were asked for."""
    two = (Quorum(1, "iam-admin", False), Quorum(1, "security", False))
    now = {"iam-admin": (f"uid:{ANA.uid}", f"uid:{BO.uid}"), "security": (f"uid:{CHEN.uid}",)}
    why = resolve(two, now, ()).no_longer([ANA, BO])
    assert "1 of `iam-admin` and 1 of `security`" in why


def test_the_author_is_told_apart_from_a_stranger():
    """An author who is a member is refused as the author, anyone else as not being a member."""
    electorate = resolve(TWO, ROLES, ("uid:1000",))
    with pytest.raises(ApprovalRefused, match="author") as author:
        electorate.check(AUTHOR)
    with pytest.raises(ApprovalRefused, match="not a member") as stranger:
        electorate.check(DORA)
    assert (author.value.code, stranger.value.code) == ("FC702", "FC701")
    electorate.check(ANA)


def test_two_names_of_one_uid_are_one_person():
    """A role that lists a person by name and by number still has one person."""
    electorate = resolve(TWO, {"iam-admin": ("root", "uid:0", "uid:00")}, ("uid:1000",))
    assert electorate.seats[0].eligible == {0}
    assert not electorate.tally(frozenset({0})).reached


def test_one_person_fills_one_seat_even_with_two_roles():
    """`2 of iam-admin, 1 of security` means three people; who holds both roles is seated where needed."""
    electorate = resolve((*TWO, Quorum(1, "security", False)), ROLES, ("uid:1000",))
    assert not electorate.tally(frozenset({ANA.uid, CHEN.uid})).reached
    result = electorate.tally(frozenset({ANA.uid, BO.uid, CHEN.uid}))
    assert result.reached
    assert {(seat.quorum, seat.uid) for seat in result.seats} == {(0, ANA.uid), (0, BO.uid), (1, CHEN.uid)}
    assert electorate.tally(frozenset({ANA.uid, CHEN.uid, DORA.uid})).reached


@given(
    st.lists(st.frozensets(st.integers(1, 6), max_size=6), min_size=1, max_size=3),
    st.lists(st.integers(1, 3), min_size=3, max_size=3),
    st.frozensets(st.integers(1, 6)),
)
def test_the_quorum_is_reached_exactly_when_every_seat_can_have_a_person_of_its_own(members, counts, voters):
    """Against an exhaustive search over who sits where."""
    roles = {f"r{index}": tuple(f"uid:{uid}" for uid in sorted(uids)) for index, uids in enumerate(members)}
    quorums = tuple(Quorum(counts[index], f"r{index}", False) for index in range(len(members)))
    seats = [members[index] for index in range(len(members)) for _ in range(counts[index])]

    def possible(place, used):
        if place == len(seats):
            return True
        return any(possible(place + 1, used | {uid}) for uid in (seats[place] & voters) - used)

    result = resolve(quorums, roles, ("uid:99",)).tally(voters)
    assert result.reached == possible(0, frozenset())
    if result.reached:
        uids = [seat.uid for seat in result.seats]
        assert len(set(uids)) == len(uids) == len(seats)
        assert all(seat.uid in members[seat.quorum] & voters for seat in result.seats)
