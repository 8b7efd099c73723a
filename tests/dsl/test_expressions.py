"""What conditions are read as: precedence, forms, and the slips that are refused with a message of their own."""

from __future__ import annotations

import pytest
from tests.support.language import codes, expression, expression_codes, findings, shape, underlined


def _wrong(condition: str) -> str:
    return f"workflow w {{\npropose p from i as a {{ where {condition} }}\n}}\n"


@pytest.mark.requirement("R41")
@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a.x or a.y and a.z", "(or a.x (and a.y a.z))"),
        ("(a.x or a.y) and a.z", "(and (or a.x a.y) a.z)"),
        ("a.x or a.y or a.z", "(or (or a.x a.y) a.z)"),
        ("not a.x and a.y", "(and (not a.x) a.y)"),
        ("not not a.x", "(not (not a.x))"),
        ("not a.x == a.y", "(not (== a.x a.y))"),
        ("not a.x in [1]", "(not (in a.x [int:1]))"),
        ("a.x not in [1, 2,]", "(not in a.x [int:1, int:2])"),
        ("a.x in a.y and a.z", "(and (in a.x a.y) a.z)"),
        ("a.x != 1", "(!= a.x int:1)"),
        ("a.x <= 1 and a.y >= 2", "(and (<= a.x int:1) (>= a.y int:2))"),
        ("a.x is present", "(is present a.x)"),
        ("a.x is absent", "(is absent a.x)"),
        ("a.x is known", "(is known a.x)"),
        ("a.x is not present", "(not (is present a.x))"),
        ("a.x is not absent or a.y", "(or (not (is absent a.x)) a.y)"),
        ("not a.x is not known", "(not (not (is known a.x)))"),
        ("a.x else a.y < now - 90d", "(< (else a.x a.y) (- now duration:7776000000000))"),
        ("a.x else a.y else never < now", "(< (else a.x (else a.y never)) now)"),
        ("a.x else (never) < now", "(< (else a.x never) now)"),
        ("a.x + 1 * 2 - 3 < 4", "(< (- (+ a.x (* int:1 int:2)) int:3) int:4)"),
        ("a.x / 2 / 2 == 1", "(== (/ (/ a.x int:2) int:2) int:1)"),
        ("-a.x < - -1", "(< (- a.x) (- (- int:1)))"),
        ("a.x - -1 == 0", "(== (- a.x (- int:1)) int:0)"),
        ("a.x-1 == 0", "(== (- a.x int:1) int:0)"),
        ('a.tags["env"] == "x"', '(== a.tags["env"] "x")'),
        ('a.b.c["k"]["l"] == a.d', '(== a.b.c["k"]["l"] a.d)'),
        ('lower(trim(a.name)) == "x"', '(== lower(trim(a.name)) "x")'),
        ("f() and g(1, a.x,)", "(and f() g(int:1, a.x))"),
        ("some people as p where (p.id == a.id)", "(some people as p (== p.id a.id))"),
        ("not no people as p where (all)", "(not (no people as p all))"),
        ("count people as p where (p.x) < 3", "(< (count people as p p.x) int:3)"),
        ("max logins as l where (l.x) of l.at < now", "(< (max logins as l l.x of l.at) now)"),
        ("min l as l where (all) of (l.a + l.b) < 1", "(< (min l as l all of (+ l.a l.b)) int:1)"),
        ("sum l as l where (l.x) of l.size else 0 > 5 MB", "(> (else (sum l as l l.x of l.size) int:0) size:5000000)"),
        ('max l as l where (l.x) of l.tags["at"] < 1', '(< (max l as l l.x of l.tags["at"]) int:1)'),
        ("no p as p where (some q as q where (q.x == p.x))", "(no p as p (some q as q (== q.x p.x)))"),
        ("all", "all"),
        ("idle", "idle"),
        ("a.x == true and a.y == false", "(and (== a.x bool:True) (== a.y bool:False))"),
        ("a.all and a.now and a.true", "(and (and a.all a.now) a.true)"),
        ("[] == a.x", "(== [] a.x)"),
    ],
)
def test_condition_is_read_as(text: str, expected: str):
    """Precedence and associativity, form by form."""
    assert shape(expression(text)) == expected


@pytest.mark.parametrize(
    "text",
    ["a.x < a.y < a.z", "a.x == a.y != a.z", "a.x in a.y == a.z", "a.x == a.y is present", "a.x is known in a.y"],
)
def test_chained_comparison_is_refused_at_the_second_operator(text: str):
    """`a < b < c` has no reading that a reviewer and a machine would share."""
    assert expression_codes(text) == ["FC008"]
    assert findings(_wrong(text))[0].labels[0].text == "the first one"


