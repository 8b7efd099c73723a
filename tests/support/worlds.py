"""Hypothesis generators of worlds, of the partial views that a read can give of them, and of rules over both.

A **world** is the truth: all rows of each inventory, each field present or absent. A **view** of it is *faithful*: it
never says anything that is not so in the world, it only knows less. Rows may be missing where the view does not claim
to be complete, and any field may be in any of the states that are not knowledge, one cell or a whole column at a time.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from fractions import Fraction
from itertools import count

import duckdb
from hypothesis import strategies as st
from tests.support.expressions import (
    NOW,
    PARAMS,
    POOLS,
    Scope,
    constant,
    pooled,
    relational,
    schemas,
    simple,
    truth,
    typical,
)
from tests.support.snapshots import HeldWorld, table

from fullcount.compiler import ir, program
from fullcount.compiler.claims import Consistency
from fullcount.compiler.functions import SEVERAL
from fullcount.compiler.lower import facts
from fullcount.compiler.lower.closure import NOWHERE, compile_truth, compile_value
from fullcount.compiler.lower.sql import (
    EXCEPTED,
    FLOOR,
    IN_SCOPE,
    PROTECTED,
    RULE,
    SELECTED,
    Relation,
    select_statement,
)
from fullcount.compiler.lower.sql_pick import PICKED, with_picks
from fullcount.compiler.lower.world import Bindings, Related, World
from fullcount.compiler.types import INT, ORDERED, FieldType, ListOf, MapOf, RecordOf, Type
from fullcount.compiler.values import ABSENT, Cell, FieldState, Row, Truth, present

ROW_ID = "row_id"
"""The key of each generated inventory: never masked, never in a rule; it says which row of the world a row is."""

UNKNOWN_STATES = tuple(s for s in FieldState if s not in (FieldState.PRESENT, FieldState.ABSENT))

BINDINGS = Bindings({name: value for name, (_, value) in PARAMS.items()}, NOW)

View = Mapping[str, Related]


@dataclass(frozen=True)
class Rule:
    """A proposal over `base` and its inventories, without the clauses that no lowering reads."""

    workflow: program.Workflow
    proposal: program.Proposal

    @property
    def scope(self) -> ir.Expr:
        scope = self.workflow.inventories[self.proposal.inventory].scope
        return ir.TRUE if scope is None else scope


@dataclass(frozen=True)
class Case:
    """A rule, a world, and one faithful view of it."""

    rule: Rule
    world: View
    view: View


@dataclass(frozen=True)
class Verdict:
    """The truths of one object."""

    in_scope: Truth
    rule: Truth
    excepted: Truth
    protected: Truth = False
    floor: Truth = False
    picked: Truth = True

    @property
    def before_picks(self) -> Truth:
        """Kleene's conjunction of everything but the picks."""
        parts = [self.in_scope, self.rule]
        parts += [None if kept is None else not kept for kept in (self.excepted, self.protected, self.floor)]
        return False if False in parts else None if None in parts else True

    @property
    def selected(self) -> bool:
        return self.before_picks is True and self.picked is True


def inventory(name: str, fields: Mapping[str, FieldType], scope: ir.Expr | None = None) -> program.Inventory:
    """An inventory with `ROW_ID` as its key."""
    return program.Inventory(
        name=name,
        source="made",
        resource=name,
        key=(ROW_ID,),
        incarnation=None,
        version=None,
        fields={ROW_ID: FieldType(INT), **fields},
        scope=scope,
        deadline=None,
        expects=(),
        consistency=Consistency.PINNED,
        lookup_fields=frozenset(),
    )


