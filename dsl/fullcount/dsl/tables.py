"""The ready parsing table: shipped inside the package, checked against the grammar, never written at run time.

Building the table from the grammar costs a few hundred milliseconds, loading it about ten. The shipped file carries a
stamp over the grammar, the options and the version of Lark, and a digest of its own content; whenever either does not
match, the table is built in memory from the grammar, which is the truth. Lark's own cache is never used: it unpickles
a file from a shared temporary folder.

`python -m fullcount.dsl.tables` writes the file anew after a change of the grammar.
"""

from __future__ import annotations

import hashlib
import io
from functools import cache
from pathlib import Path

import lark
from lark import Lark

GRAMMAR = Path(__file__).with_name("grammar.lark")
TABLE = Path(__file__).with_name("tables.bin")

_OPTIONS = "parser=lalr lexer=contextual propagate_positions maybe_placeholders=no"
_STAMP_LENGTH = 64


def stamp(grammar: str) -> str:
    """Return the hexadecimal digest that a table for `grammar` must carry under the running version of Lark."""
    return hashlib.sha256("\0".join((lark.__version__, _OPTIONS, grammar)).encode()).hexdigest()


def build(grammar: str) -> Lark:
    """Build the parser from the grammar's text."""
    return Lark(grammar, parser="lalr", lexer="contextual", propagate_positions=True, maybe_placeholders=False)


def dump(grammar: str) -> bytes:
    """Return the content of the table file: stamp, digest of the payload, payload."""
    buffer = io.BytesIO()
    build(grammar).save(buffer)
    payload = buffer.getvalue()
    return (stamp(grammar) + hashlib.sha256(payload).hexdigest()).encode() + payload


def shipped(grammar: str, content: bytes) -> Lark | None:
    """Return the parser that `content` holds, or None if it is not the table of this grammar and this Lark."""
    head, payload = content[: 2 * _STAMP_LENGTH], content[2 * _STAMP_LENGTH :]
    if head != (stamp(grammar) + hashlib.sha256(payload).hexdigest()).encode():
        return None
    return Lark.load(io.BytesIO(payload))


@cache
def parser() -> Lark:
    """Return the parser of the language, from the shipped table if it fits and from the grammar if not."""
    grammar = GRAMMAR.read_text("utf-8")
    ready = shipped(grammar, TABLE.read_bytes()) if TABLE.is_file() else None
    return ready if ready is not None else build(grammar)


if __name__ == "__main__":
    TABLE.write_bytes(dump(GRAMMAR.read_text("utf-8")))