def test_single_equals_sign_is_refused_with_the_right_operator():
    """`=` never compares."""
    (found,) = findings(_wrong("a.x = 1"))
    assert (found.code, found.help) == ("FC009", "write `==` to compare")
    assert underlined(_wrong("a.x = 1")) == ["="]


@pytest.mark.requirement("R21")
@pytest.mark.parametrize("text", ["true", "(true)", "((true))"])
def test_selector_that_is_true_is_refused_and_all_is_offered(text: str):
    """An emptied selector must not look like one that was meant."""
    (found,) = findings(_wrong(text))
    assert found.code == "FC006"
    assert "where all" in found.help


def test_true_as_the_whole_condition_of_a_quantifier_is_refused():
    """The same slip inside of a quantifier."""
    assert expression_codes("no people as p where (true)") == ["FC006"]


@pytest.mark.parametrize(
    "text", ["all and a.x", "not all", "(all)", "a.x == all", "f(all)", "count p as p where ((all)) > 1"]
)
def test_all_is_refused_unless_it_is_the_whole_where(text: str):
    """`all` joined with anything would say nothing."""
    assert expression_codes(text) == ["FC007"]


def test_all_and_true_are_refused_as_a_scope():
    """A scope of everything is no scope: it is left out."""
    inventory = "workflow w {{ inventory i from s.r {{ key id fields {{ id: text }} scope {scope} }} }}"
    assert codes(inventory.format(scope="all")) == ["FC007"]
    assert codes(inventory.format(scope="true")) == ["FC006"]
    assert codes(inventory.format(scope="false")) == ["FC006"]


@pytest.mark.parametrize("text", ["never", "a.x == never", "never else a.x", "f(never)", "a.x else never + 1d"])
def test_never_is_refused_unless_it_follows_else(text: str):
    """`never` says what an absent time means, and nothing else."""
    assert expression_codes(text) == ["FC024"]


@pytest.mark.parametrize("word", ["null", "None", "nil", "undefined"])
def test_null_of_other_languages_is_refused_with_the_three_valued_tests(word: str):
    """Absent and unreadable must not be folded into one word."""
    for text in (f"a.x == {word}", f"a.x is {word}", f"a.x is not {word}"):
        (found,) = findings(_wrong(text))
        assert found.code == "FC023"
        assert "is absent" in found.help


@pytest.mark.parametrize(
    ("text", "offered"),
    [
        ("no people where (p.x)", "no people as p where (…)"),
        ("no people as p where p.x", "no people as p where (…)"),
        ("some people as p (p.x)", "some people as p where (…)"),
        ("count(people as p where p.x) > 1", "count people as p where (…)"),
        ("max logins where (l.x)", "max logins as l where (…) of l.…"),
    ],
)
def test_incomplete_quantifier_is_refused_with_its_form(text: str, offered: str):
    """The form is what people forget, so the message shows it with their names."""
    (found,) = findings(_wrong(text))
    assert found.code == "FC025"
    assert f"`{offered}`" in found.help


def test_count_takes_no_of_and_max_needs_one():
    """Each aggregate has one form."""
    assert expression_codes("count p as p where (p.x) of p.y > 1") == ["FC025"]
    assert expression_codes("max p as p where (p.x) > 1") == ["FC025"]


@pytest.mark.parametrize(
    "text", ["", "and a.x", "a.x and", "a.x ==", "(a.x", "a.x)", "a.", "[1", "not", "a.x a.y", "a b"]
)
def test_broken_condition_is_one_error_and_no_tree(text: str):
    """Whatever is cut off or doubled gives one report."""
    assert len(expression_codes(text)) == 1


@pytest.mark.parametrize("depth", [101, 5_000])
@pytest.mark.parametrize("form", ["({})", "not {}", "f({})", "[{}]", "a.x else {}", "{} or a.x", "{} + 1", "{}[1]"])
def test_expression_that_is_too_deep_is_refused_by_name(form: str, depth: int):
    """Depth is a finding, never an exhausted stack."""
    before, after = form.split("{}")
    assert expression_codes(before * depth + "a.y" + after * depth) == ["FC019"]


def test_chain_within_the_depth_is_accepted():
    """Ninety members of an `or` are still a rule."""
    assert expression(" or ".join(["a.x"] * 90)) is not None


def test_spans_cover_parentheses_and_operators_point_at_themselves():
    """Later phases underline what was written, brackets included."""
    text = _wrong("(a.x else a.y) < (now)")
    condition = expression("(a.x else a.y) < (now)")
    assert text[condition.span.start :].startswith("(a.x") or condition.span.end - condition.span.start == 22
    assert condition.operator_span.end - condition.operator_span.start == 1
