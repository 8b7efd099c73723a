"""From the parser's tree to tests of workflows (`trial_tree.py`).

A part of `builder.py`, with its ways of reading amounts and paths. What a test says of names, types and codes is judged
by the compiler; here only what the text alone shows to be wrong.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from fullcount.dsl import tree
from fullcount.dsl.dataclass import dataclass
from fullcount.dsl.expressions import MAX_DEPTH, Child, ExpressionBuilder, Node, Reporter, subtrees, token_at, tokens
from fullcount.dsl.parse_tree import Token, Tree
from fullcount.dsl.trial_tree import (
    OUTCOMES,
    STATES,
    Added,
    Before,
    Changed,
    Defaults,
    Exempted,
    Expectation,
    ExpectCount,
    ExpectKept,
    ExpectOutcome,
    ExpectPlan,
    ExpectRefused,
    ExpectUndecided,
    Given,
    GivenCount,
    GivenFailed,
    GivenList,
    GivenParam,
    GivenRows,
    Key,
    KnownKey,
    MapEntry,
    MapLiteral,
    More,
    RecordLiteral,
    Removed,
    Sample,
    SampleField,
    SampleList,
    SampleValue,
    State,
    Trial,
    Waited,
)

Once = Callable[[Node, str, str], Node | None]

_ONCE = frozenset({"expect_plan", "expect_count", "expect_refused", "expect_undecided", "expect_kept"})
"""The expectations of which a test has one, or none."""


@dataclass(frozen=True, slots=True)
class TrialBuilder:
    """Builds tests. `amount` reads an amount: its token, the clause, the kind of literal, an example."""

    _at: Reporter
    _expressions: ExpressionBuilder
    _dotted: Callable[[Node], tree.Dotted]
    _amount: Callable[[Token, str, str, str], int]
    _once: Once
    _report_repeats: Callable[[Sequence[Node], str, list[str]], None]
    _is_damaged: Callable[[Node], bool]

    def defaults(self, node: Node) -> Defaults:
        """Build `test defaults NAME { … }`."""
        return Defaults(self._name(node, 0), self._sample(subtrees(node, "sample")[0]), self._at.span(node))

    def trial(self, node: Node) -> Trial:
        """Build `test "name" [of NAME] { … }`."""
        (title,) = tokens(node, "STRING")
        name = tree.Name(str(self._at.literal(title).value), self._at.span(title))
        named = tokens(node, "NAME")
        now = self._once(node, f'test "{name.text}"', "now")
        clauses = [child for child in node.children if isinstance(child, Tree)]
        expects = tuple(self._expectation(each) for each in clauses if each.data.startswith("expect_"))
        single = [each for each in clauses if each.data in _ONCE]
        self._report_repeats(single, f'test "{name.text}"', [each.data.replace("_", " ") for each in single])
        if not name.text.strip():
            self._at.report("FC004", "this test has no name", name.span, help="say which rule it holds, in words")
        if len(expects) == 0 and not self._is_damaged(node):
            self._at.report(
                "FC004",
                f'test "{name.text}" expects nothing',
                name.span,
                why="a test that nothing can fail says nothing",
                help='say what must come of it: `expect plan ["a1"]` or `expect refused RESULT_LIMIT_REACHED`',
            )
        return Trial(
            name,
            self._at.name(named[0]) if named else None,
            self._amount(token_at(now, 1), "now", "timestamp", "2026-01-31T00:00:00Z") if now is not None else None,
            tuple(self._given(each) for each in clauses if each.data.startswith("given_")),
            tuple(self._before(each) for each in clauses if each.data.startswith("before_")),
            expects,
            self._at.span(node),
            self._at.span(node.children[0]).to(name.span),
        )

    # ------------------------------------------------------------------------------------------ given

    def _given(self, node: Node) -> Given:
        span = self._at.span(node)
        match node.data:
            case "given_failed":
                return GivenFailed(self._name(node, 0), self._name(node, 1), span)
            case "given_param":
                return GivenParam(self._name(node, 0), self._expressions.expression(node.children[-1]), span)
            case "given_count":
                count = self._amount(token_at(node, -1), "given count", "int", "given count hr.headcount = 4212")
                return GivenCount(self._dotted(subtrees(node, "dotted")[0]), count, span)
            case "given_list":
                return GivenList(self._name(node, 0), self._plain_keys(node), span)
            case _:
                return self._rows(node)

    def _rows(self, node: Node) -> GivenRows:
        stale, previously = (self._part(node, rule) for rule in ("stale", "previously"))
        more = tuple(self._more(each) for each in subtrees(node, "more"))
        samples = tuple(self._sample(each) for part in subtrees(node, "samples") for each in subtrees(part, "sample"))
        for part in subtrees(node, "samples"):
            if len(samples) + len(more) == 0 and not self._is_damaged(node):
                self._report_empty(part)
        return GivenRows(
            self._name(node, 0),
            self._codes(node, "partial"),
            self._codes(node, "warned"),
            self._amount(token_at(stale, 1), "stale", "duration", "stale 26h") if stale is not None else None,
            self._amount(token_at(previously, 1), "previously", "int", "previously 1200 rows")
            if previously is not None
            else None,
            samples,
            more,
            self._at.span(node),
        )

    def _more(self, node: Node) -> More:
        sample = self._part(node, "sample")
        number = token_at(node, 1)
        return More(
            self._amount(number, "and … more", "int", "and 40 more"),
            self._sample(sample) if sample is not None else None,
            self._at.span(number),
        )

    def _codes(self, node: Node, rule: str) -> tuple[tree.Name, ...]:
        part = self._part(node, rule)
        return tuple(self._at.name(token) for token in tokens(part, "NAME")) if part is not None else ()

    def _sample(self, node: Node) -> Sample:
        fields = tuple(
            SampleField(self._name(child, 0), self._sample_value(child.children[-1]), self._at.span(child))
            for child in subtrees(node, "sample_field")
        )
        return Sample(fields, self._at.span(node))

    def _sample_value(self, node: Child, depth: int = 0) -> SampleValue:
        if isinstance(node, Token):
            return self._at.literal(node)
        if node.data in {"sample_map", "sample_record"}:
            return self._braced(node, depth)
        if node.data == "sample_list":
            items = tuple(self._braced(each, depth) for each in subtrees(node, "sample_map", "sample_record"))
            return SampleList(items, self._at.span(node))
        if node.data == "reference" and len(node.children) == 1 and str(node.children[0]) in STATES:
            return State(str(node.children[0]), self._at.span(node))
        return self._expressions.expression(node)

    def _map_value(self, node: Child, depth: int) -> SampleValue:
        if not isinstance(node, Token) and node.data in {"sample_map", "sample_record", "sample_list"}:
            span, what = self._at.span(node), "map" if node.data == "sample_map" else "record"
            self._at.report("FC019", f"a {what} inside of a map", span, help="maps hold plain values and lists of them")
            return MapLiteral((), span)
        return self._sample_value(node, depth)

    def _braced(self, node: Node, depth: int) -> MapLiteral | RecordLiteral:
        span = self._at.span(node)
        if depth >= MAX_DEPTH:
            self._at.report("FC019", f"this value has more than {MAX_DEPTH} levels", span, help="use fewer levels")
            return MapLiteral((), span)
        if node.data == "sample_record":
            fields = tuple(
                SampleField(
                    self._name(child, 0), self._sample_value(child.children[-1], depth + 1), self._at.span(child)
                )
                for child in subtrees(node, "sample_field")
            )
            return RecordLiteral(fields, span)
        entries = tuple(
            MapEntry(
                self._at.literal(tokens(child, "STRING")[0]),
                self._map_value(child.children[-1], depth + 1),
                self._at.span(child),
            )
            for child in subtrees(node, "sample_entry")
        )
        return MapLiteral(entries, span)

    # ------------------------------------------------------------------------------------------ before act

    def _before(self, node: Node) -> Before:
        span = self._at.span(node)
        match node.data:
            case "before_change" | "before_recreate":
                sample = self._sample(subtrees(node, "sample")[0])
                return Changed(self._name(node, 0), self._key(node), sample, node.data == "before_recreate", span)
            case "before_remove":
                return Removed(self._name(node, 0), self._key(node), span)
            case "before_add":
                return Added(self._name(node, 0), self._sample(subtrees(node, "sample")[0]), span)
            case "before_exempt":
                return Exempted(self._key(node), self._name(node, 0), span)
            case _:
                return Waited(self._amount(token_at(node, -1), "wait", "duration", "before act wait 4h"), span)

    # ------------------------------------------------------------------------------------------ expect

    def _expectation(self, node: Node) -> Expectation:
        span = self._at.span(node)
        match node.data:
            case "expect_plan":
                for part in subtrees(node, "keys"):
                    if not subtrees(part, "known_key") and not self._is_damaged(node):
                        self._report_empty(part)
                return ExpectPlan(self._plain_keys(node), span)
            case "expect_count":
                return ExpectCount(self._amount(token_at(node, -1), "expect count", "int", "expect count 3"), span)
            case "expect_refused":
                return ExpectRefused(tuple(self._at.name(token) for token in tokens(node, "NAME")), span)
            case "expect_undecided":
                return ExpectUndecided(self._keys(node), span)
            case "expect_kept":
                return ExpectKept(self._keys(node), span)
            case _:
                return self._outcome(node)

    def _outcome(self, node: Node) -> ExpectOutcome:
        outcome, *code = tokens(node, "NAME")
        if str(outcome) not in OUTCOMES:
            self._at.report(
                "FC001",
                f"`{outcome}` is not an outcome of an act",
                self._at.span(outcome),
                help=f"the outcomes are {', '.join(f'`{word}`' for word in OUTCOMES)}",
            )
        elif code and str(outcome) != "refused":
            self._at.report(
                "FC001",
                f"only `refused` has a code, and this is `{outcome}`",
                self._at.span(code[0]),
                help="leave the code out",
            )
        return ExpectOutcome(
            self._key(node), self._at.name(outcome), self._at.name(code[0]) if code else None, self._at.span(node)
        )

    # ------------------------------------------------------------------------------------------ parts

    def _keys(self, node: Node) -> tuple[KnownKey, ...]:
        (part,) = subtrees(node, "keys")
        found = subtrees(part, "known_key")
        if not found and not self._is_damaged(node):
            self._at.report("FC004", "this list names no object", self._at.span(part), help="leave the clause out")
        return tuple(
            KnownKey(
                self._key(each),
                str(self._at.literal(tokens(each, "STRING")[0]).value) if tokens(each, "STRING") else None,
                self._at.span(each),
            )
            for each in found
        )

    def _plain_keys(self, node: Node) -> tuple[Key, ...]:
        """Return keys that stand without a reason."""
        found = [each for part in subtrees(node, "keys") for each in subtrees(part, "known_key")]
        for each in found:
            if tokens(each, "BECAUSE"):
                self._at.report(
                    "FC001",
                    "`because` has no place here",
                    self._at.span(tokens(each, "BECAUSE")[0]),
                    help="reasons are expected of `undecided` and `kept` objects",
                )
        return tuple(self._key(each) for each in found)

    def _key(self, node: Node) -> Key:
        (found,) = subtrees(node, "literal", "list")
        built = self._expressions.expression(found)
        if not isinstance(built, tree.Literal | tree.ListLiteral):
            raise TypeError("the grammar takes literals and lists as keys")
        return built

    def _name(self, node: Node, index: int) -> tree.Name:
        return self._at.name(tokens(node, "NAME")[index])

    def _part(self, node: Node, rule: str) -> Node | None:
        return next(iter(subtrees(node, rule)), None)

    def _report_empty(self, part: Node) -> None:
        self._at.report(
            "FC004",
            "this list is empty",
            self._at.span(part),
            why="a list that was not filled in must not look like one that was meant",
            help="write `empty` if none is meant",
        )
