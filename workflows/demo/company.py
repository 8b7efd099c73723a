"""The made company: a directory of accounts and the HR feed, two SQLite databases with a few thousand rows.

Everything is drawn from a fixed seed, and instants are counted back from the moment of the demonstration.
"""

from __future__ import annotations

import random
import sqlite3
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from uuid import UUID

FIRST = [
    "Ana",
    "Bo",
    "Chen",
    "Dina",
    "Emre",
    "Farah",
    "Goran",
    "Hana",
    "Ilias",
    "Jana",
    "Kofi",
    "Lena",
    "Mirko",
    "Nadia",
    "Oskar",
    "Priya",
    "Quentin",
    "Rosa",
    "Sami",
    "Tove",
    "Uma",
    "Viktor",
    "Wanda",
    "Ximena",
    "Yusuf",
    "Zoe",
]
LAST = [
    "Adeyemi",
    "Bauer",
    "Costa",
    "Diaz",
    "Ekholm",
    "Fischer",
    "Garcia",
    "Haddad",
    "Ivanov",
    "Jensen",
    "Kaya",
    "Lindqvist",
    "Moreau",
    "Novak",
    "Okafor",
    "Petrov",
    "Quist",
    "Rossi",
    "Santos",
    "Tanaka",
    "Ueda",
    "Vogel",
    "Weber",
    "Xu",
    "Yilmaz",
    "Zimmer",
]
TEAMS = ("payments", "data", "platform", "search", "logistics", "support", "web", "mobile")
PURPOSES = ("etl", "report", "mailer", "sync", "backup", "billing", "webhook", "crawler", "scheduler", "export")

PEOPLE = 2_412
LEFT = 180
SERVICE_ACCOUNTS = 3_050
ORPHANS = 34
DOOMED = 3
"""Accounts that the rule selects and that change between plan and act, one in each way."""


@dataclass(frozen=True, slots=True)
class Accounts:
    """The accounts that the demonstration changes behind the plan's back."""

    used: str
    recreated: str
    deleted: str


def _stamp(instant: datetime) -> str:
    return instant.isoformat(timespec="seconds")


def make_hr(path: Path, dice: random.Random) -> tuple[list[str], list[str]]:
    """Make the HR database; return the ids of active and of former employees."""
    ids = [f"e{1000 + n}" for n in range(PEOPLE)]
    former = set(dice.sample(ids, LEFT))
    rows = [
        (person, f"{dice.choice(FIRST)} {dice.choice(LAST)}", dice.choice(TEAMS), person not in former)
        for person in ids
    ]
    with sqlite3.connect(path) as db:
        db.execute(
            "CREATE TABLE employees (id TEXT PRIMARY KEY NOT NULL, name TEXT NOT NULL, team TEXT NOT NULL,"
            " active BOOLEAN NOT NULL)"
        )
        db.executemany("INSERT INTO employees VALUES (?, ?, ?, ?)", rows)
        # What payroll says: an independent list, from which the head count is taken.
        db.execute("CREATE TABLE payroll (employee_id TEXT PRIMARY KEY NOT NULL)")
        db.executemany("INSERT INTO payroll VALUES (?)", [(person,) for person in ids])
    db.close()
    return [person for person in ids if person not in former], sorted(former)


def make_directory(path: Path, active: list[str], former: list[str], now: datetime, dice: random.Random) -> Accounts:
    """Make the directory of accounts; return those that will change behind the plan's back."""
    rows = []
    orphans: list[str] = []
    for number in range(SERVICE_ACCOUNTS):
        team = dice.choice(TEAMS)
        name = f"svc-{team}-{dice.choice(PURPOSES)}-{number}"
        created = now - timedelta(days=dice.randint(200, 2_000), minutes=dice.randint(0, 1_440))
        environment = "production" if number % 5 < 2 else dice.choice(["staging", "development"])
        owner: str | None = dice.choice(active)
        login: datetime | None = now - timedelta(days=dice.randint(0, 85), minutes=dice.randint(1, 1_440))
        if environment == "production" and len(orphans) < ORPHANS + DOOMED and number % 7 == 0:
            # Nobody owns it any more, and nobody has used it for a long time.
            owner = dice.choice([None, *dice.sample(former, 3)])
            login = dice.choice([None, now - timedelta(days=dice.randint(92, 700))])
            orphans.append(name)
        elif environment == "production" and number % 11 == 0:
            login = now - timedelta(days=dice.randint(92, 400))  # idle, but somebody owns it
        elif environment == "production" and number % 13 == 0:
            owner = dice.choice(former)  # its owner left, but it is in use
        rows.append(
            (name, str(UUID(int=dice.getrandbits(128), version=4)), owner, team, environment, _stamp(created),
             None if login is None else _stamp(login), False, 1)
        )  # fmt: skip
    rows.append(
        ("svc-canary", str(UUID(int=dice.getrandbits(128), version=4)), active[0], "platform", "production",
         _stamp(now - timedelta(days=900)), _stamp(now - timedelta(hours=2)), False, 1)
    )  # fmt: skip
    with sqlite3.connect(path) as db:
        db.execute(
            "CREATE TABLE accounts (id TEXT PRIMARY KEY NOT NULL, entry_uuid TEXT NOT NULL, owner TEXT,"
            " team TEXT NOT NULL, environment TEXT NOT NULL, created TEXT NOT NULL, last_login TEXT,"
            " locked BOOLEAN NOT NULL, row_version INTEGER NOT NULL)"
        )
        db.executemany("INSERT INTO accounts VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)", rows)
    db.close()
    used, recreated, deleted = orphans[3], orphans[11], orphans[20]
    return Accounts(used=used, recreated=recreated, deleted=deleted)


def use_account(path: Path, account: str) -> None:
    """Somebody logs in with the account."""
    with sqlite3.connect(path) as db:
        db.execute(
            "UPDATE accounts SET last_login = ?, row_version = row_version + 1 WHERE id = ?",
            (_stamp(datetime.now(UTC)), account),
        )
    db.close()


def recreate_account(path: Path, account: str) -> None:
    """Somebody deletes the account and makes another one under the same id."""
    fresh = str(UUID(int=random.Random(account).getrandbits(128), version=4))
    with sqlite3.connect(path) as db:
        db.execute("UPDATE accounts SET entry_uuid = ?, row_version = 1 WHERE id = ?", (fresh, account))
    db.close()


def delete_account(path: Path, account: str) -> None:
    """Somebody deletes the account."""
    with sqlite3.connect(path) as db:
        db.execute("DELETE FROM accounts WHERE id = ?", (account,))
    db.close()


def locked_accounts(path: Path) -> int:
    """Count the accounts that are locked at the target: the proof is there, not in what was printed."""
    with sqlite3.connect(path) as db:
        (count,) = db.execute("SELECT count(*) FROM accounts WHERE locked").fetchone()
    db.close()
    return int(count)
