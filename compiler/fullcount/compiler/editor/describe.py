"""What a name, a word of the language or a code is, in Markdown: what an editor shows under the pointer."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from fullcount.compiler.catalog import Catalog, Operation, Resource
from fullcount.compiler.editor.symbols import Kind, Occurrence, Symbol
from fullcount.compiler.editor.view import View
from fullcount.compiler.functions import FUNCTIONS
from fullcount.dsl import tree
from fullcount.dsl.codes import CODES
from fullcount.dsl.dataclass import dataclass
from fullcount.dsl.keywords import EXAMPLES
from fullcount.dsl.outline import outline
from fullcount.dsl.source import Source, Span

_CODE: Final = re.compile(r"FC\d{3}")
_CLAIMS: Final = ("complete", "fresh", "snapshot", "visibility", "rows", "change", "count")


@dataclass(frozen=True, slots=True)
class Description:
    """What something is, and where it stands."""

    span: Span
    text: str


def describe(view: View, offset: int, catalog: Catalog) -> Description | None:
    """Return what stands at an offset; None where there is nothing to say."""
    found = view.at(offset)
    if found is not None:
        text = "\n\n".join(_said(found, view, catalog))
        return Description(found.span, text)
    return _code(view.source, offset) or _word(view.source, offset)


def declaration(symbol: Symbol, view: View) -> str:
    """Return how a name is declared, on one line."""
    node, source = symbol.node, view.source
    match node:
        case tree.ParamDecl() | tree.Parameter() | tree.FieldDecl():
            return _line(source, node.span)
        case tree.InventoryDecl() | tree.ProposeDecl() | tree.ProtectDecl():
            return _line(source, node.head_span)
        case tree.Definition():
            return _line(source, node.span)
        case _:
            return f"{symbol.kind} {symbol.name}"


def _said(found: Occurrence, view: View, catalog: Catalog) -> Iterator[str]:
    symbol = found.symbol
    match symbol.kind:
        case Kind.FIELD:
            yield from _field(symbol, view, catalog)
        case Kind.ROW:
            over = symbol.resource if symbol.inventory is None else f"{symbol.inventory.name.text} ({symbol.resource})"
            yield _code_block(f"row {symbol.name}")
            yield f"One object of {over}." if over else "A row."
        case Kind.ITEM:
            yield _code_block(f"item {symbol.name}")
            yield "One item of a list."
        case Kind.SOURCE:
            yield from _dotted(symbol.name, catalog)
        case Kind.FILE:
            yield f"The records and definitions of `{symbol.name}`."
        case Kind.INVENTORY:
            yield _code_block(declaration(symbol, view))
            yield from _dotted(symbol.resource, catalog)
        case _:
            yield _code_block(declaration(symbol, view))


def _field(symbol: Symbol, view: View, catalog: Catalog) -> Iterator[str]:
    source, _, name = symbol.resource.partition(".")
    resource = catalog.resources(source).get(name)
    given = None if resource is None else resource.fields.get(symbol.name)
    declared = declaration(symbol, view) if symbol.node is not None else ""
    if declared.startswith(f"{symbol.name}:"):
        yield _code_block(declared)
    elif given is not None:
        yield _code_block(f"{symbol.name}: {given}")
    else:
        yield _code_block(symbol.name)
    if resource is None:
        return
    roles = [
        role
        for role, names in (
            ("a part of the key", resource.key),
            ("the incarnation", (resource.incarnation,)),
            ("the version", (resource.version,)),
        )
        if symbol.name in names
    ]
    looked = "can be looked up" if symbol.name in resource.lookup_fields else ""
    more = ", ".join([*roles, *([looked] if looked else [])])
    yield f"A field of `{symbol.resource}`{': ' + more if more else ''}."
    if given is not None and given.optional:
        yield "The source may say that it has no value: the rule must say what that means."


def _dotted(dotted: str, catalog: Catalog) -> Iterator[str]:
    source, _, name = dotted.partition(".")
    resources = catalog.resources(source)
    if name in resources:
        yield from _resource(resources[name])
        return
    operations = [(each.operations[name], each) for each in resources.values() if name in each.operations]
    for operation, resource in operations:
        yield from _operation(operation, resource)
    if not operations:
        yield f"`{dotted}` is not declared in fullcount.toml."


def _resource(resource: Resource) -> Iterator[str]:
    yield f"`{resource.source}.{resource.name}`: {len(resource.fields)} fields, key {_names(resource.key)}."
    sees = "sees everything or says so" if resource.visibility == "vouched" else "may hide objects without a word"
    yield f"Snapshot `{resource.consistency}`; the connector {sees}."
    if resource.operations:
        yield f"Operations: {_names(resource.operations)}."


def _operation(operation: Operation, resource: Resource) -> Iterator[str]:
    given = ", ".join(
        f"{name}{'' if each.required else '?'}: {each.type}" for name, each in operation.parameters.items()
    )
    yield _code_block(f"{resource.source}.{operation.name}({given})")
    undone = "can be taken back" if operation.reversible else "can't be taken back"
    yield f"{operation.effect.capitalize()} of one object of `{resource.name}`; it {undone}."
    yield f"What makes a repeated call harmless: {operation.idempotency}."


def _code(source: Source, offset: int) -> Description | None:
    begin = source.text.rfind("\n", 0, offset) + 1
    end = source.text.find("\n", offset)
    line = source.text[begin : end if end >= 0 else len(source.text)]
    for match in _CODE.finditer(line) if "#" in line else ():
        if match.start() <= offset - begin <= match.end() and match.group() in CODES:
            code = CODES[match.group()]
            span = source.span(begin + match.start(), begin + match.end())
            return Description(span, f"**{code.id}** {code.title}\n\n{code.explanation}")
    return None


def _word(source: Source, offset: int) -> Description | None:
    rough = outline(source.text)
    index = rough.at(offset)
    if index >= len(rough.tokens):
        return None
    token = rough.tokens[index]
    span = source.span(token.start, token.end)
    if not token.start <= offset <= token.end or token.kind != "word":
        return None
    if token.text in FUNCTIONS and source.text[token.end : token.end + 1] == "(":
        function = FUNCTIONS[token.text]
        given = ", ".join(map(str, function.parameters))
        return Description(span, _code_block(f"{function.name}({given}) -> {function.result}"))
    is_claim = rough.blocks[token.block].kind == "verify" and token.text in _CLAIMS
    if token.text in EXAMPLES and (is_claim or rough.starts_clause(index)):
        return Description(span, _code_block(EXAMPLES[token.text]))
    return None


def _line(source: Source, span: Span) -> str:
    """Return what stands at a place of this text on one line; nothing for a place of another text."""
    return " ".join(source.slice(span).split()) if span.source == source.name else ""


def _code_block(text: str) -> str:
    return f"```fullcount\n{text}\n```"


def _names(names: object) -> str:
    return ", ".join(f"`{each}`" for each in names) if isinstance(names, tuple | dict) else ""
