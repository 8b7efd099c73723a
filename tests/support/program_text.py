"""Syntax trees written down: as tokens, and as text with anything between the tokens that may stand there.

It knows the grammar and nothing of the parser, the builder or the formatter, so that these can be held against it.
"""

from __future__ import annotations

import datetime
import re
from collections.abc import Iterable, Sequence
from itertools import cycle

from fullcount.dsl import tree, trial_tree
from fullcount.dsl.literals import DURATIONS, SIZES

_LEVELS = {"or": 1, "and": 2, "+": 6, "-": 6, "*": 7, "/": 7}
_COMPARISON, _NEGATION, _ELSE, _NEGATIVE, _POSTFIX, _INDEXABLE = 4, 3, 5, 8, 9, 10


def _level(each: tree.Expr) -> int:
    match each:
        case tree.Binary(operator=operator):
            return _LEVELS.get(operator, _COMPARISON)
        case tree.Unary(operator="not"):
            return _NEGATION
        case tree.Unary():
            return _NEGATIVE
        case tree.StateTest():
            return _COMPARISON
        case tree.Else():
            return _ELSE
        case tree.Quantified() | tree.AggregateExpr() | tree.ListTest():
            return _POSTFIX
        case _:
            return _INDEXABLE


def _at(each: tree.Expr, level: int) -> list[str]:
    """Return the tokens of an operand, in parentheses if it binds less than its place needs."""
    tokens = expression_tokens(each)
    return tokens if _level(each) >= level else ["(", *tokens, ")"]


def expression_tokens(each: tree.Expr) -> list[str]:
    """Return an expression as tokens."""
    match each:
        case tree.Literal():
            return [_spelled(each)]
        case tree.Now():
            return ["now"]
        case tree.Never():
            return ["never"]
        case tree.Unknown():
            return ["unknown"]
        case tree.All():
            return ["all"]
        case tree.Reference(parts=parts):
            return _path(parts)
        case tree.ListLiteral(items=items):
            return ["[", *_separated(map(expression_tokens, items)), "]"]
        case tree.Call(function=function, arguments=arguments):
            return [function.text, "(", *_separated(map(expression_tokens, arguments)), ")"]
        case tree.ListFile(path=path, column=column, may_be_empty=may_be_empty):
            named = [] if column is None else ["column", _quoted(column)]
            return ["file", _quoted(path), *named, *(["may", "be", "empty"] if may_be_empty else [])]
        case tree.Index(target=target, key=key):
            return [*_at(target, _INDEXABLE), "[", *expression_tokens(key), "]"]
        case tree.Quantified(quantifier=word):
            return _over(word, each)
        case tree.AggregateExpr(function=word, of=of, needs=needs):
            value = [] if of is None else ["of", *_at(of, _INDEXABLE)]
            return [*_over(word, each), *value, *([] if needs is None else ["needs", str(needs)])]
        case tree.ListTest(quantifier=word, collection=tree.Reference(parts=parts), item=item, where=where):
            return [word, *_path(parts), "as", item.text, "where", "(", *expression_tokens(where), ")"]
        case _:
            return _operator_tokens(each)


def _operator_tokens(each: tree.Expr) -> list[str]:
    match each:
        case tree.Unary(operator="not", operand=operand):
            return ["not", *_at(operand, _NEGATION)]
        case tree.Unary(operand=operand):
            return ["-", *_at(operand, _NEGATIVE)]
        case tree.StateTest(operand=operand, state=state):
            return [*_at(operand, _ELSE), "is", state]
        case tree.Else(operand=operand, fallback=fallback):
            return [*_at(operand, _LEVELS["+"]), "else", *_at(fallback, _ELSE)]
        case tree.Binary(operator=operator, left=left, right=right):
            level = _level(each)
            beside = (_ELSE, _ELSE) if level == _COMPARISON else (level, level + 1)
            return [*_at(left, beside[0]), *operator.split(" "), *_at(right, beside[1])]
        case _:
            raise TypeError(f"{type(each).__name__} has no tokens yet: teach this module to write it")


def _over(word: str, each: tree.Quantified | tree.AggregateExpr) -> list[str]:
    return [word, each.inventory.text, "as", each.row.text, "where", "(", *expression_tokens(each.where), ")"]


def _path(parts: Sequence[tree.Name]) -> list[str]:
    return [token for part in parts for token in (".", part.text)][1:]


def _separated(items: Iterable[list[str]]) -> list[str]:
    return [token for item in items for token in (",", *item)][1:]


