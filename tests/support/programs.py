"""Programs made from the grammar: strategies for whole syntax trees, and for what stands between their tokens.

`files()` draws trees without places, `gaps` white space and comments; `program_text.written` puts the two together. All
of it knows the grammar and nothing of the parser, the builder or the formatter, so that these can be held against it.
"""

from __future__ import annotations

from decimal import Decimal

from hypothesis import strategies as st
from tests.support.program_text import COMMENTS, SPACES

from fullcount.dsl import tree, trial_tree
from fullcount.dsl.editions import CURRENT
from fullcount.dsl.keywords import RESERVED
from fullcount.dsl.literals import DURATIONS, SIZES
from fullcount.dsl.source import Span

NOWHERE = Span("made.fcw", 0, 0)

# Fields may be called like a clause or an operator; a name that stands for a value may not.
ANY_NAMES = ["id", "owner", "last_login", "key", "scope", "where", "fields", "limit", "act", "or", "not", "now", "all"]
VALUE_NAMES = ["a", "idle", "owner", "key", "workflow", "count", "some", "record_1", "_x", "Team"]
assert not RESERVED & set(VALUE_NAMES)


def _name(text: str) -> tree.Name:
    return tree.Name(text, NOWHERE)


names = st.sampled_from(ANY_NAMES + VALUE_NAMES).map(_name)
bindings = st.sampled_from(VALUE_NAMES).map(_name)
dotted = st.lists(names, min_size=1, max_size=3).map(lambda parts: tree.Dotted(tuple(parts), NOWHERE))
texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=12) | st.sampled_from(
    ["", "prod", 'a "b" \\ #c\n\t']
)


def _scaled(units: dict[str, int]) -> st.SearchStrategy[int]:
    return st.builds(lambda number, unit: number * units[unit], st.integers(0, 9999), st.sampled_from(sorted(units)))


durations = _scaled(DURATIONS)
sizes = _scaled(SIZES)
counts = st.integers(0, 2**63 - 1) | st.integers(0, 200)
percents = st.decimals(0, 100, places=1) | st.integers(0, 100).map(Decimal)


def _literal(kind: str, values: st.SearchStrategy) -> st.SearchStrategy[tree.Literal]:
    return values.map(lambda value: tree.Literal(kind, value, NOWHERE))


amounts = st.one_of(
    _literal("int", counts),
    _literal("decimal", st.decimals(0, 10**6, places=2)),
    _literal("duration", durations),
    _literal("size", sizes),
    _literal("percent", percents),
    _literal("date", st.integers(0, 40_000)),
    _literal("timestamp", st.integers(0, 4_000_000_000).map(lambda seconds: seconds * 1_000_000)),
)
literals = amounts | _literal("text", texts) | _literal("bool", st.booleans())
references = st.builds(lambda head, rest: tree.Reference((head, *rest), NOWHERE), bindings, st.lists(names, max_size=2))
list_files = st.builds(
    lambda p, c, e: tree.ListFile(p, c, e, NOWHERE, NOWHERE), texts, st.none() | texts, st.booleans()
)
leaves = literals | references | list_files | st.just(tree.Now(NOWHERE))


def _larger(inner: st.SearchStrategy[tree.Expr]) -> st.SearchStrategy[tree.Expr]:
    items = st.lists(inner, max_size=4).map(tuple)
    rows = (bindings, bindings, selectors(inner))
    binary = st.sampled_from(["or", "and", "==", "!=", "<", "<=", ">", ">=", "in", "not in", "+", "-", "*", "/"])
    return st.one_of(
        st.builds(lambda op, a, b: tree.Binary(op, a, b, NOWHERE, NOWHERE), binary, inner, inner),
        st.builds(
            lambda op, a, b: tree.Binary(op, a, b, NOWHERE, NOWHERE), st.sampled_from(["and", "or"]), inner, inner
        ),
        st.builds(lambda op, a: tree.Unary(op, a, NOWHERE), st.sampled_from(["not", "-"]), inner),
        st.builds(lambda a, s: tree.StateTest(a, s, NOWHERE), inner, st.sampled_from(["present", "absent", "known"])),
        st.builds(
            lambda a, b: tree.Else(a, b, NOWHERE),
            inner,
            inner | st.sampled_from((tree.Never(NOWHERE), tree.Unknown(NOWHERE))),
        ),
        st.builds(lambda a, b: tree.Index(a, b, NOWHERE), inner, inner),
        st.builds(lambda f, a: tree.Call(f, a, NOWHERE), bindings, items),
        items.map(lambda found: tree.ListLiteral(found, NOWHERE)),
        st.builds(lambda q, i, r, w: tree.Quantified(q, i, r, w, NOWHERE), st.sampled_from(["some", "no"]), *rows),
        st.builds(lambda i, r, w: tree.AggregateExpr("count", i, r, w, None, NOWHERE), *rows),
        st.builds(
            lambda f, i, r, w, o, n: tree.AggregateExpr(f, i, r, w, o, NOWHERE, n),
            st.sampled_from(["min", "max", "sum", "avg"]),
            *rows,
            inner,
            st.sampled_from([None, None, 1, 12]),
        ),
        st.builds(
            lambda q, c, i, w: tree.ListTest(q, c, i, w, NOWHERE),
            st.sampled_from(["any", "all"]),
            references,
            bindings,
            inner,
        ),
    )


