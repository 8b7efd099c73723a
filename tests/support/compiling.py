"""Short ways to compile a rule, or a whole file, against the example workspace."""

from __future__ import annotations

import posixpath
from collections.abc import Mapping

from tests.support.catalogs import EXAMPLE

from fullcount.compiler.imports import Loader, NotLoaded
from fullcount.compiler.pipeline import Compiled, compile_source
from fullcount.compiler.program import Proposal, Workflow
from fullcount.dsl.diagnostics import Diagnostic
from fullcount.dsl.source import Source

FIELDS = """id: text, entry_uuid: text, owner: text?, team: text, environment: text, created: timestamp,
      last_login: timestamp?, expires_on: date?, tags: map<text>, groups: list<text>, logins: int, locked: bool,
      protected: bool?, risk: decimal, session: duration, mailbox: size"""

_OTHERS = {
    "people": """
  inventory people from hr.employees {
    key id
    fields { id: text, active: bool, manager: text?, left_at: timestamp?, hired_at: timestamp }
  }
  verify people { complete, fresh within 24h }
""",
    "logins": """
  inventory logins from audit.logins {
    key id
    fields { id: text, account: text, at: timestamp, address: text?, bytes: size }
  }
  verify logins { complete, fresh within 24h }
""",
}


def with_rule(rule: str, *, clauses: str = "", params: str = "") -> str:
    """Return a file whose proposal has this rule, with the other inventories that the text names."""
    used = rule + clauses
    others = "".join(text for name, text in _OTHERS.items() if f" {name} as " in used)
    return f"""workflow tidy {{
  {params}
  inventory accounts from directory.accounts {{
    key id
    incarnation entry_uuid
    fields {{ {FIELDS} }}
  }}
  verify accounts {{ complete, fresh within 1h }}
{others}
  propose disable from accounts as a {{
    where {rule}
    limit 50, 5%
    {clauses}
  }}
  approve disable {{ 2 of role "iam-admin" not by author, expires after 3d }}
  act disable with directory.update(id: a.id, locked: true) {{
    undo directory.update(id: a.id, locked: false)
  }}
}}
"""


def loader_of(files: Mapping[str, str]) -> Loader:
    """Return a loader over texts in memory, by path from the folder of the first file."""

    def load(importing: str, path: str) -> Source | NotLoaded:
        name = posixpath.normpath(posixpath.join(posixpath.dirname(importing), path))
        if name.startswith(".."):
            return NotLoaded.OUTSIDE
        return Source(name, files[name]) if name in files else NotLoaded.MISSING

    return load


def compiled(text: str, files: Mapping[str, str] | None = None) -> Compiled:
    """Compile a file against the example workspace, with the files that it may import."""
    texts = {"tidy.fcw": text, **({} if files is None else files)}
    return compile_source(Source("tidy.fcw", text), EXAMPLE, loader_of(texts))


def findings(text: str) -> list[Diagnostic]:
    """Return what is found in a file, in the order of places."""
    return list(compiled(text).diagnostics)


def codes(text: str) -> list[str]:
    """Return the codes found in a file."""
    return [finding.code for finding in findings(text)]


def rule_codes(rule: str, *, clauses: str = "", params: str = "") -> list[str]:
    """Return the codes found in a file with this rule."""
    return codes(with_rule(rule, clauses=clauses, params=params))


def only(text: str) -> Diagnostic:
    """Return the one finding of a file."""
    (finding,) = findings(text)
    return finding


def underlined(text: str) -> str:
    """Return the text that the one finding of a file underlines."""
    return Source("tidy.fcw", text).slice(only(text).span)


def workflow(text: str) -> Workflow:
    """Return the one workflow of a file that compiles without an error."""
    result = compiled(text)
    assert result.program is not None, [(d.code, d.message) for d in result.diagnostics]
    (checked,) = result.program.workflows
    return checked


def proposal(rule: str, *, clauses: str = "", params: str = "") -> Proposal:
    """Return the checked proposal of a file with this rule."""
    (made,) = workflow(with_rule(rule, clauses=clauses, params=params)).proposals
    return made
