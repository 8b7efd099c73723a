"""A rule with an anti-join over Parquet: the compiled statement against the query that one would write by hand.

    python benchmarks/rule.py            1 M accounts x 200 k people
    python benchmarks/rule.py --large    5 M accounts x 1 M people

Each query runs three times in a process of its own, and the processes take turns; the best time counts. Both return the
keys of the selected objects. The hand-written query knows nothing of field states, nor of what is unknown.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import duckdb

from fullcount.compiler import ir, program
from fullcount.compiler.claims import Consistency
from fullcount.compiler.lower.sql import EXCEPTED, IN_SCOPE, RULE, Relation, select_statement
from fullcount.compiler.lower.world import Bindings
from fullcount.compiler.types import BOOL, DURATION, TEXT, TIMESTAMP, FieldType

NOW = 1_800_000_000_000_000
DAY = 86_400_000_000
THREADS = 2
ROUNDS = 3

ACCOUNTS = {
    "id": FieldType(TEXT),
    "owner": FieldType(TEXT, optional=True),
    "created": FieldType(TIMESTAMP),
    "last_login": FieldType(TIMESTAMP, optional=True),
}
PEOPLE = {"id": FieldType(TEXT), "active": FieldType(BOOL)}


def write_snapshots(folder: Path, accounts: int, people: int) -> None:
    """Made data: 1 account in 50 has no owner, 1 in 10 an owner who left, 1 in 20 never logged in."""
    with duckdb.connect(config={"threads": THREADS}) as connection:
        connection.execute("SET TimeZone = 'UTC'")
        state = "CAST({} AS TINYINT)"
        connection.execute(f"""
            COPY (SELECT 'acc-' || i AS "id", {state.format("0")} AS "id$state",
                CASE WHEN i % 50 = 0 THEN NULL ELSE 'person-' || (i * 7919 % {people * 11 // 10}) END AS "owner",
                {state.format("CASE WHEN i % 50 = 0 THEN 1 ELSE 0 END")} AS "owner$state",
                make_timestamptz({NOW} - (i % 1000) * {DAY}) AS "created", {state.format("0")} AS "created$state",
                CASE WHEN i % 20 <> 0 THEN make_timestamptz({NOW} - (i % 400) * {DAY}) END AS "last_login",
                {state.format("CASE WHEN i % 20 = 0 THEN 1 ELSE 0 END")} AS "last_login$state"
                FROM range({accounts}) t(i)) TO '{folder}/accounts.parquet' (FORMAT parquet)""")
        connection.execute(f"""
            COPY (SELECT 'person-' || i AS "id", {state.format("0")} AS "id$state", i % 10 <> 3 AS "active",
                {state.format("0")} AS "active$state"
                FROM range({people}) t(i)) TO '{folder}/people.parquet' (FORMAT parquet)""")


def rule() -> ir.Expr:
    """Return the rule of design section 3.

    (a.last_login else a.created) < now - 90d
    and (a.owner is absent or no people as p where (p.id == a.owner and p.active))
    """

    def of(row: str, inventory: str, name: str, declared: FieldType) -> ir.Field:
        return ir.Field(row, inventory, name, declared.type, declared.optional)

    account = {name: of("a", "accounts", name, declared) for name, declared in ACCOUNTS.items()}
    person = {name: of("p", "people", name, declared) for name, declared in PEOPLE.items()}
    used = ir.Else(account["last_login"], account["created"], TIMESTAMP, optional=False)
    idle = ir.Compare("<", used, ir.Arith("-", ir.Now(), ir.Const(90 * DAY, DURATION), TIMESTAMP))
    owned = ir.Some("people", "p", ir.And((ir.Compare("==", person["id"], account["owner"]), person["active"])))
    return ir.And((idle, ir.Or((ir.IsState(account["owner"], "absent"), ir.Not(owned)))))


def compiled(folder: Path) -> str:
    """Return the selected keys, as a plan reads them."""

    def inventory(name: str, fields: dict[str, FieldType]) -> program.Inventory:
        return program.Inventory(
            name, "made", name, ("id",), None, None, fields, None, None, (), Consistency.PINNED, frozenset()
        )

    proposal = program.Proposal("pick", "accounts", "a", rule(), (), None, (), (), "")
    inventories = {"accounts": inventory("accounts", ACCOUNTS), "people": inventory("people", PEOPLE)}
    workflow = program.Workflow("w", "", "o", None, (), inventories, {}, (proposal,), (), ())
    relations = {name: Relation(f"read_parquet('{folder}/{name}.parquet')", complete=True) for name in inventories}
    statement = select_statement(workflow, proposal, relations, Bindings({}, NOW))
    return f'SELECT "id" FROM ({statement}) WHERE "{IN_SCOPE}" AND "{RULE}" AND NOT "{EXCEPTED}"'


def by_hand(folder: Path) -> str:
    """Return the same selection as a plain anti-join, which DuckDB plans best."""
    return f"""
        SELECT a.id FROM read_parquet('{folder}/accounts.parquet') a
        WHERE coalesce(a.last_login, a.created) < make_timestamptz({NOW - 90 * DAY})
        AND NOT EXISTS (
            SELECT 1 FROM read_parquet('{folder}/people.parquet') p WHERE p.id = a.owner AND p.active)"""


def measure(which: str, folder: Path) -> None:
    """Print the best of three wall and processor times, the number of rows and this process's peak memory as JSON."""
    query = compiled(folder) if which == "compiled" else by_hand(folder)
    wall, busy, rows = [], [], 0
    with duckdb.connect(
        config={"threads": THREADS, "memory_limit": "500MB", "temp_directory": str(folder)}
    ) as database:
        database.execute("SET preserve_insertion_order = false")
        for _ in range(3):
            started, worked = time.perf_counter(), time.process_time()
            rows = sum(batch.num_rows for batch in database.execute(query).to_arrow_reader(100_000))
            wall.append(time.perf_counter() - started)
            busy.append(time.process_time() - worked)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(json.dumps({"seconds": min(wall), "busy": min(busy), "rows": rows, "peak": peak}))


def best_of(runs: list[dict[str, float]]) -> dict[str, float]:
    """Return the least times, the greatest peak, and the rows, which are the same in all."""
    return {key: (max if key == "peak" else min)(run[key] for run in runs) for key in runs[0]}


def main() -> None:
    """Write the data, measure both, print the ratio."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--large", action="store_true", help="5 M x 1 M rows")
    parser.add_argument("--measure", nargs=2, metavar=("WHICH", "FOLDER"), help=argparse.SUPPRESS)
    chosen = parser.parse_args()
    if chosen.measure is not None:
        measure(chosen.measure[0], Path(chosen.measure[1]))
        return
    accounts, people = (5_000_000, 1_000_000) if chosen.large else (1_000_000, 200_000)
    runs: dict[str, list[dict[str, float]]] = {"by hand": [], "compiled": []}
    with tempfile.TemporaryDirectory() as folder:
        write_snapshots(Path(folder), accounts, people)
        for which in list(runs) * ROUNDS:
            command = [sys.executable, __file__, "--measure", which, folder]
            done = subprocess.run(command, check=True, capture_output=True, text=True)
            runs[which].append(json.loads(done.stdout))
    found = {which: best_of(all_runs) for which, all_runs in runs.items()}
    print(f"rule with an anti-join, {accounts:,} x {people:,} rows")
    for which, one in found.items():
        print(
            f"  {which:<9} {one['seconds']:7.3f} s  {one['busy']:7.3f} s of processor"
            f"  {one['rows']:>10,} selected  {one['peak']:6.0f} MB peak"
        )
    ratios = [found["compiled"][key] / found["by hand"][key] for key in ("seconds", "busy")]
    print(f"  ratio     {ratios[0]:7.2f}    {ratios[1]:7.2f}    (goal: at most 1.5)")
    if found["compiled"]["rows"] != found["by hand"]["rows"]:
        raise SystemExit("the two queries do not select the same number of rows")


if __name__ == "__main__":
    main()
