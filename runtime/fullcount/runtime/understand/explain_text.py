"""An explanation in words, as a tree of at most 100 columns, and the same as JSON.

It words what `explain` found and adds nothing: each part of the rule with its truth, the values behind each test, the
rows of other inventories that were found or nearly were, and what would flip it. Foreign text is made harmless.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any, Final

from fullcount.compiler import ir
from fullcount.compiler.values import Truth
from fullcount.runtime import format as fmt
from fullcount.runtime.plan.cells import to_json
from fullcount.runtime.plan.digest import short_digest
from fullcount.runtime.plan.document import ProtectionDoc
from fullcount.runtime.plan.phrase import phrase
from fullcount.runtime.text import plain, wrapped
from fullcount.runtime.understand.decision import Because, Verdict
from fullcount.runtime.understand.edits import AddRow, Change, DropRow, Finish, SetField, SetParam, Unlist
from fullcount.runtime.understand.explain import Explanation
from fullcount.runtime.understand.flip import Flip
from fullcount.runtime.understand.trace import Fact, Key, Look, Node, Seen
from fullcount.runtime.understand.ways import FACTS

_TRUTHS: Final[dict[Truth, str]] = {True: "true", False: "false", None: "unknown"}
_WIDEST: Final = 9
_ROWS: Final = 3
_INDENT: Final = "  "


def explanation_lines(found: Explanation) -> list[str]:
    """Return the explanation for a terminal."""
    document, decision = found.document, found.decision
    lines = [
        wrapped(f"{decision.verdict.upper()}  ", fmt.key(found.key, 70)),
        wrapped(_INDENT, f"{document.workflow}.{document.proposal}"),
        wrapped(_INDENT, _plan(found)),
        "",
        *(wrapped(_INDENT, line) for line in _because(found)),
        "",
    ]
    if found.inventory.scope is not None:
        lines += ["  scope", *_tree(decision.scope, 2)]
    lines += ["  rule", *_tree(decision.rule, 2)]
    for protection, node in zip(_protections(found), decision.protections, strict=True):
        lines += [wrapped("  protect ", plain(f"{protection.name}: {protection.because}")), *_tree(node, 2)]
    for node in decision.excepts:
        lines += ["  except when", *_tree(node, 2)]
    for floor in found.document.floors:
        lines += [wrapped("  ", plain(floor.clause, 90))]
    for name, node in decision.arguments:
        if node.truth is not True:
            lines += [wrapped("  the act needs ", f"{name}: {_values(node.facts)}")]
    lines += ["", *_flip_lines(found)]
    lines += [wrapped("  note  ", plain(note)) for note in found.notes]
    return lines


def _plan(found: Explanation) -> str:
    document = found.document
    return f"plan {document.plan_id} ({short_digest(document.digest)}), as of {fmt.moment(document.now)}"


def _because(found: Explanation) -> Iterator[str]:
    decision, words = found.decision, [plain(reason) for reason in found.reasons]
    match decision.because:
        case Because.SELECTED:
            yield "selected: the rule is true for it, and nothing keeps it"
        case Because.SCOPE:
            yield "outside of the inventory's scope"
        case Because.NO_CALL:
            yield f"undecided: the rule is true, but the act has no value for {'; '.join(words)}"
        case Because.UNKNOWN:
            yield "undecided: the rule is neither true nor false on what was read"
            for word in words:
                yield f"  missing  {word}"
        case Because.OTHERWISE if decision.verdict is Verdict.UNDECIDED:
            yield f"undecided: {'; '.join(words)}"
        case kept:
            yield f"kept: {_kept(found, kept, words)}"


def _kept(found: Explanation, because: Because, words: Sequence[str]) -> str:
    match because:
        case Because.RULE:
            return "the rule is false for it"
        case Because.PROTECTED:
            return _protection(found, True)
        case Because.PERHAPS_PROTECTED:
            return f"what was read of it can't rule out that it is {_protection(found, None)}"
        case Because.LISTED:
            return " or ".join(words)
        case Because.EXCEPTED:
            return f"{_conditions(found, True)} is true"
        case Because.PERHAPS_EXCEPTED:
            return f"{_conditions(found, None)} can't be ruled out"
        case Because.FLOOR:
            return f"too few others of its group come before it for {_floors(found)}"
        case Because.PERHAPS_FLOOR:
            return f"its place is not known for sure by {_floors(found)}"
        case _:
            one_of = "" if len(words) == 1 else "for one of: "
            return f"the rule is true for it, and the plan keeps it: {one_of}{'; '.join(words)}"


def _conditions(found: Explanation, truth: Truth) -> str:
    node = next(node for node in found.decision.excepts if node.truth is truth)
    return f"`{plain(phrase(node.expr))}`"


def _protections(found: Explanation) -> tuple[ProtectionDoc, ...]:
    return found.document.protections


def _protection(found: Explanation, truth: Truth) -> str:
    pairs = zip(_protections(found), found.decision.protections, strict=True)
    protection = next(protection for protection, node in pairs if node.truth is truth)
    return plain(f"protected by `{protection.name}`: {protection.because}")


def _floors(found: Explanation) -> str:
    return " or ".join(f"`{plain(floor.clause, 90)}`" for floor in found.document.floors)


# -- the tree ---------------------------------------------------------------------------------------------------------


def _tree(node: Node, depth: int, decides: bool = True) -> Iterator[str]:
    """Yield a part of the rule; the rows behind it only where its truth `decides` that of the whole."""
    lead = f"{_INDENT * depth}{_TRUTHS[node.truth]:<{_WIDEST}}"
    under = " " * len(lead)
    match node.expr:
        case ir.And() | ir.Or():
            yield f"{lead}{'all of' if isinstance(node.expr, ir.And) else 'any of'}"
            for part in node.parts:
                yield from _tree(part, depth + 1, decides and part.truth is node.truth)
        case ir.Not() if len(node.parts[0].parts) > 0:
            yield f"{lead}not"
            yield from _tree(node.parts[0], depth + 1, decides)
        case ir.Const(value=True):
            yield f"{lead}always"
        case _:
            test = node.parts[0] if isinstance(node.expr, ir.Not) else node
            yield wrapped(lead, plain(phrase(node.expr)))
            if len(test.facts) > 0 and not isinstance(test.expr, ir.Some):
                yield wrapped(under, _values(test.facts))
            for why in test.near:
                yield wrapped(under, why)
            for look in test.looks:
                yield from _look(look, under, rows=decides)


def _values(facts: Sequence[Fact]) -> str:
    return " · ".join(_value(fact) for fact in facts)


def _value(fact: Fact) -> str:
    return f"{plain(fact.what, 60)} = {_shorter(fmt.cell(fact.cell, fact.type))}"


def _shorter(text: str) -> str:
    return plain(text, 60)


def _look(look: Look, under: str, *, rows: bool = True) -> Iterator[str]:
    read = "rows" if look.size is None else fmt.counted(look.size, "row")
    said = [f"{look.use.inventory}: {read}, {'complete' if look.complete else 'NOT ALL THERE WERE'}"]
    if len(look.asked) > 0:
        asked = " and ".join(f"{name} {plain(str(value), 40)}" for name, value in look.asked)
        said.append(f"{fmt.count(look.returned)} with {asked}")
    said.append(f"{fmt.count(look.matching)} {'matches' if look.matching == 1 else 'match'}")
    if look.possible > 0:
        said.append(f"{fmt.count(look.possible)} may match")
    yield wrapped(under, "; ".join(said))
    if not rows:
        return
    shown = [*look.relevant[:_ROWS]] if len(look.relevant) > 0 else [*look.near[:_ROWS]]
    for seen in shown:
        yield from _seen(look, seen, under)
    if len(look.relevant) > 0 and look.matching + look.possible > len(shown):
        yield f"{under}{_INDENT}and {fmt.count(look.matching + look.possible - len(shown))} more"


def _seen(look: Look, seen: Seen, under: str) -> Iterator[str]:
    what = {True: "found", None: "perhaps", False: "near"}[seen.node.truth]
    lead = f"{under}{_INDENT}{what:<8}{fmt.key(seen.key, 30)}  "
    # of a row that matches all that it says; of another only what stands against it
    tests = [test for test in _tests(seen.node) if seen.node.truth is True or test.truth is not True]
    facts = {fact.what: fact for test in tests for fact in test.facts}
    yield wrapped(lead, _values([fact for fact in facts.values() if _of_row(fact, look)]))
    for test in tests:
        for inner in test.looks:
            yield from _look(inner, f"{under}{_INDENT * 2}")


def _of_row(fact: Fact, look: Look) -> bool:
    return fact.what.startswith(f"{look.use.row}.") or f"{look.use.row}." in fact.what


def _tests(node: Node) -> Iterator[Node]:
    if len(node.parts) == 0:
        yield node
    for part in node.parts:
        yield from _tests(part)


# -- what would flip it -----------------------------------------------------------------------------------------------


def _flip_lines(found: Explanation) -> Iterator[str]:
    groups = [
        ("would be selected if", [flip for flip in found.flips if flip.becomes is Verdict.CANDIDATE]),
        ("would be kept if", [flip for flip in found.flips if flip.becomes is not Verdict.CANDIDATE]),
    ]
    for heading, members in groups:
        if len(members) > 0:
            yield f"  {heading}"
            for flip in members:
                yield wrapped(f"{_INDENT * 2}- ", _flip(flip))
    if len(found.flips) == 0:
        yield f"  no change of up to {FACTS} facts was found that would flip it"


def _flip(flip: Flip) -> str:
    texts = Counter(change.text for change in flip.changes)
    said = " and ".join(text if number == 1 else f"{text} ({number} times)" for text, number in texts.items())
    return f"{said} (it would be outside of the scope)" if flip.becomes is Verdict.OUTSIDE else said


# -- JSON -------------------------------------------------------------------------------------------------------------


def explanation_json(found: Explanation) -> dict[str, Any]:
    """Return the explanation for programs; values are exact, as in a plan."""
    document, decision = found.document, found.decision
    return {
        "plan_id": document.plan_id,
        "digest": document.digest,
        "workflow": document.workflow,
        "proposal": document.proposal,
        "now": document.now.isoformat(),
        "key": list(found.key),
        "verdict": decision.verdict,
        "because": decision.because,
        "reasons": list(found.reasons),
        "scope": _node(decision.scope),
        "rule": _node(decision.rule),
        "protections": [_node(node) for node in decision.protections],
        "excepts": [_node(node) for node in decision.excepts],
        "floor": decision.floor if len(document.floors) > 0 else None,
        "arguments": {name: _node(node) for name, node in decision.arguments},
        "listed": decision.listed,
        "flips": [
            {"changes": [_change(change, found) for change in flip.changes], "becomes": flip.becomes}
            for flip in found.flips
        ],
        "notes": list(found.notes),
    }


def _change(change: Change, found: Explanation) -> dict[str, Any]:
    said: dict[str, Any] = {"text": change.text}
    match change.edit:
        case SetField(inventory=inventory, key=key, name=name, cell=cell):
            own = inventory == found.inventory.name and key == _key(found)
            said |= {"kind": "field", "inventory": inventory, "field": name, "of_the_object": own, "state": cell.state}
        case AddRow(inventory=inventory):
            said |= {"kind": "one more row", "inventory": inventory}
        case DropRow(inventory=inventory, key=key):
            said |= {"kind": "no such row", "inventory": inventory, "key": [str(part) for part in key]}
        case Finish(inventory=inventory):
            said |= {"kind": "read to the end", "inventory": inventory}
        case SetParam(name=name):
            said |= {"kind": "parameter", "parameter": name}
        case Unlist():
            said |= {"kind": "list entry"}
    return said


def _key(found: Explanation) -> Key:
    return tuple(found.row[name].value for name in found.inventory.key)


def _node(node: Node) -> dict[str, Any]:
    kinds: dict[type[ir.Expr], str] = {ir.And: "all", ir.Or: "any", ir.Not: "not"}
    return {
        "kind": kinds.get(type(node.expr), "test"),
        "text": phrase(node.expr),
        "truth": node.truth,
        "facts": [_fact(fact) for fact in node.facts],
        "looks": [_look_json(look) for look in node.looks],
        "near": list(node.near),
        "parts": [_node(part) for part in node.parts],
    }


def _fact(fact: Fact) -> dict[str, Any]:
    value = None if fact.cell.value is None else to_json(fact.cell.value, fact.type)
    return {"what": fact.what, "state": fact.cell.state, "value": value}


def _look_json(look: Look) -> dict[str, Any]:
    return {
        "inventory": look.use.inventory,
        "complete": look.complete,
        "rows": look.size,
        "asked": {name: str(value) for name, value in look.asked},
        "returned": look.returned,
        "matching": look.matching,
        "possible": look.possible,
        "shown": [{"key": [str(part) for part in seen.key], "where": _node(seen.node)} for seen in look.rows],
    }
