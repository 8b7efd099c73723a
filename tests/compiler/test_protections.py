"""Protections: what no workflow may take. Refused first, then joined to every proposal over the resource."""

from __future__ import annotations

import pytest
from tests.support.catalogs import EXAMPLE
from tests.support.compiling import with_rule

from fullcount.compiler import ir
from fullcount.compiler.document import workflow_from_document, workflow_to_document
from fullcount.compiler.imports import no_files
from fullcount.compiler.pipeline import compile_source
from fullcount.compiler.protections import Protections, check_protections, protect_workflow, shared_names
from fullcount.compiler.types import TEXT, FieldType
from fullcount.dsl.diagnostics import Diagnostics
from fullcount.dsl.parser import parse
from fullcount.dsl.source import Source

PAYROLL = 'protect payroll from directory.accounts as x where (x.team == "payroll") because "it pays people"\n'
OTHERS = 'protect staff from hr.employees as e where (e.active) because "they work here"\n'
PLAIN = with_rule("a.locked")


def protections(*texts: str) -> Protections:
    """Check protection files `p0.fcw`, `p1.fcw`, …"""
    sink = Diagnostics()
    files = []
    for number, text in enumerate(texts):
        source = Source(f"p{number}.fcw", text)
        file, found = parse(source)
        assert file is not None, [f.message for f in found]
        files.append((file, source))
    shared = {source.name: shared_names(source, file, no_files, EXAMPLE, sink) for file, source in files}
    return check_protections(files, EXAMPLE, sink, shared)


def found(*texts: str) -> list[str]:
    return [finding.code for finding in protections(*texts).diagnostics]


def compiled(text: str, held: Protections | None):
    return compile_source(Source("tidy.fcw", text), EXAMPLE, protections=held)


def the_proposal(text: str, held: Protections | None):
    made = compiled(text, held)
    assert made.program is not None, [(f.code, f.message) for f in made.diagnostics]
    return made.program.workflows[0].proposals[0]


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ('protect p from nowhere.accounts as a where (a.team == "x") because "b"', "FC102"),
        ('protect p from directory.people as a where (a.team == "x") because "b"', "FC103"),
        ('protect p from directory.accounts as a where (a.taem == "x") because "b"', "FC110"),
        ('protect p from directory.accounts as a where (a.owner == "x") because "b"', "FC202"),
        ('protect p from directory.accounts as a where (a.logins) because "b"', "FC204"),
        ('protect p from directory.accounts as a where (true) because "b"', "FC006"),
        ('protect p from directory.accounts as a where (now < 2026-01-01T00:00:00Z) because "b"', "FC217"),
        ('protect p from directory.accounts as a where (b.team == "x") because "b"', "FC109"),
        (
            'protect p from directory.accounts as a where (some people as p where (p.id == a.owner)) because "b"',
            "FC211",
        ),
    ],
)  # fmt: skip
def test_a_protection_that_does_not_check_is_refused(text, code):
    """Resource, fields, types and absent values are checked as in a rule; no other inventory may decide."""
    source = Source("protect.fcw", text)
    file, sink = parse(source)
    if file is not None:
        shared = {source.name: shared_names(source, file, no_files, EXAMPLE, sink)}
        check_protections([(file, source)], EXAMPLE, sink, shared)
    assert [finding.code for finding in sink] == [code]


def test_two_protections_of_one_name_are_refused_also_in_two_files():
    """The name is how people speak of it, so it means one thing in the whole workspace."""
    assert found(PAYROLL, PAYROLL) == ["FC101"]


def test_a_protection_in_a_workflow_file_is_refused_where_a_workspace_has_its_own_places():
    """It would guard one file and look as if it guarded all."""
    made = compiled(PAYROLL + PLAIN, protections(OTHERS))
    assert [(f.code, str(f.severity)) for f in made.diagnostics] == [("FC616", "error")]
    assert made.program is None


def test_nothing_compiles_while_a_protection_has_a_mistake():
    """Half of the protections are no protection."""
    made = compiled(PLAIN, protections(PAYROLL.replace("x.team", "x.taem")))
    assert made.program is None
    assert [f.code for f in made.diagnostics] == ["FC110"]
    assert set(made.sources) == {"tidy.fcw", "p0.fcw"}


def test_protections_with_a_mistake_can_not_be_joined():
    """Whoever does not look at the mistakes is stopped."""
    made = compiled(PLAIN, protections())
    assert made.program is not None
    with pytest.raises(ValueError, match="mistakes"):
        protect_workflow(made.program.workflows[0], protections(PAYROLL.replace("x.team", "x.taem")))


