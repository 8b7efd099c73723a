"""One run shows every mistake once: what follows a mistake is still read, and nothing is reported because of it."""

from __future__ import annotations

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.support.language import SNAPSHOTS, codes, findings, outline, shown, snapshot, underlined

from fullcount.dsl.parser import MAX_FAILURES, parse
from fullcount.dsl.source import Source

SAMPLE = snapshot("design_sample.fcw")
CASES = sorted(path.stem for path in SNAPSHOTS.glob("*.fcw"))


@pytest.mark.requirement("R33")
@pytest.mark.parametrize("case", CASES)
def test_what_a_person_is_told_is_the_stored_text(case: str):
    """Messages are part of the product: any change of one is seen in review."""
    text = (SNAPSHOTS / f"{case}.fcw").read_bytes().decode("utf-8")
    file, diagnostics = parse(Source("rules.fcw", text))
    assert (outline(file) if file is not None else shown(text, diagnostics)) == snapshot(f"{case}.txt")


def test_three_mistakes_give_exactly_three_reports_at_their_places():
    """A misspelt word in a head, an unknown clause and a broken clause, far apart."""
    text = snapshot("three_mistakes.fcw")
    assert codes(text) == ["FC001", "FC002", "FC001"]
    assert underlined(text) == ["form", "limt", "a"]


def test_mistakes_of_text_and_of_meaning_are_reported_in_one_run():
    """What parses is still checked where something else does not."""
    assert codes(snapshot("mistakes_of_text_and_of_meaning.fcw")) == ["FC004", "FC001", "FC009", "FC022"]


def test_part_that_was_unreadable_is_not_called_missing():
    """`key` stands there, broken; it is reported as broken and not as missing too."""
    for old, new in (
        ("key id\n", "key 5\n"),
        ("fields { id: text, active: bool }", "fields 5"),
        ("where (a.last_login", "where a.b a.c (a.last_login"),
        ('2 of role "iam-admin"', "2 role"),
        ("complete, fresh within 24h, rows at least 100, count agrees with hr.headcount", "complet"),
    ):
        assert SAMPLE.count(old) == 1, old
        assert len(codes(SAMPLE.replace(old, new))) == 1, shown(SAMPLE.replace(old, new))


SHORT = """\
workflow w {
  owner "o"
  inventory i from s.r {
    key id
    fields { id: text, b: list<text>? }
    scope b == 1 # here
  }
  verify i { complete, fresh within 1h }
  propose p from i as a {
    where a.x else now < now - 5d and (a.b is absent or no i as j where (j.x == a.x))
    except in l
    limit 5, 5%
  }
  approve p { 2 of role "r" not by author, expires after 3d }
  act p with s.op(id: a.id, k: true) {
    rate 10 per second
    stop after 3 failures or 1%
  }
}
"""


@pytest.mark.parametrize("kind", ["removed", "doubled", "spoilt"])
def test_one_slip_anywhere_gives_at_most_one_report(kind: str):
    """Each single word, sign or brace removed, doubled or spoilt: never a cascade."""
    pieces = re.findall(r'\s+|"[^"]*"|#[^\n]*|\w+|[=!<>]=|.', SHORT)
    for index, piece in enumerate(pieces):
        if piece.isspace() or piece.startswith("#"):
            continue
        spoilt = f"{piece[0]}x{piece[1:]}" if piece[0].isalpha() else piece * 2
        changed = {"removed": "", "doubled": f"{piece} {piece}", "spoilt": spoilt}[kind]
        text = "".join([*pieces[:index], changed, *pieces[index + 1 :]])
        assert len(codes(text)) <= 1, shown(text)


@settings(max_examples=40, deadline=None)
@given(st.data())
def test_slips_in_different_clauses_are_each_reported(data: st.DataObject):
    """Several unknown clauses, put on lines of their own, are found one by one."""
    lines = SAMPLE.splitlines()
    places = [i for i, line in enumerate(lines) if re.match(r" +(key|deadline|limit|rate|undo|owner|param)\b", line)]
    chosen = data.draw(st.lists(st.sampled_from(places), min_size=1, max_size=4, unique=True))
    for place in sorted(chosen, reverse=True):
        indent = re.match(" *", lines[place]).group()
        lines.insert(place, f"{indent}zzzz 5 and more")
    assert underlined("\n".join(lines)) == ["zzzz"] * len(chosen)


def test_two_unknown_clauses_in_a_row_are_two_reports():
    """The first one does not swallow the second."""
    text = SAMPLE.replace(
        "    rate   10 per second\n", '    trial 5 then wait 15m\n    opening "Mon"\n    rate   10 per second\n'
    )
    assert underlined(text) == ["trial", "opening"]


def test_unknown_clause_goes_with_the_lines_that_continue_it():
    """Lines that are indented deeper, or start with an operator, belong to the clause before them."""
    text = SAMPLE.replace(
        "    limit  50, 5%", "    retain at least 3\n      newest by a.x\n    and b\n    limit  50, 5%"
    )
    assert underlined(text) == ["retain"]