def conditions(inner: st.SearchStrategy[tree.Expr]) -> st.SearchStrategy[tree.Expr]:
    """Return expressions that are not a bare `true` or `false`, which no condition may be."""
    return inner.filter(lambda each: not (isinstance(each, tree.Literal) and each.kind == "bool"))


def selectors(inner: st.SearchStrategy[tree.Expr]) -> st.SearchStrategy[tree.Expr]:
    """Return what may stand after `where`."""
    return conditions(inner) | st.just(tree.All(NOWHERE))


expressions = st.recursive(leaves, _larger, max_leaves=8)


def _optional(values: st.SearchStrategy) -> st.SearchStrategy:
    return st.none() | values


def _typed(inner: st.SearchStrategy[tree.TypeName]) -> st.SearchStrategy[tree.TypeName]:
    arguments = st.lists(inner, min_size=1, max_size=2).map(tuple)
    fields = st.lists(st.builds(lambda n, t: tree.FieldDecl(n, t, NOWHERE), names, inner), min_size=1, max_size=3)
    return st.one_of(
        st.builds(
            lambda n, a, o: tree.TypeName(n, a, (), o, NOWHERE),
            st.sampled_from(["list", "map"]),
            arguments,
            st.booleans(),
        ),
        st.builds(lambda f, o: tree.TypeName("record", (), tuple(f), o, NOWHERE), fields, st.booleans()),
    )


types = st.recursive(
    st.builds(
        lambda n, o: tree.TypeName(n, (), (), o, NOWHERE),
        st.sampled_from(["text", "int", "timestamp", "duration", "id"]),
        st.booleans(),
    )
    | st.builds(lambda path, o: tree.TypeName("id", (), (), o, NOWHERE, path), dotted, st.booleans()),
    _typed,
    max_leaves=4,
)
fields = st.lists(st.builds(lambda n, t: tree.FieldDecl(n, t, NOWHERE), names, types), min_size=1, max_size=12)

spreads = names.map(lambda n: tree.FieldSpread(n, NOWHERE))
entries = fields | st.lists(
    spreads | st.builds(lambda n, t: tree.FieldDecl(n, t, NOWHERE), names, types), min_size=1, max_size=4
)

# ---------------------------------------------------------------------------------------------- clauses

schedules = st.builds(
    lambda cron, every, zone, late: tree.ScheduleClause(
        cron, None if cron is not None else every, zone, late, NOWHERE, NOWHERE, NOWHERE
    ),
    _optional(st.just("0 2 * * *")),
    durations,
    _optional(st.just("Europe/Berlin")),
    _optional(durations),
)
params = st.builds(lambda n, t, d: tree.ParamDecl(n, t, d, NOWHERE), bindings, types, _optional(expressions))
partitions = st.builds(
    lambda n, values, listed: tree.PartitionDecl(n, values, None if values is not None else listed, NOWHERE),
    names,
    _optional(st.lists(leaves, max_size=2).map(lambda items: tree.ListLiteral(tuple(items), NOWHERE))),
    dotted,
)
inventories = st.builds(
    lambda n, r, k, i, f, s, d, e, a, by: tree.InventoryDecl(
        n, r, tuple(k), i, tuple(f), s, d, tuple(e), NOWHERE, NOWHERE, tuple(a), tuple(by)
    ),
    names,
    dotted,
    st.lists(names, min_size=1, max_size=3),
    _optional(names),
    entries,
    _optional(conditions(expressions)),
    _optional(durations),
    st.lists(expressions, max_size=2),
    st.lists(partitions, max_size=2),
    st.just([]) | st.lists(names, min_size=1, max_size=2),
)


def _claim(kind: str, value: object = None, agrees: tree.Dotted | None = None) -> tree.ClaimDecl:
    return tree.ClaimDecl(kind, value, agrees, NOWHERE)