@pytest.mark.requirement("R21")
def test_a_protection_is_joined_to_every_proposal_over_its_resource():
    """It is a condition over the proposal's own row, with its reason; one of another resource is not."""
    (joined,) = the_proposal(PLAIN, protections(PAYROLL, OTHERS)).protections
    team = ir.Field("a", "accounts", "team", TEXT, optional=False)
    assert (joined.name, joined.because) == ("payroll", "it pays people")
    assert joined.condition == ir.Compare("==", team, ir.Const("payroll", TEXT))


def test_fields_that_only_a_protection_reads_are_read_with_the_object():
    """A workflow can't make a protection blind by not asking for a field."""
    text = PLAIN.replace(" team: text,", "")
    workflow = compiled(text, protections(PAYROLL)).program.workflows[0]
    assert workflow.inventories["accounts"].fields["team"] == FieldType(TEXT)
    assert "team" not in compiled(text, protections(OTHERS)).program.workflows[0].inventories["accounts"].fields


def test_joining_twice_is_joining_once_and_never_takes_one_away():
    """The engine joins again what the compiler joined; a plan keeps what it was made under."""
    held = protections(PAYROLL)
    once = compiled(PLAIN, held).program.workflows[0]
    assert protect_workflow(once, held) == once
    assert protect_workflow(once, protections()) == once


def test_every_object_of_a_resource_can_be_protected():
    """`where (all)` is written in full by someone who means it."""
    text = 'protect all_of_it from directory.accounts as a where (all) because "migration under way"'
    assert the_proposal(PLAIN, protections(text)).protections[0].condition == ir.TRUE


def test_a_file_by_itself_is_compiled_under_its_own_protections():
    """Where no workspace is known, what stands in the file holds."""
    assert [p.name for p in the_proposal(PAYROLL + PLAIN, None).protections] == ["payroll"]


def test_a_file_of_protections_alone_is_no_mistake():
    """`protect.fcw` declares no workflow."""
    held = protections(PAYROLL)
    made = compile_source(Source("p0.fcw", PAYROLL), EXAMPLE, protections=held)
    assert (list(made.diagnostics), made.program.workflows) == ([], ())


def test_protections_are_part_of_the_document_and_its_digest():
    """A plan carries what it was made under."""
    workflow = compiled(PLAIN, protections(PAYROLL)).program.workflows[0]
    assert workflow_from_document(workflow_to_document(workflow)) == workflow
    assert workflow != compiled(PLAIN, protections()).program.workflows[0]


IS_PAYROLL = 'define pays(team: text) = team == "payroll" or starts_with(team, "pay-")\n'
NAMED = 'protect payroll from directory.accounts as x where (pays(x.team)) because "it pays people"\n'


@pytest.mark.parametrize(
    ("text", "code"),
    [
        (NAMED, "FC118"),
        (IS_PAYROLL + NAMED.replace("x.team", "x.owner"), "FC202"),
        (IS_PAYROLL + NAMED.replace("x.team", "x.logins"), "FC201"),
        (IS_PAYROLL.replace("team ==", "taem ==") + NAMED, "FC109"),
        ("define pays(x: text) = some people as p where (p.id == x)\n" + NAMED, "FC211"),
        ('import "lib.fcw"\n' + NAMED, "FC140"),
    ],
)
def test_a_definition_that_does_not_fit_a_protection_is_refused(text, code):
    """What a protection uses is checked like a rule's, and a file that is missing is no empty one."""
    assert code in found(text)


def test_a_protection_may_use_the_definitions_of_its_file():
    """It protects what the definition says, written out as by hand."""
    by_name = the_proposal(PLAIN, protections(IS_PAYROLL + NAMED)).protections
    written = PAYROLL.replace('x.team == "payroll"', 'x.team == "payroll" or starts_with(x.team, "pay-")')
    by_hand = the_proposal(PLAIN, protections(written)).protections
    assert [each.condition for each in by_name] == [each.condition for each in by_hand]


def test_files_have_their_own_definitions():
    """Two files of protections may mean different things by one name."""
    other = IS_PAYROLL.replace('"payroll"', '"salaries"') + NAMED.replace("payroll from", "salaries from")
    made = the_proposal(PLAIN, protections(IS_PAYROLL + NAMED, other)).protections
    assert len({str(each.condition) for each in made}) == 2


def test_ids_of_different_kinds_are_not_compared_in_a_protection_either():
    """A protection that compares what is never equal protects nobody."""
    text = 'protect p from directory.accounts as x where (x.sponsor is present and x.sponsor == x.id) because "b"'
    assert found(text) == ["FC240"]
