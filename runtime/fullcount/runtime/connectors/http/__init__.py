"""HTTP APIs, each by its dialect: the declaration; what speaks HTTP is imported when a source is opened.

**What it guarantees.** A page is read as the API's dialect says (`dialects/*.toml`): where the list is, how it goes on,
what its end looks like, what it says of parts that are missing. Without an affirmative end nothing is complete; pages
that may shift are read until two passes agree; a row that comes twice on pages by number tells of one that was missed.

**Parts and details.** A source that is split has a list for each part (`partitions.py`, `split.py`); fields that a list
leaves out come from a request for each object, and what that can't give is a state, never an absence (`details.py`).

**What it can't.** It vouches for visibility only where the API refuses loudly; elsewhere an `expect` canary has to. It
follows no redirect and speaks to no other host than the configured one.

**Acting.** One request on one object: conditional by `If-Match` where the API has versions, else the object is read
and compared right before. A lost answer is unknown, and is settled by reading.
"""

from __future__ import annotations

from fullcount.runtime.connectors.http.declaration import HttpConnector

CONNECTOR = HttpConnector()

__all__ = ["CONNECTOR"]
