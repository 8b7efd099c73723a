"""What compiling takes from a workspace: where it is, what its sources declare, and its protections.

Where no source takes rules from elsewhere, a catalogue follows from the bytes of `fullcount.toml` and from our own code
alone. So once such a file was found right, its catalogue is kept in the user's cache under the digest of both, and the
next `check` of the same bytes need not check them again. Whatever goes on to a source (plan, apply, serve) loads the
`Workspace` itself and never reads that cache.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Final

from fullcount.runtime.workspace import cache
from fullcount.runtime.workspace.errors import WorkspaceError

if TYPE_CHECKING:
    from fullcount.compiler.catalog import StaticCatalog
    from fullcount.runtime.workspace.protections import ProtectionFiles

FILE_NAME: Final = "fullcount.toml"


class Premises:
    """What the compiler may know of one workspace. Nothing of it changes, except that protections are read anew."""

    def __init__(
        self,
        root: Path,
        seen_from: Path,
        catalog: StaticCatalog,
        content_of: Callable[[Path], bytes] = Path.read_bytes,
    ) -> None:
        self._root = root
        self._seen_from = seen_from
        self._catalog = catalog
        self._content_of = content_of

    @classmethod
    def known(cls, start: Path) -> Premises:
        """Find the workspace of a folder, as `Workspace.load` does, and return what compiling needs of it.

        Raises `WorkspaceError` for whatever `Workspace.load` raises it for.
        """
        from fullcount.compiler.catalog_document import catalog_from_document, catalog_to_document
        from fullcount.runtime.workspace.people import People

        path = find(start)
        content = read(path)
        kept = cache.get(content)
        if kept is not None:
            catalog = replace(catalog_from_document(kept["catalog"]), members=People(kept["roles"]))
            return cls(path.parent, start.resolve(), catalog)
        from fullcount.runtime.workspace.workspace import Workspace

        workspace = Workspace.parse(path, content, start)
        if workspace.follows_from_its_bytes:
            # who is behind a name is this system's business, and may be another tomorrow: names are kept as written
            nobody = replace(workspace.catalog(), members={})
            cache.put(content, {"catalog": catalog_to_document(nobody), "roles": workspace.written_roles})
        return workspace

    def reading(self, content_of: Callable[[Path], bytes]) -> Premises:
        """Return the same workspace, its files of the language read in another way: an editor has what is not saved."""
        return Premises(self._root, self._root, self._catalog, content_of)

    def content_of(self, path: Path) -> bytes:
        """Return the content of a file of the language. Raises `OSError`."""
        return self._content_of(path)

    @property
    def root(self) -> Path:
        """The folder of `fullcount.toml`, absolute."""
        return self._root

    def catalog(self) -> StaticCatalog:
        """Return what the compiler may know of this workspace; no I/O."""
        return self._catalog

    @cached_property
    def protections(self) -> ProtectionFiles:
        """The protections that hold for every workflow; each look at them reads their files."""
        from fullcount.runtime.workspace.protections import ProtectionFiles

        return ProtectionFiles(self._root, self._catalog, self._seen_from, self._content_of)


def find(start: Path) -> Path:
    """Search `start` and the folders above it for `fullcount.toml`. Raises `WorkspaceError` FC601."""
    here = start.resolve()
    for folder in (here, *here.parents):
        if (folder / FILE_NAME).is_file():
            return folder / FILE_NAME
    message = f"there is no {FILE_NAME} in `{here}` nor in a folder above it"
    raise WorkspaceError("FC601", message, help="run this inside a workspace, or make one with `fullcount init`")


def read(path: Path) -> bytes:
    """Read a file of the workspace. Raises `WorkspaceError` FC602."""
    try:
        return path.read_bytes()
    except OSError as error:
        raise WorkspaceError("FC602", f"`{path}` can't be read: {error.strerror}") from None
