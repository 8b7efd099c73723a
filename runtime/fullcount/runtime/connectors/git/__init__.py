"""Branches of a git repository: the declaration; what runs git is imported when a repository is opened.

**What it guarantees.** Refs can't be read at one instant, so the branches are listed until two listings in a row are
equal (`interval`); the end marker, `for_each_ref_twice`, is git's clean exit on both. A ref that git skipped with no
more than a word on its error output, and a folder of refs that can't be entered, make the read incomplete.

**What `merged` means.** `merged`: the branch's commit is an ancestor of the base branch. `merged_by_content`: that, or
the changes of the branch are in the base branch under other commits, as after a squash or a rebase; how this is told
stands in `content.py`. In a shallow clone what is not found merged is `indeterminate`.

**Acting.** `delete` removes the branch only while it is at the commit that was seen, never the base branch, a
checked-out one or a protected one, and keeps its commit under `refs/fullcount/kept/` so that `restore` has something
to restore, whatever garbage collection does. Remove those refs when nobody will want the branches back.
"""

from __future__ import annotations

from fullcount.runtime.connectors.git.declaration import GitConnector

CONNECTOR = GitConnector()

__all__ = ["CONNECTOR"]
