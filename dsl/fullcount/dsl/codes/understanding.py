"""FC68x: questions about stored plans and snapshots (`why`, `eval`, `diff`). Their examples are sessions."""

from __future__ import annotations

from fullcount.dsl.codes.model import Code, Form
from fullcount.dsl.codes.terminal import edited, session

_TWO_FIELDS = ('key = ["id"]\nfields = { id = "text", active', 'key = ["id", "active"]\nfields = { id = "text", active')
_PEOPLE = """\
workflow people_who_left {
  inventory people from hr.employees {
    key id
    fields { id: text, active: bool }
  }

  verify people { complete, fresh within 24h }

  propose left from people as p {
    where not p.active
    limit 5, 50%
  }
}
"""


CODES: tuple[Code, ...] = (
    Code(
        id="FC680",
        title="the object is not in the snapshot",
        explanation="""\
A plan can only be asked about objects that were read for it. There is no row with this key in the snapshot of the
plan's own inventory: the object did not exist when it was read, was not in the inventory's scope (rows outside of it
are not stored), or its key is written otherwise. The message says how many rows were looked at, and names keys that are
close.

Nothing follows from this about what exists at the source now.""",
        form=Form.COMMAND,
        wrong=session("fullcount why PLAN a99"),
        right=session("fullcount why PLAN a01"),
    ),
    Code(
        id="FC681",
        title="the key of an object can't be read",
        explanation="""\
An object is named by its key, just as a screen shows it: `svc-mailer`, `42`, `'eu-west-1 / vol-17'`, a line break as
`\\n`, and shortened in the middle where the screen did that. Or by a JSON list of the key's parts, in the order of the
inventory's `key` clause: `'["eu-west-1", "vol-17"]'`. Each part must be of its field's type.

A text that could be several objects is refused, with what names each of them alone.""",
        form=Form.COMMAND,
        wrong=session("fullcount plan people.fcw", "fullcount why PLAN p4"),
        right=session("fullcount plan people.fcw", """fullcount why PLAN '["p4", false]'"""),
        files=(*edited("fullcount.toml", _TWO_FIELDS), ("people.fcw", _PEOPLE.replace("key id", "key (id, active)"))),
    ),
    Code(
        id="FC682",
        title="the snapshots do not answer this workflow's questions",
        explanation="""\
`eval` and `diff` read no source: they run a workflow over the snapshots of an earlier plan or run. That only means
something if the workflow asks what was asked then: the same resources with the same keys, fields that were read with
the same types, and no row that the scope of then left out. The message says what is missing.

An inventory that was not read is never taken as empty, and a field that was not read never as absent. Plan the changed
workflow, and evaluate on that plan.""",
        form=Form.COMMAND,
        wrong=session("fullcount eval people.fcw --on PLAN"),
        right=session("fullcount plan people.fcw", "fullcount eval people.fcw --on PLAN"),
        files=(("people.fcw", _PEOPLE.replace("people", "staff")),),
    ),
    Code(
        id="FC683",
        title="there is nothing to evaluate on",
        explanation="""\
The id that was given is neither that of a plan nor of a run that read anything: there is none such, several begin so,
or the run ended before it had read an inventory. `fullcount runs` lists runs and plans with their ids.""",
        form=Form.COMMAND,
        wrong=session("fullcount eval accounts.fcw --on 01ZZZ"),
        right=session("fullcount eval accounts.fcw --on PLAN"),
    ),
    Code(
        id="FC684",
        title="these two proposals select from different collections",
        explanation="""\
`diff` says which objects enter and which leave a selection, so both proposals must select from the same resource by the
same key. These do not; every object of one would leave and every object of the other enter, which says nothing about an
edit.""",
        form=Form.COMMAND,
        wrong=session("fullcount diff accounts.fcw people.fcw --on PLAN"),
        right=session("fullcount diff accounts.fcw stricter.fcw --on PLAN"),
        files=(("people.fcw", _PEOPLE), ("stricter.fcw", edited("accounts.fcw", ("90d", "180d"))[0][1])),
    ),
)