def _scaled_text(value: int, units: dict[str, int], space: str) -> str:
    """Write an amount in the largest unit that leaves it whole."""
    unit = max((unit for unit in units if value % units[unit] == 0), key=units.__getitem__)
    return f"{value // units[unit]}{space}{unit}"


def _spelled(each: tree.Literal) -> str:
    value = each.value
    match each.kind:
        case "text":
            return _quoted(str(value))
        case "bool":
            return "true" if value else "false"
        case "duration":
            return _scaled_text(int(value), DURATIONS, "")
        case "size":
            return _scaled_text(int(value), SIZES, " ")
        case "percent":
            return f"{value}%"
        case "date":
            return _date(int(value))
        case "timestamp":
            seconds = int(value) // 1_000_000
            clock = f"{seconds // 3600 % 24:02}:{seconds // 60 % 60:02}:{seconds % 60:02}"
            return f"{_date(seconds // 86_400)}T{clock}Z"
        case _:
            return str(value)


def _date(days: int) -> str:
    return str(datetime.date(1970, 1, 1) + datetime.timedelta(days=days))


_ESCAPES = {'"': '\\"', "\\": "\\\\", "\n": "\\n", "\t": "\\t"}


def _quoted(value: str) -> str:
    return '"' + "".join(_escaped(char) for char in value) + '"'


def _escaped(char: str) -> str:
    if char in _ESCAPES:
        return _ESCAPES[char]
    return char if " " <= char <= "~" or char == "é" else f"\\u{{{ord(char):x}}}"


def _type(each: tree.TypeName) -> list[str]:
    tokens = [each.name]
    if each.of is not None:
        tokens += ["of", *_path(each.of.parts)]
    if each.arguments:
        tokens += ["<", *_separated(map(_type, each.arguments)), ">"]
    if each.fields:
        tokens += ["{", *_separated(map(_field, each.fields)), "}"]
    return [*tokens, *(["?"] if each.optional else [])]


def _field(each: tree.FieldDecl | tree.FieldSpread) -> list[str]:
    if isinstance(each, tree.FieldSpread):
        return ["...", each.record.text]
    return [each.name.text, ":", *_type(each.type)]


def _duration(value: int) -> str:
    return _scaled_text(value, DURATIONS, "")


def _claim_tokens(claim: tree.ClaimDecl) -> list[str]:
    match claim.kind:
        case "fresh":
            return ["fresh", "within", _duration(int(claim.value))]
        case "rows":
            return ["rows", "at", "least", str(claim.value)]
        case "change":
            return ["change", "at", "most", f"{claim.value}%"]
        case "count":
            return ["count", "agrees", "with", *_path(claim.agrees.parts)]
        case "complete":
            return ["complete"]
        case kind:
            return [kind, str(claim.value)]


def _operation(each: tree.OperationCall) -> list[str]:
    arguments = ([a.name.text, ":", *expression_tokens(a.value)] for a in each.arguments)
    return [*_path(each.operation.parts), "(", *_separated(arguments), ")"]


def _inventory(each: tree.InventoryDecl) -> list[list[str]]:
    key = [name.text for name in each.key]
    rules = ["normalized", "by", *_separated([name.text] for name in each.normalized)] if each.normalized else []
    clauses = [["key", *(key if len(key) == 1 else ["(", *_separated([name] for name in key), ")"]), *rules]]
    if each.incarnation is not None:
        clauses.append(["incarnation", each.incarnation.text])
    match each.fields:
        case (tree.FieldSpread(record=record),):
            clauses.append(["fields", record.text])
        case fields:
            clauses.append(["fields", "{", *_separated(map(_field, fields)), "}"])
    if each.scope is not None:
        clauses.append(["scope", *expression_tokens(each.scope)])
    if each.deadline is not None:
        clauses.append(["deadline", _duration(each.deadline)])
    return [*clauses, *(["expect", *expression_tokens(expect)] for expect in each.expects)]


def _across(each: tree.InventoryDecl) -> list[str]:
    tokens: list[str] = []
    for partition in each.across:
        listed = [] if partition.listed is None else _path(partition.listed.parts)
        values = listed if partition.values is None else expression_tokens(partition.values)
        tokens += ["across" if len(tokens) == 0 else ",", partition.name.text, "in", *values]
    return tokens


