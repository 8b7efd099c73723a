"""Compiling is total: whatever was written, the answer is a program or findings, never an exception."""

import re

from hypothesis import given, settings
from hypothesis import strategies as st
from tests.support.catalogs import EXAMPLE
from tests.support.compiling import loader_of, with_rule

from fullcount.compiler.document import from_document, to_document
from fullcount.compiler.graph import build_graph
from fullcount.compiler.graph_render import to_svg
from fullcount.compiler.pipeline import compile_source
from fullcount.dsl.source import Source

SHARED = """edition "2026"
import "lib.fcw"
record person { id: text, active: bool, manager: text?, left_at: timestamp?, hired_at: timestamp }
define idle_since(last: timestamp?, made: timestamp) = last else made
define owned(owner: text?) = owner is present and some people as p where (p.id == owner and active(p.active))
"""
LIBRARY = "define active(x: bool) = x\n"
RICH = SHARED + with_rule(
    '(a.last_login else never) < now - idle and a.risk > 0.5 and not a.team in ["x", "y"] and lower(a.team) != \'z\''
    " and (a.owner is absent or no people as p where (p.id == a.owner and p.active))"
    " and count logins as l where (l.account == a.id and l.bytes > 1 KiB) < 3"
    ' and not owned(a.owner) and idle_since(a.last_login, a.created) < now and (json(a.team, "$.x") else "") == "y"'
    ' and any a.groups as g where (g == a.team) and not intersects(a.groups, ["admin"]) and sample(a.id, 10%)'
    ' and avg logins as l where (l.account == a.id) of l.bytes needs 3 < 1 KiB and cidr_contains("10.0.0.0/8", a.id)'
    " and (max logins as m where (m.account == a.id) of m.at else a.created) < 2026-01-31T00:00:00Z",
    clauses="except in exemptions except when a.locked show a.owner, a.logins * 2",
    params='schedule cron "0 2 * * *" timezone "Europe/Berlin" param idle: duration = 90d',
).replace("'z'", '"z"').replace(
    "fields { id: text, active: bool, manager: text?, left_at: timestamp?, hired_at: timestamp }",
    "fields { ...person }",
)
LOADER = loader_of({"lib.fcw": LIBRARY})
TOKENS = re.findall(r'"[^"\n]*"|[\w.%]+|[^\w\s]|\s+', RICH)
WORDS = sorted(
    {token for token in TOKENS if not token.isspace()} | {"all", "true", "0", "-1", "is present", "sum", "5%"}
)


@st.composite
def damaged(draw):
    """The rich workflow with a few words dropped, doubled, swapped or replaced."""
    tokens = list(TOKENS)
    for _ in range(draw(st.integers(1, 4))):
        at = draw(st.integers(0, len(tokens) - 1))
        other = draw(st.sampled_from([*WORDS, ""]))
        kind = draw(st.sampled_from(["drop", "double", "replace", "replace", "swap"]))
        if kind == "drop":
            del tokens[at]
        elif kind == "double":
            tokens.insert(at, tokens[at])
        elif kind == "replace":
            tokens[at] = other
        else:
            tokens[at - 1], tokens[at] = tokens[at], tokens[at - 1]
    return "".join(tokens)


def test_the_undamaged_workflow_compiles():
    """What the damage starts from is sound."""
    assert compile_source(Source("rich.fcw", RICH), EXAMPLE, LOADER).program is not None


@settings(max_examples=200, deadline=None)
@given(damaged())
def test_a_damaged_file_gives_a_program_or_findings_and_never_an_exception(text):
    """Every mistake is a finding within the file; what compiles can be drawn and stored."""
    compiled = compile_source(Source("rich.fcw", text), EXAMPLE, LOADER)
    findings = list(compiled.diagnostics)
    assert (compiled.program is None) == compiled.diagnostics.has_errors
    for finding in findings:
        assert finding.message
        whole = len(text if finding.span.source == "rich.fcw" else LIBRARY)
        assert 0 <= finding.span.start <= finding.span.end <= whole or finding.code < "FC100"
    if compiled.program is not None:
        assert from_document(to_document(compiled.program)) == compiled.program
        for workflow in compiled.program.workflows:
            assert to_svg(build_graph(workflow, compiled.sources))
