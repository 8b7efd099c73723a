"""One night of a clean-up in a few lines: the rule, the objects, and what must come of it.

    night.says("volumes", "where v.last_used is absent", 'given volumes [{ id: "v1" }] expect plan empty')

The sources are only declared, everything else is the product: the compiler, and the engine from collecting to the act.
A workflow is written around the rule that says nothing of its own: it reads every field of the resource, demands what
the compiler demands, allows up to 50 objects, and deletes. The row is called by the first letter of the inventory.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from fullcount.compiler import program
from fullcount.compiler.pipeline import Compiled
from fullcount.dsl.render import render
from fullcount.runtime.trials.rehearse import Came, Theatre
from fullcount.runtime.trials.run import cases_of, try_out
from fullcount.runtime.workflow_files import compile_file
from fullcount.runtime.workspace import Workspace

_DELETED = """
effect = "delete"
closure = "none"
idempotency = "natural"
parameters = { id = { type = "text", key = "id" } }
"""
_VOUCHED = """
key = ["id"]
consistency = "interval"
visibility = "vouched"
"""

CONFIGURATION = f"""\
[workspace]
name = "night"

[sources.cloud]
connector = "declared"
[sources.cloud.resources.volumes]{_VOUCHED}
incarnation = "made"
version = "revision"
lookup = ["id"]
fields = {{ id = "text", made = "text", revision = "int", name = "text", team = "text", state = "text", \
owner = "text?", created = "timestamp", last_used = "timestamp?", expires = "timestamp?", born = "date?", \
uses = "int?", tags = "map<text>", labels = "list<text>" }}
[sources.cloud.resources.volumes.operations.delete]{_DELETED}
[sources.cloud.resources.volumes.operations.warn]
effect = "update"
idempotency = "natural"
reversible = true
undoes = ["warn"]
parameters = {{ id = {{ type = "text", key = "id" }} }}
[sources.cloud.resources.servers]{_VOUCHED}
fields = {{ id = "text", name = "text" }}
[sources.cloud.resources.servers.operations.delete]{_DELETED}

[sources.registry]
connector = "declared"
[sources.registry.resources.images]{_VOUCHED}
fields = {{ id = "text", channel = "text", pushed = "timestamp", tags = "list<text>" }}
[sources.registry.resources.images.operations.delete]{_DELETED}
[sources.registry.resources.tags]{_VOUCHED}
fields = {{ id = "text", image = "text" }}
[sources.registry.resources.bundles]{_VOUCHED}
fields = {{ id = "text", parts = "list<text>" }}
[sources.registry.resources.releases]{_VOUCHED}
fields = {{ id = "text", image = "text" }}

[sources.fleet]
connector = "declared"
[sources.fleet.resources.launches]{_VOUCHED}
lookup = ["image"]
fields = {{ id = "text", image = "text", account = "text" }}
[sources.fleet.resources.templates]{_VOUCHED}
fields = {{ id = "text", image = "text" }}

[sources.metrics]
connector = "declared"
[sources.metrics.resources.points]{_VOUCHED}
fields = {{ id = "text", of = "text", at = "timestamp", value = "decimal" }}

[roles]
ops = ["uid:1", "uid:2", "uid:3"]

