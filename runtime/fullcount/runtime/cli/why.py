"""`fullcount why PLAN OBJECT` and `why-not`: the rule as a tree, the facts behind each part, and what would flip it.

Both answer the same question, each as a person comes to ask it; what became of the object is the first word of either.
"""

from __future__ import annotations

import click

from fullcount.runtime.cli import options

object_key = click.argument(
    "key", metavar="OBJECT", help="The key of an object, as a screen shows it or as a JSON list."
)


@options.command()
@options.plan_id
@object_key
@options.as_json
def why(plan: str, key: str, as_json: bool) -> None:
    """Explain why a plan selects an object. Says what would flip that."""
    _explain(plan, key, as_json=as_json)


@options.command("why-not")
@options.plan_id
@object_key
@options.as_json
def why_not(plan: str, key: str, as_json: bool) -> None:
    """Explain why a plan does not select an object. Says what would flip that."""
    _explain(plan, key, as_json=as_json)


def _explain(plan: str, key: str, *, as_json: bool) -> None:
    from fullcount.compiler.document import workflow_from_document
    from fullcount.runtime.cli.screen import show_json
    from fullcount.runtime.cli.session import reading_session
    from fullcount.runtime.graphs import proposal_of
    from fullcount.runtime.plan.withheld import check_explained
    from fullcount.runtime.understand.explain import explain
    from fullcount.runtime.understand.explain_text import explanation_json, explanation_lines

    with reading_session() as here:
        stored = here.store.load_plan(plan)
        workflow = workflow_from_document(stored.document.program)
        recorded = here.workspace.recorded(workflow.inventories.values())
        check_explained(workflow, proposal_of(workflow, stored.document.proposal), recorded)
        found = explain(stored.document, here.engine.snapshots, key, here.engine.exemptions)
    if as_json:
        show_json(explanation_json(found))
    else:
        click.echo("\n".join(explanation_lines(found)))
