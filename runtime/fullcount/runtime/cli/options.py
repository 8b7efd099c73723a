"""Options and arguments that several verbs share, so that they read the same everywhere."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Final

import click

command = partial(click.command, context_settings={"help_option_names": ["-h", "--help"], "show_default": True})
"""What each verb is made with: `@options.command()`."""

PATH: Final = click.Path(path_type=Path)

as_json = click.option("--json", "as_json", is_flag=True, help="Print JSON.")
workflow_paths = click.argument(
    "paths", nargs=-1, type=PATH, help="Files or folders; by default the workflows and protections of the workspace."
)
workflow_file = click.argument("file", type=PATH, help="A workflow file.")
workflow_name = click.option("--workflow", metavar="NAME", help="Which workflow, if the file has several.")
proposal_name = click.option("--proposal", metavar="NAME", help="Which proposal, if the workflow has several.")
params = click.option(
    "--param", "param", multiple=True, metavar="NAME=VALUE", help="The value of a parameter; as often as needed."
)
force = click.option("--force", is_flag=True, help="Write over a file that this command did not write.")
on = click.option("--on", required=True, metavar="PLAN|RUN", help="The plan or run whose snapshots to use.")
plan_id = click.argument("plan", help="A plan's id, or an unambiguous beginning of it.")
