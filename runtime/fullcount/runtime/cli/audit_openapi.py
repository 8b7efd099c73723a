"""`fullcount audit-openapi SPEC`: which lists of an API can be proven whole, by what its OpenAPI document promises."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from fullcount.runtime.cli import options
from fullcount.runtime.exit_codes import Exit

if TYPE_CHECKING:
    from fullcount.runtime.audit.findings import Audit, Judged


@options.command()
@click.argument("spec", type=options.PATH, help="An OpenAPI 3 or Swagger 2 document, JSON or YAML.")
@click.option("--operation", metavar="NAME", help="One operation in full: `GET /path` or its operationId.")
@click.option("--dialect", type=options.PATH, metavar="OUT.toml", help="With --operation: begin a dialect for it.")
@options.force
@options.as_json
def audit_openapi(spec: Path, operation: str | None, dialect: Path | None, force: bool, as_json: bool) -> None:
    """Say which lists of an API can be proven whole. Reads one document and connects to nothing."""
    from fullcount.runtime.audit.auditing import audit_bytes
    from fullcount.runtime.audit.findings import Verdict
    from fullcount.runtime.cli.ending import NotUnderstoodError

    if dialect is not None and operation is None:
        raise NotUnderstoodError("FC699", "`--dialect` is for one operation", help='add `--operation "GET /path"`')
    audit = audit_bytes(_read(spec), str(spec))
    if operation is None:
        _say(audit, str(spec), as_json=as_json)
        raise click.exceptions.Exit(int(Exit.DONE if audit.proven else Exit.REFUSED_BY_EVIDENCE))
    judged = _one(audit, operation)
    if dialect is not None:
        _write(judged, audit.title, dialect, force=force, as_json=as_json)
        return
    _say_one(judged, as_json=as_json)
    proven = judged.verdict is Verdict.PROVABLE
    raise click.exceptions.Exit(int(Exit.DONE if proven else Exit.REFUSED_BY_EVIDENCE))


def _read(spec: Path) -> bytes:
    from fullcount.runtime.audit.documents import SIZE
    from fullcount.runtime.workflow_files import UsageError

    try:
        with spec.open("rb") as file:
            return file.read(SIZE + 1)
    except OSError as error:
        message = f"can't read `{spec}`: {error.strerror}"
        raise UsageError("FC690", message, help="name a file; a document is not fetched, so save it first") from error


def _one(audit: Audit, wanted: str) -> Judged:
    from fullcount.runtime.workflow_files import UsageError

    found = [each for each in audit.judged if wanted in {each.title, each.name}]
    if len(found) == 1:
        return found[0]
    from fullcount.dsl.suggest import closest

    near = closest(wanted, [each.title for each in audit.judged])
    hint = f"did you mean `{near}`?" if near is not None else "name one of those that the report lists"
    many = "several operations are" if found else "no operation that returns many objects is"
    raise UsageError("FC679", f"{many} called `{wanted}`", help=hint)


def _say(audit: Audit, name: str, *, as_json: bool) -> None:
    if as_json:
        from fullcount.runtime.audit.data import to_data
        from fullcount.runtime.cli.screen import show_json

        show_json(to_data(audit, name))
        return
    from fullcount.runtime.audit.report import report

    click.echo(report(audit, name))


def _say_one(judged: Judged, *, as_json: bool) -> None:
    if as_json:
        from fullcount.runtime.audit.data import judged_data
        from fullcount.runtime.cli.screen import show_json

        show_json(judged_data(judged))
        return
    from fullcount.runtime.audit.report import report_one

    click.echo(report_one(judged))


def _write(judged: Judged, title: str, path: Path, *, force: bool, as_json: bool) -> None:
    from fullcount.runtime.audit.dialect import skeleton
    from fullcount.runtime.cli.screen import write_file
    from fullcount.runtime.workflow_files import UsageError

    if judged.way is None:
        message = f"`{judged.title}` is {judged.kind}, and a dialect reads lists"
        raise UsageError("FC679", message, help="name an operation that returns a list or a search result")
    text = skeleton(judged, judged.way, title)
    # What stands there may be completed by now, so that nothing is replaced unasked.
    write_file(path, text, ours=lambda _beginning: False, force=force, as_json=as_json)
