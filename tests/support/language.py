"""Short ways to parse in tests: what was found, and the shape of what was built."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from fullcount.dsl import tree
from fullcount.dsl.diagnostics import Diagnostic, Diagnostics
from fullcount.dsl.parser import parse
from fullcount.dsl.render import render
from fullcount.dsl.source import Source

NAME = "rules.fcw"


def findings(text: str) -> list[Diagnostic]:
    """Return everything that is wrong with a text, in order."""
    return list(parse(Source(NAME, text))[1])


def codes(text: str) -> list[str]:
    """Return the codes of everything that is wrong with a text, in order."""
    return [finding.code for finding in findings(text)]


def underlined(text: str) -> list[str]:
    """Return the passages that the findings point at."""
    return [text[finding.span.start : finding.span.end] for finding in findings(text)]


def file_of(text: str) -> tree.File:
    """Parse a text that must be right."""
    file, diagnostics = parse(Source(NAME, text))
    assert file is not None, shown(text, diagnostics)
    return file


def workflow(inside: str) -> tree.Workflow:
    """Parse the inside of one workflow that must be right."""
    return file_of(f"workflow w {{\n{inside}\n}}\n").workflows[0]


def expression(text: str) -> tree.Expr:
    """Parse one condition that must be right, as the `where` of a proposal."""
    return workflow(f"propose p from i as a {{ where {text} }}").proposals[0].where


def expression_codes(text: str) -> list[str]:
    """Return the codes of what is wrong with one condition."""
    return codes(f"workflow w {{\npropose p from i as a {{ where {text} }}\n}}\n")


def shown(text: str, diagnostics: Diagnostics | None = None) -> str:
    """Render what is wrong with a text."""
    source = Source(NAME, text)
    found = diagnostics if diagnostics is not None else parse(source)[1]
    return render(found, {source.name: source}, color=False)


def shape(value: object) -> str:
    """Return a compact form of a tree without places: `(== a.owner "x")` for expressions, `Type(…)` for the rest."""
    form = _FORMS.get(type(value))
    if form is not None:
        return form(value)
    if not dataclasses.is_dataclass(value):
        return repr(value) if isinstance(value, str) else str(value)
    parts = [
        f"{part.name}={shape(getattr(value, part.name))}"
        for part in dataclasses.fields(value)
        if not part.name.endswith("span") and (part.name, getattr(value, part.name)) != ("of", None)
    ]
    return f"{type(value).__name__}({', '.join(parts)})"


def _list(values: Iterable[object]) -> str:
    return ", ".join(shape(each) for each in values)


def _over(word: str, each: tree.Quantified | tree.AggregateExpr) -> str:
    return f"{word} {each.inventory.text} as {each.row.text} {shape(each.where)}"


_FORMS: dict[type, Callable[[Any], str]] = {
    tuple: lambda each: f"[{_list(each)}]",
    tree.Name: lambda each: each.text,
    tree.Dotted: lambda each: each.text,
    tree.Reference: lambda each: ".".join(part.text for part in each.parts),
    tree.Literal: lambda each: f'"{each.value}"' if each.kind == "text" else f"{each.kind}:{each.value}",
    tree.Binary: lambda each: f"({each.operator} {shape(each.left)} {shape(each.right)})",
    tree.Unary: lambda each: f"({each.operator} {shape(each.operand)})",
    tree.Else: lambda each: f"(else {shape(each.operand)} {shape(each.fallback)})",
    tree.StateTest: lambda each: f"(is {each.state} {shape(each.operand)})",
    tree.Call: lambda each: f"{each.function.text}({_list(each.arguments)})",
    tree.ListLiteral: lambda each: f"[{_list(each.items)}]",
    tree.Index: lambda each: f"{shape(each.target)}[{shape(each.key)}]",
    tree.Quantified: lambda each: f"({_over(each.quantifier, each)})",
    tree.AggregateExpr: lambda each: (
        f"({_over(each.function, each)}{'' if each.of is None else f' of {shape(each.of)}'}"
        f"{'' if each.needs is None else f' needs {each.needs}'})"
    ),
    tree.ListTest: lambda each: f"({each.quantifier} {shape(each.collection)} as {each.item.text} {shape(each.where)})",
    tree.Now: lambda each: "now",
    tree.Never: lambda each: "never",
    tree.Unknown: lambda each: "unknown",
    tree.All: lambda each: "all",
}


def outline(file: tree.File) -> str:
    """Return the shape of a file, one clause a line, for a stored snapshot."""
    lines = [f"edition {file.edition.value}"] if file.edition is not None else []
    lines += [shape(each) for each in (*file.imports, *file.records, *file.definitions)]
    for each in file.workflows:
        lines.append(f"workflow {each.name.text}")
        for part in dataclasses.fields(each):
            value = getattr(each, part.name)
            if part.name in {"name", "span"}:
                continue
            if isinstance(value, tuple):
                lines += [f"  {part.name}: {shape(item)}" for item in value]
            else:
                lines.append(f"  {part.name}: {shape(value)}")
    lines += [f"comment {comment.text}" for comment in file.comments]
    return "\n".join(lines) + "\n"


SNAPSHOTS = Path(__file__).parent.parent / "dsl" / "snapshots"


def snapshot(name: str) -> str:
    """Return a stored snapshot."""
    return (SNAPSHOTS / name).read_text("utf-8")


def rewrite_snapshots() -> None:
    """Write every snapshot anew: `python -m tests.support.language`, then read the difference."""
    for path in sorted(SNAPSHOTS.glob("*.fcw")):
        text = path.read_bytes().decode("utf-8")
        file, diagnostics = parse(Source(NAME, text))
        path.with_suffix(".txt").write_text(outline(file) if file is not None else shown(text, diagnostics), "utf-8")


if __name__ == "__main__":
    rewrite_snapshots()
