"""Short ways to parse in tests: what was found, and the shape of what was built."""

from __future__ import annotations

import dataclasses
from decimal import Decimal
from pathlib import Path

from fullcount.dsl import tree
from fullcount.dsl.diagnostics import Diagnostic, Diagnostics
from fullcount.dsl.parser import parse
from fullcount.dsl.render import render
from fullcount.dsl.source import Source, Span

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
    """Return a compact form of a tree without its places: `(== a.owner "x")` for expressions, `Type(…)` for the rest."""
    match value:
        case tree.Name():
            return value.text
        case tree.Dotted():
            return value.text
        case tree.Reference():
            return ".".join(part.text for part in value.parts)
        case tree.Literal(kind="text"):
            return f'"{value.value}"'
        case tree.Literal():
            return f"{value.kind}:{value.value}"
        case tree.Binary():
            return f"({value.operator} {shape(value.left)} {shape(value.right)})"
        case tree.Unary():
            return f"({value.operator} {shape(value.operand)})"
        case tree.Else():
            return f"(else {shape(value.operand)} {shape(value.fallback)})"
        case tree.StateTest():
            return f"(is {value.state} {shape(value.operand)})"
        case tree.Call():
            return f"{value.function.text}({', '.join(shape(each) for each in value.arguments)})"
        case tree.ListLiteral():
            return f"[{', '.join(shape(each) for each in value.items)}]"
        case tree.Index():
            return f"{shape(value.target)}[{shape(value.key)}]"
        case tree.Quantified():
            return f"({value.quantifier} {value.inventory.text} as {value.row.text} {shape(value.where)})"
        case tree.AggregateExpr():
            of = "" if value.of is None else f" of {shape(value.of)}"
            return f"({value.function} {value.inventory.text} as {value.row.text} {shape(value.where)}{of})"
        case tree.Now() | tree.Never() | tree.All():
            return type(value).__name__.lower()
        case tuple():
            return f"[{', '.join(shape(each) for each in value)}]"
        case str() | int() | Decimal() | None:
            return repr(value) if isinstance(value, str) else str(value)
    assert dataclasses.is_dataclass(value)
    parts = [
        f"{part.name}={shape(getattr(value, part.name))}"
        for part in dataclasses.fields(value)
        if not isinstance(getattr(value, part.name), Span) and not part.name.endswith("span")
    ]
    return f"{type(value).__name__}({', '.join(parts)})"


def outline(file: tree.File) -> str:
    """Return the shape of a file, one clause a line, for a stored snapshot."""
    lines = []
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
