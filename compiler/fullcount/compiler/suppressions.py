"""Warnings that the author answers for: `# allow FC123: because …`, before a line or at its end.

Only a warning can be allowed, and only with a reason. An allowance that meets no warning is a warning itself: what it
was written for is gone, and what comes next would be hidden by it. Errors are never touched.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from fullcount.compiler.report import error, warning
from fullcount.dsl import tree
from fullcount.dsl.dataclass import dataclass, field
from fullcount.dsl.diagnostics import Diagnostic, Diagnostics, Edit, Fix, Severity
from fullcount.dsl.source import Source, Span

_MEANT = re.compile(r"#+\s*allow\b[\s:]*FC", re.IGNORECASE)
_FORM = r"#+\s*allow (FC\d{3}(?:, *FC\d{3})*): because (.*\w.*)"
_HELP = "write it like `# allow FC123: because the export starts in May`"


@dataclass(slots=True)
class _Allowance:
    """One code that a comment allows on a line; `used` once it has met a warning."""

    comment: tree.Comment
    code: str
    line: int
    used: bool = False


@dataclass(slots=True)
class _Read:
    """What the comments of a file allow, and what is wrong with how they say so."""

    allowances: list[_Allowance] = field(default_factory=list)
    findings: Diagnostics = field(default_factory=Diagnostics)


def allow(source: Source, comments: Sequence[tree.Comment], sink: Diagnostics) -> Diagnostics:
    """Return the findings without the warnings that comments allow, and with what is wrong with those comments."""
    read = _read(source, [comment for comment in comments if _MEANT.match(comment.text)])
    kept = Diagnostics()
    for finding in sink:
        if not _is_allowed(finding, source, read.allowances):
            kept.add(finding)
    for finding in read.findings:
        kept.add(finding)
    if not kept.has_errors:  # behind an error, a warning may only not have been looked for
        _report_unused(source, read.allowances, kept)
    return kept


def _read(source: Source, comments: Iterable[tree.Comment]) -> _Read:
    read = _Read()
    for comment in comments:
        form = re.fullmatch(_FORM, comment.text)
        if form is None:
            error(
                read.findings,
                "FC091",
                "this does not say which warning it allows, and why",
                comment.span,
                why="whoever reads the rule next must be able to tell whether the reason still holds",
                help=_HELP,
            )
            continue
        line = _line_of(source, comment)
        for code in re.findall(r"FC\d{3}", form.group(1)):
            if _is_warning(code):
                read.allowances.append(_Allowance(comment, code, line))
                continue
            error(
                read.findings,
                "FC092",
                f"`{code}` cannot be allowed",
                _place_of(comment, code),
                why="only a warning can be: an error stands for objects that would be acted on without evidence",
                help=f"mend what `{code}` stands for, or remove it from this comment; see `fullcount explain {code}`",
            )
    return read


def _is_warning(code: str) -> bool:
    from fullcount.dsl.codes import CODES  # the explanations are only read where something is allowed

    return code in CODES and CODES[code].severity is Severity.WARNING


def _line_of(source: Source, comment: tree.Comment) -> int:
    """Return the line that a comment speaks of: its own, or the next one that is more than a comment."""
    line, column = source.position(comment.span.start)
    if source.line(line)[: column - 1].strip():
        return line
    rest = source.text[comment.span.end :].split("\n")[1:]
    skipped = next((n for n, each in enumerate(rest) if each.strip() and not each.strip().startswith("#")), 0)
    return line + 1 + skipped


def _place_of(comment: tree.Comment, code: str) -> Span:
    start = comment.span.start + comment.text.index(code)
    return Span(comment.span.source, start, start + len(code))


def _is_allowed(finding: Diagnostic, source: Source, allowances: Sequence[_Allowance]) -> bool:
    if finding.severity is not Severity.WARNING or finding.span.source != source.name:
        return False
    lines = {
        source.position(offset)[0] for offset in (finding.span.start, max(finding.span.start, finding.span.end - 1))
    }
    met = [each for each in allowances if each.code == finding.code and each.line in lines]
    for each in met:
        each.used = True
    return bool(met)


def _report_unused(source: Source, allowances: Sequence[_Allowance], sink: Diagnostics) -> None:
    for each in allowances:
        if each.used:
            continue
        alone = all(not other.used for other in allowances if other.comment is each.comment)
        warning(
            sink,
            "FC093",
            f"there is no `{each.code}` here to be allowed",
            _place_of(each.comment, each.code),
            why="the next warning of this kind on the line would be hidden, for the reason of another one",
            help="remove it" if alone else f"remove `{each.code}` from the comment",
            fix=Fix("remove the comment", (_removal(source, each.comment),), safe=True) if alone else None,
        )


def _removal(source: Source, comment: tree.Comment) -> Edit:
    """Return the edit that removes a comment, with its line or with the space before it."""
    before = source.text[: comment.span.start]
    code = before.rstrip(" \t")
    if code and not code.endswith("\n"):
        return Edit(Span(source.name, len(code), comment.span.end), "")
    line_end = source.text.find("\n", comment.span.end)
    return Edit(Span(source.name, len(code), len(source.text) if line_end < 0 else line_end + 1), "")