def _pick(each: tree.PickDecl) -> list[str]:
    amount = str(each.count) if each.percent is None else f"{each.percent}%"
    per = [] if each.per is None else ["per", *expression_tokens(each.per)]
    if each.by is not None:
        return ["pick", each.order, amount, *per, "by", *expression_tokens(each.by)]
    bound = [] if each.at_most is None else [",", "at", "most", str(each.at_most)]
    return ["pick", amount, "at", "random", "seed", _quoted(each.seed), *bound, *per]


def _propose(each: tree.ProposeDecl) -> list[list[str]]:
    clauses = [] if each.bounded is None else [["bounded"]]
    clauses.append(["where", *expression_tokens(each.where)])
    for exempted in each.excepts:
        if exempted.list_name is not None:
            clauses.append(["except", "in", exempted.list_name.text])
        else:
            clauses.append(["except", "when", *expression_tokens(exempted.condition)])
    clauses += [["undecided", "when", *expression_tokens(doubt.condition)] for doubt in each.doubts]
    for expected in each.expects:
        head = ["expect", "no", expected.inventory.text, "as", expected.row.text, "where"]
        clauses.append([*head, "(", *expression_tokens(expected.where), ")", "because", _quoted(expected.because)])
    for keep in each.keeps:
        per = [] if keep.per is None else ["per", *expression_tokens(keep.per)]
        clauses.append(["keep", "at", "least", str(keep.count), *per, keep.order, "by", *expression_tokens(keep.by)])
    clauses += map(_pick, each.picks)
    if each.limit is not None:
        halves = [*([] if each.limit.count is None else [str(each.limit.count)])]
        halves += [] if each.limit.percent is None else [f"{each.limit.percent}%"]
        clauses.append(["limit", *_separated([half] for half in halves)])
    if each.show:
        clauses.append(["show", *_separated(map(expression_tokens, each.show))])
    return clauses


def _approve(each: tree.ApproveDecl) -> list[list[str]]:
    rules = [
        [str(q.count), "of", "role", _quoted(q.role), *(["not", "by", "author"] if q.not_by_author else [])]
        for q in each.quorums
    ]
    if each.automatic is not None:
        rule = each.automatic
        tests = [] if rule.count is None else [["count", "<=", str(rule.count)]]
        tests += [] if rule.percent is None else [["percent", "<=", f"{rule.percent}%"]]
        tests += [["reversible"]] if rule.reversible else []
        conditions = [token for test in tests for token in ("and", *test)][1:]
        rules = [["automatically", "when", *conditions], ["otherwise", *rules[0]], *rules[1:]]
    return [*rules, *([] if each.expires is None else [["expires", "after", _duration(each.expires)]])]


def _kept(each: tree.ActDecl | tree.StepDecl) -> list[list[str]]:
    clauses = [] if each.undo is None else [["undo", *_operation(each.undo)]]
    clauses += [] if each.backup is None else [["backup", "kept", "for", _duration(each.backup.kept)]]
    clauses += [] if each.cascades is None else [["cascades", "within", "limit"]]
    return clauses + ([] if each.rehearse is None else [["rehearse", "restore"]])


def _act(each: tree.ActDecl) -> list[list[str]]:
    clauses = _kept(each)
    if each.rate is not None:
        clauses.append(["rate", str(each.rate.count), "per", each.rate.per])
    if each.concurrency is not None:
        clauses.append(["concurrency", str(each.concurrency)])
    if each.canary is not None:
        then = each.canary.then
        clauses.append(["canary", str(each.canary.count), "then", "wait", _duration(each.canary.wait)])
        if then is not None:
            clauses[-1] += ["then", "at", "most", str(then.count), "of", *_path(then.resource.parts)]
    if each.stop is not None:
        halves = [] if each.stop.failures is None else [[str(each.stop.failures), "failures"]]
        halves += [] if each.stop.percent is None else [[f"{each.stop.percent}%"]]
        clauses.append(["stop", "after", *[token for half in halves for token in ("or", *half)][1:]])
    return clauses


def _step(each: tree.StepDecl) -> list[str]:
    kept = [token for clause in _kept(each) for token in clause]
    after = [] if each.after is None else ["after" if each.times is None else "every", _duration(each.after)]
    after += [] if each.times is None else [",", str(each.times), "times"]
    return [each.label.text, ":", *_operation(each.operation), *kept, *after]