claims = st.one_of(
    st.just(_claim("complete")),
    durations.map(lambda value: _claim("fresh", value)),
    st.sampled_from(["pinned", "interval"]).map(lambda value: _claim("snapshot", value)),
    st.just(_claim("visibility", "all")),
    counts.map(lambda value: _claim("rows", value)),
    percents.map(lambda value: _claim("change", value)),
    dotted.map(lambda path: _claim("count", None, path)),
)
verifies = st.builds(
    lambda n, c: tree.VerifyDecl(n, tuple(c), NOWHERE),
    names,
    st.lists(claims, min_size=1, max_size=7, unique_by=lambda claim: claim.kind),
)
_halves = st.tuples(_optional(counts), _optional(percents)).filter(lambda both: both != (None, None))
excepts = st.one_of(
    names.map(lambda n: tree.ExceptDecl(n, None, NOWHERE)),
    expressions.map(lambda e: tree.ExceptDecl(None, e, NOWHERE)),
)
keeps = st.builds(
    lambda c, p, o, b: tree.KeepDecl(c, p, o, b, NOWHERE, NOWHERE),
    counts,
    _optional(expressions),
    st.sampled_from(["newest", "oldest"]),
    expressions,
)
_picked_first = st.builds(
    lambda c, o, p, b: tree.PickDecl(c, None, None, o, p, b, None, NOWHERE, NOWHERE),
    counts,
    st.sampled_from(["newest", "oldest"]),
    _optional(expressions),
    expressions,
)
_picked_at_random = st.builds(
    lambda both, m, p, s: tree.PickDecl(*both, m, "random", p, None, s, NOWHERE, NOWHERE),
    counts.map(lambda count: (count, None)) | percents.map(lambda percent: (None, percent)),
    _optional(counts),
    _optional(expressions),
    texts,
)
picks = _picked_first | _picked_at_random
expectations = st.builds(
    lambda i, r, w, b: tree.ExpectNoneDecl(i, r, w, b, NOWHERE, NOWHERE, NOWHERE),
    bindings,
    bindings,
    selectors(expressions),
    texts.filter(lambda text: text.strip() != ""),
)
proposals = st.builds(
    lambda n, i, r, w, x, li, s, k, b, p, e, d: tree.ProposeDecl(
        n,
        i,
        r,
        w,
        tuple(x),
        li,
        tuple(s),
        NOWHERE,
        NOWHERE,
        keeps=tuple(k),
        picks=tuple(p),
        bounded=b,
        expects=tuple(e),
        doubts=d,
    ),
    names,
    names,
    bindings,
    selectors(expressions),
    st.lists(excepts, max_size=2),
    _optional(_halves.map(lambda both: tree.LimitDecl(*both, NOWHERE))),
    st.lists(expressions, max_size=4),
    st.lists(keeps, max_size=2),
    _optional(st.just(tree.BoundedDecl(NOWHERE))),
    st.lists(picks, max_size=2),
    st.lists(expectations, max_size=2),
    st.lists(expressions.map(lambda found: tree.DoubtDecl(found, NOWHERE)), max_size=1).map(tuple),
)
quorums = st.builds(lambda c, r, n: tree.QuorumDecl(c, r, n, NOWHERE), counts, texts, st.booleans())
automatics = st.builds(
    lambda c, p, r: tree.AutomaticDecl(c, p, r, NOWHERE), _optional(counts), _optional(percents), st.booleans()
).filter(lambda each: each.reversible or (each.count, each.percent) != (None, None))
approvals = st.builds(
    lambda p, q, e, a: tree.ApproveDecl(p, tuple(q), e, NOWHERE, a),
    names,
    st.lists(quorums, min_size=1, max_size=3),
    _optional(durations),
    _optional(automatics),
)
operations = st.builds(
    lambda o, a: tree.OperationCall(o, tuple(a), NOWHERE),
    dotted,
    st.lists(st.builds(lambda n, v: tree.Argument(n, v, NOWHERE), names, expressions), max_size=4),
)
rates = st.builds(lambda c, p: tree.RateDecl(c, p, NOWHERE), counts, st.sampled_from(["second", "minute", "hour"]))
stops = _halves.map(lambda both: tree.StopDecl(*both, NOWHERE))
canaries = st.builds(
    lambda c, w, t: tree.CanaryDecl(c, w, NOWHERE, t),
    counts,
    durations,
    _optional(st.builds(tree.AtMostDecl, counts, dotted)),
)
backups = durations.map(lambda kept: tree.BackupDecl(kept, NOWHERE))
kept_acts = st.tuples(
    _optional(backups),
    _optional(st.just(tree.CascadesDecl(NOWHERE))),
    _optional(st.just(tree.RehearseDecl(NOWHERE))),
)
single_acts = st.builds(
    lambda p, o, u, r, c, s, k, y: tree.ActDecl(
        p, o, u, r, c, s, NOWHERE, canary=y, backup=k[0], cascades=k[1], rehearse=k[2]
    ),
    names,
    operations,
    _optional(operations),
    _optional(rates),
    _optional(counts),
    _optional(stops),
    kept_acts,
    _optional(canaries),
)
steps = st.builds(
    lambda n, o, u, a, t, k: tree.StepDecl(
        n, o, u, a, NOWHERE, None if a is None else NOWHERE, None if a is None else t, *k
    ),
    names | st.just(_name("release")),
    operations,
    _optional(operations),
    _optional(durations),
    _optional(counts),
    kept_acts,
)
graduated_acts = st.builds(
    lambda p, r, c, s, w, y: tree.ActDecl(p, None, None, r, c, s, NOWHERE, canary=y, steps=tuple(w)),
    names,
    _optional(rates),
    _optional(counts),
    _optional(stops),
    st.lists(steps, max_size=4),
    _optional(canaries),
)
acts = single_acts | graduated_acts


