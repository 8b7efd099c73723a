"""The ready parsing table: shipped inside the package, checked against the grammar, never written at run time.

Lark makes the table from the grammar, which costs a few hundred milliseconds; loading it costs a few. The shipped file
carries a stamp over the grammar and over how it is read, and a digest of its own content; whenever either does not
match, the table is made anew in memory from the grammar, which is the truth. It holds plain data and no code.

`python -m fullcount.dsl.tables` writes the file anew after a change of the grammar.
"""

from __future__ import annotations

import hashlib
import json
import re
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from fullcount.dsl.lalr import Parser, Rule, Table
from fullcount.dsl.lexer import Terminals

if TYPE_CHECKING:
    from lark import Lark
    from lark.lexer import TerminalDef

GRAMMAR = Path(__file__).with_name("grammar.lark")
TABLE = Path(__file__).with_name("tables.bin")

_FORM = "parser=lalr lexer=contextual propagate_positions maybe_placeholders=no form=3"
_STAMP_LENGTH = 64

#: How the grammar writes a keyword: a word, perhaps without its last letter, and what has to follow it.
_KEYWORD: Final = re.compile(r"(?P<word>[a-z]+?)(?:(?P<last>[a-z])\?)?(?P<ahead>\(\?[=!].*\))", re.DOTALL)
_END_OF_WORD: Final = r"(?!\w)"

#: The first character of a pattern: a class in brackets, or a character that has no other meaning.
_FIRST: Final = re.compile(r"(?:\[[A-Za-z0-9_-]+\]|[\w\"])(?![*?|]|\{[0,])")
_INNER: Final = re.compile(r"\\.|\[[^\]]*\]|\([^()]*\)")


def stamp(grammar: str) -> str:
    """Return the hexadecimal digest that a table for `grammar` must carry."""
    return hashlib.sha256("\0".join((_FORM, grammar)).encode()).hexdigest()


def build(grammar: str) -> Lark:
    """Build Lark's own parser from the grammar's text."""
    from lark import Lark

    return Lark(grammar, parser="lalr", lexer="contextual", propagate_positions=True, maybe_placeholders=False)


def derive(grammar: str) -> Table:
    """Make the table from the grammar's text."""
    from lark.parsers.lalr_analysis import Reduce

    made = build(grammar)
    table = made.parser.parser._parse_table  # noqa: SLF001 - Lark has no other way to it
    (start,), (end,) = table.start_states.values(), table.end_states.values()
    numbers = {start: 0}  # states by the order in which one comes upon them, so that a table is made one way only
    rules: dict[Any, int] = {}
    states: list[dict[str, int]] = []
    reached = [start]
    for state in reached:
        actions: dict[str, int] = {}
        for symbol, (action, target) in sorted(table.states[state].items()):
            if action is Reduce:
                actions[symbol] = -rules.setdefault(target, len(rules)) - 1
                continue
            if target not in numbers:
                numbers[target] = len(reached)
                reached.append(target)
            actions[symbol] = numbers[target]
        states.append(actions)
    return Table(_terminals(made), [_rule(rule) for rule in rules], states, numbers[start], numbers[end])


def _rule(rule: Any) -> Rule:
    """Read one rule as Lark's builder of trees does, for a grammar that keeps all of its tokens."""
    spliced = [at for at, symbol in enumerate(rule.expansion) if not symbol.is_term and symbol.name.startswith("_")]
    if any(symbol.is_term and symbol.filter_out for symbol in rule.expansion):
        raise ValueError(f"`{rule.origin.name}` has a token without a name, which would be lost")
    single = rule.options.expand1 and rule.alias is None
    return Rule(rule.origin.name, rule.alias or rule.origin.name, len(rule.expansion), single, spliced)


def _terminals(made: Lark) -> Terminals:
    """Sort the terminals by how they are read, each group as Lark orders its alternatives."""

    def order(terminal: TerminalDef) -> tuple[int, int, int, str]:
        pattern = terminal.pattern
        return (-terminal.priority, -pattern.max_width, -len(pattern.value), terminal.name)

    skipped: list[str] = []
    keywords: dict[str, list[tuple[str, str | None]]] = {}
    signs: dict[str, list[tuple[str, str]]] = {}
    patterns: list[tuple[str, str, str]] = []
    names: list[tuple[str, str]] = []
    most = max((each.priority for each in made.terminals if _KEYWORD.fullmatch(each.pattern.value)), default=0)
    for terminal in sorted(made.terminals, key=order):
        text = terminal.pattern.value
        keyword = _KEYWORD.fullmatch(text)
        if terminal.name in made.ignore_tokens:
            skipped.append(terminal.pattern.to_regexp())
        elif terminal.pattern.type == "str":
            signs.setdefault(text[0], []).append((terminal.name, text))
        elif keyword is not None:
            plain = keyword["ahead"] == _END_OF_WORD
            for word in (
                [keyword["word"]] if keyword["last"] is None else [keyword["word"], keyword["word"] + keyword["last"]]
            ):
                keywords.setdefault(word, []).append((terminal.name, None if plain else text))
        elif terminal.priority > most and _starts(text)[-1].isalpha():
            names.append((terminal.name, terminal.pattern.to_regexp()))
        else:
            patterns.append((terminal.name, terminal.pattern.to_regexp(), _starts(text)))
    return Terminals(f"(?:{'|'.join(skipped)})*", keywords, signs, patterns, names)


def _starts(pattern: str) -> str:
    """Return the characters that what a pattern matches can begin with. Raises `ValueError` if it does not say so."""
    first, outside = _FIRST.match(pattern), pattern
    while (shorter := _INNER.sub("", outside)) != outside:
        outside = shorter
    if first is None or "|" in outside:
        raise ValueError(f"the pattern `{pattern}` does not begin with a character or a class of them")
    return "".join(char for char in map(chr, range(128)) if re.fullmatch(first.group(), char))


def dump(grammar: str) -> bytes:
    """Return the content of the table file: stamp, digest of the payload, payload."""
    table = derive(grammar)
    terminals = table.terminals
    payload = json.dumps(
        {
            "skipped": terminals.skipped,
            "keywords": terminals.keywords,
            "signs": terminals.signs,
            "patterns": terminals.patterns,
            "names": terminals.names,
            "rules": table.rules,
            "states": table.states,
            "start": table.start,
            "end": table.end,
        },
        separators=(",", ":"),
    ).encode()
    return (stamp(grammar) + hashlib.sha256(payload).hexdigest()).encode() + payload


def shipped(grammar: str, content: bytes) -> Table | None:
    """Return the table that `content` holds, or None if it is not the one of this grammar."""
    head, payload = content[: 2 * _STAMP_LENGTH], content[2 * _STAMP_LENGTH :]
    if head != (stamp(grammar) + hashlib.sha256(payload).hexdigest()).encode():
        return None
    found = json.loads(payload)
    terminals = Terminals(found["skipped"], found["keywords"], found["signs"], found["patterns"], found["names"])
    return Table(terminals, [Rule(*rule) for rule in found["rules"]], found["states"], found["start"], found["end"])


@cache
def parser() -> Parser:
    """Return the parser of the language, from the shipped table if it fits and from the grammar if not."""
    grammar = GRAMMAR.read_text("utf-8")
    ready = shipped(grammar, TABLE.read_bytes()) if TABLE.is_file() else None
    return Parser(ready if ready is not None else derive(grammar))


if __name__ == "__main__":
    TABLE.write_bytes(dump(GRAMMAR.read_text("utf-8")))
