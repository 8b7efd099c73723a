"""FC67x: replaying recorded exchanges. No text of a workflow can produce these; they have no `.fcw` examples."""

from __future__ import annotations

from fullcount.dsl.codes.model import Code

CODES: tuple[Code, ...] = (
    Code(
        id="FC675",
        title="a line is no recorded case",
        explanation="""\
A file of recorded exchanges has one case a line, each an object in JSON with `id`, `api`, `phase` (`read` or `act`),
`exchange` (requests with their responses) and `expect` (`complete`, `reasons`, `continuation`, `warnings`,
`field_states`, `decision`). The message names the line and what does not fit. Nothing was replayed from that line on,
and the figure "N of M agree" is not printed: a file that is only half read proves nothing.""",
    ),
)
