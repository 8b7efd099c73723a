"""`fullcount conformance replay FILE`: recorded exchanges, and what this program makes of them."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING

import click

from fullcount.runtime.cli import options
from fullcount.runtime.exit_codes import Exit

if TYPE_CHECKING:
    from fullcount.runtime.conformance.replay import Replayed


class What(StrEnum):
    """What there is to do."""

    REPLAY = "replay"


@options.command()
@click.argument("what", type=click.Choice(What, case_sensitive=False), help="`replay`: serve them to the connectors.")
@click.argument("file", type=options.PATH, help="Recorded cases, one a line.")
@options.as_json
def conformance(what: What, file: Path, as_json: bool) -> None:
    """Replay recorded exchanges through the connectors. Say where a verdict differs, and last `N of M agree`."""
    from fullcount.runtime.conformance.case import Case, lines_of
    from fullcount.runtime.conformance.replay import by_plain_http, replay
    from fullcount.runtime.text import plain
    from fullcount.runtime.workflow_files import UsageError

    try:
        lines = list(lines_of(file))
    except OSError as error:
        raise UsageError("FC690", f"can't read `{file}`: {error.strerror}", help="name a file of cases") from error
    except UnicodeDecodeError as error:
        raise UsageError("FC690", f"can't read `{file}`: it is not UTF-8 text", help="name a file of cases") from error
    cases = [each for each in lines if isinstance(each, Case)]
    odd = [str(each) for each in lines if not isinstance(each, Case)]
    if len(cases) == 0 and len(odd) > 0:
        raise UsageError("FC675", odd[0], help="one case a line, as `fullcount explain FC675` says")
    if len(cases) == 0:
        raise UsageError("FC675", f"`{file}` has no case", help="a replay of nothing proves nothing")
    replayed = list(replay(cases))
    unknown = sorted({case.api for case in cases if by_plain_http(case)})
    agreed = sum(one.agrees for one in replayed)
    if as_json:
        import json

        document = {
            "cases": len(lines),
            "no_cases": odd,
            "agree": agreed,
            "by_plain_http": unknown,
            "results": [_json(one) for one in replayed],
        }
        click.echo(json.dumps(document, indent=2))
    else:
        for one in replayed:
            if not one.agrees:
                click.echo(_line(one))
        for said in odd:
            click.echo(plain(said))
        for api in unknown:
            click.echo(f"note: nothing is known of `{plain(api)}`: it was judged as plain HTTP, which proves the least")
        click.echo(f"{agreed} of {len(lines)} agree")
    raise click.exceptions.Exit(int(Exit.DONE if agreed == len(lines) else Exit.ERROR))


def _line(one: Replayed) -> str:
    from fullcount.runtime.text import plain

    return plain(f"{one.case.id} ({one.case.api}, {one.case.phase})  " + "; ".join(map(str, one.differences)))


def _json(one: Replayed) -> dict[str, object]:
    verdict = one.verdict
    return {
        "id": one.case.id,
        "api": one.case.api,
        "phase": one.case.phase,
        "agrees": one.agrees,
        "differences": [
            {"about": each.about, "expected": each.expected, "found": each.found} for each in one.differences
        ],
        "verdict": {
            "complete": verdict.complete,
            "reasons": sorted(verdict.reasons),
            "continuation": verdict.continuation,
            "warnings": sorted(verdict.warnings),
            "field_states": dict(verdict.field_states),
            "decision": verdict.decision,
            "details": list(verdict.details),
        },
    }