def rule_of(
    schema: Mapping[str, Mapping[str, FieldType]],
    where: ir.Expr,
    *,
    scope: ir.Expr | None = None,
    excepts: Sequence[ir.Expr] = (),
    protections: Sequence[ir.Expr] = (),
    keeps: Sequence[program.Keep] = (),
    picks: Sequence[program.Pick] = (),
) -> Rule:
    """A workflow whose one proposal selects rows `a` of `base`."""
    inventories = {name: inventory(name, f, scope if name == "base" else None) for name, f in schema.items()}
    proposal = program.Proposal(
        name="pick",
        inventory="base",
        row="a",
        where=where,
        excepts=tuple(program.Exemption(None, condition) for condition in excepts),
        limit=None,
        show=(),
        uses=(),
        where_text="",
        protections=tuple(program.Protection(f"p{n}", each, "because") for n, each in enumerate(protections)),
        keeps=tuple(keeps),
        picks=tuple(picks),
    )
    workflow = program.Workflow("w", "", "o", None, (), inventories, {}, (proposal,), (), ())
    return Rule(workflow, proposal)


@dataclass(frozen=True)
class Leaning:
    """What an example is mostly about: how its rule is shaped, what its clauses are, and how its view falls short.

    A number is drawn from those given; `masked` and `cut` are how often in twelve a read hides cells or loses rows.
    """

    shapes: tuple[Callable[[st.DrawFn, Scope], ir.Expr], ...] = (typical, typical, relational, relational, truth)
    scoped: int = 2
    excepts: tuple[int, ...] = (0, 0, 0, 0, 0, 1, 1, 2)
    protections: tuple[int, ...] = (0, 0, 0, 0, 1, 1, 2)
    keeps: tuple[int, ...] = (0, 0, 0, 1, 1, 2)
    picks: tuple[int, ...] = (0, 0, 0, 0, 1, 2)
    masked: int = 6
    cut_base: int = 3
    cut: int = 6


def everything(_draw: st.DrawFn, _scope: Scope) -> ir.Expr:
    """The rule `all`: what is kept is kept by a clause."""
    return ir.TRUE


_BARE = Leaning((simple,), scoped=0, excepts=(0,), protections=(0,), keeps=(0,), picks=(0,), masked=12, cut_base=0)
_CLAUSE = replace(_BARE, shapes=(everything, simple))

GENERAL = Leaning()
LEANINGS = (
    GENERAL,
    GENERAL,
    GENERAL,
    # one clause each, over few fields of which some are hidden: where a mistake shows, nothing else stands before it
    _BARE,
    replace(_CLAUSE, excepts=(1,)),
    replace(_CLAUSE, protections=(1,)),
    replace(_CLAUSE, keeps=(1,)),
    replace(_CLAUSE, picks=(1,)),
    # what is concluded from other inventories that were cut short, or gave nothing
    replace(_BARE, shapes=(typical,), masked=0, cut=12),
    replace(_BARE, shapes=(typical,), masked=0, cut=12),
    # which objects come first, of those that were read
    replace(_CLAUSE, keeps=(0, 1), picks=(1,), masked=0, cut_base=12),
)


@st.composite
def rules(draw: st.DrawFn, depth: int = 3, leaning: Leaning = GENERAL) -> Rule:
    """A rule with `where`, and sometimes a scope and exemptions by condition. Most look into other inventories."""
    schema = draw(schemas())
    row = Scope(schema, (("a", "base"),), depth)
    shape = draw(st.sampled_from(leaning.shapes))
    scoped = draw(st.integers(0, 9)) < leaning.scoped
    scope = truth(draw, Scope(schema, ((ir.SELF, "base"),), 0)) if scoped else None
    condition = draw(st.sampled_from((simple, truth)))
    excepts = [condition(draw, Scope(schema, row.rows, 1)) for _ in range(draw(st.sampled_from(leaning.excepts)))]
    number = draw(st.sampled_from(leaning.protections))
    protections = [simple(draw, Scope(schema, row.rows, 0)) for _ in range(number)]
    keeps = [floor(draw, Scope(schema, row.rows, 0)) for _ in range(draw(st.sampled_from(leaning.keeps)))]
    picks = [pick(draw, Scope(schema, row.rows, 0)) for _ in range(draw(st.sampled_from(leaning.picks)))]
    return rule_of(
        schema,
        shape(draw, row),
        scope=scope,
        excepts=excepts,
        protections=protections,
        keeps=keeps,
        picks=picks,
    )