def _schedule(each: tree.ScheduleClause) -> list[str]:
    when = ["cron", _quoted(each.cron)] if each.cron is not None else ["every", _duration(each.every)]
    zone = [] if each.timezone is None else ["timezone", _quoted(each.timezone)]
    late = [] if each.catch_up is None else ["catch", "up", "within", _duration(each.catch_up)]
    return ["schedule", *when, *zone, *late]


# ---------------------------------------------------------------------------------------------- tests


def _sample(each: trial_tree.Sample) -> list[str]:
    fields = ([field.name.text, ":", *_sample_value(field.value)] for field in each.fields)
    return ["{", *_separated(fields), "}"]


def _sample_value(each: trial_tree.SampleValue) -> list[str]:
    match each:
        case trial_tree.State(word=word):
            return [word]
        case trial_tree.MapLiteral(entries=entries):
            inside = _separated([_spelled(entry.key), ":", *_sample_value(entry.value)] for entry in entries)
            return ["{", *inside, "}"]
        case trial_tree.RecordLiteral(fields=fields):
            return ["{", *_separated([part.name.text, ":", *_sample_value(part.value)] for part in fields), "}"]
        case trial_tree.SampleList(items=items):
            return ["[", *_separated(map(_sample_value, items)), "]"]
        case _:
            return expression_tokens(each)


def _keys(keys: Iterable[trial_tree.Key]) -> list[str]:
    return ["[", *_separated(map(expression_tokens, keys)), "]"]


def _known(keys: Iterable[trial_tree.KnownKey]) -> list[str]:
    reasons = (
        [*expression_tokens(each.key), *([] if each.because is None else ["because", _quoted(each.because)])]
        for each in keys
    )
    return ["[", *_separated(reasons), "]"]


def _codes(word: str, codes: Sequence[tree.Name]) -> list[str]:
    return [word, *_separated([code.text] for code in codes)] if codes else []


def _given(each: trial_tree.Given) -> list[str]:
    match each:
        case trial_tree.GivenFailed(inventory=name, reason=reason):
            return [name.text, "failed", reason.text]
        case trial_tree.GivenParam(name=name, value=value):
            return ["param", name.text, "=", *expression_tokens(value)]
        case trial_tree.GivenCount(resource=resource, count=count):
            return ["count", *_path(resource.parts), "=", str(count)]
        case trial_tree.GivenList(name=name, keys=keys):
            return ["list", name.text, "=", *_keys(keys)]
    rows = ["empty"]
    if each.samples or each.more:
        rows = ["[", *_separated(map(_sample, each.samples)), "]"]
    for more in each.more:
        rows += ["and", str(more.count), "more", *([] if more.sample is None else _sample(more.sample))]
    return [
        each.inventory.text,
        *_codes("partial", each.reasons),
        *_codes("warned", each.warnings),
        *([] if each.stale is None else ["stale", _duration(each.stale)]),
        *([] if each.previously is None else ["previously", str(each.previously), "rows"]),
        *rows,
    ]


def _before(each: trial_tree.Before) -> list[str]:
    match each:
        case trial_tree.Changed(inventory=name, key=key, sample=sample, recreated=recreated):
            return ["recreate" if recreated else "change", name.text, *expression_tokens(key), *_sample(sample)]
        case trial_tree.Removed(inventory=name, key=key):
            return ["remove", name.text, *expression_tokens(key)]
        case trial_tree.Added(inventory=name, sample=sample):
            return ["add", name.text, *_sample(sample)]
        case trial_tree.Exempted(key=key, list_name=name):
            return ["exempt", *expression_tokens(key), "in", name.text]
        case trial_tree.Waited(duration=duration):
            return ["wait", _duration(duration)]


def _expect(each: trial_tree.Expectation) -> list[str]:
    match each:
        case trial_tree.ExpectPlan(keys=keys):
            return ["plan", *(_keys(keys) if keys else ["empty"])]
        case trial_tree.ExpectCount(count=count):
            return ["count", str(count)]
        case trial_tree.ExpectRefused(codes=codes):
            return _codes("refused", codes)
        case trial_tree.ExpectUndecided(keys=keys):
            return ["undecided", *_known(keys)]
        case trial_tree.ExpectKept(keys=keys):
            return ["kept", *_known(keys)]
        case trial_tree.ExpectOutcome(key=key, outcome=outcome, code=code):
            ending = [] if code is None else [code.text]
            return ["outcome", *expression_tokens(key), "=", outcome.text, *ending]