[exemptions]
exemptions = "exemptions.toml"
"""

_DEFAULTS = {
    "volumes": """{ made: "m1", revision: 1, name: "data", team: "core", state: "free", owner: absent,
      created: now - 700d, last_used: absent, expires: absent, born: absent, uses: absent, tags: {}, labels: [] }""",
    "images": '{ channel: "stable", pushed: now - 700d, tags: [] }',
    "launches": '{ account: "own" }',
    "points": "{ at: now - 1d, value: 0.0 }",
    "bundles": "{ parts: [] }",
    "servers": '{ name: "s" }',
}


@dataclass(frozen=True, slots=True)
class Night:
    """A workspace of declared sources, and where its tests are tried."""

    real: Workspace
    theatre: Theatre

    # -- texts --------------------------------------------------------------------------------------------------------

    def text(
        self,
        inventory: str,
        rule: str,
        tests: str = "",
        *,
        also: Sequence[str] = (),
        head: str = "",
        inside: str = "",
        verify: str = "complete, fresh within 1h",
        limit: str = "limit 50, 100%",
        act: str = "",
        name: str = "tidy",
    ) -> str:
        """Return a workflow with this rule; `also` are further inventories, `head` stands before all, `inside` in the
        inventory. An act that is not given deletes."""
        row = inventory[0]
        read = "".join(self._inventory(each, inside if each == inventory else "") for each in (inventory, *also))
        promised = "".join(f"  verify {each} {{ {verify} }}\n" for each in (inventory, *also))
        defaults = "".join(
            f"  test defaults {each} {_DEFAULTS[each]}\n"
            for each in (inventory, *also)
            if each in _DEFAULTS and "given" in tests
        )
        does = act or f"act tidy with {self.source(inventory)}.{inventory}.delete(id: {row}.id) {{}}"
        return (
            f"workflow {name} {{\n  {head}\n{read}{promised}"
            f"  propose tidy from {inventory} as {row} {{\n    {rule}\n    {limit}\n  }}\n"
            f'  approve tidy {{ 2 of role "ops", expires after 3d }}\n  {does}\n{defaults}{_named(tests)}\n}}\n'
        )

    def source(self, resource: str) -> str:
        """Return the source that has a resource."""
        catalog = self.real.catalog()
        return next(each for each in catalog.sources() if resource in catalog.resources(each))

    def _inventory(self, name: str, inside: str) -> str:
        of = self.real.catalog().resources(self.source(name))[name]
        fields = ", ".join(f"{each}: {type_}" for each, type_ in of.fields.items())
        incarnation = "" if of.incarnation is None else f"incarnation {of.incarnation} "
        return (
            f"  inventory {name} from {self.source(name)}.{name} {{\n"
            f"    key id {incarnation}fields {{ {fields} }} {inside}\n  }}\n"
        )

    # -- what comes of them -------------------------------------------------------------------------------------------

    def compiled(self, text: str) -> Compiled:
        """Compile a whole file."""
        path = self.real.root / "workflows" / "tidy.fcw"
        path.write_text(text, "utf-8")
        return compile_file(path, self.real)

    def checked(self, text: str) -> list[str]:
        """Return what `check` says of a whole file: code and message of each finding."""
        return [f"{each.code} {each.message}" for each in self.compiled(text).diagnostics]

    def codes(self, inventory: str, rule: str, **more: str) -> list[str]:
        """Return the codes that `check` gives a rule."""
        return [each.code for each in self.compiled(self.text(inventory, rule, **more)).diagnostics]

    def workflow(self, text: str) -> program.Workflow:
        """Return the one workflow of a file without mistakes."""
        made = self.compiled(text)
        assert made.program is not None, render(made.diagnostics, made.sources, color=False)
        return made.program.workflows[0]

    def tries(self, text: str) -> Iterator[Came]:
        """Try the tests of a file, and yield what came of each. What was not expected of it is raised."""
        made = self.compiled(text)
        assert made.program is not None, render(made.diagnostics, made.sources, color=False)
        for case in cases_of(self.real.root / "workflows" / "tidy.fcw", made):
            came, misses = try_out(case, case.workflow, self.real, self.theatre)
            assert misses == (), "\n".join(f"{m.expected}: {m.came}\n{chr(10).join(m.why)}" for m in misses)
            yield came

    def says(self, inventory: str, rule: str, tests: str, **more: str | Sequence[str]) -> list[Came]:
        """Try tests of a rule: each has to come as it expects."""
        came = list(self.tries(self.text(inventory, rule, tests, **more)))  # type: ignore[arg-type]
        assert len(came) > 0
        return came


def _named(tests: str) -> str:
    """Return tests as they are, or the body of a single one with a name."""
    return tests if tests.strip().startswith("test ") or "given" not in tests else f'  test "it" {{\n{tests}\n  }}'


@contextlib.contextmanager
def opened(folder: Path) -> Iterator[Night]:
    """Make the workspace, and put up the stage."""
    (folder / "workflows").mkdir(parents=True)
    (folder / "fullcount.toml").write_text(CONFIGURATION, "utf-8")
    (folder / "exemptions.toml").write_text("", "utf-8")
    with Theatre() as theatre:
        yield Night(Workspace.load(folder), theatre)
