"""Lists that stand in files or in a field of another inventory."""

from __future__ import annotations

import pytest
from tests.support.compiling import compiled, with_rule, workflow

from fullcount.compiler import ir
from fullcount.compiler.claims import Direction
from fullcount.compiler.document import program_digest, workflow_from_document, workflow_to_document
from fullcount.compiler.types import INT, TEXT, ListOf

CSV = {"known.csv": 'account,"the team"\na2,ops\n a1 ,"hr, payroll"\n\na1,x\n'}
RULE = 'a.id not in file "known.csv" column "account"'


def made(rule: str, files: dict[str, str]):
    result = compiled(with_rule(rule), files)
    assert result.program is not None, [(d.code, d.message) for d in result.diagnostics]
    return result.program.workflows[0]


def found(rule: str, files: dict[str, str], **more: str) -> list[str]:
    return [finding.code for finding in compiled(with_rule(rule, **more), files).diagnostics]


def listed(flow) -> ir.ListConst:
    (negated,) = [flow.proposals[0].where]
    return negated.operand.collection


def test_the_values_of_a_file_are_part_of_the_program_sorted_and_once():
    """What the rule means does not depend on the order of lines."""
    flow = made(RULE, CSV)
    constant = listed(flow)
    assert [each.value for each in constant.items] == ["a1", "a2"]
    assert (constant.type, constant.file.path, constant.file.column) == (ListOf(TEXT), "known.csv", "account")
    assert workflow_from_document(workflow_to_document(flow)) == flow


def test_the_digest_follows_the_content_of_the_file():
    """A plan is bound to what stood in the file, whatever is changed in it."""
    before = program_digest(made(RULE, CSV))
    assert program_digest(made(RULE, CSV)) == before
    assert program_digest(made(RULE, {"known.csv": CSV["known.csv"] + "a3,y\n"})) != before


def test_the_file_is_one_of_those_that_a_workflow_is_made_of():
    """So whoever wrote it is an author, and a service sees when it changes."""
    assert set(compiled(with_rule(RULE), CSV).sources) == {"tidy.fcw", "known.csv"}


@pytest.mark.parametrize(
    ("name", "text", "clause", "values"),
    [
        ("known.txt", "\ufeff# who\na2\n\n  a1\n", "", ["a1", "a2"]),
        ("known.json", '["a2", "a1", "a2"]', "", ["a1", "a2"]),
        ("known.json", '[{"id": "a1", "x": 1}, {"id": "a2"}]', ' column "id"', ["a1", "a2"]),
        ("lib/known.csv", "id\r\na1\r\n", ' column "id"', ["a1"]),
    ],
)
def test_each_kind_of_file_is_read(name, text, clause, values):
    """Text by lines, JSON as one array, CSV by a named column."""
    flow = made(f'a.id not in file "{name}"{clause}', {name: text})
    assert [each.value for each in listed(flow).items] == values


def test_whole_numbers_are_read_where_whole_numbers_are_looked_for():
    """The type is that of the other side; nothing is guessed."""
    flow = made('a.logins not in file "n.txt"', {"n.txt": "10\n9\n"})
    assert [(each.value, each.type) for each in listed(flow).items] == [(9, INT), (10, INT)]


