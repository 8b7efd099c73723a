"""Which workflows stand in the `workflows` folder, compiled anew each time. Those with a schedule are served.

A file that can't be read or does not compile is served no more until it does, and that is said each time it changes:
an old version of a rule, or of what it imports, is never run in place of the one that stands there. Two workflows of
one name share a history in the store, so that neither is served.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import structlog

from fullcount.compiler.protections import Protections
from fullcount.dsl.render import render
from fullcount.dsl.source import Source
from fullcount.runtime.errors import FullcountError
from fullcount.runtime.service.nightly import Scheduled
from fullcount.runtime.workflow_files import authors_of, compile_file, find_files
from fullcount.runtime.workspace import Workspace


class ScheduledWorkflows:
    """Reads the workflows of a workspace; a file is compiled anew when it, an import or a protection changed."""

    def __init__(self, workspace: Workspace, folder: Path) -> None:
        self._workspace = workspace
        self._folder = folder
        self._served: dict[Path, _Served | None] = {}
        self._said: dict[Path, str] = {}
        self._protections: Protections | None = None
        self._doubled: frozenset[str] = frozenset()
        self._log = structlog.get_logger("fullcount.serve")

    def __call__(self) -> tuple[Scheduled, ...]:
        """Return what stands in the folder now, with a schedule or without.

        Raises `WorkspaceError` FC614 for protections that can't be read.
        """
        found: list[Scheduled] = []
        protections = self._workspace.protections.current()
        if protections is not self._protections:
            self._protections = protections
            self._served.clear()
        for path in find_files([self._folder]) if self._folder.is_dir() else []:
            served = self._served.get(path)
            if served is None or not served.stands():
                # what does not compile is tried again at each look: an import may come without this file changing
                served = self._served[path] = self._compiled(path)
            if served is not None:
                found.extend(served.workflows)
        names = Counter(scheduled.workflow.name for scheduled in found)
        doubled = frozenset(name for name, count in names.items() if count > 1)
        if doubled != self._doubled:
            self._doubled = doubled
            for name in sorted(doubled):
                files = [str(each.path) for each in found if each.workflow.name == name]
                self._log.error("not served: several files have a workflow of this name", workflow=name, files=files)
        return tuple(scheduled for scheduled in found if scheduled.workflow.name not in doubled)

    def _compiled(self, path: Path) -> _Served | None:
        try:
            compiled = compile_file(path, self._workspace)
            authors = authors_of(compiled.sources)
        except FullcountError as error:
            self._say(path, error.message, "not served: the file can't be read", why=error.message)
            return None
        except OSError:
            return None  # a file was removed while we looked
        if compiled.program is None:
            report = render(compiled.diagnostics, compiled.sources, color=False)
            self._say(path, report, "not served: the workflow has mistakes", report=report)
            return None
        self._said.pop(path, None)
        return _Served(
            dict(compiled.sources),
            tuple(
                Scheduled(workflow, path, authors, dict(compiled.sources)) for workflow in compiled.program.workflows
            ),
        )

    def _say(self, path: Path, what: str, event: str, **details: str) -> None:
        """Log why a file is not served, once for each reason."""
        if self._said.get(path) != what:
            self._said[path] = what
            self._log.error(event, file=str(path), **details)


@dataclass(frozen=True, slots=True)
class _Served:
    """What a file came to, and the texts that it and its imports had."""

    sources: Mapping[str, Source]
    workflows: tuple[Scheduled, ...]

    def stands(self) -> bool:
        """Whether every text is still what it was."""
        return all(_text(name) == source.text for name, source in self.sources.items())


def _text(name: str) -> str | None:
    try:
        return Path(name).read_bytes().decode("utf-8")
    except (OSError, UnicodeDecodeError):
        return None
