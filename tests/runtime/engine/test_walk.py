"""The walk: the one place where a stage is started, over real requirements and generated graphs."""

import asyncio
from dataclasses import dataclass

import networkx as nx
import pytest
from hypothesis import event, given
from hypothesis import strategies as st
from tests.support.evidence import NOW, envelope_of
from tests.support.profiles import examples

from fullcount.compiler.edges import Approved, Collected, QuorumModel
from fullcount.compiler.graph import Stage
from fullcount.runtime.errors import FullcountError
from fullcount.runtime.evidence.refusal import Finding, Ground, Refusal
from fullcount.runtime.walk import walk

OWN, OTHER, REFUSES, NOTHING, UNSTARTABLE = "own", "other", "refuses", "nothing", "unstartable"


@dataclass(frozen=True)
class World:
    """A graph of stages, and what each of them comes to if it is started. Stage `n` depends on earlier ones only."""

    tails: tuple[tuple[int, ...], ...]
    outcomes: tuple[str, ...]
    known: frozenset[int]

    @property
    def size(self):
        return len(self.outcomes)

    def graph(self):
        graph = nx.DiGraph()
        for number in range(self.size):
            kind = "act" if self.outcomes[number] == UNSTARTABLE else "verify"
            graph.add_node(node(number), stage=Stage(kind, str(number)))
        for number, tails in enumerate(self.tails):
            for tail in tails:
                graph.add_edge(node(tail), node(number), requirement=Collected(inventory=f"i{tail}"))
        return graph

    def expected(self):
        """Say which stages start, refuse and hand on evidence: the rule, written down once more without a graph."""
        started, refused, evidence = set(), set(), dict.fromkeys(self.known, OWN)
        for number, tails in enumerate(self.tails):
            outcome = self.outcomes[number]
            if number in self.known or outcome == UNSTARTABLE or not set(tails) <= set(evidence):
                continue
            if any(evidence[tail] == OTHER for tail in tails):
                refused.add(number)
                continue
            started.add(number)
            if outcome in {OWN, OTHER}:
                evidence[number] = outcome
            elif outcome == REFUSES:
                refused.add(number)
        return started, refused, set(evidence)


def node(number):
    return f"stage:{number:02}"


@st.composite
def worlds(draw):
    size = draw(st.integers(1, 9))
    tails = tuple(tuple(sorted(draw(st.sets(st.integers(0, n - 1), max_size=3)))) if n else () for n in range(size))
    usual = st.sampled_from([OWN, OWN, OWN, OWN, OTHER, REFUSES, NOTHING, UNSTARTABLE])
    outcomes = tuple(draw(st.lists(usual, min_size=size, max_size=size)))
    known = draw(st.sets(st.integers(0, size - 1), max_size=2)) if draw(st.booleans()) else set()
    return World(tails, outcomes, frozenset(known))


def produced(number, outcome):
    """Evidence of the stage's own inventory, which its edges ask for, or of another one, which meets none of them."""
    match outcome:
        case "own":
            return envelope_of(inventory=f"i{number}")
        case "other":
            return envelope_of(inventory="something else")
        case "refuses":
            return refusal(node(number))
        case _:
            return None


def refusal(stage, ground=Ground.EVIDENCE):
    return Refusal(stage=stage, ground=ground, findings=(Finding(code="FC747", message="no"),))


async def walked(world):
    """Walk a world; return the walk, and the order in which its stages began and ended."""
    log = []

    async def start(stage, _evidence):
        number = int(stage.name)
        log.append(("begin", number))
        await asyncio.sleep(0)
        log.append(("end", number))
        return produced(number, world.outcomes[number])

    known = {node(number): produced(number, OWN) for number in world.known}
    return await walk(world.graph(), {"verify": start}, lambda: NOW, known), log


