"""Seeded kills over a table of a real PostgreSQL: what the server was sent last is not known to whoever was killed."""

from __future__ import annotations

from collections import Counter

import pytest
from tests.crash import preparing
from tests.crash.judging import block
from tests.crash.targets import OBJECTS, Effects, Kept, Target
from tests.support.profiles import nightly

from fullcount.runtime.approve.identity import current_person

pytestmark = [pytest.mark.service("postgres"), pytest.mark.requirement("R29", "R30", "R32", "R34", "R43")]

KILLS = 60 if nightly() else 6

TABLES = (
    "CREATE TABLE accounts (id text PRIMARY KEY, uuid text NOT NULL, owner text, locked boolean NOT NULL, version int)",
    "ALTER TABLE accounts ALTER version SET NOT NULL",
    "CREATE TABLE people (id text PRIMARY KEY, active boolean NOT NULL)",
    "CREATE TABLE audit (at bigint GENERATED ALWAYS AS IDENTITY, id text NOT NULL, locked boolean NOT NULL)",
    """CREATE FUNCTION note() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER AS
       $$ BEGIN INSERT INTO public.audit (id, locked) VALUES (NEW.id, NEW.locked); RETURN NULL; END $$""",
    "CREATE TRIGGER noted AFTER UPDATE ON accounts FOR EACH ROW EXECUTE FUNCTION note()",
)
ROWS = (
    "TRUNCATE accounts, people, audit",
    f"""INSERT INTO accounts SELECT 'a' || lpad(n::text, 5, '0'), 'uuid-' || n, NULL, false, 1
        FROM generate_series(0, {OBJECTS - 1}) AS n""",
    "INSERT INTO accounts VALUES ('kept', 'uuid-kept', 'p1', false, 1)",
    "INSERT INTO people VALUES ('p1', true)",
)


class PostgresTarget(Target):
    """A table of a server; a trigger notes each write."""

    def __init__(self, folder, address, execute):
        self._execute = execute
        execute(*TABLES, *ROWS)

        def prepare(where):
            toml = preparing.SQL_TOML.format(uid=current_person().uid)
            (where / "password").write_text("secret")
            secret = f'url = {{ url = "{address}", password = {{ file = "password" }} }}'
            assert 'url = "sqlite:///target.db"' in toml
            (where / "fullcount.toml").write_text(toml.replace('url = "sqlite:///target.db"', secret))
            (where / "workflow.fcw").write_text(preparing.SQL_WORKFLOW)

        super().__init__(folder, prepare)

    def anew(self, seed):
        """See `Target.anew`."""
        super().anew(seed)
        self._execute(*ROWS)

    def effects(self):
        """See `Target.effects`."""
        written = self._execute("SELECT id, locked FROM audit ORDER BY at")
        return Effects(
            Counter(key for key, locked in written if locked), Counter(key for key, locked in written if not locked)
        )

    def changed(self):
        """See `Target.changed`."""
        return {key for (key,) in self._execute("SELECT id FROM accounts WHERE locked")}


def test_whatever_is_killed_each_row_of_a_server_is_changed_once_and_has_one_outcome(cluster, database, tmp_path):
    """The kills of the matrix, with a server in between that goes on without the process that asked it."""
    address = cluster.url("writer", database.name)
    kept = Kept(tmp_path, {"postgres": lambda folder: PostgresTarget(folder, address, database)})
    try:
        killed = sum(told.kills for told in block(0, 1, KILLS, kept, ("postgres",)))
    finally:
        kept.close()
    assert killed >= KILLS
