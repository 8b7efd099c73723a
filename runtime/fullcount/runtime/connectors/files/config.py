"""What `[sources.NAME]` may say when `connector = "files"`. No I/O here."""

from __future__ import annotations

import os
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Literal, Self

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, StringConstraints, model_validator

from fullcount.runtime.connectors.files.patterns import Parts, Patterns, parts_of, why_no_pattern
from fullcount.runtime.workspace.errors import SettingError


def _absolute(path: Path) -> Path:
    text = os.fspath(path)
    if not path.is_absolute() or os.path.normpath(text) != text or text.startswith("//"):
        msg = f"`{path}` is not the plain absolute path of a folder"
        raise SettingError(msg, help="write it from `/` on, without `..`, `.` and a `/` at its end")
    return path


def _pattern(pattern: str) -> str:
    why = why_no_pattern(pattern)
    if why is not None:
        msg = f"`{pattern}` can't be a pattern: {why}"
        raise SettingError(msg)
    return pattern


AbsolutePath = Annotated[Path, AfterValidator(_absolute)]
Pattern = Annotated[str, AfterValidator(_pattern)]


class Kind(StrEnum):
    """What an object of a resource is."""

    FILE = "file"
    FOLDER = "folder"
    """A folder with everything in it, as one object."""


class Delete(StrEnum):
    """What becomes of an object that is deleted."""

    QUARANTINE = "quarantine"
    """It is moved to the quarantine folder, and can be taken back from there."""
    FOR_GOOD = "for_good"
    """It is gone."""


class FilesResource(BaseModel):
    """Some of the files or folders below the root."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    kind: Kind
    patterns: Annotated[list[Pattern], Field(min_length=1)]
    """Which, by their path from the root on: `incoming/*.part`, `**/*.log`. All of them is `**`, and has to be said."""
    depth: Annotated[int, Field(ge=1)] | Literal["all"]
    """How many names a path may have: 1 is what lies in the root itself. What lies deeper is not of this resource."""
    left_out: list[Pattern] = []
    """Paths that are neither listed nor entered: `lost+found`, `.snapshot`."""
    links: Literal["refused", "left_out"] = "refused"
    """A link where an object or a folder could be: the list is not complete, or it goes without the link."""
    delete: Delete | None = None
    """What `delete` does; without it there is no such operation."""
    move: bool = False
    """Whether there is an operation that moves an object to the `archive`."""

    @model_validator(mode="after")
    def _fits_together(self) -> Self:
        if self.kind is Kind.FOLDER and self.delete is Delete.FOR_GOOD:
            msg = "a folder with everything in it is not deleted for good"
            raise SettingError(msg, help='write `delete = "quarantine"`: what was in it can be taken back')
        return self

    def holds(self, parts: Parts) -> bool:
        """Whether a path is one of an object of this resource."""
        wanted = Patterns.of(self.patterns)
        if self.kind is Kind.FOLDER and wanted.fit_part_of(parts[:-1]):
            return False  # it lies in a folder that is an object itself, which is not searched for others
        near = self.depth == "all" or len(parts) <= self.depth
        return near and wanted.fit(parts) and not Patterns.of(self.left_out).fit_part_of(parts)


class FilesConfig(BaseModel):
    """See the module's text."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    root: AbsolutePath
    """The folder below which everything lies."""
    must_be_mount: bool = False
    """Whether something has to be mounted there; what is there otherwise is another, most likely empty folder."""
    marker: Annotated[str, StringConstraints(min_length=1)] | None = None
    """A file below the root that has to be there: the proof that it is the right folder."""
    cross_devices: bool = False
    """Whether what is mounted below the root belongs to it. If not, it makes the list incomplete."""
    quarantine: AbsolutePath | None = None
    """Where what is acted on is moved to first: a folder of our own, on the same device, outside of what is listed."""
    archive: AbsolutePath | None = None
    """Where `move` moves objects to, each under its path."""
    max_entries: Annotated[int, Field(gt=0)] | None = None
    """A cap of our own on the files and folders that one list looks at."""
    resources: Annotated[
        dict[Annotated[str, StringConstraints(pattern=r"^[A-Za-z_][A-Za-z0-9_]*$")], FilesResource],
        Field(min_length=1),
    ]

    @model_validator(mode="after")
    def _fits_together(self) -> Self:
        if self.marker is not None and parts_of(self.marker) is None:
            msg = f"`marker` is `{self.marker}`, which is no path below the root"
            raise SettingError(msg, help='write it from the root on: `marker = ".this-is-uploads"`')
        acting = [name for name, each in self.resources.items() if each.delete is not None or each.move]
        if len(acting) > 0 and self.quarantine is None:
            msg = f"`{acting[0]}` may be acted on, and there is no `quarantine` folder"
            help_ = "every object is moved there first and looked at again, so that what took its place can be put back"
            raise SettingError(msg, help=help_)
        moving = [name for name, each in self.resources.items() if each.move]
        if len(moving) > 0 and self.archive is None:
            msg = f"`{moving[0]}` says `move`, and there is no `archive` folder to move to"
            raise SettingError(msg)
        for name, place in (("quarantine", self.quarantine), ("archive", self.archive)):
            listed = None if place is None else lists(self, self.root, place)
            if listed is not None:
                msg = f"`{name}` is `{place}`, in which `{listed}` would look for its objects"
                raise SettingError(msg, help="put it outside of `root`, or name it in `left_out` of each resource")
        return self


def lists(config: FilesConfig, root: Path, place: Path) -> str | None:
    """Return the resource that looks for its objects in a folder, or around it; None: none does."""
    if root.is_relative_to(place):
        return next(iter(config.resources))
    if not place.is_relative_to(root):
        return None
    parts = place.relative_to(root).parts
    for name, each in config.resources.items():
        if not Patterns.of(each.left_out).fit_part_of(parts):
            return name
    return None
