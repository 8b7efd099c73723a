"""A workspace whose sources are only declared, and a workflow whose tests are written in the test.

`tried(folder, "test …")` compiles the workflow with these tests and tries them: name -> result.
"""

from __future__ import annotations

from pathlib import Path

from fullcount.dsl.render import render
from fullcount.runtime.trials.rehearse import Theatre
from fullcount.runtime.trials.run import Result, cases_of, run_cases
from fullcount.runtime.workflow_files import compile_file
from fullcount.runtime.workspace import Workspace

CONFIGURATION = """\
[workspace]
name = "declared"

[sources.directory]
connector = "declared"
[sources.directory.resources.accounts]
key = ["id"]
incarnation = "entry_uuid"
version = "row_version"
consistency = "interval"
visibility = "vouched"
lookup = ["id"]
fields = { id = "text", entry_uuid = "text", owner = "text?", team = "text", last_login = "timestamp", \
tags = "map<text>", groups = "list<text>", locked = "bool", row_version = "int" }
[sources.directory.resources.accounts.operations.update]
effect = "update"
idempotency = "precondition"
reversible = true
undoes = ["update"]
parameters = { id = { type = "text", key = "id" }, locked = "bool" }

[sources.hr]
connector = "declared"
[sources.hr.resources.employees]
key = ["id"]
consistency = "pinned"
visibility = "vouched"
lookup = ["id"]
counted = true
fields = { id = "text", active = "bool" }
[sources.hr.resources.headcount]
key = ["id"]
consistency = "pinned"
visibility = "vouched"
counted = true
fields = { id = "text" }

[roles]
iam = ["uid:1", "uid:2", "uid:3"]

[exemptions]
exemptions = "exemptions.toml"
"""

WORKFLOW = """\
workflow orphans {{
  param idle: duration = 90d
  inventory accounts from directory.accounts {{
    key id
    incarnation entry_uuid
    fields {{ id: text, entry_uuid: text, owner: text?, team: text, last_login: timestamp, tags: map<text>,
             groups: list<text>, locked: bool }}
    scope team != "platform"
  }}
  inventory people from hr.employees {{ key id fields {{ id: text, active: bool }} }}

  verify accounts {{ complete, fresh within {fresh}, change at most 20% }}
  verify people   {{ complete, fresh within 24h, rows at least 2, count agrees with hr.employees }}

  propose lock from accounts as a {{
    where not a.locked and a.last_login < now - idle
      and (a.owner is absent or no people as p where (p.id == a.owner and p.active))
    except in exemptions
    except when a.team == "security"
    {clauses}
    limit 10, 50%
  }}
  approve lock {{ 2 of role "iam" not by author, expires after 2h }}
  act lock with directory.update(id: a.id, locked: true) {{
    undo directory.update(id: a.id, locked: false)
    {act}
  }}

  test defaults accounts {{ entry_uuid: "e1", owner: "p1", team: "core", last_login: now - 100d, tags: {{}},
                           groups: [], locked: false }}
  test defaults people {{ active: true }}
{tests}
}}
"""

PEOPLE = 'given people [{ id: "p1" }, { id: "left", active: false }]'
GIVEN = f'given accounts [{{ id: "orphan", owner: absent }}, {{ id: "owned" }}]\n    {PEOPLE}'


def workspace(
    folder: Path, tests: str = "", *, clauses: str = "", act: str = "", fresh: str = "1h"
) -> tuple[Workspace, Path]:
    """Make a workspace with one workflow; return it and the workflow's file."""
    (folder / "workflows").mkdir(parents=True, exist_ok=True)
    (folder / "fullcount.toml").write_text(CONFIGURATION, "utf-8")
    (folder / "exemptions.toml").write_text("", "utf-8")
    path = folder / "workflows" / "orphans.fcw"
    path.write_text(WORKFLOW.format(tests=tests, clauses=clauses, act=act, fresh=fresh), "utf-8")
    return Workspace.load(folder), path


def tried(folder: Path, tests: str, **changes: str) -> dict[str, Result]:
    """Try tests of the workflow; a mistake in them is shown and raised."""
    real, path = workspace(folder, tests, **changes)
    compiled = compile_file(path, real)
    assert compiled.program is not None, render(compiled.diagnostics, compiled.sources, color=False)
    with Theatre() as theatre:
        return {result.case.trial.name: result for result in run_cases(cases_of(path, compiled), real, theatre)}


def one(folder: Path, body: str, **changes: str) -> Result:
    """Try one test with this body."""
    return tried(folder, f'test "it" {{\n    {body}\n  }}', **changes)["it"]


def missed(result: Result) -> list[tuple[str, str]]:
    """Return what was expected and what came, for each difference."""
    return [(miss.expected, miss.came) for miss in result.misses]