def _several(strategy: st.SearchStrategy) -> st.SearchStrategy[tuple]:
    return st.lists(strategy, max_size=2).map(tuple)


# ---------------------------------------------------------------------------------------------- tests

_moved = st.builds(
    lambda sign, by: tree.Binary(sign, tree.Now(NOWHERE), tree.Literal("duration", by, NOWHERE), NOWHERE, NOWHERE),
    st.sampled_from(["+", "-"]),
    durations,
)
_values = st.one_of(
    literals,
    _moved,
    references,
    st.lists(literals, max_size=2).map(lambda found: tree.ListLiteral(tuple(found), NOWHERE)),
)
states = st.sampled_from(trial_tree.STATES).map(lambda word: trial_tree.State(word, NOWHERE))
maps = st.lists(
    st.builds(lambda k, v: trial_tree.MapEntry(k, v, NOWHERE), _literal("text", texts), _values | states), max_size=3
).map(lambda found: trial_tree.MapLiteral(tuple(found), NOWHERE))
records = st.lists(
    st.builds(lambda n, v: trial_tree.SampleField(n, v, NOWHERE), names, _values | states | maps),
    min_size=1,
    max_size=2,
).map(lambda found: trial_tree.RecordLiteral(tuple(found), NOWHERE))
record_lists = st.lists(records | maps, min_size=1, max_size=2).map(
    lambda found: trial_tree.SampleList(tuple(found), NOWHERE)
)
samples = st.lists(
    st.builds(
        lambda n, v: trial_tree.SampleField(n, v, NOWHERE), names, _values | states | maps | records | record_lists
    ),
    max_size=4,
).map(lambda found: trial_tree.Sample(tuple(found), NOWHERE))
_plain = _literal("int", counts) | _literal("text", texts)
keys = _plain | st.lists(_plain, max_size=2).map(lambda parts: tree.ListLiteral(tuple(parts), NOWHERE))


def _some(strategy: st.SearchStrategy) -> st.SearchStrategy[tuple]:
    """Return one or two; deep inside of a file, a list with a least size is more than can be drawn."""
    return st.tuples(strategy) | st.tuples(strategy, strategy)


