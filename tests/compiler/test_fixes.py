"""Each fix mends what it says: the file compiles after it, or has one error less; and safe means safe."""

from __future__ import annotations

import pytest
from tests.support.catalogs import EXAMPLE
from tests.support.compiling import codes, findings, only, with_rule

from fullcount.compiler.pipeline import compile_source
from fullcount.dsl.codes import CODES
from fullcount.dsl.codes.examples import ORPHANED, VERIFY, VERIFY_PEOPLE, WHERE, ruled, tidy, with_people
from fullcount.dsl.codes.model import Form
from fullcount.dsl.diagnostics import Diagnostics
from fullcount.dsl.fixes import apply_fixes, fix_all
from fullcount.dsl.source import Source

NAME = "tidy.fcw"
FILES = [code for code in CODES.values() if code.wrong != "" and code.form is not Form.COMMAND]


def _check(source: Source) -> Diagnostics:
    return compile_source(source, EXAMPLE).diagnostics


def _fixed(text: str, *, unsafe: bool = True) -> str:
    return fix_all(Source(NAME, text), _check, unsafe=unsafe).source.text


#: What is wrong, whether its fix is safe, and what the fix writes.
MISTAKES = {
    "clause": (tidy(("limit 50", "limt 50")), True, "limit 50"),
    "clause that is far off": (tidy(("incarnation", "incranatoin")), False, "incarnation entry_uuid"),
    "keyword": (tidy((" from accounts", " form accounts")), True, " from accounts"),
    "operator word": (ruled(f"{WHERE} adn a.owner is absent"), True, ") < now - 90d and a.owner is absent"),
    "single =": (ruled('a.team = "x"'), True, 'a.team == "x"'),
    "where true": (ruled("true"), False, "where all"),
    "unit": (ruled(WHERE.replace("90d", "90days")), True, "90d\n"),
    "space before a unit": (ruled(WHERE.replace("90d", "90 d")), True, "90d\n"),
    "sign": (ruled(WHERE.replace("<", "≤")), True, ") <= now"),
    "source": (tidy(("from directory.", "from directry.")), True, "from directory."),
    "resource": (tidy(("directory.accounts", "directory.account")), True, "directory.accounts"),
    "declared field": (tidy(("team: text", "taem: text")), True, "team: text"),
    "field": (ruled(f'{WHERE} and a.taem == "x"'), True, 'a.team == "x"'),
    "field that is not declared": (ruled(f'{WHERE} and a.environment == "x"'), True, "timestamp?, environment: text }"),
    "field without its row": (ruled(f'{WHERE} and team == "x"'), True, 'and a.team == "x"'),
    "row by the name of its inventory": (ruled(WHERE.replace("(a.", "(accounts.")), True, "(a.last_login"),
    "row": (with_people(rule=ORPHANED.replace("as p", "as person").replace("p.id", "persn.id")), True, "(person.id"),
    "inventory": (tidy((VERIFY, VERIFY.replace("accounts", "acounts"))), True, "verify accounts"),
    "proposal": (tidy(("approve disable", "approve disble")), True, "approve disable"),
    "function": (ruled(f'{WHERE} and lowr(a.team) == "x"'), True, "lower(a.team)"),
    "operation": (tidy(("with directory.update", "with directory.updat")), True, "with directory.update"),
    "parameter of an operation": (tidy(("(id: a.id, locked: true)", "(id: a.id, lockd: true)")), True, "locked: true"),
    "type": (tidy(("team: text", "team: txet")), True, "team: text"),
    "exemption list": (tidy(("    limit 50", "    except in exemption\n    limit 50")), True, "except in exemptions"),
    "claim": (tidy((VERIFY, "  verify accounts { fresh within 1h }\n")), True, "{ fresh within 1h, complete }"),
    "age": (tidy((VERIFY, "  verify accounts { complete }\n")), False, "{ complete, fresh within 24h }"),
    "claims before a last comma": (tidy((VERIFY, "  verify accounts { fresh within 1h, }\n")), True, "1h, complete, }"),
    "verify": (with_people(verify=""), False, "  verify people { complete, fresh within 24h }\n  verify accounts"),
    "the only verify": (tidy((VERIFY, "")), False, "  }\n\n  verify accounts { complete, fresh within 24h }\n"),
    "allowance of nothing": (
        tidy(("  inventory", "  # allow FC123: because of May\n  inventory")),
        True,
        "{\n  inventory",
    ),
    "allowance of nothing, beside code": (tidy(("5%", "5% # allow FC123: because of May")), True, "5%\n"),
}


@pytest.mark.requirement("R33")
@pytest.mark.parametrize("name", MISTAKES)
def test_fix_mends_its_finding_and_nothing_else_is_wrong_after_it(name):
    """One mistake, one finding or several of one cause, and a clean file after the fix."""
    wrong, _, written = MISTAKES[name]
    assert findings(wrong) != []
    right = _fixed(wrong)
    assert codes(right) == []
    assert written in right


@pytest.mark.parametrize("name", MISTAKES)
def test_unsafe_fix_is_left_to_a_person(name):
    """Where another thing may have been meant, or a number is a person's to choose, nothing is changed unasked."""
    wrong, safe, _ = MISTAKES[name]
    assert (_fixed(wrong, unsafe=False) != wrong) is safe


@pytest.mark.requirement("R33")
@pytest.mark.parametrize(
    "code", [code for code in CODES.values() if code.wrong and code.form is not Form.COMMAND], ids=lambda code: code.id
)
def test_fix_of_a_wrong_example_leaves_less_to_mend(code):
    """Every fix that an example's finding carries can be made, and what comes out has fewer findings."""
    source = Source(NAME, code.wrong)
    found = list(_check(source))
    for finding in found:
        if finding.fix is not None:
            assert apply_fixes(source, [finding], unsafe=True)[1] == [finding]
    if any(finding.fix is not None for finding in found):
        assert len(codes(_fixed(code.wrong))) < len(found)


def test_selecting_everything_is_never_a_safe_fix():
    """`where true` is refused because it happens by accident; a tool that turns it into `all` would be the accident."""
    finding = only(ruled("true"))
    assert finding.code == "FC006"
    assert not finding.fix.safe


def test_two_names_that_are_equally_near_are_for_a_person():
    """Safe means that there is one thing it can have been."""
    two = with_rule("a.lock", params="param locks: duration = 1d\n  param locky: duration = 1d")
    text = two.replace("a.lock\n", "a.last_login is present and a.last_login < now - lock\n")
    finding = next(each for each in findings(text) if each.code == "FC109")
    assert "did you mean" in finding.help
    assert finding.fix is not None
    assert not finding.fix.safe


def test_several_mistakes_are_mended_in_one_go():
    """Also those that only show once the text can be read, and those that stand in the same place."""
    wrong = with_people(
        ("limit 50", "limt 50"),
        ("{ id: text, active", "{ id: text, actve"),
        rule="a.owner is absent and no people as p where (p.id = a.team)",
        verify="",
    )
    right = _fixed(wrong)
    assert codes(right) == []
    assert right.count("verify people") == 1
    assert VERIFY_PEOPLE in right
