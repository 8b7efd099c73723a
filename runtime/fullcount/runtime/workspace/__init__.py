"""The workspace: what `fullcount.toml` says, checked as a whole before anything else happens.

Loading reads that one file and nothing else: no source is contacted, no secret is resolved, no heavy library is
imported. What is wrong is said with its path inside the file.

`Premises` is the part of it that compiling needs; with it alone, what checks a configuration need not be imported.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fullcount.runtime.workspace.errors import WorkspaceError
from fullcount.runtime.workspace.premises import Premises

if TYPE_CHECKING:
    from fullcount.runtime.workspace.exemptions import Exemption
    from fullcount.runtime.workspace.workspace import Workspace

__all__ = ["Exemption", "Premises", "Workspace", "WorkspaceError"]


def __getattr__(name: str) -> Any:
    """Import what needs pydantic when somebody asks for it."""
    if name == "Workspace":
        from fullcount.runtime.workspace.workspace import Workspace

        return Workspace
    if name == "Exemption":
        from fullcount.runtime.workspace.exemptions import Exemption

        return Exemption
    msg = f"module `{__name__}` has no attribute `{name}`"
    raise AttributeError(msg)
