"""The workflow as a directed graph whose edges require evidence (requirement R42).

    inventory ─Collected─► verify ─Evidence─► propose ─Planned─► approve ─Approved─► act
                              └────────────────Evidence (at the moment of the act)────┘

    propose, act ─Ended─► notify: whoever is told of the end of a run, whatever it is.
An inventory that is read in the parts which another one names (`across`) comes after the `verify` of that one.

The runtime walks it in topological order and starts a stage only when every incoming edge is satisfied; there is no
other way for a stage to start. So the guarantee that matters is made here: no edge into a proposal or an act leaves
out a claim that the proposal's uses need, and building fails rather than draw such an edge.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

import networkx as nx

from fullcount.compiler.claims import Direction, Fresh
from fullcount.compiler.edges import (
    Approved,
    AutomaticModel,
    Collected,
    Ended,
    Evidence,
    Planned,
    QuorumModel,
    Requirement,
    claim_model,
    duration_text,
)
from fullcount.compiler.program import RELEASE, Act, Notify, Proposal, Step, Use, Workflow
from fullcount.compiler.promises import covered
from fullcount.dsl.dataclass import dataclass
from fullcount.dsl.source import Source

StageKind = Literal["inventory", "verify", "propose", "approve", "act", "notify"]
STAGE_KINDS: tuple[StageKind, ...] = ("inventory", "verify", "propose", "approve", "act", "notify")
"""The kinds of stages in the order of the story."""

_DIRECTIONS = tuple(Direction)


class GraphError(ValueError):
    """A workflow that can't be drawn because evidence for a use is not promised; a checked program never is one."""


@dataclass(frozen=True, slots=True)
class Stage:
    """A node: what kind of work, for which inventory, proposal or notifier.

    `detail` says more of it, for people: the steps of a graduated act.
    """

    kind: StageKind
    name: str
    detail: str = ""

    @property
    def node(self) -> str:
        """The node's name in the graph."""
        return f"{self.kind}:{self.name}"


def build_graph(workflow: Workflow, sources: Mapping[str, Source] | None = None) -> nx.DiGraph[str]:
    """Return the graph of a checked workflow.

    Nodes have the attribute `stage`, edges `requirement`. With the `sources` of the compilation, each use is given with
    its place and text. Raises GraphError.
    """
    graph: nx.DiGraph[str] = nx.DiGraph(workflow=workflow.name)
    acts = {act.proposal: act for act in workflow.acts}
    for proposal in workflow.proposals:
        propose = _add(graph, Stage("propose", proposal.name))
        acted = acts.get(proposal.name)
        act = None if acted is None else _add(graph, Stage("act", proposal.name, _steps_text(acted)))
        for name in dict.fromkeys(use.inventory for use in proposal.uses):
            verify = _reading(graph, name)
            for across in workflow.inventories[name].across:
                if across.inventory is not None:  # it is read first: it says which parts there are
                    parts = _reading(graph, across.inventory)
                    listed = _evidence(across.inventory, proposal, workflow, sources or {})
                    graph.add_edge(parts.node, f"inventory:{name}", requirement=listed)
            evidence = _evidence(name, proposal, workflow, sources or {})
            graph.add_edge(verify.node, propose.node, requirement=evidence)
            if act is not None:
                graph.add_edge(verify.node, act.node, requirement=evidence)
        if act is not None:
            _approval(graph, workflow, propose, act)
        for each in workflow.notifies:
            _told(graph, each, propose, act)
    return graph


def requirement_of(graph: nx.DiGraph[str], tail: str, head: str) -> Requirement:
    """Return what the edge from `tail` to `head` requires."""
    requirement: Requirement = graph.edges[tail, head]["requirement"]
    return requirement


def stage_of(graph: nx.DiGraph[str], node: str) -> Stage:
    """Return the stage that a node stands for."""
    stage: Stage = graph.nodes[node]["stage"]
    return stage


def _steps_text(act: Act) -> str:
    parts = [_step_text(step) for step in act.steps]
    rehearsal = ["a restore is rehearsed"] if act.rehearse else []
    return ", ".join((*parts, *([RELEASE] if act.release is not None else []), *rehearsal))


def _step_text(step: Step) -> str:
    after = f" after {duration_text(step.after)}" if step.after > 0 else ""
    return f"{step.label}{after}{' (its restore is rehearsed)' if step.rehearse else ''}"


def _add(graph: nx.DiGraph[str], stage: Stage) -> Stage:
    graph.add_node(stage.node, stage=stage)
    return stage


def _reading(graph: nx.DiGraph[str], inventory: str) -> Stage:
    read, verify = _add(graph, Stage("inventory", inventory)), _add(graph, Stage("verify", inventory))
    graph.add_edge(read.node, verify.node, requirement=Collected(inventory=inventory))
    return verify


def _approval(graph: nx.DiGraph[str], workflow: Workflow, propose: Stage, act: Stage) -> None:
    approval = next((each for each in workflow.approvals if each.proposal == act.name), None)
    if approval is None:
        raise GraphError(f"`act {act.name}` has no approval")
    approve = _add(graph, Stage("approve", act.name))
    graph.add_edge(propose.node, approve.node, requirement=Planned(proposal=act.name))
    quorums = tuple(QuorumModel(count=q.count, role=q.role, not_by_author=q.not_by_author) for q in approval.quorums)
    rule = approval.automatic
    automatic = (
        None
        if rule is None
        else AutomaticModel(count=rule.count, percent=rule.percent, reversible=rule.reversible, words=rule.text)
    )
    required = Approved(proposal=act.name, quorums=quorums, expires=approval.expires, automatic=automatic)
    graph.add_edge(approve.node, act.node, requirement=required)


def _told(graph: nx.DiGraph[str], told: Notify, propose: Stage, act: Stage | None) -> None:
    """Draw who is told of the end of a planning run, and who of the end of an act or of its undoing."""
    notify = _add(graph, Stage("notify", told.target))
    graph.add_edge(propose.node, notify.node, requirement=Ended(events=told.events))
    acted = tuple(event for event in told.events if event != "waiting")
    if act is not None and len(acted) > 0:
        graph.add_edge(act.node, notify.node, requirement=Ended(events=acted))


def _evidence(inventory: str, proposal: Proposal, workflow: Workflow, sources: Mapping[str, Source]) -> Evidence:
    """Return everything that `verify` promises of an inventory, having made sure that it covers every use."""
    promised = workflow.verifies.get(inventory, ())
    uses = [use for use in proposal.uses if use.inventory == inventory]
    for use in uses:
        lacking = [claim for claim in use.claims if not covered(claim, promised)]
        if len(lacking) > 0:
            raise GraphError(f"`{proposal.name}` uses `{inventory}` in {use.direction} without {lacking[0]}")
    ages = [claim.max_age for claim in promised if isinstance(claim, Fresh) and claim.max_age is not None]
    if len(ages) == 0:
        raise GraphError(f"nothing says how old `{inventory}` may be")
    used = {use.direction for use in uses}
    return Evidence(
        inventory=inventory,
        directions=tuple(direction for direction in _DIRECTIONS if direction in used),
        claims=tuple(claim_model(claim) for claim in promised),
        max_age=min(ages),
        uses=tuple(_use_text(use, sources) for use in uses),
    )


def _use_text(use: Use, sources: Mapping[str, Source]) -> str:
    source = sources.get(use.span.source)
    if source is None:
        return str(use.direction)
    line, column = source.position(use.span.start)
    text = " ".join(source.slice(use.span).split())
    return f"{use.direction}  {source.name}:{line}:{column}  {text}"
