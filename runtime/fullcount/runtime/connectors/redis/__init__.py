"""Keys of a Redis or Valkey server, to be read: the declaration; the library is imported when a source is opened.

**What it guarantees.** Keys are listed by `SCAN`, which returns every key that is there from the first page to the last
(`interval`); keys that come or go meanwhile may be in the answer or not, and some come twice. The end marker,
`cursor_0`, is the only one that Redis has. A cursor means nothing to another server or after a restart, so a scan uses
one connection that is never made anew: if it is lost, the scan is over.

**Who sees what.** `SCAN` lists the names of all keys of a database to everybody who may run it at all; what a user may
not read is refused loudly (`NOPERM`), and makes the read `VISIBILITY_RESTRICTED`. A server of a cluster has a part of
the keys and says so (`SCOPE_NOT_COVERED`); a replica may lag behind (`STALE_READ`).

**What it can't.** It does not act: Redis gives a key no version that a write could be made conditional on. It does not
notice that `SWAPDB` exchanged the database under a scan.
"""

from __future__ import annotations

from fullcount.runtime.connectors.redis.declaration import RedisConnector

CONNECTOR = RedisConnector()

__all__ = ["CONNECTOR"]
