"""FC67x: replaying recorded exchanges. Its example is a session."""

from __future__ import annotations

from fullcount.dsl.codes.model import Code, Form
from fullcount.dsl.codes.terminal import session

_CASE = (
    '{ "id": "no-end", "api": "generic_http", "phase": "read", "exchange": [{ "request": { "method": "GET", '
    '"path": "/things" }, "response": { "status": 200, "body": { "items": [] } } }], "expect": { "complete": false, '
    '"reasons": ["COMPLETENESS_UNPROVABLE"], "continuation": null, "decision": "refuse_or_request_review" } }\n'
)

CODES: tuple[Code, ...] = (
    Code(
        id="FC675",
        title="a line is no recorded case",
        explanation="""\
A file of recorded exchanges has one case a line, each an object in JSON with `id`, `api`, `phase` (`read` or `act`),
`exchange` (requests with their responses) and `expect` (`complete`, `reasons`, `continuation`, `warnings`,
`field_states`, `decision`). No two have the same `id`. The message names the line and what does not fit. Where other
lines are cases, they are replayed, such a line counts as one that does not agree, and its message is printed beside the
verdicts that differ.""",
        form=Form.COMMAND,
        wrong=session("fullcount conformance replay cases.jsonl"),
        right=session("fullcount conformance replay cases.jsonl"),
        files=(("cases.jsonl", _CASE),),
        wrong_files=(("cases.jsonl", _CASE.replace('"phase": "read", ', "")),),
    ),
)
