"""What would flip a decision: single facts first, each one tried, none where none was found."""

from __future__ import annotations

from decimal import Decimal

import pytest
from tests.runtime.understand.conftest import Asked, ago
from tests.support.planning import account, evidence, excused, person

from fullcount.compiler.values import FieldState
from fullcount.runtime.understand.decision import Verdict

pytestmark = pytest.mark.requirement("R25")

RULE = """
workflow tidy {
  describe "Lock accounts."
  owner    "iam-team"
  param idle: duration = 90d
  inventory accounts from directory.accounts {
    key    id
    fields { id: text, owner: text?, team: text, created: timestamp, last_login: timestamp?, logins: int,
             tags: map<text>, groups: list<text>, locked: bool, mailbox: size, expires_on: date?, risk: decimal }
  }
  inventory people from hr.employees {
    key    id
    fields { id: text, active: bool, manager: text?, left_at: timestamp? }
  }
  verify accounts { complete, fresh within 1h }
  verify people   { complete, fresh within 24h }
  propose disable from accounts as a {
    where RULE
    limit 50, 100%
  }
}
"""


def full(key="svc", **values):
    """An account with a value for every field of these rules."""
    held = {
        "logins": 5, "tags": {"env": "prod"}, "groups": ["ops"], "locked": False, "mailbox": 1024, "expires_on": None,
        "risk": Decimal("0.5"), "revision": 1,
    }  # fmt: skip
    return account(key, **(held | values))


def anybody(key, **values):
    return person(key, **({"manager": None, "left_at": None} | values))


@pytest.fixture
def flips(tmp_path):
    """Ask of one account, under a rule, what would flip its decision."""

    def ask(rule, people=(), **values):
        if " people as " not in rule:
            rule = f'({rule}) and not some people as z where (z.id == "nobody at all")'
        world = evidence(tmp_path, [full(**values)], people, text=RULE.replace("RULE", rule))
        world.workflow = excused(world.workflow)
        found = Asked(world).why("svc")
        return found.decision.verdict, [" and ".join(c.text for c in flip.changes) for flip in found.flips]

    return ask


# -- nothing is made up -----------------------------------------------------------------------------------------------


def test_a_pattern_can_not_be_turned_around(flips):
    """Which text a pattern would match is not guessed at; only what is known to flip the decision is named."""
    verdict, found = flips('matches(a.team, "svc-[0-9]+")')
    assert (verdict, found) == (Verdict.KEPT, [])


def test_the_key_of_an_object_is_not_a_fact_that_could_be_otherwise(flips):
    """With another key it would be another object."""
    assert flips('a.id == "other"') == (Verdict.KEPT, [])


def test_a_field_that_must_be_there_is_not_said_to_be_absent(flips):
    """What is absent only where the source may say so is not offered for other fields."""
    verdict, found = flips("a.owner is absent", owner="ana")
    assert (verdict, found) == (Verdict.KEPT, ["`a.owner` is absent"])
    verdict, found = flips('a.team != "payments"')
    assert found == ["`a.team` is other than payments"]


def test_facts_that_contradict_one_another_are_no_way(flips):
    """One field can't have two values at once."""
    assert flips('a.team == "x" and a.team == "y"') == (Verdict.KEPT, [])


def test_what_takes_more_facts_than_a_person_can_weigh_is_left_out(flips):
    """Ways of more than a few facts are not listed: the tree says what stands against it."""
    wanted = 'a.team == "x" and a.locked and a.logins < 0 and a.mailbox > 9 GiB and "x" in a.groups'
    assert flips(wanted) == (Verdict.KEPT, [])


def test_one_value_does_for_two_tests(flips):
    """An owner who is there and active makes both parts of the rule false: one fact, not a field and then its value."""
    rule = "a.owner is absent or no people as p where (p.id == a.owner and p.active)"
    verdict, found = flips(rule, [anybody("ana")], owner=None)
    assert verdict is Verdict.CANDIDATE
    assert found[0] == "`a.owner` = ana"


