"""Findings as text and as data: the look, the places, and that user text is shown and never obeyed."""

from __future__ import annotations

import json
import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fullcount.dsl.diagnostics import Diagnostic, Label, Severity
from fullcount.dsl.output.data import to_json
from fullcount.dsl.render import render, summary, visible
from fullcount.dsl.source import Source

LINES = """\
workflow orphans {
  inventory people from hr.employees {
    key id
  }
  propose disable from accounts as a {
    where no people as p where (p.id == a.owner)
  }
}
"""
SOURCE = Source("workflows/orphans.fcw", LINES)


def _at(source: Source, passage: str):
    start = source.text.index(passage)
    return source.span(start, start + len(passage))


FINDING = Diagnostic(
    "FC301",
    "`people` is used to conclude absence, but nothing verifies that it is complete",
    _at(SOURCE, "no people"),
    note="true for everyone whose record was not returned",
    labels=(Label(_at(SOURCE, "people"), "read here"),),
    why="a page that was cut off would make every missing person's accounts look orphaned",
    help="add after line 4:  verify people { complete, fresh within 24h }",
)

EXPECTED = """\
error[FC301]: `people` is used to conclude absence, but nothing verifies that it is complete
  workflows/orphans.fcw:6:11
   |
 6 |     where no people as p where (p.id == a.owner)
   |           ^^^^^^^^^ true for everyone whose record was not returned
   |
 2 |   inventory people from hr.employees {
   |             ------ read here
   = why: a page that was cut off would make every missing person's accounts look orphaned
   = help: add after line 4:  verify people { complete, fresh within 24h }
   = more: fullcount explain FC301

1 error
"""


def _rendered(finding: Diagnostic, *sources: Source, color: bool = False) -> str:
    return render([finding], {source.name: source for source in sources}, color=color)


def _under(text: str, passage: str, sign: str = "^") -> str:
    """Render a finding at a passage of a one-line text and return what stands above the carets."""
    source = Source("x", text)
    lines = _rendered(Diagnostic("FC001", "m", _at(source, passage)), source).splitlines()
    carets = next(line for line in lines if set(line.split("|")[-1].strip()) == {sign})
    line = lines[lines.index(carets) - 1]
    return line[carets.index(sign) : carets.rindex(sign) + 1]


@pytest.mark.requirement("R33")
def test_finding_has_the_agreed_look():
    """Source lines, carets, secondary places, why, help, more and the closing line, to the character."""
    assert _rendered(FINDING, SOURCE) == EXPECTED


def test_color_adds_only_color():
    """Without the escapes the coloured text is the plain one: colour is never the only signal."""
    colored = _rendered(FINDING, SOURCE, color=True)
    assert re.sub(r"\x1b\[[0-9;]*m", "", colored) == EXPECTED
    assert "\x1b[1;31m" in colored


def test_nothing_found_is_nothing_said():
    """No findings, no text."""
    assert render([], {}, color=True) == ""


def test_closing_line_counts_by_severity():
    """Singular, plural, and only what there is."""
    warning = Diagnostic("FC020", "m", SOURCE.span(0, 1), Severity.WARNING)
    assert summary([FINDING, FINDING, warning]) == "2 errors, 1 warning"
    assert summary([warning, warning]) == "2 warnings"


def test_empty_parts_are_left_out():
    """No note, no why, no help: no empty lines for them."""
    text = _rendered(Diagnostic("FC001", "m", SOURCE.span(0, 8)), SOURCE)
    assert text == (
        "error[FC001]: m\n  workflows/orphans.fcw:1:1\n   |\n 1 | workflow orphans {\n   | ^^^^^^^^\n"
        "   = more: fullcount explain FC001\n\n1 error\n"
    )


def test_place_in_a_source_that_is_not_given_is_named_without_lines():
    """A finding is never lost because its text is."""
    assert "elsewhere.fcw" in _rendered(Diagnostic("FC001", "m", Source("elsewhere.fcw", "x").span(0, 1)), SOURCE)


def test_label_in_another_file_says_which_file():
    """Two files in one finding are told apart."""
    other = Source("lib/people.fcw", "a\nb here\n")
    finding = Diagnostic("FC001", "m", SOURCE.span(0, 8), labels=(Label(_at(other, "here"), "there"),))
    assert "  lib/people.fcw:2:3\n   |\n 2 | b here\n   |   ---- there\n" in _rendered(finding, SOURCE, other)


def test_place_over_several_lines_is_underlined_to_the_end_of_its_first():
    """A whole block is marked by its head."""
    start = LINES.index("inventory")
    text = _rendered(Diagnostic("FC001", "m", SOURCE.span(start, LINES.index("propose"))), SOURCE)
    assert " 2 |   inventory people from hr.employees {\n   |   ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^\n" in text


@pytest.mark.parametrize("offset", [len(LINES), len(LINES) - 1, len(LINES) + 50])
def test_place_at_or_past_the_end_is_shown(offset: int):
    """The end of the file can be pointed at."""
    assert "^" in _rendered(Diagnostic("FC001", "m", SOURCE.span(offset, offset)), SOURCE)