def pick(draw: st.DrawFn, scope: Scope) -> program.Pick:
    """A pick over fields of the row, by an order or at random, of a number or a percentage."""
    ranked = floor(draw, scope)
    if draw(st.booleans()):
        return program.Pick(ranked.count, None, None, ranked.order, ranked.per, ranked.by, None, "pick")
    percent = draw(st.sampled_from((None, Decimal(30), Decimal(50), Decimal("66.7"))))
    count_ = ranked.count if percent is None else None
    at_most = draw(st.sampled_from((None, 1, 2)))
    return program.Pick(count_, percent, at_most, "random", ranked.per, None, draw(st.sampled_from("ab")), "pick")


def floor(draw: st.DrawFn, scope: Scope) -> program.Keep:
    """A floor over fields of the row, some with a fallback, with few or no groups."""
    fields = scope.all_fields()
    ordered = [f for f in fields if f.type.kind in ORDERED]
    grouped = draw(st.one_of(st.none(), st.sampled_from(fields)))
    by = draw(st.sampled_from(ordered)) if ordered else ir.Const(0, INT)
    parts = [
        ir.Else(part, constant(draw, part.type), part.type, optional=False)
        if isinstance(part, ir.Field) and draw(st.booleans())
        else part
        for part in (grouped, by)
    ]
    order = draw(st.sampled_from(("newest", "oldest")))
    per = parts[0]
    others = [f for f in fields if per is not None and f.type == per.type]
    if per is not None and others and draw(st.integers(0, 3)) == 0:
        per = ir.Call(SEVERAL, (per, draw(st.sampled_from(others))), ListOf(per.type))
    return program.Keep(draw(st.integers(1, 3)), per, order, parts[1], "keep")


def relevant(rule: Rule) -> dict[str, dict[str, FieldType]]:
    """The fields that matter: only these are given values, so that small examples stay small."""
    read = facts.fields_read(ir.And((rule.scope, *rule.proposal.deciding)))
    return {
        name: {f: t for f, t in found.fields.items() if f in read.get(name, ()) or f == ROW_ID}
        for name, found in rule.workflow.inventories.items()
    }


def _value(draw: st.DrawFn, of_type: Type):
    match of_type:
        case ListOf(item=item):
            return tuple(_value(draw, item) for _ in range(draw(st.sampled_from((1, 2, 0, 3)))))
        case RecordOf(parts=parts):
            return {
                part.name: _value(draw, part.type.type)
                for part in parts
                if not part.type.optional or draw(st.booleans())
            }
        case MapOf(value=held):
            return draw(
                st.dictionaries(st.sampled_from(("a", "b", "", "it's")), st.sampled_from(POOLS[held]), max_size=2)
            )
        case _:
            return draw(pooled(of_type))


def cell_of(draw: st.DrawFn, declared: FieldType) -> Cell:
    if draw(st.integers(0, 2 if declared.optional else 19)) == 0:
        return ABSENT
    return present(_value(draw, declared.type))


def _world(draw: st.DrawFn, rule: Rule) -> dict[str, list[Row]]:
    ids = count(1)
    return {
        name: [
            {f: present(next(ids)) if f == ROW_ID else cell_of(draw, t) for f, t in fields.items()}
            for _ in range(draw(st.sampled_from((1, 2, 3, 4) if name == "base" else (0, 1, 2, 2, 3, 4))))
        ]
        for name, fields in relevant(rule).items()
    }