# -- single facts -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("rule", "values", "first"),
    [
        ("a.last_login is present and a.last_login < now - 90d", {"last_login": ago(87)},
         "`a.last_login` is earlier by 3 d: before 2026-09-01 02:00Z"),
        ("(a.last_login else a.created) < now - idle", {"last_login": None, "created": ago(80)},
         "`a.created` is earlier by 10 d: before 2026-09-01 02:00Z"),
        ("now - a.created > 30d", {"created": ago(20)}, "`a.created` is earlier by 10 d: before 2026-10-31 02:00Z"),
        ("a.created + 30d < now", {"created": ago(20)}, "`a.created` is earlier by 10 d: before 2026-10-31 02:00Z"),
        ("a.logins < 3", {}, "`a.logins` is lower by 3: less than 3"),
        ("a.logins >= 7", {}, "`a.logins` is higher by 2: 7 or more"),
        ("a.mailbox >= 2 KiB", {}, "`a.mailbox` is larger by 1 KiB: 2 KiB or more"),
        ("a.risk > 0.75", {}, "`a.risk` is higher by 0.250000001: more than 0.75"),
        ("a.locked", {}, "`a.locked` = yes"),
        ('a.team == "ops"', {}, "`a.team` = ops"),
        ('lower(a.team) == "ops"', {}, "`a.team` = ops"),
        ('a.team in ["a", "b"]', {}, "`a.team` is one of a, b"),
        ('not a.team in ["payments"]', {}, "`a.team` is none of payments"),
        ('"admins" in a.groups', {}, "`a.groups` with admins"),
        ('not "ops" in a.groups', {}, "`a.groups` without ops"),
        ('starts_with(a.team, "svc")', {}, "`a.team` begins with svc"),
        ('a.tags["env"] is present and a.tags["env"] == "dev"', {}, '`a.tags`["env"] = dev'),
        ('a.tags["env"] is absent', {}, '`a.tags`["env"] is absent'),
        ("a.expires_on is present", {}, "`a.expires_on` is present"),
        ("a.owner is absent", {"owner": FieldState.FORBIDDEN}, "`a.owner` is known, and is absent"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)  # fmt: skip
def test_the_nearest_single_fact_comes_first(flips, rule, values, first):
    """A threshold is told with its distance, a value with what it would be, an unknown field as one that is known."""
    verdict, found = flips(rule, **values)
    assert verdict is not Verdict.CANDIDATE
    assert found[0] == first


def test_a_parameter_is_named_after_the_facts_of_the_object(flips):
    """Another threshold would flip it as well; it is said last, since it holds for every object."""
    _, found = flips("a.last_login is present and a.last_login < now - idle", last_login=ago(87))
    assert found == [
        "`a.last_login` is earlier by 3 d: before 2026-09-01 02:00Z",
        "the parameter `idle` is shorter by 3 d: less than 87 d",
    ]


def test_an_undecided_object_is_told_what_would_select_and_what_would_keep_it(flips):
    """For what is not known both ways are named."""
    verdict, found = flips("a.owner is absent", owner=FieldState.FORBIDDEN)
    assert verdict is Verdict.UNDECIDED
    assert found[:2] == ["`a.owner` is known, and is absent", "`a.owner` is known, and is present"]


# -- rows of other inventories ----------------------------------------------------------------------------------------


def test_a_witness_that_would_have_to_exist_is_described(flips):
    """Where nobody is found, the row that would have to be there is told with what the rule asks of it."""
    rule = "no people as p where (p.id == a.team and p.active)"
    verdict, found = flips(rule, [anybody("ana")], team="bo")
    assert verdict is Verdict.CANDIDATE
    assert "one more row of people with id bo, active yes" in found
    assert "`a.team` = ana" not in found, "only what is near is looked for"


def test_a_near_row_is_named_before_one_that_is_made_up(flips):
    """A person who is there and inactive is nearer than one who would have to be added under the same key."""
    rule = "no people as p where (p.id == a.team and p.active)"
    _, found = flips(rule, [anybody("bo", active=False)], team="bo")
    assert "`active` of people bo = yes" in found
    assert not any(text.startswith("one more row of people with id bo") for text in found)


def test_every_row_that_was_found_would_have_to_change(flips):
    """With two witnesses one change is not enough; both are named together."""
    people = [anybody("ana", manager="svc"), anybody("bo", manager="svc")]
    rule = "not some people as p where (p.manager is present and p.manager == a.id and p.active)"
    verdict, found = flips(rule, people)
    assert verdict is Verdict.KEPT
    assert "`active` of people ana = no and `active` of people bo = no" in found


@pytest.mark.parametrize(
    ("rule", "expected"),
    [
        ("(count people as p where (p.active)) >= 3", "`active` of people cy = yes"),
        ("(count people as p where (p.active)) >= 4",
         "one more row of people with active yes and one more row of people with active yes"),
        ("(count people as p where (p.active)) < 2", "people ana is not there"),
        ("(count people as p where (p.active)) == 1", "people ana is not there"),
    ],
)  # fmt: skip
def test_a_count_is_moved_row_by_row(flips, rule, expected):
    """So many rows more or fewer as the threshold asks for, if these are few."""
    verdict, found = flips(rule, [anybody("ana"), anybody("bo"), anybody("cy", active=False)])
    assert verdict is Verdict.KEPT
    assert expected in found


def test_the_latest_of_other_rows_is_moved_by_one_row(flips):
    """A maximum rises with one row beyond the border, and falls when those beyond it are not there."""
    people = [anybody("ana", left_at=ago(10)), anybody("bo", left_at=ago(50))]
    rule = "(max people as p where (p.active and p.left_at is present) of p.left_at else now) < now - 30d"
    verdict, found = flips(rule, people)
    assert (verdict, found[0]) == (Verdict.KEPT, "people ana is not there")
    verdict, found = flips(rule, people[1:])
    assert verdict is Verdict.CANDIDATE
    assert any(text.startswith("one more row of people with active yes, left_at 2026-10-31 02:00Z") for text in found)


def test_an_inventory_that_was_cut_short_would_have_to_be_read_on(tmp_path):
    """Where rows may be missing, reading them all with no match is the fact that decides."""
    text = RULE.replace("RULE", "no people as p where (p.id == a.team and p.active)")
    world = evidence(tmp_path, [full(team="zed")], [anybody("ana")], text=text)
    world.add("people", [anybody("ana")], complete=False)
    found = Asked(world).why("svc")
    texts = [" and ".join(c.text for c in flip.changes) for flip in found.flips]
    assert found.decision.verdict is Verdict.UNDECIDED
    assert "people is read to its end, with no further match" in texts
