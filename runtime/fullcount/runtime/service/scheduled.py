"""Which workflows are served: every one with a schedule in the workspace's `workflows` folder, compiled anew each time.

A file that does not compile is served no more until it does, and that is said each time: an old version of a rule is
never run in place of the one that stands there.
"""

from __future__ import annotations

from pathlib import Path

import structlog

from fullcount.compiler.pipeline import compile_source
from fullcount.dsl.render import render
from fullcount.runtime.service.nightly import Scheduled
from fullcount.runtime.workflow_files import author_of, find_files, read_source
from fullcount.runtime.workspace import Workspace


class ScheduledWorkflows:
    """Reads the workflows of a workspace; a file is compiled again only when it changed."""

    def __init__(self, workspace: Workspace, folder: Path) -> None:
        self._workspace = workspace
        self._folder = folder
        self._known: dict[Path, tuple[int, tuple[Scheduled, ...]]] = {}
        self._log = structlog.get_logger("fullcount.serve")

    def __call__(self) -> tuple[Scheduled, ...]:
        """Return what is scheduled now. Raises `UsageError` when a file can't be read."""
        found: list[Scheduled] = []
        for path in find_files([self._folder]) if self._folder.is_dir() else []:
            changed = path.stat().st_mtime_ns
            if path not in self._known or self._known[path][0] != changed:
                self._known[path] = (changed, self._compiled(path))
            found.extend(self._known[path][1])
        return tuple(found)

    def _compiled(self, path: Path) -> tuple[Scheduled, ...]:
        compiled = compile_source(read_source(path), self._workspace.catalog())
        if compiled.program is None:
            report = render(compiled.diagnostics, compiled.sources, color=False)
            self._log.error("not served: the workflow has mistakes", file=str(path), report=report)
            return ()
        return tuple(
            Scheduled(workflow, path, author_of(path), dict(compiled.sources))
            for workflow in compiled.program.workflows
            if workflow.schedule is not None
        )
