"""What a rule may say: refused first, then what it means when it is accepted."""

import pytest
from tests.support.compiling import findings, only, proposal, rule_codes, underlined, with_rule

from fullcount.compiler import ir
from fullcount.compiler.types import BOOL, DURATION, INT, TEXT, TIMESTAMP, ListOf

LATEST = "max logins as l where (l.account == a.id) of l.at"
DAY = 86_400_000_000
A = {
    name: ir.Field("a", "accounts", name, type_, optional)
    for name, type_, optional in (
        ("owner", TEXT, True),
        ("team", TEXT, False),
        ("created", TIMESTAMP, False),
        ("last_login", TIMESTAMP, True),
        ("logins", INT, False),
        ("locked", BOOL, False),
        ("groups", ListOf(TEXT), False),
    )
}


@pytest.mark.parametrize(
    ("rule", "code"),
    [
        ("a.team == 5", "FC201"),
        ("a.logins > 5.0", "FC201"),
        ("a.risk > 5", "FC201"),
        ("a.session > 5", "FC201"),
        ("a.mailbox > 5", "FC201"),
        ('a.created < "2026-01-01"', "FC201"),
        ("a.created < 2026-01-01", "FC201"),
        ("a.created < 90d", "FC201"),
        ("a.logins in [1.0, 2.0]", "FC201"),
        ("a.logins in [1, 2.0]", "FC201"),
        ("5 in a.groups", "FC201"),
        ('lower(a.logins) == "x"', "FC201"),
        ("a.tags[5] is present", "FC201"),
        ('(a.owner else 5) == "x"', "FC201"),
    ],
)
def test_two_types_never_meet(rule, code):
    """Nothing is converted: a comparison of unlike types is an error."""
    assert rule_codes(rule) == [code]


@pytest.mark.parametrize(
    "rule",
    [
        "a.last_login < now - 90d",
        'a.owner == "x"',
        'a.tags["env"] == "test"',
        'a.owner in ["x"]',
        "a.owner in a.groups",
        'starts_with(a.owner, "x")',
        "a.protected",
        "not a.protected",
        "a.last_login + 5d < now",
        'a.owner is present or a.owner == "x"',
        'a.owner is absent and a.owner == "x"',
        '(a.owner is present or a.locked) and a.owner == "x"',
        'not (a.owner is present) and a.owner == "x"',
        'a.owner is known and a.owner == "x"',
        "max logins as l where (l.account == a.id) of l.at < now - 90d",
        "some people as p where (p.manager == a.id)",
        "some people as p where (p.id == a.owner)",
    ],
)
def test_a_value_that_may_be_absent_is_not_compared_until_the_rule_says_what_absent_means(rule):
    """A `T?` in a comparison, a function, arithmetic or a test is an error."""
    assert rule_codes(rule) == ["FC202"]


@pytest.mark.parametrize(
    "rule",
    [
        'a.owner is present and a.owner == "x"',
        'a.owner is absent or a.owner == "x"',
        'not (a.owner is absent) and a.owner == "x"',
        'not (a.owner is absent or a.owner == "x")',
        '(a.owner is present and a.locked) and a.owner == "x"',
        '(a.owner is absent or a.locked) or a.owner == "x"',
        'not (a.owner is present and a.locked) or a.owner == "x"',
        "a.locked and (a.owner is absent or no people as p where (p.id == a.owner and p.active))",
        'a.tags["env"] is present and a.tags["env"] == "test"',
        '(a.tags["env"] else "none") == "test"',
        "(a.last_login else a.created) < now - 90d",
        '(a.owner else a.tags["owner"] else "nobody") == "nobody"',
        "a.protected is absent or not a.protected",
        f"{LATEST} is absent or {LATEST} < now - 90d",
        "(max logins as l where (l.account == a.id) of l.at else a.created) < now - 90d",
        "max people as p where (p.id == a.team and p.left_at is present) of p.left_at is absent",
    ],
)  # fmt: skip
def test_flow_typing_knows_what_has_been_said(rule):
    """Each way to say what absent means is understood, nested and negated too."""
    assert rule_codes(rule) == []


@pytest.mark.parametrize(
    "rule",
    ["a.team is absent", '(a.team else "x") == "x"', "(a.created else never) < now", "a.logins + 1 is present",
     "count people as p where (p.id == a.team) is absent"],
)  # fmt: skip
def test_what_is_never_absent_is_not_asked_for_absence(rule):
    """Saying what absent means of a value that is always there is an error."""
    assert rule_codes(rule) == ["FC203"]