def _masked(draw: st.DrawFn, rows: list[Row], often: int) -> list[Row]:
    """Hide some cells: whole columns, single cells, or none."""
    columns = [f for f in (rows[0] if rows else ()) if f != ROW_ID]
    if not columns or draw(st.integers(0, 11)) >= often:
        return rows
    states = st.sampled_from(UNKNOWN_STATES)
    if draw(st.integers(0, 3)) == 0:
        column, state = draw(st.sampled_from(columns)), draw(states)
        return [{**row, column: Cell(state, None)} for row in rows]
    masked = [dict(row) for row in rows]
    for _ in range(draw(st.integers(1, 3))):
        masked[draw(st.integers(0, len(rows) - 1))][draw(st.sampled_from(columns))] = Cell(draw(states), None)
    return masked


def _view(draw: st.DrawFn, rows: list[Row], *, cut: bool, masked: int = GENERAL.masked) -> Related:
    if not cut:
        return Related(_masked(draw, rows, masked), True)
    kept = [row for row in rows if draw(st.booleans())]
    return Related(_masked(draw, kept, masked), False)


@st.composite
def cases(draw: st.DrawFn, depth: int = 3) -> Case:
    """A rule, a world and a faithful view. A good part of them is about one clause or one way of knowing less."""
    leaning = draw(st.sampled_from(LEANINGS))
    rule = draw(rules(depth, leaning))
    world = _world(draw, rule)
    view = {}
    for name, rows in world.items():
        cut = draw(st.integers(0, 11)) < (leaning.cut_base if name == "base" else leaning.cut)
        view[name] = _view(draw, rows, cut=cut, masked=leaning.masked)
    return Case(rule, {name: Related(rows, True) for name, rows in world.items()}, view)


def verdicts(rule: Rule, view: View, *, compiler=compile_truth, world: World | None = None) -> dict[int, Verdict]:
    """What the closure lowering says of each base row of a view, by row id."""
    proposal = rule.proposal
    none = ir.Const(False, ir.TRUE.type)
    scope, where = compiler(rule.scope, BINDINGS), compiler(proposal.where, BINDINGS)
    excepted = compiler(ir.Or((none, *proposal.exemptions)), BINDINGS)
    protected = compiler(ir.Or((none, *(each.condition for each in proposal.protections))), BINDINGS)
    held = HeldWorld(view) if world is None else world
    base = view[proposal.inventory]
    in_scope = [scope({ir.SELF: row}, held) for row in base.rows]
    floors = [floor_truths(keep, proposal.row, base, in_scope) for keep in proposal.keeps]
    found = {}
    for number, row in enumerate(base.rows):
        env = {proposal.row: row}
        kept = [truths[number] for truths in floors]
        found[row[ROW_ID].value] = Verdict(
            in_scope[number],
            where(env, held),
            excepted(env, held),
            protected(env, held),
            True if True in kept else None if None in kept else False,
        )
    so_far = [verdict.before_picks for verdict in found.values()]
    for each in proposal.picks:
        taken = pick_truths(each, proposal.row, base, so_far)
        so_far = [_both(one, other) for one, other in zip(so_far, taken, strict=True)]
        found = {
            row_id: replace(verdict, picked=_both(verdict.picked, truth))
            for (row_id, verdict), truth in zip(found.items(), taken, strict=True)
        }
    return found


def _both(one: Truth, other: Truth) -> Truth:
    return False if one is False or other is False else None if one is None or other is None else True


