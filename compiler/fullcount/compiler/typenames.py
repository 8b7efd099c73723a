"""From a type as written to a type of the language; what cannot be a field's type is refused here."""

from __future__ import annotations

from dataclasses import replace

from fullcount.compiler.catalog import Catalog
from fullcount.compiler.ids import full, key_field, target
from fullcount.compiler.report import error, near
from fullcount.compiler.resources import find_resource
from fullcount.compiler.types import SCALARS, FieldType, IdOf, ListOf, MapOf, RecordOf, Scalar, record_of
from fullcount.dsl import tree
from fullcount.dsl.diagnostics import Diagnostics, Label
from fullcount.dsl.source import Span

_CONTAINERS: dict[str, type[ListOf | MapOf]] = {"list": ListOf, "map": MapOf}


def field_type(written: tree.TypeName, catalog: Catalog, sink: Diagnostics) -> FieldType | None:
    """Return the type of a field as written, or None with a finding."""
    checked = _type(written, catalog, sink)
    return None if checked is None else replace(checked, optional=written.optional)


def scalar_type(written: tree.TypeName, catalog: Catalog, sink: Diagnostics) -> FieldType | None:
    """Return the type of a parameter as written, or None with a finding: parameters are single values, never absent."""
    checked = _type(written, catalog, sink)
    if checked is None:
        return None
    if not isinstance(checked.type, Scalar) or written.optional:
        error(
            sink,
            "FC214",
            f"a parameter can't be `{replace(checked, optional=written.optional)}`",
            written.span,
            why="a parameter is one value that is always there",
            help="use one of " + ", ".join(f"`{name}`" for name in SCALARS),
        )
        return None
    return checked


def _type(written: tree.TypeName, catalog: Catalog, sink: Diagnostics) -> FieldType | None:
    """Return a type that is always there, with the objects that its values name."""
    if written.of is not None:
        return _id(written.of, catalog, sink)
    if written.name in SCALARS and not written.arguments:
        return FieldType(SCALARS[written.name])
    if written.name in _CONTAINERS and len(written.arguments) == 1:
        return _container(written, catalog, sink)
    if written.name == "record" and len(written.fields) > 0:
        return _record(written, catalog, sink)
    if written.name == "record":
        message, help_text = "a `record` needs its parts in `{…}`", "write `record { name: text, … }`"
    elif written.name == "id":
        message, help_text = "an id of what?", "name the resource whose objects it is of, as `id of hr.employees`"
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


def _id(path: tree.Dotted, catalog: Catalog, sink: Diagnostics) -> FieldType | None:
    """Return the type of `id of source.resource`: that of the key, whose objects its values name."""
    found = key_field([part.text for part in path.parts], catalog)
    if found is not None:
        resource, name = found
        names = IdOf(target(path.text, catalog), f"`id of {path.text}` says what it names", path.span)
        return FieldType(resource.fields[name].type, names=names)
    whole = find_resource(path, catalog, sink)
    if whole is not None:
        error(
            sink,
            "FC242",
            f"`{full(whole)}` has a key of several fields",
            path.span,
            note=f"its key is `{', '.join(whole.key)}`",
            help=f"name one of them, as `id of {full(whole)}.{whole.key[0]}`",
        )
    return None


def _container(written: tree.TypeName, catalog: Catalog, sink: Diagnostics) -> FieldType | None:
    (argument,) = written.arguments
    item = _type(argument, catalog, sink)
    if item is None:
        return None
    of_records = written.name == "list" and isinstance(item.type, RecordOf)
    if argument.optional or not (isinstance(item.type, Scalar) or of_records):
        error(
            sink,
            "FC214",
            f"a {written.name} can't hold `{replace(item, optional=argument.optional)}`",
            argument.span,
            help=f"a {written.name} holds single values that are never absent, as `{written.name}<text>`"
            + ("; or records" if written.name == "list" else ""),
        )
        return None
    return FieldType(_CONTAINERS[written.name](item.type), names=item.names)


def _record(written: tree.TypeName, catalog: Catalog, sink: Diagnostics) -> FieldType | None:
    """Return the type of a record; its parts differ in more than the case of letters, as columns of a table must."""
    parts: dict[str, FieldType] = {}
    first: dict[str, tree.FieldDecl] = {}
    failed = False
    for each in written.fields:
        name = each.name.text
        if first.setdefault(name.lower(), each) is not each:
            same = name == first[name.lower()].name.text
            error(
                sink,
                "FC101",
                f"part `{name}` is declared twice" if same else f"part `{name}` is there in other upper and lower case",
                each.name.span,
                labels=(Label(first[name.lower()].name.span, "first declared here"),),
                help="remove one of them" if same else "remove one of them: a snapshot can't hold both",
            )
            failed = True
            continue
        declared = field_type(each.type, catalog, sink)
        failed = failed or declared is None
        if declared is not None:
            parts[name] = declared
    return None if failed else FieldType(record_of(parts))
