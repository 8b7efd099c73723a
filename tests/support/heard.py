"""What an API answered, as a few lines of a test: read by the dialect of the API, and handed to a night as evidence.

    verdict = heard("aws_dynamodb", ("ListTables", {"TableNames": ["a"], "LastEvaluatedTableName": "a"}))
    refused(night, verdict)

The answers go through the real client, dialect and collecting loop by an in-process transport; what is made of them
stands as the evidence of a rule, once for the objects themselves and once for what they are looked up in.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

from tests.support.nights import Night

from fullcount.runtime.conformance.case import Case
from fullcount.runtime.conformance.replay import decide
from fullcount.runtime.conformance.verdict import Verdict
from fullcount.runtime.evidence.codes import BLOCKING_WARNINGS, Decision

Answer = tuple[Any, ...]
"""What was asked (a path, an operation, or a whole request), and the body of the reply, or its status and body."""
_OBJECTS = '[{ id: "used" }, { id: "other" }]'
_USES = '[{ id: "1", of: "used" }]'
_TRIED: set[tuple[int | str, ...]] = set()
_UNUSED = "where no points as p where (p.of == v.id)"


def heard(api: str, *answers: Answer, fields: Sequence[str] = (), **limits: int) -> Verdict:
    """Return what is made of answers, one after another; `limits` are the reader's own, such as `max_pages`."""
    case = Case.model_validate(
        {
            "id": "heard",
            "api": api,
            "phase": "read",
            "exchange": [_step(*answer) for answer in answers],
            "client": limits,
            "expect": {
                "complete": True,
                "reasons": [],
                "continuation": None,
                "field_states": dict.fromkeys(fields, "present") or None,
                "decision": "act",
            },
        }
    )
    return asyncio.run(decide(case))


def refused(night: Night, verdict: Verdict) -> None:
    """Hold that this evidence selects nothing: as the objects, and as what uses them, of which none came."""
    assert verdict.decision is not Decision.ACT
    codes = [str(each) for each in sorted(verdict.reasons) or sorted(verdict.warnings & BLOCKING_WARNINGS)]
    if (id(night), *codes) in _TRIED:
        return  # the same evidence, and nothing of the answer is left in it
    _TRIED.add((id(night), *codes))
    evidence = f"{'partial' if len(verdict.reasons) > 0 else 'warned'} {', '.join(codes)}"
    says = f"expect refused {', '.join(codes)}"
    tests = (
        f"given volumes {evidence} {_OBJECTS} given points {_USES} {says}",
        f"given volumes {_OBJECTS} given points {evidence} empty {says}",
    )
    bodies = "\n".join(f'test "{number}" {{ {body} }}' for number, body in enumerate(tests))
    night.says("volumes", _UNUSED, bodies, also=("points",))


def _step(asked: str | dict[str, Any], *reply: Any) -> dict[str, Any]:
    status, body = reply if len(reply) > 1 else (200, *reply)
    if isinstance(asked, str):
        path = asked.startswith("/")
        asked = {"method": "GET", "path": asked} if path else {"method": "POST", "operation": asked, "params": {}}
    return {"request": asked, "response": {"status": status, "headers": {}, "body": body}}
