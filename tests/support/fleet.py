"""A workspace whose sources are split: one SQLite file for each region, and a list of regions in a file of its own."""

from __future__ import annotations

import contextlib
import json
import os
import sqlite3
from pathlib import Path
from typing import Any

from tests.support.workspaces import Bench

CONFIGURATION = """\
[workspace]
name = "fleet"

[sources.fleet]
connector = "sql"
url = "sqlite:///{{region}}.db"
timezone = "UTC"
partitions = ["region"]

[sources.fleet.resources.volumes]
table = "volumes"
key = ["region", "id"]
deletable = true
fields = {{ region = "text", id = "text", attached = "bool", created = "timestamp" }}

[sources.fleet.resources.images]
table = "images"
key = ["region", "id"]
fields = {{ region = "text", id = "text", volume = "text" }}

[sources.catalog]
connector = "sql"
url = "sqlite:///catalog.db"

[sources.catalog.resources.regions]
table = "regions"
key = ["name"]
fields = {{ name = "text", parent = "text?" }}

[roles]
platform = {platform}
"""

RULE = """\
workflow tidy {{
  {regions}
  inventory volumes from fleet.volumes across region in {across} {{
    key (region, id)
    fields {{ region: text, id: text, attached: bool, created: timestamp }}
    {expect}
  }}
  {images}

  verify volumes {{ {verify} }}

  propose remove from volumes as v {{
    {bounded}
    where not v.attached and v.created < now - 30d
    {and_}
    limit 20{share}
  }}

  approve remove {{ 1 of role "platform", expires after 2d }}

  act remove with fleet.delete(region: v.region, id: v.id)
}}
"""
REGIONS = """inventory regions from catalog.regions { key name
    fields { name: text, parent: text? } }
  verify regions { complete, fresh within 24h }"""
IMAGES = """inventory images from fleet.images across region in ["eu", "us", "ap"] {
    key (region, id)
    fields { region: text, id: text, volume: text }
  }
  verify images { complete, fresh within 1h }"""
NO_IMAGE = "and no images as i where (i.volume == v.id)"
FILE = "workflows/tidy.fcw"
PARTS = ("eu", "us", "ap")


class Fleet(Bench):
    """Three regions with four volumes each: in each the first two are old and unattached."""

    def __init__(self, root: Path) -> None:
        self.root, self.uid = root, os.getuid()
        (root / "workflows").mkdir(parents=True)
        text = CONFIGURATION.format(platform=json.dumps([f"uid:{self.uid}"]))
        (root / "fullcount.toml").write_text(text, encoding="utf-8")
        for region in PARTS:
            self.sql(region, "CREATE TABLE volumes (id TEXT PRIMARY KEY NOT NULL, attached BOOLEAN NOT NULL,"
                             " created TEXT NOT NULL)")  # fmt: skip
            self.sql(region, "CREATE TABLE images (id TEXT PRIMARY KEY NOT NULL, volume TEXT NOT NULL)")
            for number in range(4):
                values = (f"v{number}", number >= 2, "2020-01-01T00:00:00+00:00")
                self.sql(region, "INSERT INTO volumes VALUES (?, ?, ?)", *values)
        self.sql("catalog", "CREATE TABLE regions (name TEXT PRIMARY KEY NOT NULL, parent TEXT)")
        for region in PARTS:
            self.sql("catalog", "INSERT INTO regions VALUES (?, ?)", region, None)
        self.tidy()

    def tidy(self, **changes: str) -> None:
        """Write the rule; `changes` fill its places."""
        given = {
            "regions": "",
            "across": json.dumps(list(PARTS)),
            "expect": "",
            "images": "",
            "verify": "complete, fresh within 1h",
            "bounded": "",
            "and_": "",
            "share": ", 60%",
            **changes,
        }
        (self.root / FILE).write_text(RULE.format_map(given), encoding="utf-8")

    def sql(self, database: str, statement: str, *values: Any) -> list[tuple[Any, ...]]:
        """Run one statement on the database of a region, or on `catalog`."""
        with contextlib.closing(sqlite3.connect(self.root / f"{database}.db")) as db, db:
            return db.execute(statement, values).fetchall()

    def volumes(self) -> set[str]:
        """Every volume that there is, as `eu/v0`."""
        return {f"{region}/{key}" for region in PARTS for (key,) in self.sql(region, "SELECT id FROM volumes")}

    def break_part(self, region: str) -> None:
        """Make one region's database something that can't be read."""
        (self.root / f"{region}.db").write_bytes(b"this is no database at all, and long enough to be looked at" * 40)
