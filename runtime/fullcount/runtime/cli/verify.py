"""`fullcount verify`: whether the record holds, without trusting the program that wrote it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from fullcount.runtime.cli import options

if TYPE_CHECKING:
    from fullcount.runtime.journal.entry import Head
    from fullcount.runtime.journal.report import Problem, VerifyReport
    from fullcount.runtime.journal.verify_backups import Look
    from fullcount.runtime.workspace import Workspace


@options.command()
@click.option("--anchor", metavar="ENTRY:HASH", help="A head noted elsewhere, that the journal must contain.")
@click.option("--snapshots/--no-snapshots", default=True, help="Check the stored rows against their digests as well.")
@click.option("--backups/--no-backups", default=True, help="Check the backups of single objects as well.")
@click.option("--export", type=options.PATH, help="Write the journal as JSON lines.")
@options.force
@options.as_json
def verify(anchor: str | None, snapshots: bool, backups: bool, export: Path | None, force: bool, as_json: bool) -> None:
    """Check that the record holds. The journal's chain, plans, approvals, acts and sums."""
    from fullcount.runtime.cli.overwriting import check_overwriting
    from fullcount.runtime.cli.screen import show_json
    from fullcount.runtime.cli.session import reading_session
    from fullcount.runtime.journal.export import export_jsonl, is_export
    from fullcount.runtime.journal.verify import verify as verify_store
    from fullcount.runtime.workflow_files import UsageError

    if export is not None:
        check_overwriting(export, is_export, force=force)
    noted = None if anchor is None else read_anchor(anchor)
    with reading_session() as here:
        report = verify_store(
            here.store,
            here.engine.snapshots if snapshots else None,
            backups=here.engine.backups if backups else None,
            keeping=_keeping(here.workspace),
            anchor=noted,
            signers=here.workspace.signing().signers,
        )
        if export is not None:
            try:
                with export.open("w", encoding="utf-8") as stream:
                    export_jsonl(here.store, stream)
            except OSError as error:
                raise UsageError(
                    "FC690", f"can't write `{export}`: {error.strerror}", help="name a file that you may write"
                ) from error
    if as_json:
        show_json(
            {
                "ok": report.ok,
                "entries": report.entries,
                "head": {"seq": report.head.seq, "hash": report.head.hash},
                "checked": dict(report.checked),
                "problems": [{"about": p.about, "entry": p.seq, "what": p.what} for p in report.problems],
                "notes": list(report.notes),
            }
        )
    else:
        _say(report)
    raise click.exceptions.Exit(int(report.exit))


def _say(report: VerifyReport) -> None:
    """Print what was found: the record first, then what can't be restored any more."""
    from fullcount.runtime.cli.layout import wrapped
    from fullcount.runtime.text import plain

    if len(report.wrong) == 0:
        checked = ", ".join(f"{number:,} {kind.replace('_', ' ')}" for kind, number in report.checked.items() if number)
        click.echo(f"VERIFIED  {report.entries:,} entries, every hash, link, plan, approval, act and sum holds")
        click.echo(wrapped("  compared  ", checked))
        for note in report.notes:
            click.echo(wrapped("  note      ", plain(note)))
        click.echo(f"  head      {report.head.seq}:{report.head.hash}")
    else:
        click.echo(f"DOES NOT VERIFY  {len(report.wrong):,} problem{'s' if len(report.wrong) > 1 else ''}")
        _say_each(report.wrong)
        click.echo(
            wrapped("  = why: ", "something changed the record after it was written; do not rely on what it says")
        )
    if len(report.lost) > 0:
        click.echo(f"BACKUPS LOST  {len(report.lost):,}")
        _say_each(report.lost)
        why = "the record says what was done, and is not changed by this; what the backups held can't be brought back"
        click.echo(wrapped("  = why: ", why))
        help_text = "put the folder of the backups back from your own backup of it, if there is one, and verify again"
        click.echo(wrapped("  = help: ", help_text))


def _say_each(problems: tuple[Problem, ...]) -> None:
    from fullcount.runtime.cli.layout import wrapped
    from fullcount.runtime.text import plain

    for problem in problems[:20]:
        click.echo(wrapped(f"  {problem.about:<10} ", plain(str(problem))))
    if len(problems) > 20:
        click.echo(f"  …          {len(problems) - 20:,} more   fullcount verify --json")


def _keeping(workspace: Workspace) -> dict[str, Look]:
    """Return the sources that keep deleted objects themselves, each with what looks at them."""
    from functools import partial

    from fullcount.runtime.connectors.base import KeepsObjects

    found: dict[str, Look] = {}
    for name in workspace.source_names:
        connector, config = workspace.connector(name)
        if isinstance(connector, KeepsObjects):
            found[name] = partial(connector.not_kept, name, config)
    return found


def read_anchor(text: str) -> Head:
    """Read `ENTRY:HASH`. Raises `UsageError`."""
    from fullcount.runtime.journal.entry import Head
    from fullcount.runtime.workflow_files import UsageError

    entry, _, digest = text.partition(":")
    if not entry.isdecimal() or not digest.startswith("sha256:"):
        raise UsageError("FC697", f"`{text}` is not a head", help="as `fullcount verify` prints it: 120:sha256:…")
    return Head(seq=int(entry), hash=digest)
