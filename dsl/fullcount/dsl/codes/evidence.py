"""FC3xx: what a conclusion rests on."""

from __future__ import annotations

from fullcount.dsl.codes.examples import TIDY, VERIFY, WHERE, tidy, with_people
from fullcount.dsl.codes.model import Code

_TICKETS = """\
  inventory tickets from legacy.tickets {
    key id
    fields { id: text, account: text }
  }

"""
_VERIFY_TICKETS = "  verify tickets { complete, fresh within 1h }\n"

_VOLUMES = """\
workflow tidy_volumes {
  inventory volumes from cloud.volumes {
    key id
    fields { id: text, attached: bool, created: timestamp }
    expect id == "vol-canary"
  }

  verify volumes { complete, fresh within 1h }

  propose remove from volumes as v {
    where not v.attached and v.created < now - 30d
    limit 20, 2%
  }

  approve remove { 2 of role "platform" not by author, expires after 2d }

  act remove with cloud.delete_volume(id: v.id)
}
"""

CODES: tuple[Code, ...] = (
    Code(
        id="FC301",
        title="absence concluded from an inventory that nothing verifies as complete",
        explanation=(
            "`no`, `not some`, `count … < n` and their like conclude from rows that were not returned. If the "
            "reading was cut short (a limit, a lost page, a permission that was withdrawn), every missing row "
            "looks as if it did not exist, and the objects that depend on it are selected: this is how a partial "
            "list deletes the wrong things at scale, without any error.\n\n"
            "Verify the inventory: `verify people { complete, fresh within 24h }`. The run is then refused, with "
            "reasons, whenever that can't be shown."
        ),
        wrong=with_people(verify=""),
        right=with_people(),
    ),
    Code(
        id="FC302",
        title="acting on an inventory that nothing verifies as complete",
        explanation=(
            "An act may only take objects that a complete reading selected, bound to its snapshot. The same list "
            "is the population of every cap and percentage: 5 % of half a list is not 5 %.\n\n"
            "Verify the inventory as `complete`."
        ),
        wrong=tidy((VERIFY, "  verify accounts { fresh within 1h }\n")),
        right=TIDY,
    ),
    Code(
        id="FC350",
        title="an expectation about what the rule does not ask",
        explanation=(
            "`expect no …` in a proposal says that a run need not refuse where a join matches nobody, a field has no "
            "value, or what a negative condition names does not occur. This one is about nothing that the rule takes "
            "for granted, so it would excuse nothing, while whoever wrote it believes the opposite.\n\n"
            "Write the test as the rule does, with the inventory that it is about; or remove the line, if the rule "
            "has changed since."
        ),
        wrong=with_people(
            ("    limit 50", '    expect no people as p where (p.active) because "nobody works at night"\n    limit 50')
        ),
        right=with_people(
            (
                "    limit 50",
                '    expect no people as p where (p.id == a.owner) because "a new hire"\n    limit 50',
            )
        ),
    ),
    Code(
        id="FC303",
        title="no stated age",
        explanation=(
            "Evidence grows old. A row that was true last week is no evidence for an act tonight, so each "
            "inventory that a rule uses says how old its reading may be: `fresh within 24h`. The age is checked "
            "when the plan is made and again at the moment of each act."
        ),
        wrong=tidy((VERIFY, "  verify accounts { complete }\n")),
        right=TIDY,
    ),
    Code(
        id="FC304",
        title="a stronger snapshot than the source can give",
        explanation=(
            "The connector declares how well the pages of a reading belong together. `snapshot pinned` asks for "
            "all of them from one instant, which this source can't give, so no run could ever meet the claim."
        ),
        wrong=tidy(("complete, fresh within 1h", "complete, snapshot pinned, fresh within 1h")),
        right=with_people(verify="  verify people { complete, snapshot pinned, fresh within 24h }\n"),
    ),
    Code(
        id="FC305",
        title="a source whose pages shift",
        explanation=(
            "The source counts its pages by offset, or in no stable order. An object that moves between two pages "
            "while they are read is returned by neither, and nothing shows it. Such a reading can't be complete, "
            "so nothing may be concluded from what it lacks. It may still serve as a witness, in `some … where "
            "(…)`."
        ),
        wrong=tidy((VERIFY, _TICKETS + VERIFY + _VERIFY_TICKETS), (WHERE, "no tickets as t where (t.account == a.id)")),
        right=tidy(
            (VERIFY, _TICKETS + VERIFY + "  verify tickets { fresh within 1h }\n"),
            (WHERE, "some tickets as t where (t.account == a.id)"),
        ),
    ),
    Code(
        id="FC306",
        title="a source that hides objects, and no canary",
        explanation=(
            "The source leaves out what its caller may not see, without a word. A permission that was withdrawn "
            "then looks exactly like objects that do not exist.\n\n"
            'Name at least one object that must always be seen: `expect id == "…"`. If it is missing, visibility '
            "was lost and the run is refused. Of a source that is read in parts, one is needed in each: rights can be "
            "lost in one region or account alone."
        ),
        wrong=_VOLUMES.replace('    expect id == "vol-canary"\n', ""),
        right=_VOLUMES,
    ),
    Code(
        id="FC308",
        title="a value that means nothing",
        explanation=(
            "`fresh within 0s` can never hold, `rows at least 0` always does, and `change at most 0%` stops at "
            "the first new object. A claim like that was mistyped, or switches a check off by accident."
        ),
        wrong=tidy(("complete, fresh within 1h", "complete, fresh within 1h, rows at least 0")),
        right=tidy(("complete, fresh within 1h", "complete, fresh within 1h, rows at least 100")),
    ),
)