@pytest.mark.parametrize(
    ("text", "passage", "shown"),
    [
        ("\tab\tcd ef", "cd", "cd"),
        ("機械 cd ef", "cd", "cd"),
        ("😀😀 cd ef", "cd", "cd"),
        ("e\u0301e\u0301 cd ef", "cd", "cd"),
        ("a\x1b[31m cd ef", "cd", "cd"),
        ("a\u202eb cd ef", "cd", "cd"),
        ("ab \x00 ef", "\x00", "\\u{0}"),
    ],
)
def test_carets_stand_under_their_passage_on_a_terminal(text: str, passage: str, shown: str):
    """Tabs, wide characters, accents and escapes move the carets by what they take on the screen."""
    source = Source("x", text)
    lines = _rendered(Diagnostic("FC001", "m", _at(source, passage)), source).splitlines()
    index = next(i for i, line in enumerate(lines) if set(line[5:].strip()) == {"^"})
    line, carets = lines[index - 1], lines[index]
    # wide characters take two columns, combining ones none
    columns = "".join(char * 2 if ord(char) > 0x2E00 else "" if char == "\u0301" else char for char in line)
    assert columns[carets.index("^") : carets.rindex("^") + 1] == shown


def test_very_long_line_is_cut_around_the_place():
    """Lines of any length fit in a hundred columns, with the place in sight."""
    text = "x" * 300 + " HERE " + "y" * 300_000
    assert _under(text, "HERE") == "HERE"
    source = Source("x", text)
    lines = _rendered(Diagnostic("FC001", "m", _at(source, "HERE")), source).splitlines()
    assert max(len(line) for line in lines) <= 100
    assert lines[3].startswith(" 1 | …")
    assert lines[3].endswith("…")


@pytest.mark.requirement("R40")
def test_hostile_text_in_each_part_of_a_finding_is_escaped():
    """Terminal escapes, line breaks and direction marks in names, messages and lines come out as text."""
    evil = "\x1b]0;owned\x07\n\u202e\u200b\x9b2J"
    source = Source(f"dir/{evil}.fcw", f"workflow {evil}")
    finding = Diagnostic(
        "FC001", evil, source.span(9, 12), note=evil, labels=(Label(source.span(0, 3), evil),), why=evil, help=evil
    )
    text = _rendered(finding, source)
    assert not set(text) & set("\x1b\x07\u202e\u200b\x9b")
    plain = Diagnostic(
        "FC001", "m", source.span(9, 12), note="n", labels=(Label(source.span(0, 3), "l"),), why="w", help="h"
    )
    assert text.count("\n") == _rendered(plain, source).count("\n")


@settings(deadline=None)
@given(st.text())
def test_visible_text_is_printable_and_on_one_line(text: str):
    """Whatever a user wrote, a terminal has nothing to act on."""
    assert all(
        char.isprintable() or char in "\u3000\u00a0\u1680\u2007\u202f\u205f" or char.isspace() for char in visible(text)
    )
    assert not set(visible(text)) & set("\n\r\t\x0b\x0c\x1b\x85\u2028\u2029")
    visible(text).encode()


@settings(deadline=None)
@given(st.text(), st.integers(0, 40), st.integers(0, 40))
def test_rendering_never_fails_and_never_leaks_a_control_character(text: str, start: int, length: int):
    """Any text, any place in it or after it."""
    source = Source("x", text)
    finding = Diagnostic(
        "FC001", text, source.span(start, start + length), labels=(Label(source.span(0, length), text),)
    )
    rendered = _rendered(finding, source)
    assert not re.search(r"[\x00-\x09\x0b-\x1f\x7f-\x9f]", rendered)
    rendered.encode()
    json.dumps(to_json([finding], {"x": source}))


def test_data_for_tools_has_positions_from_one_and_a_version():
    """Editors and scripts read this form; its keys are a promise."""
    document = to_json([FINDING], {SOURCE.name: SOURCE})
    assert json.loads(json.dumps(document)) == {
        "schema_version": 1,
        "errors": 1,
        "warnings": 0,
        "diagnostics": [
            {
                "code": "FC301",
                "severity": "error",
                "message": FINDING.message,
                "file": "workflows/orphans.fcw",
                "start": {"line": 6, "column": 11, "offset": LINES.index("no people")},
                "end": {"line": 6, "column": 20, "offset": LINES.index("no people") + 9},
                "note": FINDING.note,
                "labels": [
                    {
                        "file": "workflows/orphans.fcw",
                        "start": {"line": 2, "column": 13, "offset": LINES.index("people")},
                        "end": {"line": 2, "column": 19, "offset": LINES.index("people") + 6},
                        "text": "read here",
                    }
                ],
                "why": FINDING.why,
                "help": FINDING.help,
                "fix": None,
            }
        ],
    }