@pytest.mark.parametrize("rule", ["a.team", "a.logins", "a.groups", "a.tags", "a.logins and a.locked", "not a.logins"])
def test_there_is_no_truthiness(rule):
    """Zero, empty texts and empty lists are values, not false."""
    assert rule_codes(rule) == ["FC204"]


@pytest.mark.parametrize(
    "rule",
    [
        "a.locked < true",
        "a.groups == a.groups",
        "a.created + a.created < now",
        "now - a.created * 2 > 90d",
        "a.risk + 1.0 > 2.0",
        "a.risk * 2 > 2.0",
        "90d + now > a.created",
        "-a.mailbox > 1 GiB",
        '"x" in a.tags',
        '"x" in a.team',
        'a.team["x"] is present',
        "sum people as p where (p.id == a.team) of p.hired_at > now",
        "max people as p where (p.id == a.team) of p.active is present",
    ],
)
def test_what_has_no_meaning_for_a_type_is_refused(rule):
    """Operators and aggregates exist only for the types of the table."""
    assert rule_codes(rule) == ["FC205"]


@pytest.mark.parametrize(
    "rule",
    [
        "a.logins > 9223372036854775807 + 1",
        "a.logins > 9223372036854775807 * 2",
        "a.created < now - 90d * 10000000000",
        "a.logins / 0 > 1",
        "a.logins > 4 / (2 - 2)",
        "a.risk > 0.1234567891",
        "a.logins > -9223372036854775807 - 2",
    ],
)
def test_constants_never_overflow_in_silence(rule):
    """A constant that does not fit, and a division by zero, are errors."""
    assert rule_codes(rule) == ["FC206"]


@pytest.mark.parametrize(
    ("text", "value"),
    [("7 / 2", 3), ("-7 / 2", -3), ("7 / (0 - 2)", -3), ("2 * 3 + 1", 7), ("-9223372036854775807 - 1", -(2**63))],
)
def test_constant_arithmetic_is_exact_and_divides_towards_zero(text, value):
    """Constants are folded with the meaning that both lowerings have."""
    assert proposal(f"a.logins > {text}").where == ir.Compare(">", A["logins"], ir.Const(value, INT))


@pytest.mark.parametrize(
    "rule",
    [
        "not (a.last_login else never) < now - 90d",
        "no people as p where ((p.left_at else never) < now)",
        "count people as p where ((p.left_at else never) < now) < 3",
        "count people as p where ((p.left_at else never) < now) == 3",
        "(a.last_login else never) == now",
        "(a.last_login else never) != now",
        '(a.owner else never) < "x"',
    ],
)
def test_never_is_refused_where_it_could_be_read_in_two_ways(rule):
    """Under a negation, in an equality and for other types `never` is an error."""
    assert "FC207" in rule_codes(rule)


@pytest.mark.parametrize(
    "clauses", ["except when (a.last_login else never) < now - 90d", "show a.last_login else never"]
)
def test_never_is_refused_in_exemptions_and_shown_values(clauses):
    """An `except` stands under a negation, and a shown value is in no comparison."""
    assert rule_codes("a.locked", clauses=clauses) == ["FC207"]


def test_never_fails_the_comparison_and_leaves_no_trace_in_the_program():
    """`x else never` in a selecting comparison means: present, and the comparison holds."""
    compare = ir.Compare("<", A["last_login"], ir.Arith("-", ir.Now(), ir.Const(90 * DAY, DURATION), TIMESTAMP))
    expected = ir.And((ir.IsState(A["last_login"], "present"), compare))
    assert proposal("(a.last_login else never) < now - 90d").where == expected
    doubly = "not (not (a.last_login else never) < now - 90d)"
    assert proposal(doubly).where == ir.Not(ir.Not(expected))
    assert rule_codes("count logins as l where (l.account == a.id and (a.last_login else never) < now) > 2") == []


@pytest.mark.parametrize(
    "rule", ["1 < 2", '"a" == "a"', "a.locked or 1 == 1", "a.locked and true", "a.team in []", "a.team == a.team",
             'starts_with("a", "b")', '"x" in ["x"]']
)  # fmt: skip
def test_a_condition_that_is_the_same_for_every_object_is_refused(rule):
    """Constant tests would select everything or nothing."""
    assert rule_codes(rule) == ["FC208"]


@pytest.mark.parametrize(
    "rule",
    [
        "count people as p where (p.id == a.team) + 1 > 2",
        "length(min people as p where (p.id == a.team) of p.id) > 2",
        'max people as p where (p.id == a.team) of p.id in ["x"]',
        "90d < now - max logins as l where (l.account == a.id) of l.at",
    ],
)
def test_an_aggregate_is_only_compared_or_asked(rule):
    """An aggregate stands for a range, which arithmetic, functions and `in` can't take."""
    assert rule_codes(rule) == ["FC210"]


