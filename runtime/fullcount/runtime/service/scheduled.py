"""Which workflows are served: every one with a schedule in the workspace's `workflows` folder, compiled anew each time.

A file that can't be read or does not compile is served no more until it does, and that is said each time it changes:
an old version of a rule is never run in place of the one that stands there. Two workflows of one name share a history
in the store, so that neither is served.
"""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import structlog

from fullcount.compiler.protections import Protections
from fullcount.dsl.render import render
from fullcount.runtime.errors import FullcountError
from fullcount.runtime.service.nightly import Scheduled
from fullcount.runtime.workflow_files import author_of, compile_file, find_files
from fullcount.runtime.workspace import Workspace


class ScheduledWorkflows:
    """Reads the workflows of a workspace; a file is compiled again only when it or the protections changed."""

    def __init__(self, workspace: Workspace, folder: Path) -> None:
        self._workspace = workspace
        self._folder = folder
        self._known: dict[Path, tuple[int, tuple[Scheduled, ...]]] = {}
        self._protections: Protections | None = None
        self._doubled: frozenset[str] = frozenset()
        self._log = structlog.get_logger("fullcount.serve")

    def __call__(self) -> tuple[Scheduled, ...]:
        """Return what is scheduled now. Raises `WorkspaceError` FC614 for protections that can't be read."""
        found: list[Scheduled] = []
        protections = self._workspace.protections.current()
        if protections is not self._protections:
            self._protections = protections
            self._known.clear()
        for path in find_files([self._folder]) if self._folder.is_dir() else []:
            try:
                changed = path.stat().st_mtime_ns
            except OSError:
                continue  # it was removed while we looked, so it is not among the workflows any more
            if path not in self._known or self._known[path][0] != changed:
                self._known[path] = (changed, self._compiled(path))
            found.extend(self._known[path][1])
        names = Counter(scheduled.workflow.name for scheduled in found)
        doubled = frozenset(name for name, count in names.items() if count > 1)
        if doubled != self._doubled:
            self._doubled = doubled
            for name in sorted(doubled):
                files = [str(each.path) for each in found if each.workflow.name == name]
                self._log.error("not served: several files have a workflow of this name", workflow=name, files=files)
        return tuple(scheduled for scheduled in found if scheduled.workflow.name not in doubled)

    def _compiled(self, path: Path) -> tuple[Scheduled, ...]:
        try:
            compiled = compile_file(path, self._workspace.catalog(), self._workspace.protections)
        except FullcountError as error:
            self._log.error("not served: the file can't be read", file=str(path), why=error.message)
            return ()
        if compiled.program is None:
            report = render(compiled.diagnostics, compiled.sources, color=False)
            self._log.error("not served: the workflow has mistakes", file=str(path), report=report)
            return ()
        return tuple(
            Scheduled(workflow, path, author_of(path), dict(compiled.sources))
            for workflow in compiled.program.workflows
            if workflow.schedule is not None
        )
