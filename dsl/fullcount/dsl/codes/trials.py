"""FC17x: tests of workflows: what they give and expect."""

from __future__ import annotations

from fullcount.dsl.codes.examples import tidy
from fullcount.dsl.codes.model import Code

_DEFAULTS = """\

  test defaults accounts { entry_uuid: "e1", owner: absent, team: "core", created: now - 400d, last_login: absent }
"""
_GIVEN = 'given accounts [{ id: "idle" }] and 40 more { last_login: now - 1d }'
_TEST = f"""
  test "an idle account is disabled" {{
    {_GIVEN}
    expect plan ["idle"]
  }}
"""
_END = "    undo directory.update(id: a.id, locked: false)\n  }\n"


def _tested(*changes: tuple[str, str]) -> str:
    """Return the workflow with a test, and in these each first text replaced by the second."""
    test = _DEFAULTS + _TEST
    for old, new in changes:
        if old not in test:
            raise ValueError(f"the test has no `{old}`")
        test = test.replace(old, new, 1)
    return tidy((_END, _END + test))


CODES: tuple[Code, ...] = (
    Code(
        id="FC171",
        title="not a value of its field",
        explanation=(
            "A row of a test says what a source would answer, in values of the declared types, or in the word for why "
            "there is none: `absent`, `not_requested`, `forbidden`, `failed`, `truncated`, `indeterminate`. Nothing is "
            "converted, a field that is declared without `?` is never absent, and a key is always there.\n\n"
            "Values are written out; instants may be counted from `now`, as `now - 91d`. They can't use the rule's "
            "parameters: a test that worked its values out from the rule would follow every mistake in it."
        ),
        wrong=_tested(("now - 1d", "1d")),
        right=_tested(),
    ),
    Code(
        id="FC172",
        title="a row that leaves a field unsaid",
        explanation=(
            "Each row of a test says something of every field that the workflow asks for, because absent, forbidden "
            "and forgotten are three things, and a rule answers each in another way.\n\n"
            "Say it in the row, or once for every row of an inventory with `test defaults accounts { … }`. Fields that "
            "a protection of the workspace reads belong to the row as well."
        ),
        wrong=_tested((", last_login: absent }", " }"), (" { last_login: now - 1d }", "")),
        right=_tested(),
    ),
    Code(
        id="FC173",
        title="an object that the test does not give",
        explanation=(
            "What is expected of an object that is not there holds, or fails, whatever the rule says, so that the test "
            "would prove nothing. Objects that `and … more` makes up have no name to expect them by; `expect count` "
            "counts them."
        ),
        wrong=_tested(('expect plan ["idle"]', 'expect plan ["idel"]')),
        right=_tested(),
    ),
    Code(
        id="FC174",
        title="a test that leaves something open",
        explanation=(
            "A test says what every source answers that the proposal reads, and sets every parameter that has no "
            "default. What nobody thought of must not count as empty.\n\n"
            "Add `given people [ … ]`, or `given people empty` if there is none."
        ),
        wrong=_tested((f"    {_GIVEN}\n", ""), ('expect plan ["idle"]', "expect plan empty")),
        right=_tested(),
    ),
    Code(
        id="FC175",
        title="a code that there is not",
        explanation=(
            "`partial` and `failed` name a reason of a source (`RESULT_LIMIT_REACHED`), `warned` a warning "
            "(`STALE_READ`), `refused` any of these or a code of evidence, approval, blast radius or run time. A test "
            "that expects what can't happen fails for the wrong reason, or hides the right one."
        ),
        wrong=_tested(("given accounts [", "given accounts partial LIMIT_REACHED [")),
        right=_tested(
            ("given accounts [", "given accounts partial RESULT_LIMIT_REACHED ["),
            ('expect plan ["idle"]', "expect refused RESULT_LIMIT_REACHED"),
        ),
    ),
    Code(
        id="FC176",
        title="a test that can't be as it says",
        explanation=(
            "The test gives what the proposal never reads, lets an object change in a way that would make it another "
            "one, adds one that is there, or expects an outcome where nothing is done."
        ),
        wrong=_tested(
            ('expect plan ["idle"]', 'before act recreate accounts "idle" { entry_uuid: "e1" }\n    expect count 1')
        ),
        right=_tested(
            (
                'expect plan ["idle"]',
                'before act recreate accounts "idle" { entry_uuid: "e2" }\n    expect outcome "idle" = recreated',
            )
        ),
    ),
)