@pytest.mark.parametrize(
    ("old", "new", "at"),
    [
        (
            "rows at least 100, count agrees with hr.headcount }",
            "rows at least 100, count agrees with hr.headcount",
            "propose",
        ),
        ("show   a.owner, a.last_login\n  }", "show   a.owner, a.last_login\n", "approve"),
        ("fields { id: text, active: bool }\n  }", "fields { id: text, active: bool }", "verify"),
        ("people from hr.employees {", "people from hr.employees", "key"),
        ("tags: map<text> }", "tags: map<text> } }", "}"),
        ("disable from accounts as a {", "disable from accounts as a { {", "{"),
        ("locked: true) {", "locked: true {", "("),
        ("and p.active))", "and p.active)", "("),
    ],
)
def test_bracket_without_partner_is_one_report_and_the_rest_is_read(old: str, new: str, at: str):
    """After a brace that is missing or too much the structure is read as it was meant."""
    assert SAMPLE.count(old) == 1
    text = SAMPLE.replace(old, new)
    assert codes(text) == ["FC010"], shown(text)
    assert underlined(text) == [at]
    later = text.replace("rate   10 per second", "rate   10 a second")
    assert len(codes(later)) == 2 or at == "(", shown(later)


def test_missing_brace_points_at_the_one_that_opened():
    """The secondary place is the `{` without partner."""
    text = snapshot("missing_brace.fcw")
    (found,) = findings(text)
    (label,) = found.labels
    assert text[label.span.start] == "{"
    assert text[: label.span.start].splitlines()[-1].strip() == "verify people"


def test_words_after_the_workflow_was_closed_are_reported_once():
    """What follows a `}` too much is one mistake, however long it is."""
    assert codes(SAMPLE + "\n}\nverify people { complete }\nact x with a.b()\n") == ["FC010"]
    assert codes(SAMPLE + "\nverify people { complete }\nact x with a.b()\n") == ["FC002"]


@pytest.mark.parametrize("cut", range(10, len(SAMPLE), 97))
def test_file_that_ends_too_early_is_one_or_two_reports_and_never_a_tree(cut: str):
    """A file that was cut off, as by a full disk, is never a shorter workflow."""
    text = SAMPLE[:cut]
    file, diagnostics = parse(Source("x", text))
    assert file is None
    assert 1 <= len(diagnostics) <= 2, shown(text)


def test_reports_are_bounded():
    """A file of another kind altogether does not fill the screen."""
    lines = "\n".join(f"  word{i} x" for i in range(200))
    assert len(codes(f"workflow w {{\n{lines}\n}}")) == MAX_FAILURES


@pytest.mark.parametrize(
    ("text", "code", "offered"),
    [
        ("where a.x == 'y'", "FC018", "double quotes"),
        ("where a.x == “y”", "FC018", "plain double quote"),
        ("where a.x && a.y", "FC018", "`and`"),
        ("where a.x || a.y", "FC018", "`or`"),
        ("where !a.x", "FC018", "`not`"),
        ("where a.x ≤ 5", "FC018", "`<=`"),
        ("where a.x – 5 < 1", "FC018", "`-`"),
        ("where a.x; limit 5", "FC018", "new line"),
        ("where a.größe == 1", "FC018", "a-z"),
        ("where a.x <> 1", "FC001", "`!=`"),
        ("where a.x === 1", "FC001", "`==`"),
        ("where a.x // no", "FC001", "`#`"),
        ("where f(a: 1)", "FC001", ""),
        ("where a.x adn a.y", "FC001", "did you mean `and`?"),
        ("where a.x is missing", "FC001", ""),
        ('where a.x == "y', "FC011", "same line"),
    ],
)
def test_slip_from_another_language_is_answered_with_ours(text: str, code: str, offered: str):
    """The help says what to write instead."""
    (found,) = findings(f"workflow w {{\n  propose p from i as a {{\n    {text}\n  }}\n}}\n")
    assert found.code == code, found
    assert offered in found.help


@pytest.mark.parametrize(
    ("clause", "message"),
    [
        ("inventory i form s.r { }", "expected `from`, found `form`"),
        ("inventory i s.r { }", "expected `from` after `i`, found `s`"),
        ("propose p from i { where all }", "expected `as` after `i`, found `{`"),
        ("verify i { rows 5 }", "expected `at` after `rows`, found `5`"),
        ("verify i { complete fresh within 1h }", "a `,` is missing before `fresh`"),
        ('approve p { 1 of "x" }', 'expected `role` after `of`, found the text "x"'),
        ("act p with s.op(id = 5)", "expected `:` after `id`, found `=`"),
        ("act p with s.op { }", "expected `(` after `op`, found `{`"),
        ("owner iam", "expected a text in double quotes after `owner`, found `iam`"),
        ("schedule 5", "expected `cron` or `every` after `schedule`, found `5`"),
        ("param x = 5", "expected `:` after `x`, found `=`"),
        ("inventory i from s.r { key id, name fields { id: text } }", "a key of several fields stands in parentheses"),
        (
            "inventory i from s.r { key id.x fields { id: text } }",
            "expected the next clause of `inventory`, `normalized` or `}` after `id`, found `.`",
        ),
        ("inventory i from s.r { key\n fields { id: text } }", "expected a name after `key`, found `fields`"),
    ],
)
def test_expectation_is_said_in_words_and_without_jargon(clause: str, message: str):
    """No name of a terminal reaches a person."""
    (found,) = findings(f"workflow w {{\n  {clause}\n}}\n")
    assert (found.code, found.message) == ("FC001", message)


def test_nothing_that_is_said_holds_a_name_of_the_grammar():
    """No message in the stored snapshots holds a terminal in capitals."""
    for path in SNAPSHOTS.glob("*.txt"):
        for line in path.read_text("utf-8").splitlines():
            if re.match(r"(error|warning)|   = (why|help)", line):
                assert not re.search(r"\b[A-Z]{3,}\b", re.sub(r"error\[\w+\]|`[^`]*`|UTC|GiB", "", line)), line