def _trial(each: trial_tree.Trial) -> list[str]:
    clauses = [] if each.now is None else [["now", _spelled(tree.Literal("timestamp", each.now, each.span))]]
    clauses += [["given", *_given(given)] for given in each.givens]
    clauses += [["before", "act", *_before(before)] for before in each.befores]
    clauses += [["expect", *_expect(expect)] for expect in each.expects]
    of = [] if each.proposal is None else ["of", each.proposal.text]
    return _braced(["test", _quoted(each.name.text), *of], clauses)


def _braced(head: list[str], clauses: list[list[str]]) -> list[str]:
    return [*head, "{", *(token for clause in clauses for token in clause), "}"]


def _workflow(each: tree.Workflow) -> list[str]:
    clauses = []
    clauses += [] if each.describe is None else [["describe", _quoted(each.describe)]]
    clauses += [] if each.owner is None else [["owner", _quoted(each.owner)]]
    clauses += [] if each.schedule is None else [_schedule(each.schedule)]
    for param in each.params:
        default = [] if param.default is None else ["=", *expression_tokens(param.default)]
        clauses.append(["param", param.name.text, ":", *_type(param.type), *default])
    for inventory in each.inventories:
        head = ["inventory", inventory.name.text, "from", *_path(inventory.resource.parts), *_across(inventory)]
        clauses.append(_braced(head, _inventory(inventory)))
    for verify in each.verifies:
        claimed = _separated(map(_claim_tokens, verify.claims))
        clauses.append(_braced(["verify", verify.inventory.text], [claimed]))
    for proposal in each.proposals:
        head = ["propose", proposal.name.text, "from", proposal.inventory.text, "as", proposal.row.text]
        clauses.append(_braced(head, _propose(proposal)))
    for approval in each.approvals:
        clauses.append(_braced(["approve", approval.proposal.text], [_separated(_approve(approval))]))
    for act in each.acts:
        if act.operation is None:
            clauses.append(_braced(["act", act.proposal.text, "with", "steps"], [*map(_step, act.steps), *_act(act)]))
            continue
        head = ["act", act.proposal.text, "with", *_operation(act.operation)]
        clauses.append(_braced(head, _act(act)) if _act(act) else head)
    for told in each.notifies:
        events = _separated([event.text] for event in told.events)
        clauses.append(["notify", _quoted(told.target), "on", *events])
    clauses += [["test", "defaults", each.inventory.text, *_sample(each.sample)] for each in each.defaults]
    clauses += [_trial(trial) for trial in each.trials]
    return _braced(["workflow", each.name.text], clauses)


def tokens_of(file: tree.File) -> list[str]:
    """Return a file as tokens, without a comma or parenthesis more than it needs."""
    statements = [] if file.edition is None else [["edition", _quoted(file.edition.value)]]
    statements += [["import", _quoted(each.path)] for each in file.imports]
    statements += [["record", each.name.text, "{", *_separated(map(_field, each.fields)), "}"] for each in file.records]
    for each in file.definitions:
        parameters = ([p.name.text, ":", *_type(p.type)] for p in each.parameters)
        head = ["define", each.name.text, "(", *_separated(parameters), ")", "="]
        statements.append([*head, *expression_tokens(each.body)])
    statements += [_workflow(each) for each in file.workflows]
    return [token for statement in statements for token in statement]


# ---------------------------------------------------------------------------------------------- tokens as text

#: What may stand between two tokens. `@` becomes the number of a comment.
SPACES = (" ", "", "\n", "    ", "\t", "\r\n", "\n\n", "\n\n\n\n")
COMMENTS = (
    *[" # note @\n", "#note @  \n", "\n# own @\n", "\n\n  # own @\n\n", "\n# own @\n# own @\n"],
    " # note @\n  # own @\n",
)
_FREE = frozenset("(){}[],")


def written(file: tree.File, between: Sequence[str]) -> str:
    """Write a file down, with the given gaps between its tokens, over and over."""
    parts: list[str] = []
    number = 0
    before = ""
    for token, gap in zip([*tokens_of(file), ""], cycle(between), strict=False):
        if gap == "" and not (before in _FREE or token in _FREE or not before):
            gap = " "
        for _ in range(gap.count("@")):
            number += 1
            gap = gap.replace("@", str(number), 1)
        parts += [gap, token]
        before = token
    return "".join(parts)


def comments_in(text: str) -> list[str]:
    """Return the comments of a text that `written` wrote, in order."""
    return [found.rstrip() for found in re.findall(r"#\s?(?:note|own) \d+", text)]
