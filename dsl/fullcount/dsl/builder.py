"""From the parser's tree to `tree.File`, by hand and clause by clause.

What a grammar cannot say well is refused here: a clause that is repeated or missing, an amount of the wrong kind, a
`propose` that does not say which objects it means. Every finding goes to the sink and the building goes on. A tree that
was built with findings holds placeholders; `parser.py` never hands it out.
"""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal

from fullcount.dsl import tree
from fullcount.dsl.approving import ApprovalBuilder
from fullcount.dsl.diagnostics import Diagnostics, Label
from fullcount.dsl.expressions import ExpressionBuilder, Node, Reporter, amounts, subtrees, token_at, tokens
from fullcount.dsl.fields import FieldBuilder
from fullcount.dsl.holding import HoldingBuilder
from fullcount.dsl.keywords import EXAMPLES
from fullcount.dsl.parse_tree import Token, Tree
from fullcount.dsl.source import Source, Span
from fullcount.dsl.statements import StatementBuilder
from fullcount.dsl.trials import TrialBuilder

_KINDS = {
    "int": "a whole number",
    "decimal": "a decimal number",
    "percent": "a percentage",
    "duration": "a duration",
    "size": "a size",
    "timestamp": "a time",
    "date": "a date",
    "text": "a text",
}


class Builder:
    """Builds one file. `damaged` are the spans that could not be parsed: what stood there is not called missing."""

    def __init__(self, source: Source, diagnostics: Diagnostics, damaged: Sequence[Span] = ()) -> None:
        self._at = Reporter(source, diagnostics)
        self._expressions = ExpressionBuilder(self._at)
        self._damaged = damaged
        self._holding = HoldingBuilder(self._at, self._expressions, self._dotted, self._integer)
        self._approving = ApprovalBuilder(
            self._at, self._integer, self._percent, self._once, self._report_repeats, self._is_damaged
        )
        self._fields = FieldBuilder(self._at, self._is_damaged)
        self._trials = TrialBuilder(
            self._at,
            self._expressions,
            self._dotted,
            self._integer,
            self._once,
            self._report_repeats,
            self._is_damaged,
        )

    def file(self, root: Node, comments: tuple[tree.Comment, ...]) -> tree.File:
        """Build the whole file."""
        span = self._at.source.span(0, len(self._at.source.text))
        statements = StatementBuilder(self._at, self._expressions, self._fields)
        return tree.File(
            tuple(self._workflow(node) for node in subtrees(root, "workflow")),
            comments,
            span,
            statements.edition(self._once(root, "this file", "edition"), root),
            tuple(statements.imported(node) for node in subtrees(root, "import_")),
            tuple(statements.record(node) for node in subtrees(root, "record")),
            tuple(statements.definition(node) for node in subtrees(root, "define")),
            protects=tuple(self._holding.protect(node) for node in subtrees(root, "protect")),
        )

    # ------------------------------------------------------------------------------------------ workflow

    def _workflow(self, node: Node) -> tree.Workflow:
        name = self._at.name(tokens(node, "NAME")[0])
        block = f"workflow `{name.text}`"
        describe = self._once(node, block, "describe")
        owner = self._once(node, block, "owner")
        schedule = self._once(node, block, "schedule")
        return tree.Workflow(
            name,
            self._text(describe) if describe is not None else None,
            self._text(owner) if owner is not None else None,
            self._schedule(schedule) if schedule is not None else None,
            tuple(self._param(child) for child in subtrees(node, "param")),
            tuple(self._inventory(child) for child in subtrees(node, "inventory")),
            tuple(self._verify(child) for child in subtrees(node, "verify")),
            tuple(self._propose(child) for child in subtrees(node, "propose")),
            tuple(self._approving.approve(child) for child in subtrees(node, "approve")),
            tuple(self._act(child) for child in subtrees(node, "act")),
            self._at.span(node),
            trials=tuple(self._trials.trial(child) for child in subtrees(node, "test")),
            defaults=tuple(self._trials.defaults(child) for child in subtrees(node, "test_defaults")),
            notifies=tuple(self._notify(child) for child in subtrees(node, "notify")),
        )

    def _notify(self, node: Node) -> tree.NotifyDecl:
        (target,) = tokens(node, "STRING")
        events = [each for each in node.children[3:] if isinstance(each, Token) and each.type != "COMMA"]
        return tree.NotifyDecl(
            str(self._at.literal(target).value),
            tuple(self._at.name(token) for token in events),
            self._at.span(node),
            self._at.span(target),
        )

    def _schedule(self, node: Node) -> tree.ScheduleClause:
        (when,) = subtrees(node, "cron", "every")
        at = token_at(when, 1)
        cron = self._text(when) if when.data == "cron" else None
        every = self._integer(at, "schedule every", "duration", "6h") if when.data == "every" else None
        zones = tokens(node, "STRING")
        catch_up = subtrees(node, "catch_up")
        return tree.ScheduleClause(
            cron,
            every,
            str(self._at.literal(zones[0]).value) if zones else None,
            self._integer(token_at(catch_up[0], -1), "catch up within", "duration", "4h") if catch_up else None,
            self._at.span(node),
            self._at.span(at),
            self._at.span(zones[0]) if zones else None,
        )

    def _param(self, node: Node) -> tree.ParamDecl:
        (declared,) = subtrees(node, "type")
        default = self._expressions.expression(node.children[-1]) if tokens(node, "ASSIGN") else None
        name = self._at.binding(tokens(node, "NAME")[0], "parameter")
        return tree.ParamDecl(name, self._fields.type(declared), default, self._at.span(node))

    # ------------------------------------------------------------------------------------------ inventory

    def _inventory(self, node: Node) -> tree.InventoryDecl:
        name = self._at.name(tokens(node, "NAME")[0])
        resource = self._dotted(subtrees(node, "dotted")[0])
        block = f"inventory `{name.text}`"
        key = self._required(node, name, block, "key", "without it no object can be told from another")
        fields = self._required(node, name, block, "fields", "only what was asked for can be known to be absent")
        incarnation = self._once(node, block, "incarnation")
        scope = self._once(node, block, "scope")
        deadline = self._once(node, block, "deadline")
        return tree.InventoryDecl(
            name,
            resource,
            tuple(self._at.name(token) for token in tokens(key, "NAME")) if key is not None else (),
            self._at.name(tokens(incarnation, "NAME")[0]) if incarnation is not None else None,
            self._fields.clause(fields, f"the `fields` of {block}") if fields is not None else (),
            self._scope(scope) if scope is not None else None,
            self._integer(token_at(deadline, -1), "deadline", "duration", "10m") if deadline is not None else None,
            tuple(self._expressions.expression(child.children[1]) for child in subtrees(node, "expect")),
            self._at.span(node),
            self._at.span(node.children[0]).to(resource.span),
            tuple(self._partition(child) for each in subtrees(node, "across") for child in subtrees(each, "partition")),
            tuple(self._at.name(token) for rules in subtrees(key, "normalized") for token in tokens(rules, "NAME"))
            if key is not None
            else (),
        )

    def _partition(self, node: Node) -> tree.PartitionDecl:
        name, (source,) = tokens(node, "NAME")[0], subtrees(node, "list", "dotted")
        values = self._expressions.expression(source) if source.data == "list" else None
        return tree.PartitionDecl(
            self._at.name(name),
            values if isinstance(values, tree.ListLiteral) else None,
            self._dotted(source) if source.data == "dotted" else None,
            self._at.span(node),
        )

    def _scope(self, node: Node) -> tree.Expr:
        condition = self._expressions.expression(node.children[1])
        if isinstance(condition, tree.Literal) and condition.kind == "bool":
            self._at.report(
                "FC006",
                f"`scope {'true' if condition.value else 'false'}` is not a condition on the objects",
                condition.span,
                help="leave `scope` out if the whole resource is meant",
            )
        return condition

    # ------------------------------------------------------------------------------------------ verify

    def _verify(self, node: Node) -> tree.VerifyDecl:
        inventory = self._at.name(tokens(node, "NAME")[0])
        nodes = [child for child in node.children if isinstance(child, Tree)]
        claims = tuple(self._claim(child) for child in nodes)
        self._report_repeats(nodes, f"verify `{inventory.text}`", [claim.kind for claim in claims])
        if not claims and not self._is_damaged(node):
            self._at.report(
                "FC004",
                f"`verify {inventory.text}` claims nothing",
                self._at.span(node),
                help=f"say what must hold: `{EXAMPLES['verify']}`",
            )
        return tree.VerifyDecl(inventory, claims, self._at.span(node))

    def _claim(self, node: Node) -> tree.ClaimDecl:
        kind = node.data.removeprefix("claim_")
        last = node.children[-1]
        value: int | str | Decimal | None = None
        agrees = None
        if isinstance(last, Tree):
            agrees = self._dotted(last)
        elif kind == "fresh":
            value = self._integer(last, "fresh within", "duration", "1h")
        elif kind == "rows":
            value = self._integer(last, "rows at least", "int", "100")
        elif kind == "change":
            value = self._percent(last, "change at most", "20%")
        elif kind != "complete":
            value = str(last)
        return tree.ClaimDecl(kind, value, agrees, self._at.span(node))

    # ------------------------------------------------------------------------------------------ propose

    def _propose(self, node: Node) -> tree.ProposeDecl:
        name, inventory, row = tokens(node, "NAME")
        block = f"propose `{name}`"
        bounded = self._once(node, block, "bounded")
        where = self._once(node, block, "where")
        limit = self._once(node, block, "limit")
        show = self._once(node, block, "show")
        head = self._at.span(node.children[0]).to(self._at.span(row))
        if where is None and not self._is_damaged(node):
            self._at.report(
                "FC005",
                f"{block} does not say which objects it means",
                self._at.span(name),
                note="no `where`",
                why="an empty selector must never mean every object",
                help="add `where …` with a condition, or `where all` if every object is meant",
            )
        excepts = tuple(self._except(child) for child in subtrees(node, "except_in", "except_when"))
        return tree.ProposeDecl(
            self._at.name(name),
            self._at.name(inventory),
            self._at.binding(row, "row"),
            self._expressions.selector(where.children[1]) if where is not None else tree.All(head),
            excepts,
            self._limit(limit) if limit is not None else None,
            tuple(
                self._expressions.expression(child)
                for child in (show.children if show is not None else ())
                if isinstance(child, Tree)
            ),
            self._at.span(node),
            head,
            keeps=tuple(self._holding.keep(child) for child in subtrees(node, "keep")),
            doubts=tuple(
                tree.DoubtDecl(self._expressions.expression(child.children[2]), self._at.span(child))
                for child in subtrees(node, "undecided_when")
            ),
            picks=tuple(self._holding.pick(child) for child in subtrees(node, "pick")),
            bounded=tree.BoundedDecl(self._at.span(bounded)) if bounded is not None else None,
            expects=tuple(self._holding.expect_none(child) for child in subtrees(node, "expect_none")),
        )

    def _except(self, node: Node) -> tree.ExceptDecl:
        span = self._at.span(node)
        if node.data == "except_in":
            return tree.ExceptDecl(self._at.name(tokens(node, "NAME")[0]), None, span)
        return tree.ExceptDecl(None, self._expressions.expression(node.children[2]), span)

    def _limit(self, node: Node) -> tree.LimitDecl:
        count, percent = self._halves(amounts(node), "limit", EXAMPLES["limit"])
        return tree.LimitDecl(count, percent, self._at.span(node))

    # ------------------------------------------------------------------------------------------ act

    def _act(self, node: Node) -> tree.ActDecl:
        proposal = self._at.name(tokens(node, "NAME")[0])
        block = f"act `{proposal.text}`"
        operations = subtrees(node, "operation")
        undo = backup = cascades = rate = concurrency = canary = rehearse = stop = None
        windows: tuple[tree.WindowDecl, ...] = ()
        steps: tuple[tree.StepDecl, ...] = ()
        for body in subtrees(node, "act_block", "steps"):
            steps = tuple(self._step(child) for child in subtrees(body, "step", "stray_step"))
            windows = tuple(self._holding.window(child) for child in subtrees(body, "window"))
            undo = self._once(body, block, "undo")
            backup = self._once(body, block, "backup")
            cascades = self._once(body, block, "cascades")
            rate = self._once(body, block, "rate")
            concurrency = self._once(body, block, "concurrency")
            canary = self._once(body, block, "canary")
            rehearse = self._once(body, block, "rehearse")
            stop = self._once(body, block, "stop")
        return tree.ActDecl(
            proposal,
            self._operation(operations[0]) if operations else None,
            self._operation(subtrees(undo, "operation")[0]) if undo is not None else None,
            self._rate(rate) if rate is not None else None,
            self._integer(token_at(concurrency, -1), "concurrency", "int", "4") if concurrency is not None else None,
            self._stop(stop) if stop is not None else None,
            self._at.span(node),
            windows=windows,
            canary=self._holding.canary(canary) if canary is not None else None,
            steps=steps,
            backup=self._holding.backup(backup) if backup is not None else None,
            cascades=tree.CascadesDecl(self._at.span(cascades)) if cascades is not None else None,
            rehearse=tree.RehearseDecl(self._at.span(rehearse)) if rehearse is not None else None,
        )

    def _step(self, node: Node) -> tree.StepDecl:
        label = self._at.name(tokens(node, "LABEL")[0])
        block = f"step `{label.text}`"
        undo, backup = self._once(node, block, "undo"), self._once(node, block, "backup")
        cascades, rehearse = self._once(node, block, "cascades"), self._once(node, block, "rehearse")
        clocks = subtrees(node, "step_after", "step_every")
        self._report_repeats(clocks, block, ["after"] * len(clocks))
        every = [each for each in clocks if each.data == "step_every"][:1] if len(clocks) == 1 else []
        wait = token_at(clocks[0], 1) if clocks else None
        return tree.StepDecl(
            label,
            self._operation(subtrees(node, "operation")[0]),
            self._operation(subtrees(undo, "operation")[0]) if undo is not None else None,
            self._integer(wait, "every" if every else "after", "duration", "14d") if wait is not None else None,
            self._at.span(node),
            self._at.span(clocks[0]) if clocks else None,
            self._integer(token_at(every[0], 3), "every", "int", "12") if every else None,
            backup=self._holding.backup(backup) if backup is not None else None,
            cascades=tree.CascadesDecl(self._at.span(cascades)) if cascades is not None else None,
            rehearse=tree.RehearseDecl(self._at.span(rehearse)) if rehearse is not None else None,
        )

    def _operation(self, node: Node) -> tree.OperationCall:
        arguments = tuple(
            tree.Argument(
                self._at.name(tokens(child, "NAME")[0]),
                self._expressions.expression(child.children[2]),
                self._at.span(child),
            )
            for child in subtrees(node, "argument")
        )
        return tree.OperationCall(self._dotted(subtrees(node, "dotted")[0]), arguments, self._at.span(node))

    def _rate(self, node: Node) -> tree.RateDecl:
        return tree.RateDecl(
            self._integer(token_at(node, 1), "rate", "int", "10"), str(node.children[3]), self._at.span(node)
        )

    def _stop(self, node: Node) -> tree.StopDecl:
        told = []
        for part in subtrees(node, "stop_part"):
            amount = amounts(part)[0]
            counted, failures = amount.type == "NUMBER", bool(tokens(part, "FAILURES"))
            if counted is failures:
                told.append(amount)
                continue
            self._at.report(
                "FC022",
                f"`{amount}` does not say what it counts"
                if counted
                else f"`{amount} failures` is not a number of failures",
                self._at.span(part),
                help=f"write it like `{EXAMPLES['stop']}`",
            )
        count, percent = self._halves(told, "stop after", EXAMPLES["stop"])
        return tree.StopDecl(count, percent, self._at.span(node))

    # ------------------------------------------------------------------------------------------ parts

    def _dotted(self, node: Node) -> tree.Dotted:
        return tree.Dotted(tuple(self._at.name(token) for token in tokens(node, "NAME")), self._at.span(node))

    def _text(self, node: Node) -> str:
        return str(self._at.literal(tokens(node, "STRING")[0]).value)

    def _amount(self, token: Token, clause: str, kinds: tuple[str, ...], example: str) -> tree.Literal:
        literal = self._at.literal(token)
        if literal.kind not in (*kinds, "unreadable"):
            self._at.report(
                "FC022",
                f"`{clause}` takes {' or '.join(_KINDS[kind] for kind in kinds)}, not {_KINDS[literal.kind]}",
                literal.span,
                help=f"write it like `{example}`",
            )
        return literal

    def _integer(self, token: Token, clause: str, kind: str, example: str) -> int:
        value = self._amount(token, clause, (kind,), example).value
        return value if isinstance(value, int) else 0

    def _percent(self, token: Token, clause: str, example: str) -> Decimal:
        value = self._amount(token, clause, ("percent",), example).value
        return value if isinstance(value, Decimal) else Decimal(0)

    def _halves(self, given: list[Token], clause: str, example: str) -> tuple[int | None, Decimal | None]:
        """Return the count and the percentage of a clause that takes either or both, each once."""
        count: tuple[int, Span] | None = None
        percent: tuple[Decimal, Span] | None = None
        for token in given:
            literal = self._amount(token, clause, ("int", "percent"), example)
            first: tuple[object, Span] | None = None
            if literal.kind == "int" and isinstance(literal.value, int):
                first, count = count, (literal.value, literal.span)
            elif literal.kind == "percent" and isinstance(literal.value, Decimal):
                first, percent = percent, (literal.value, literal.span)
            if first is not None:
                self._at.report(
                    "FC003",
                    f"`{clause}` has {_KINDS[literal.kind]} twice",
                    literal.span,
                    note="given again",
                    labels=(Label(first[1], "first given here"),),
                    help=f"keep one of them: `{example}`",
                )
        return count[0] if count is not None else None, percent[0] if percent is not None else None

    # ------------------------------------------------------------------------------------------ once, and at all

    def _once(self, node: Node, block: str, clause: str) -> Node | None:
        """Return the first clause of a name, or None; report every further one."""
        found = subtrees(node, clause)
        self._report_repeats(found, block, [clause] * len(found))
        return found[0] if found else None

    def _report_repeats(self, nodes: Sequence[Node], block: str, words: list[str]) -> None:
        first: dict[str, Span] = {}
        for node, word in zip(nodes, words, strict=True):
            span = self._at.span(node.children[0])
            seen = first.setdefault(word, span)
            if seen is not span:
                self._at.report(
                    "FC003",
                    f"{block} has `{word}` twice",
                    span,
                    note="given again",
                    labels=(Label(seen, "first given here"),),
                    why="which of the two holds must not depend on their order",
                    help="keep one of them",
                )

    def _required(self, node: Node, name: tree.Name, block: str, clause: str, why: str) -> Node | None:
        found = self._once(node, block, clause)
        if found is None and not self._is_damaged(node):
            self._at.report(
                "FC004",
                f"{block} has no `{clause}`",
                name.span,
                why=why,
                help=f"add a line such as `{EXAMPLES[clause]}`",
            )
        return found

    def _is_damaged(self, node: Node) -> bool:
        span = self._at.span(node)
        return any(span.start <= damage.start < span.end for damage in self._damaged)
