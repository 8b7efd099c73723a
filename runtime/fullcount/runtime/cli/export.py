"""`fullcount export`: a run with everything that it rests on, to be checked offline by somebody else."""

from __future__ import annotations

from pathlib import Path

import click

from fullcount.runtime.cli import options


@options.command()
@click.argument("run", help="A run's or a plan's id, or an unambiguous beginning of it.")
@click.option("--to", "folder", type=options.PATH, required=True, help="A new or empty folder.")
@click.option("--sign", metavar="KEY", type=options.PATH, help="Sign the run's head and the statements.")
@options.as_json
def export(run: str, folder: Path, sign: Path | None, as_json: bool) -> None:
    """Write a run into a folder that can be checked offline. The journal, the plan, its evidence, and `verify.py`.

    Of a plan its latest run is taken: the last apply or undo, or the run that made it.
    """
    from functools import partial

    from fullcount.runtime.approve.ssh_keygen import sign_by
    from fullcount.runtime.cli.screen import show_json
    from fullcount.runtime.cli.session import reading_session
    from fullcount.runtime.journal.bundle import export_run
    from fullcount.runtime.journal.runs_of import run_of

    with reading_session() as here:
        made = export_run(
            here.store,
            run_of(here.store, run),
            folder,
            signers=here.workspace.signers_text(),
            person=here.person,
            sign=None if sign is None else partial(sign_by, sign),
        )
    head, run_head = f"{made.head.seq}:{made.head.hash}", f"{made.run_head.seq}:{made.run_head.hash}"
    if as_json:
        said = {"folder": str(folder), "files": made.files, "head": head, "run_head": run_head, "signed": made.signed}
        show_json(said)
        return
    click.echo(f"EXPORTED  {made.files:,} files, {'signed' if made.signed else 'not signed'}, checked after writing")
    click.echo(f"  to        {folder}")
    click.echo(f"  run head  {run_head}")
    click.echo(f"  head      {head}")
    click.echo(f"  check it  python3 -I -S {folder / 'verify.py'} --anchor HEAD --allowed-signers FILE")
