"""From a type as written to a type of the language; what cannot be a field's type is refused here."""

from __future__ import annotations

from fullcount.compiler.report import error, near
from fullcount.compiler.types import SCALARS, FieldType, ListOf, MapOf, Scalar, Type
from fullcount.dsl import tree
from fullcount.dsl.diagnostics import Diagnostics
from fullcount.dsl.source import Span

_CONTAINERS: dict[str, type[ListOf | MapOf]] = {"list": ListOf, "map": MapOf}


def field_type(written: tree.TypeName, sink: Diagnostics) -> FieldType | None:
    """Return the type of a field as written, or None with a finding."""
    checked = _type(written, sink)
    return None if checked is None else FieldType(checked, written.optional)


def scalar_type(written: tree.TypeName, sink: Diagnostics) -> Scalar | None:
    """Return the type of a parameter as written, or None with a finding: parameters are single values, never absent."""
    checked = _type(written, sink)
    if checked is None:
        return None
    if not isinstance(checked, Scalar) or written.optional:
        error(
            sink,
            "FC214",
            f"a parameter can't be `{FieldType(checked, written.optional)}`",
            written.span,
            why="a parameter is one value that is always there",
            help="use one of " + ", ".join(f"`{name}`" for name in SCALARS),
        )
        return None
    return checked


def _type(written: tree.TypeName, sink: Diagnostics) -> Type | None:
    if written.name in SCALARS and not written.arguments:
        return SCALARS[written.name]
    if written.name in _CONTAINERS and len(written.arguments) == 1:
        return _container(written, sink)
    if written.name == "record":
        message, help_text = "fields can't hold records yet", "declare the parts as fields of their own"
    elif written.name in SCALARS:
        message, help_text = f"`{written.name}` takes no type in `<…>`", f"write `{written.name}`"
    elif written.name in _CONTAINERS:
        message, help_text = f"`{written.name}` needs one type in `<…>`", f"write `{written.name}<text>`"
    else:
        name = Span(written.span.source, written.span.start, written.span.start + len(written.name))
        known = (*SCALARS, *_CONTAINERS)
        error(
            sink,
            "FC214",
            f"there is no type `{written.name}`",
            written.span,
            **near(written.name, name, known, "types"),
        )
        return None
    error(sink, "FC214", message, written.span, help=help_text)
    return None


def _container(written: tree.TypeName, sink: Diagnostics) -> Type | None:
    (argument,) = written.arguments
    item = _type(argument, sink)
    if item is None:
        return None
    if argument.optional or not isinstance(item, Scalar):
        error(
            sink,
            "FC214",
            f"a {written.name} can't hold `{FieldType(item, argument.optional)}`",
            argument.span,
            help=f"a {written.name} holds single values that are never absent, as `{written.name}<text>`",
        )
        return None
    return _CONTAINERS[written.name](item)
