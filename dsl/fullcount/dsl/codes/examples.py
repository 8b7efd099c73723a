"""The workflow that the examples of codes are made from: one small clean-up, changed in the place that matters.

Every example is a whole file, so that it can be copied, compiled and trusted.
"""

from __future__ import annotations

TIDY = """\
workflow tidy_accounts {
  inventory accounts from directory.accounts {
    key id
    incarnation entry_uuid
    fields { id: text, entry_uuid: text, owner: text?, team: text, created: timestamp, last_login: timestamp? }
  }

  verify accounts { complete, fresh within 1h }

  propose disable from accounts as a {
    where (a.last_login else a.created) < now - 90d
    limit 50, 5%
  }

  approve disable { 2 of role "iam-admin" not by author, expires after 3d }

  act disable with directory.update(id: a.id, locked: true) {
    undo directory.update(id: a.id, locked: false)
  }
}
"""

WHERE = "(a.last_login else a.created) < now - 90d"
VERIFY = "  verify accounts { complete, fresh within 1h }\n"
PEOPLE = """\
  inventory people from hr.employees {
    key id
    fields { id: text, active: bool }
  }

"""
ORPHANED = "a.owner is present and no people as p where (p.id == a.owner)"
VERIFY_PEOPLE = "  verify people { complete, fresh within 24h }\n"


_DEFAULTS = """
  test defaults accounts {
    entry_uuid: "e", owner: "p1", team: "core", created: now - 900d, last_login: now - 100d
  }
  test defaults people { active: true }

"""


def tidy(*changes: tuple[str, str]) -> str:
    """Return the workflow with each first text replaced by the second. Raises ValueError if one does not occur."""
    text = TIDY
    for old, new in changes:
        if old not in text:
            raise ValueError(f"the example has no `{old}`")
        text = text.replace(old, new, 1)
    return text


def ruled(rule: str) -> str:
    """Return the workflow with another rule."""
    return tidy((WHERE, rule))


def with_people(*changes: tuple[str, str], rule: str = ORPHANED, verify: str = VERIFY_PEOPLE) -> str:
    """Return the workflow with a second inventory, its `verify`, and a rule that looks into it."""
    return tidy((WHERE, rule), (VERIFY, PEOPLE + VERIFY + verify), *changes)


def tried(given: str, expected: str, *changes: tuple[str, str]) -> str:
    """Return a workflow over two inventories with a test of what is refused, or planned, over some data.

    Everything that the rule names occurs in the data, unless the example takes it away.
    """
    text = with_people(("limit 50, 5%", "limit 50, 50%"), *changes)
    body = "".join(f"    {line}\n" for line in (*given.split("\n"), f"expect {expected}"))
    return text.removesuffix("}\n") + f'{_DEFAULTS}  test "one night" {{\n{body}  }}\n}}\n'
