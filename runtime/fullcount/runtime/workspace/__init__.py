"""The workspace: what `fullcount.toml` says, checked as a whole before anything else happens.

Loading reads that one file and nothing else: no source is contacted, no secret is resolved, no heavy library is
imported. What is wrong is said with its path inside the file.
"""

from __future__ import annotations

from fullcount.runtime.workspace.errors import WorkspaceError
from fullcount.runtime.workspace.exemptions import Exemption
from fullcount.runtime.workspace.workspace import Workspace

__all__ = ["Exemption", "Workspace", "WorkspaceError"]