@pytest.mark.parametrize(
    "clauses", ["show some people as p where (p.id == a.team)", "show count people as p where (p.id == a.team)"]
)
def test_shown_values_do_not_look_into_other_inventories(clauses):
    """What reviewers see comes from the object itself."""
    assert set(rule_codes("a.locked", clauses=clauses)) <= {"FC210", "FC211"} != set()


@pytest.mark.parametrize(
    "rule",
    ["no people as p where (a.locked)", "some people as p where (some logins as l where (l.account == a.id))",
     "count people as p where (a.locked) > 2", "max logins as l where (l.account == a.id) of a.created is absent"],
)  # fmt: skip
def test_a_condition_that_forgets_its_row_is_refused(rule):
    """A quantifier whose condition never names its row is true for all rows or for none."""
    assert rule_codes(rule) == ["FC217"]


@pytest.mark.parametrize(
    ("rule", "place", "message"),
    [
        ('matches(a.team, "ops-(")', "(", "missing )"),
        (r'matches(a.team, "(a)\\1")', r'"(a)\\1"', "invalid escape sequence"),
        ("matches(a.team, a.team)", "a.team", "written out"),
        ('glob(a.team, lower("X*"))', 'lower("X*")', "written out"),
    ],
)
def test_a_pattern_is_written_out_and_works(rule, place, message):
    """Patterns are literals that the linear-time engine can read; the finding points into them."""
    text = with_rule(rule)
    assert only(text).code == "FC212"
    assert message in only(text).message
    assert place in underlined(text)


def test_a_pattern_that_works_is_kept_as_written():
    """A good pattern becomes a call with a constant."""
    pattern = ir.Const("svc-[a-z]+", TEXT)
    assert proposal('matches(a.team, "svc-[a-z]+")').where == ir.Call("matches", (A["team"], pattern), BOOL)


@pytest.mark.parametrize("rule", ["(a.locked or a.owner is absent) == a.locked", "(a.logins > 1) != true",
                                  "(a.logins > 1) in [true]", "(a.protected else (a.logins > 1))"])  # fmt: skip
def test_a_test_is_not_a_value(rule):
    """Tests are joined, not compared."""
    assert rule_codes(rule) == ["FC220"]


def test_a_rule_that_never_looks_at_its_object_is_warned_of():
    """Such a rule selects every object or none, and may be meant."""
    (finding,) = findings(with_rule("no people as p where (p.active)"))
    assert (finding.code, finding.severity) == ("FC218", "warning")


def test_one_mistake_gives_one_finding():
    """Behind a part that failed, what it would have said of presence is not held against the rest."""
    assert rule_codes('a.ownr is present and a.owner == "x"') == ["FC110"]
    assert rule_codes("a.locked", clauses="show a.ownr") == ["FC110"]


def test_several_mistakes_are_reported_in_one_run():
    """A phase goes on after an error."""
    assert rule_codes('a.team == 5 or a.logins == "x" or a.owner == "x"') == ["FC201", "FC201", "FC202"]


def test_chains_are_flat_however_they_were_nested():
    """`and` in `and` is one conjunction, so that the order of writing makes no other program."""
    flat = proposal('a.locked and a.logins > 1 and a.team == "x"').where
    assert isinstance(flat, ir.And)
    assert len(flat.items) == 3
    assert proposal('a.locked and (a.logins > 1 and a.team == "x")').where == flat


def test_the_scope_of_an_inventory_is_part_of_every_condition_over_it():
    """`some` and `no` see only rows of the scope, with the row variable in place of the bare fields."""
    text = with_rule("no logins as l where (l.account == a.id)").replace(
        "fields { id: text, account", "scope bytes > 1 KiB\n    fields { id: text, account"
    )
    from tests.support.compiling import workflow

    where = workflow(text).proposals[0].where
    assert isinstance(where, ir.Not)
    assert isinstance(where.operand, ir.Some)
    conjunction = where.operand.where
    assert isinstance(conjunction, ir.And)
    assert {node.row for item in conjunction.items for node in ir.children(item) if isinstance(node, ir.Field)} == {
        "l",
        "a",
    }
    assert workflow(text).inventories["logins"].scope == ir.Compare(
        ">", ir.Field(ir.SELF, "logins", "bytes", conjunction.items[0].left.type, False), conjunction.items[0].right
    )


def test_all_is_a_rule_that_someone_typed():
    """`where all` is the constant true and nothing else is."""
    assert proposal("all").where == ir.TRUE
    assert rule_codes("some people as p where (all) and a.locked") == []
