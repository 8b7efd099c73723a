"""Which backups the record names, until when each is kept, and the removal of those whose time is over.

Guarantees: a backup is kept as long as any act says that names it; what no act names is removed only once it is older
than any run that could still be about to name it. It must never decide by a file's name or age what an act says.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from sqlalchemy import select
from sqlalchemy.orm import Session

from fullcount.runtime.backups.files import BackupFiles
from fullcount.runtime.journal.entry import read_canonical
from fullcount.runtime.store import tables
from fullcount.runtime.store.instants import to_micros
from fullcount.runtime.store.store import Store

_UNNAMED: Final = 86_400.0
"""Seconds after which a stored object that no act came to name is removed."""


@dataclass(frozen=True, slots=True)
class Held:
    """A backup that an act names. `until`: in microseconds since the epoch, by the store's time."""

    plan_id: str
    kind: str
    object_key: str
    sha256: str
    until: int
    idempotency_key: str | None = None
    operation: str | None = None
    outcome: str | None = None


def held(session: Session) -> Iterator[Held]:
    """Return the backups that acts were made on, whether their time is over or not."""
    act = tables.Act
    of = (act.plan_id, act.kind, act.object_key)
    query = select(*of, act.parameters, act.intent_at, act.idempotency_key, act.operation, act.outcome).where(
        act.intent_at.is_not(None), act.parameters.contains('"backup":{')
    )
    for plan_id, kind, object_key, parameters, intent_at, key, operation, outcome in session.execute(query):
        # the text may stand elsewhere too
        named = None if parameters is None else read_canonical(parameters).get("backup")
        if named is not None and intent_at is not None:
            until = intent_at + named["kept"]
            yield Held(plan_id, kind, object_key, named["sha256"], until, key, operation, outcome)


def remove_expired(store: Store, files: BackupFiles) -> int:
    """Remove the backups whose time is over, and return how many. Raises `OSError` when one can't be removed."""
    stored = list(files.stored())
    if len(stored) == 0:
        return 0
    now = to_micros(store.now())
    until: dict[str, int] = {}
    with store.reading() as session:
        for each in held(session):
            until[each.sha256] = max(each.until, until.get(each.sha256, each.until))
    over = [
        digest
        for digest in stored
        if (until[digest] <= now if digest in until else files.age(digest, time.time()) > _UNNAMED)
    ]
    for digest in over:
        files.drop(digest)
    return len(over)


def keys_that_are_over(store: Store) -> frozenset[str]:
    """Return the idempotency keys of the acts whose backups are kept no longer."""
    now = to_micros(store.now())
    with store.reading() as session:
        return frozenset(
            each.idempotency_key for each in held(session) if each.until <= now and each.idempotency_key is not None
        )


def is_over(each: Held, now: datetime) -> bool:
    """Whether the time of a backup is over."""
    return each.until <= to_micros(now)
