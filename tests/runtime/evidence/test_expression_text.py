"""Expressions in words, for messages."""

from __future__ import annotations

import pytest

from fullcount.compiler import ir
from fullcount.compiler.types import BOOL, DURATION, INT, TEXT, TIMESTAMP, ListOf
from fullcount.runtime.evidence.expression_text import expression_text

NAME = ir.Field(ir.SELF, "accounts", "name", TEXT, optional=True)
N = ir.Field("a", "accounts", "n", INT, optional=False)
A, B = ir.Compare("==", NAME, ir.Const('say "x"', TEXT)), ir.Compare("<", N, ir.Const(3, INT))


@pytest.mark.parametrize(
    ("expr", "text"),
    [
        (A, 'name == "say \\"x\\""'),
        (ir.And((A, ir.Or((B, ir.Not(B))))), 'name == "say \\"x\\"" and (a.n < 3 or not a.n < 3)'),
        (ir.Not(ir.And((A, B))), 'not (name == "say \\"x\\"" and a.n < 3)'),
        (
            ir.Compare("<", ir.Arith("-", ir.Now(), ir.Const(7_776_000_000_000, DURATION), TIMESTAMP), ir.Now()),
            "now - 90d < now",
        ),
        (ir.IsState(NAME, "absent"), "name is absent"),
        (ir.In(NAME, ir.ListConst((ir.Const("a", TEXT), ir.Const("b", TEXT)), ListOf(TEXT))), 'name in ["a", "b"]'),
        (ir.Else(NAME, ir.Const("", TEXT), TEXT, optional=False), '(name else "")'),
        (ir.Call("starts_with", (NAME, ir.Const("svc-", TEXT)), BOOL), 'starts_with(name, "svc-")'),
        (ir.Not(ir.Some("people", "p", B)), "not some people as p where (a.n < 3)"),
        (ir.Const(0, TIMESTAMP), "1970-01-01T00:00:00Z"),
        (ir.Const(False, BOOL), "false"),
        (ir.Param("idle", DURATION), "idle"),
        (ir.Aggregate("count", "people", "p", ir.TRUE, None, INT), "(count people as p where (true))"),
    ],
)
def test_an_expression_reads_like_the_language(expr, text):
    """Brackets stand where they are needed, and values as they are written."""
    assert expression_text(expr) == text
