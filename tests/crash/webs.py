"""The ways in which an HTTP target may be written to: one workspace for each, with and without what makes it safe."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from tests.crash.web import FREE, TAKEN

from fullcount.runtime.approve.identity import current_person

_TOML = """
[workspace]
name = "crash"

[roles]
ops = ["uid:{uid}"]

[sources.shop]
connector = "http"
dialect   = "generic_http"
base_url  = "{url}"
timeout   = 1.0

[sources.shop.resources.things]
list = "/things"
read = "/things/{{id}}"
key  = ["id"]
not_found_is_gone = true
count = {{ path = "/count", at = "count" }}
{version}
[sources.shop.resources.things.fields]
id    = "text"
owner = "text"
etag  = {{ type = "text", at = "$headers/etag" }}
{operations}
"""

_OPERATION = """
[sources.shop.resources.things.operations.{name}]
{settings}
"""

_WORKFLOW = """
workflow tidy {{
  describe "Tidy things whose owner is gone."
  owner    "shop"

  inventory things from shop.things {{
    key    id
    fields {{ id: text, owner: text }}
    expect id == "kept"
  }}

  verify things {{ complete, fresh within 1h, count agrees with shop.things }}

  propose tidy from things as t {{
    where t.owner == "{free}"
    limit 100000
  }}

  approve tidy {{ 1 of role "ops", expires after 1d }}

  act tidy with shop.things.{call} {{
    {undo}
    concurrency {concurrency}
  }}
}}
"""


@dataclass(frozen=True)
class Way:
    """How objects are written to. `telling`: in the end every outcome is known, by reading or by doing it again."""

    name: str
    operations: dict[str, str]
    call: str
    undo: str | None
    versioned: bool
    telling: bool = True


def _set(method: str, path: str, more: str, undoes: str) -> str:
    return (
        f'method = "{method}"\npath = "{path}"\nbody = {{ owner = "{{owner}}" }}\nparameters = {{ owner = "text" }}\n'
        f'effect = "update"\nundoes = ["{undoes}"]\n{more}'
    )


def _fixed(method: str, path: str, owner: str, more: str, undoes: str) -> str:
    return (
        f'method = "{method}"\npath = "{path}"\nbody = {{ owner = "{owner}" }}\neffect = "update"\n'
        f'undoes = ["{undoes}"]\n{more}'
    )


_DELETE = 'method = "DELETE"\npath = "/things/{id}"\neffect = "delete"\nclosure = "none"\n'
_ETAG, _KEY = 'precondition = "if_match"\n', 'key_header = "Idempotency-Key"\nkey_life = 604800\n'
_ASSIGN, _BACK = f'assign(id: t.id, owner: "{TAKEN}")', f'assign(id: t.id, owner: "{FREE}")'

WAYS = {
    way.name: way
    for way in (
        Way("delete", {"delete": _DELETE}, "delete(id: t.id)", None, versioned=False),
        Way("delete_etag", {"delete": _DELETE + _ETAG}, "delete(id: t.id)", None, versioned=True),
        Way(
            "escalates",
            {"delete": _DELETE.replace("{id}", "{id}/trash") + "escalates = true\n"},
            "delete(id: t.id)",
            None,
            versioned=False,
            telling=False,
        ),
        Way("patch_etag", {"assign": _set("PATCH", "/things/{id}", _ETAG, "assign")}, _ASSIGN, _BACK, versioned=True),
        Way("patch_key", {"assign": _set("PATCH", "/things/{id}", _KEY, "assign")}, _ASSIGN, _BACK, versioned=True),
        Way("put", {"assign": _set("PUT", "/things/{id}", "", "assign")}, _ASSIGN, _BACK, versioned=False),
        Way(
            "post",
            {"assign": _set("POST", "/things/{id}/assign", "", "assign")},
            _ASSIGN,
            _BACK,
            versioned=False,
            telling=False,
        ),
        Way(
            "fixed",
            {
                "take": _fixed("PATCH", "/things/{id}", TAKEN, "", "free"),
                "free": _fixed("PATCH", "/things/{id}", FREE, "", "take"),
            },
            "take(id: t.id)",
            "free(id: t.id)",
            versioned=False,
            telling=False,
        ),
        Way(
            "fixed_etag",
            {
                "take": _fixed("POST", "/things/{id}/take", TAKEN, _ETAG, "free"),
                "free": _fixed("POST", "/things/{id}/free", FREE, _ETAG, "take"),
            },
            "take(id: t.id)",
            "free(id: t.id)",
            versioned=True,
            telling=False,
        ),
    )
}


def prepare_web(folder: Path, way: Way, url: str, concurrency: int) -> None:
    """Write the workspace over a server that runs."""
    operations = "".join(_OPERATION.format(name=name, settings=text) for name, text in way.operations.items())
    version = 'version = "etag"' if way.versioned else ""
    uid = current_person().uid
    (folder / "fullcount.toml").write_text(_TOML.format(uid=uid, url=url, version=version, operations=operations))
    undo = "" if way.undo is None else f"undo shop.things.{way.undo}"
    text = _WORKFLOW.format(free=FREE, call=way.call, undo=undo, concurrency=concurrency)
    (folder / "workflow.fcw").write_text(text)
