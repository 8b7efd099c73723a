"""`fullcount explain CODE`: what a code means, why it matters, and what to do."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import click

from fullcount.runtime.cli import options
from fullcount.runtime.cli.ending import NotUnderstoodError
from fullcount.runtime.cli.layout import paragraphs

if TYPE_CHECKING:
    from fullcount.dsl.codes import Code


@options.command()
@click.argument("code", help="FC301, RESULT_LIMIT_REACHED, STALE_INDEX, PRECONDITION_FAILED, …")
@options.as_json
def explain(code: str, as_json: bool) -> None:
    """Explain a code. It may be one of the language, of a source's answer, or of an act."""
    from fullcount.dsl.codes import CODES, RETIRED
    from fullcount.dsl.codes.change import setting
    from fullcount.dsl.codes.model import Form

    wanted = code.strip().upper()
    if wanted in RETIRED and not as_json:
        click.echo(f"{wanted}  is given no more: {RETIRED[wanted]} says the same\n")
    wanted = RETIRED.get(wanted, wanted)
    if wanted in CODES:
        entry = CODES[wanted]
        if as_json:
            click.echo(
                json.dumps(
                    {
                        "code": entry.id,
                        "title": entry.title,
                        "severity": entry.severity,
                        "explanation": entry.explanation,
                        "wrong": entry.wrong,
                        "right": entry.right,
                        "files": dict(entry.files),
                        "wrong_files": dict(entry.wrong_files),
                        "form": entry.form,
                    },
                    indent=2,
                )
            )
            return
        click.echo(f"{entry.id}  {entry.title}\n\n{paragraphs(entry.explanation)}")
        for heading, lines in _examples(entry):
            click.echo(f"\n{heading}:\n\n" + "\n".join(f"    {line}".rstrip() for line in lines))
        if entry.form is Form.COMMAND:
            click.echo(f"\n{paragraphs(setting(entry))}")
        return

    from fullcount.runtime.evidence.explain import explain_text

    text = explain_text(wanted)
    if text is not None:
        click.echo(
            json.dumps({"code": wanted, "explanation": text}, indent=2)
            if as_json
            else f"{wanted}\n\n{paragraphs(text)}"
        )
        return
    raise _unknown(wanted)


def _examples(entry: Code) -> list[tuple[str, list[str]]]:
    """Return the examples under their headings: files as they are, a session by how it is mended."""
    from fullcount.dsl.codes.change import change
    from fullcount.dsl.codes.model import Form

    if entry.form is Form.COMMAND:
        return [("wrong (-) and right (+), at a terminal", change(entry))]
    right = dict(entry.files)
    changed = [(path, text) for path, text in entry.wrong_files if text != right.get(path)]
    examples = [("wrong", entry.wrong)] if entry.wrong != entry.right else []
    examples += [(f"wrong `{path}`", text) for path, text in changed]
    examples += [("right", entry.right)] + [(f"with `{path}`", text) for path, text in entry.files]
    return [(heading, text.strip("\n").split("\n")) for heading, text in examples if text.strip() != ""]


def _unknown(code: str) -> NotUnderstoodError:
    from difflib import get_close_matches

    from fullcount.dsl.codes import CODES
    from fullcount.runtime.evidence.codes import ActReason, Reason, WarningCode

    known = [*CODES, *Reason, *WarningCode, *ActReason]
    close = get_close_matches(code, known, n=3, cutoff=0.6)
    hint = f"did you mean {' or '.join(f'`{c}`' for c in close)}?" if close else "codes are shown beside each finding"
    return NotUnderstoodError("FC699", f"there is no code `{code}`", help=hint)