@pytest.mark.parametrize(
    ("name", "text", "clause", "code"),
    [
        ("known.csv", None, ' column "account"', "FC160"),
        ("known.csv", "", ' column "account"', "FC162"),
        ("known.csv", "account\n", ' column "account"', "FC162"),
        ("known.csv", 'account\n"a1', ' column "account"', "FC163"),
        ("known.csv", "account\na1\n", "", "FC163"),
        ("known.csv", "account,account\na1,a2\n", ' column "account"', "FC163"),
        ("known.csv", "account,team\na1\n", ' column "account"', "FC163"),
        ("known.csv", "account,team\n,ops\n", ' column "account"', "FC163"),
        ("known.json", "{}", "", "FC163"),
        ("known.json", "[1]", "", "FC163"),
        ("known.json", "[null]", "", "FC163"),
        ("known.json", '["a1"', "", "FC163"),
        ("known.json", "[" * 100_000, "", "FC163"),
        ("known.json", '[{"id": "a1"}, {}]', ' column "id"', "FC163"),
        ("known.json", "[]", "", "FC162"),
        ("known.txt", "a1\n", ' column "id"', "FC163"),
        ("known.txt", "# none\n", "", "FC162"),
        ("known.txt", "\n".join(map(str, range(10_001))), "", "FC163"),
        ("known.toml", "", "", "FC161"),
        ("../known.txt", "a1", "", "FC161"),
        ("/known.txt", "a1", "", "FC161"),
    ],
)
def test_a_list_that_is_not_surely_read_is_refused(name, text, clause, code):
    """A list that is missing, empty or faulty is not an empty list."""
    files = {} if text is None else {name: text}
    assert found(f'a.id not in file "{name}"{clause}', files) == [code]


@pytest.mark.parametrize("text", ["01\n", "1.0\n", "x\n", "99999999999999999999\n"])
def test_what_is_no_whole_number_is_refused(text):
    """`01` and `1` would be two texts and one number."""
    assert found('a.logins not in file "n.txt"', {"n.txt": text}) == ["FC163"]


def test_a_file_may_be_declared_to_be_empty():
    """Then nothing is in it."""
    flow = made('not a.locked and a.id not in file "known.txt" may be empty', {"known.txt": ""})
    *_, last = ir.children(flow.proposals[0].where)
    assert last.operand.collection.items == ()


def test_other_types_and_places_are_refused():
    """A list from a file holds texts or whole numbers, and stands where a list stands."""
    assert found('a.created in file "known.txt"', {"known.txt": "x"}) == ["FC201"]
    assert found('a.id == file "known.txt"', {"known.txt": "x"}) == ["FC221"]


def test_it_can_be_handed_to_a_function():
    """As a list that is written out can be."""
    made('intersects(a.groups, file "known.txt")', {"known.txt": "x"})


def test_a_protection_names_its_values_itself():
    """It is read again before each act, and a list beside it would not be."""
    text = with_rule("not a.locked") + (
        'protect known from directory.accounts as p where (p.id in file "known.txt") because "it is known"\n'
    )
    codes = [finding.code for finding in compiled(text, {"known.txt": "a1"}).diagnostics]
    assert codes == ["FC161"]


@pytest.mark.parametrize(
    ("short", "long"),
    [
        ("a.owner is present and a.owner in people.id", "some people as p where (p.id == a.owner)"),
        ("a.team not in people.id", "no people as p where (p.id == a.team)"),
        ("a.team in people.manager", "some people as p where (p.manager is present and p.manager == a.team)"),
    ],
)
def test_a_field_of_an_inventory_is_looked_into_as_by_a_quantifier(short, long):
    """One meaning, and the same needs."""
    long = long if "is present and a.owner" not in short else f"a.owner is present and {long}"
    others = "# people as "
    one, other = (workflow(with_rule(rule, clauses=others).replace(others, "")).proposals[0] for rule in (short, long))
    assert [(use.inventory, use.direction) for use in one.uses] == [(u.inventory, u.direction) for u in other.uses]


def test_absence_from_an_inventory_needs_all_of_it():
    """`not in` concludes from rows that are not there."""
    rule = with_rule("a.team not in people.id", clauses="# people as ").replace("# people as ", "")
    assert [use.direction for use in workflow(rule).proposals[0].uses] == [Direction.BASE, Direction.ABSENCE]
    partial = rule.replace("verify people { complete, fresh", "verify people { fresh")
    assert [finding.code for finding in compiled(partial).diagnostics] == ["FC301"]


def test_what_is_no_field_is_refused_by_name():
    """As anywhere else."""
    rule = with_rule("a.team in people.nme", clauses="# people as ").replace("# people as ", "")
    assert [finding.code for finding in compiled(rule).diagnostics] == ["FC110"]
