"""What is proposed can be written there, and what can be written there is proposed."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.support.catalogs import EXAMPLE
from tests.support.language import snapshot

from fullcount.compiler.editor.completion import Sort, complete
from fullcount.compiler.editor.describe import describe
from fullcount.compiler.editor.view import view_of
from fullcount.compiler.imports import no_files
from fullcount.dsl import keywords
from fullcount.dsl.parser import parse
from fullcount.dsl.source import Source

WORKFLOW = """\
workflow w {{
  {workflow}
  inventory accounts from directory.accounts {{ key id fields {{ id: text, owner: text? }} {inventory} }}
  inventory people from hr.employees {{ key id fields {{ id: text }} }}
  verify people {{ {verify} }}
  propose take from accounts as a {{ where a.id == "x" {propose} }}
  approve take {{ {approve} }}
  act take with directory.update(id: a.id) {{ {act} }}
  test "t" {{ {test} }}
}}
"""
EMPTY = dict.fromkeys(("workflow", "inventory", "verify", "propose", "approve", "act", "test"), "")
SAMPLE = snapshot("design_sample.fcw")


def proposed(text):
    """What is proposed at the bar."""
    at = text.index("|")
    view = view_of(Source("x.fcw", text.replace("|", "", 1)), no_files)
    return {item.label: item for item in complete(view, at, EXAMPLE).items}


@pytest.mark.parametrize("block", sorted(set(EMPTY) - {"verify", "approve"}))
def test_every_clause_of_a_block_is_proposed_in_it(block):
    """The table of clauses and what is proposed at the start of a clause are the same."""
    found = proposed(WORKFLOW.format(**{**EMPTY, block: "|"}))
    words = {label for label, item in found.items() if item.sort is Sort.KEYWORD}
    assert set(keywords.CLAUSES[block]) <= words
    assert not {word for other in keywords.CLAUSES.values() for word in other} - set(keywords.CLAUSES[block]) & words


@pytest.mark.parametrize("block", ["verify", "approve"])
def test_every_entry_of_a_list_is_proposed_in_it(block):
    """At its start and behind a comma."""
    first = {"verify": "complete", "approve": '1 of role "r"'}[block]
    for entries in ("|", f"{first}, |"):
        assert set(keywords.LISTS[block]) <= set(proposed(WORKFLOW.format(**{**EMPTY, block: entries})))


def test_every_statement_of_a_file_is_proposed_in_it():
    """In an empty file, before a workflow and behind one."""
    whole = WORKFLOW.format(**EMPTY)
    for text in ("|", f"|\n{whole}", f"{whole}\n|"):
        assert set(keywords.CLAUSES[keywords.FILE]) == set(proposed(text))


@settings(max_examples=20, deadline=None)
@given(st.integers(0, len(SAMPLE)))
def test_every_keyword_that_is_proposed_can_be_written_there(offset):
    """Put where it was proposed, a keyword is read as one: what is wrong then comes later."""
    view = view_of(Source("x.fcw", SAMPLE[:offset]), no_files)
    found = complete(view, offset, EXAMPLE)
    lead = SAMPLE[: found.start]
    for item in found.items:
        if item.sort is not Sort.KEYWORD or item.label in {"any", "all", "some", "no", *keywords.AGGREGATES}:
            continue
        _, findings = parse(Source("x.fcw", f"{lead} {item.label} "))
        assert all(each.span.start >= len(lead) for each in findings if each.code in {"FC001", "FC002"}), item.label


@settings(max_examples=20, deadline=None)
@given(st.integers(0, len(SAMPLE)), st.sampled_from(["", '"', "#", "{", "}", "a.", "no ", ".", "\n", "limit "]))
def test_there_is_an_answer_at_every_place_of_every_text(offset, put):
    """Nothing that is half written makes a question fail."""
    source = Source("x.fcw", SAMPLE[:offset] + put + SAMPLE[offset:])
    view = view_of(source, no_files)
    for at in (offset, offset + len(put)):
        complete(view, at, EXAMPLE)
        describe(view, at, EXAMPLE)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("inventory i from |", {"directory", "hr"}),
        ("inventory i from hr.|", {"employees", "headcount"}),
        ("inventory i from hr.employees { key | }", {"id", "active"}),
        ("inventory i from hr.employees { key id fields { id: text, | } }", {"active", "manager"}),
        ("inventory i from hr.employees { key id fields { id: | } }", {"text", "timestamp", "list"}),
        ("inventory i from hr.employees { key id fields { id: text } scope | }", {"id", "lower", "now", "not"}),
        ("inventory i from hr.employees { key id fields { id: text } } verify | {", {"i"}),
        ("inventory i from hr.employees { key id fields { id: text } } propose p from |", {"i"}),
        ("inventory i from hr.employees { key id } propose p from i as r { where r.| }", {"id", "active"}),
        ("inventory i from hr.employees { key id } propose p from i as r { where no | }", {"i"}),
        ("inventory i from hr.employees { key id } propose p from i as r { where no i | }", {"as"}),
        ("inventory i from hr.employees { key id } propose p from i as r { where no i as q | }", {"where"}),
        ("inventory i from hr.employees { key id } propose p from i as r { where no i as q where (|) }", {"q", "r"}),
        ("propose p from i as r { where all except in | }", {"exemptions"}),
        ("propose p from i as r { where all } act | with", {"p"}),
        ("act p with |", {"directory", "vcs"}),
        ("act p with directory.|", {"update", "delete"}),
        ("act p with directory.update(|)", {"id", "locked"}),
        ("act p with a.b() { canary 5 then wait 15m | }", {"then", "stop"}),
        ("act p with a.b() { canary 5 then wait 15m then at most 0 of | }", {"directory", "hr"}),
        ("act p with a.b() { canary 5 then wait 15m then at most 0 of hr.| }", {"headcount"}),
        ('approve p { 1 of role "| }', {"iam-admin"}),
        ("param x: |", {"duration", "text"}),
        ('inventory i from hr.employees { key id } test "t" { given | }', {"i", "param", "list"}),
        ('param x: int = 3 test "t" { given param | }', {"x"}),
        ('test "t" { given list | }', {"exemptions"}),
        ('inventory i from hr.employees { key id } test "t" { before act change | }', {"i"}),
        ("propose p from i as r { where all } act p with steps { | }", {"window", "rate"}),
        ("inventory i from hr.employees { } propose p from i as r { } act p with steps { a: hr.b(c: r.|) }", {"id"}),
        ("param x: int = 3 propose p from i as r { where r.a < | }", {"x", "r", "now"}),
    ],
)
def test_names_follow_from_the_place(text, expected):
    """Of all names there are, those are proposed that can mean something where one stands."""
    assert expected <= set(proposed("workflow w { " + text))


def test_what_is_typed_in_a_text_or_a_comment_is_left_alone():
    """Nothing is proposed inside of quotes or behind `#`, save a role, and a code to allow."""
    assert proposed('workflow w { describe "wher| } ') == {}
    assert proposed("# workflo|") == {}
    codes = proposed("# allow FC|")
    assert {"FC123"} <= set(codes)
    assert not {"FC301", "FC001"} & set(codes)
    assert codes["FC123"].insert == "FC123: because "


@pytest.mark.parametrize(
    "before", ["define = =\n", "limit 5 }\n", "workflow v {{ propose {{ }} }}\n".format(), "# \u202e\n"]
)
def test_a_mistake_elsewhere_does_not_matter(before):
    """What comes before and after may be broken; the clause at hand is read by itself."""
    text = before + WORKFLOW.format(**{**EMPTY, "propose": "show a.|", "act": "rate = 5 per", "inventory": "deadline"})
    assert {"id", "owner"} <= set(proposed(text))
