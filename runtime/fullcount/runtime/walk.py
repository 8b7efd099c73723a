"""How stages start: only when every incoming edge's requirement is met by what its tail produced.

This is the one place where a stage is started (design section 4). It knows no stage by name: the graph says what
follows what and which evidence each edge requires; `unmet` says whether it is there.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, MutableMapping
from dataclasses import dataclass, field
from datetime import datetime

import networkx as nx

from fullcount.compiler.graph import Stage, requirement_of, stage_of
from fullcount.runtime.evidence.refusal import Finding, Ground, Refusal
from fullcount.runtime.evidence.satisfy import Produced, needs, unmet, with_needs

Evidence = Mapping[str, Produced]
"""What each stage that has ended well produced, by node."""

Start = Callable[[Stage, Evidence], Awaitable[Produced | Refusal | None]]
"""A stage's work. It is only ever called by `walk`. None: the stage is the last and hands nothing on."""

_GROUNDS: Mapping[str, Ground] = {"approved": Ground.POLICY}
"""On which ground an unmet requirement of a kind refuses; every other kind is a matter of evidence."""


@dataclass(slots=True)
class Walked:
    """How far a walk came. A node in neither mapping was not started, or was the last."""

    evidence: MutableMapping[str, Produced] = field(default_factory=dict)
    refusals: MutableMapping[str, Refusal] = field(default_factory=dict)


async def walk(
    graph: nx.DiGraph[str],
    starts: Mapping[str, Start],
    clock: Callable[[], datetime],
    known: Evidence | None = None,
) -> Walked:
    """Walk the graph in topological order and start each stage whose requirements are met.

    `starts` holds the work of each kind of stage; a kind without one is where the walk ends (a plan has no way to
    act). `known` is the evidence of stages that ended in an earlier walk. Stages of one generation do not depend on
    one another and run side by side. Refusals are collected, so that a person sees all of them at once. An error of a
    stage ends the walk and is raised as it is; the stages beside it are cancelled.
    """
    walked = Walked(dict(known or {}))
    for generation in nx.topological_generations(graph):
        pending = [node for node in sorted(generation) if node not in walked.evidence]
        try:
            async with asyncio.TaskGroup() as group:
                for node in pending:
                    group.create_task(_visit(graph, node, starts, clock, walked))
        except BaseExceptionGroup as errors:
            # Whoever handles errors knows them by their class; that stages run side by side is a matter of this module.
            raise _first(errors) from errors
    return walked


def _first(errors: BaseExceptionGroup[BaseException]) -> BaseException:
    """Return the error that ended the walk: those that came after it are in its cause."""
    first = errors.exceptions[0]
    return _first(first) if isinstance(first, BaseExceptionGroup) else first


async def _visit(
    graph: nx.DiGraph[str],
    node: str,
    starts: Mapping[str, Start],
    clock: Callable[[], datetime],
    walked: Walked,
) -> None:
    stage = stage_of(graph, node)
    start = starts.get(stage.kind)
    tails = sorted(graph.predecessors(node))
    if start is None or any(tail not in walked.evidence for tail in tails):
        return
    findings: list[Finding] = []
    grounds: set[Ground] = set()
    for tail in tails:
        requirement = requirement_of(graph, tail, node)
        missing = unmet(requirement, walked.evidence[tail], clock())
        findings.extend(missing)
        if missing:
            grounds.add(_GROUNDS.get(requirement.kind, Ground.EVIDENCE))
    if findings:
        # Missing evidence is the graver ground: no approval can make up for it.
        ground = Ground.EVIDENCE if Ground.EVIDENCE in grounds else grounds.pop()
        walked.refusals[node] = Refusal(stage=node, ground=ground, findings=tuple(findings))
        return
    result = await start(stage, walked.evidence)
    if isinstance(result, Refusal):
        walked.refusals[node] = _with_needs(graph, node, result)
    elif result is not None:
        walked.evidence[node] = result


def _with_needs(graph: nx.DiGraph[str], node: str, refusal: Refusal) -> Refusal:
    """Return a stage's own refusal with the uses, further down the graph, that needed what it could not give.

    The act needs what its proposal needs; a use is named once, where it comes first.
    """
    needed = {
        need.place: need
        for head in reversed([each for each in nx.topological_sort(graph) if graph.has_edge(node, each)])
        for need in needs(requirement_of(graph, node, head), head)
    }
    if not needed or any(finding.needed_by for finding in refusal.findings):
        return refusal
    return refusal.model_copy(update={"findings": with_needs(refusal.findings, tuple(needed.values()))})