_listed = _some(keys)
_known = _some(st.builds(lambda k, b: trial_tree.KnownKey(k, b, NOWHERE), keys, _optional(texts)))
_code = st.sampled_from(["RATE_LIMITED", "FC711", "more", "empty"]).map(_name)
_codes = st.just(()) | _some(_code)
_mores = st.builds(lambda c, s: trial_tree.More(c, s, NOWHERE), counts, _optional(samples))
given_rows = st.builds(
    lambda n, r, w, a, p, rows: trial_tree.GivenRows(n, r, w, a, p, *rows, NOWHERE),
    names,
    _codes,
    _codes,
    _optional(durations),
    _optional(counts),
    st.just(((), ())) | st.tuples(_some(samples), _several(_mores)) | st.tuples(st.just(()), _some(_mores)),
)
givens = st.one_of(
    given_rows,
    st.builds(lambda n, r: trial_tree.GivenFailed(n, r, NOWHERE), names, names),
    st.builds(lambda n, v: trial_tree.GivenParam(n, v, NOWHERE), names, _values),
    st.builds(lambda r, c: trial_tree.GivenCount(r, c, NOWHERE), dotted, counts),
    st.builds(lambda n, k: trial_tree.GivenList(n, k, NOWHERE), names, _listed),
)
befores = st.one_of(
    st.builds(lambda n, k, s, r: trial_tree.Changed(n, k, s, r, NOWHERE), names, keys, samples, st.booleans()),
    st.builds(lambda n, k: trial_tree.Removed(n, k, NOWHERE), names, keys),
    st.builds(lambda n, s: trial_tree.Added(n, s, NOWHERE), names, samples),
    st.builds(lambda k, n: trial_tree.Exempted(k, n, NOWHERE), keys, names),
    durations.map(lambda wait: trial_tree.Waited(wait, NOWHERE)),
)
_outcomes = st.sampled_from(trial_tree.OUTCOMES).map(_name)
expects = st.one_of(
    (_listed | st.just(())).map(lambda found: trial_tree.ExpectPlan(found, NOWHERE)),
    counts.map(lambda count: trial_tree.ExpectCount(count, NOWHERE)),
    _some(_code).map(lambda found: trial_tree.ExpectRefused(found, NOWHERE)),
    _known.map(lambda found: trial_tree.ExpectUndecided(found, NOWHERE)),
    _known.map(lambda found: trial_tree.ExpectKept(found, NOWHERE)),
    st.builds(lambda k, o: trial_tree.ExpectOutcome(k, o, None, NOWHERE), keys, _outcomes),
    keys.map(lambda key: trial_tree.ExpectOutcome(key, _name("refused"), _name("FC760"), NOWHERE)),
)


def _each_once(found: tuple) -> bool:
    """Whether no expectation but that of an outcome is said twice."""
    kinds = [type(each) for each in found if not isinstance(each, trial_tree.ExpectOutcome)]
    return len(set(kinds)) == len(kinds)


trials = st.builds(
    lambda n, p, at, g, b, e: trial_tree.Trial(n, p, at, g, b, e, NOWHERE, NOWHERE),
    texts.filter(str.strip).map(_name),
    _optional(names),
    _optional(st.integers(0, 4_000_000_000).map(lambda seconds: seconds * 1_000_000)),
    _several(givens),
    _several(befores),
    _some(expects).filter(_each_once),
)
defaults = st.builds(lambda n, s: trial_tree.Defaults(n, s, NOWHERE), names, samples)

notifies = st.builds(
    lambda t, e: tree.NotifyDecl(t, tuple(map(_name, e)), NOWHERE, NOWHERE),
    texts,
    st.lists(st.sampled_from(["waiting", "refused", "done", "stopped"]), min_size=1, max_size=3),
)
workflows = st.builds(
    lambda n, d, o, s, parts, tests, told: tree.Workflow(n, d, o, s, *parts, NOWHERE, *tests, notifies=told),
    names,
    _optional(texts),
    _optional(texts),
    _optional(schedules),
    st.tuples(*map(_several, (params, inventories, verifies, proposals, approvals, acts))),
    # deferred, because Hypothesis writes out whole strategies, and warns of its own when one is too long
    st.just(((), ())) | st.deferred(lambda: st.tuples(_several(trials), _several(defaults))),
    _several(notifies),
)


editions = st.just(tree.Edition(CURRENT, NOWHERE))
imports = texts.map(lambda path: tree.Import(path, NOWHERE, NOWHERE))
records = st.builds(lambda n, f: tree.RecordDecl(n, tuple(f), NOWHERE), names, entries)
parameters = st.builds(lambda n, t: tree.Parameter(n, t, NOWHERE), bindings, types)
definitions = st.builds(
    lambda n, p, b: tree.Definition(n, tuple(p), b, NOWHERE), bindings, st.lists(parameters, max_size=3), expressions
)


def files() -> st.SearchStrategy[tree.File]:
    """Return trees of whole files, without places and comments."""
    return st.builds(
        lambda found, edition, shared: tree.File(found, (), NOWHERE, edition, *shared),
        _several(workflows),
        _optional(editions),
        st.tuples(*map(_several, (imports, records, definitions))) | st.just(((), (), ())),
    )


# ---------------------------------------------------------------------------------------------- between the tokens

#: From a text with a comment here and there to one with hardly anything else.
gaps = st.one_of(
    st.lists(st.sampled_from((*SPACES * 8, *COMMENTS)), min_size=1, max_size=60),
    st.lists(st.sampled_from((*SPACES, *COMMENTS)), min_size=1, max_size=30),
)