def pick_truths(each: program.Pick, row: str, base: Related, so_far: Sequence[Truth]) -> list[Truth]:
    """Whether a pick takes each row, object by object and pair by pair, as the definition says it."""
    envs = [{row: found} for found in base.rows]
    ids = [found[ROW_ID].value for found in base.rows]
    if each.by is None:
        places = [_random(each.seed, row_id) for row_id in ids]
    else:
        places = [compile_value(each.by, BINDINGS)(env, NOWHERE).value for env in envs]
    group_of = None if each.per is None else compile_value(each.per, BINDINGS)
    groups = [True if group_of is None else group_of(env, NOWHERE).value for env in envs]

    def before(other: int, one: int) -> Truth:
        """Whether another selected object comes before this one in its group."""
        if so_far[other] is False or (groups[other] is not None and groups[other] != groups[one]):
            return False
        if groups[other] is None or places[other] is None:
            return None
        first = places[other] > places[one] if each.order == "newest" else places[other] < places[one]
        first = first or (places[other] == places[one] and ids[other] < ids[one])
        return so_far[other] if first else False

    def amounts(one: int) -> tuple[int, float]:
        """How many are surely taken of the group, and how many may be."""
        sure = sum(t is True and groups[n] == groups[one] for n, t in enumerate(so_far))
        perhaps = sum(t is not False and groups[n] in (None, groups[one]) for n, t in enumerate(so_far))
        bounds = [bound for bound in (each.count, each.at_most) if bound is not None]
        if each.percent is None:
            return min(bounds), min(bounds)
        low, high = (int(Fraction(each.percent) * number / 100) for number in (sure, perhaps))
        return min([low, *bounds]), min([high if base.complete else float("inf"), *bounds])

    found: list[Truth] = []
    for one in range(len(envs)):
        if groups[one] is None or places[one] is None:
            found.append(None)
            continue
        answers = [before(other, one) for other in range(len(envs)) if other != one]
        surely, possibly = amounts(one)
        if answers.count(True) >= possibly:
            found.append(False)
        else:
            few = len(answers) - answers.count(False) < surely
            found.append(True if few and base.complete else None)
    return found


def _random(seed: str | None, row_id: int) -> str:
    text = str(row_id)
    return hashlib.sha256(f"{len(seed or '')}:{seed}{len(text)}:{text}".encode()).hexdigest()


def floor_truths(keep: program.Keep, row: str, base: Related, in_scope: Sequence[Truth]) -> list[Truth]:
    """Whether a floor keeps each row, object by object and pair by pair, as the definition says it."""
    place_of = compile_value(keep.by, BINDINGS)
    group_of = None if keep.per is None else compile_value(keep.per, BINDINGS)
    envs = [{row: each} for each in base.rows]
    places = [place_of(env, NOWHERE).value for env in envs]
    groups = [True if group_of is None else group_of(env, NOWHERE).value for env in envs]

    def before(other: int, one: int) -> Truth:
        """Whether another object comes strictly before this one in its group."""
        if in_scope[other] is False or (groups[other] is not None and groups[other] != groups[one]):
            return False
        if groups[other] is None or places[other] is None:
            return None
        newer = places[other] > places[one] if keep.order == "newest" else places[other] < places[one]
        return False if not newer else in_scope[other]

    found: list[Truth] = []
    for one in range(len(envs)):
        if groups[one] is None or places[one] is None:
            found.append(None)
            continue
        answers = [before(other, one) for other in range(len(envs)) if other != one]
        if answers.count(True) >= keep.count:
            found.append(False)
        else:
            few = len(answers) - answers.count(False) < keep.count
            found.append(True if few and base.complete else None)
    return found


def sql_verdicts(rule: Rule, view: View, connection: duckdb.DuckDBPyConnection) -> dict[int, Verdict]:
    """What the SQL lowering says of each base row of a view, by row id. The rows are handed over as Arrow tables."""
    fields = relevant(rule)
    for name, related in view.items():
        connection.register(f"snapshot_{name}", table(fields[name], related.rows))
    relations = {name: Relation(f"snapshot_{name}", related.complete) for name, related in view.items()}
    decided = select_statement(rule.workflow, rule.proposal, relations, BINDINGS)
    complete = relations[rule.proposal.inventory].complete
    picked = with_picks(decided, rule.proposal.picks, SELECTED, [f'"{ROW_ID}"'], complete=complete)
    columns = ", ".join(f'"{name}"' for name in (ROW_ID, IN_SCOPE, RULE, EXCEPTED, PROTECTED, FLOOR, PICKED))
    answered = connection.execute(f"SELECT {columns} FROM ({picked})").fetchall()
    assert len(answered) == len(view[rule.proposal.inventory].rows), "each base row has one answer"
    return {row_id: Verdict(*truths) for row_id, *truths in answered}