@pytest.mark.requirement("R42", "R43", "R21")
@given(worlds())
@examples(600)
def test_stage_starts_only_when_every_incoming_edge_is_met(world):
    """A stage is started if and only if each edge into it is met by what its tail produced, and never before that."""
    walk_, log = asyncio.run(walked(world))
    started, refused, evidence = world.expected()
    begun = [number for what, number in log if what == "begin"]
    assert len(begun) == len(set(begun))
    assert set(begun) == started
    assert {name for name, made in walk_.evidence.items() if made is not None} == {node(n) for n in evidence}
    assert set(walk_.refusals) == {node(number) for number in refused}
    for number in begun:
        for tail in set(world.tails[number]) - world.known:
            assert log.index(("end", tail)) < log.index(("begin", number))
    event(f"{len(refused)} refused, {len(started)} started")


@pytest.mark.requirement("R42", "R21")
@given(worlds())
@examples(300)
def test_nothing_downstream_of_a_refusal_starts(world):
    """Whatever can be reached from a refused stage is never started, however the paths to it run."""
    walk_, log = asyncio.run(walked(world))
    begun = {node(number) for what, number in log if what == "begin"}
    graph = world.graph()
    for refused in walk_.refusals:
        below = nx.descendants(graph, refused) - {node(n) for n in world.known}
        # a known stage needs nothing from above: what is below it only may still start
        cut = graph.subgraph(set(graph) - {node(n) for n in world.known})
        reached = nx.descendants(cut, refused) if refused in cut else set()
        assert not begun & reached & below


@pytest.mark.requirement("R42")
@given(worlds())
@examples(200)
def test_every_refusal_is_collected_with_codes(world):
    """Independent refusals are all there, each with a code, so that a person sees all of them at once."""
    walk_, _ = asyncio.run(walked(world))
    for stage, found in walk_.refusals.items():
        assert found.stage == stage
        assert all(finding.code for finding in found.findings)


def two_stages(requirement):
    graph = nx.DiGraph()
    graph.add_node("approve:disable", stage=Stage("approve", "disable"))
    graph.add_node("act:disable", stage=Stage("act", "disable"))
    graph.add_edge("approve:disable", "act:disable", requirement=requirement)
    return graph


APPROVAL = Approved(
    proposal="disable", quorums=(QuorumModel(count=1, role="ops", not_by_author=False),), expires=3_600_000_000
)


@pytest.mark.requirement("R24", "R42")
async def test_act_without_an_approval_is_refused_on_the_ground_of_policy():
    """An approval that nobody gave is a matter of policy, not of evidence, and the act does not start."""

    async def approve(_stage, _evidence):
        return envelope_of()  # evidence, but of another kind than the edge asks for

    async def act(_stage, _evidence):
        pytest.fail("the act started")

    found = await walk(two_stages(APPROVAL), {"approve": approve, "act": act}, lambda: NOW)
    assert found.refusals["act:disable"].ground is Ground.POLICY
    assert [finding.code for finding in found.refusals["act:disable"].findings] == ["FC707"]


async def test_error_of_a_stage_is_raised_as_it_is_and_ends_the_stages_beside_it():
    """Whoever handles errors sees the error of the stage, not a bundle; nothing goes on behind its back."""
    graph = nx.DiGraph()
    for name in ("a", "b"):
        graph.add_node(f"verify:{name}", stage=Stage("verify", name))
    ended = []

    async def start(stage, _evidence):
        if stage.name == "a":
            raise FullcountError("FC609", "the exemption list can't be read")
        try:
            await asyncio.sleep(60)
        finally:
            ended.append(stage.name)

    with pytest.raises(FullcountError) as raised:
        await walk(graph, {"verify": start}, lambda: NOW)
    assert raised.value.code == "FC609"
    assert ended == ["b"]


async def test_cancelling_a_walk_cancels_its_stages():
    """A walk that is cancelled is over: no stage runs on."""
    begun, ended = asyncio.Event(), []
    graph = nx.DiGraph()
    graph.add_node("verify:a", stage=Stage("verify", "a"))

    async def start(_stage, _evidence):
        begun.set()
        try:
            await asyncio.sleep(60)
        finally:
            ended.append(True)

    task = asyncio.create_task(walk(graph, {"verify": start}, lambda: NOW))
    await begun.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert ended == [True]
