"""The beginning of a dialect of the `http` connector for one operation: what its schema says, and no more.

What the schema does not affirm stays out, so that the connector reads the list and calls it `COMPLETENESS_UNPROVABLE`
until a person has declared the end. The questions that are to be answered stand in it as comments.
"""

from __future__ import annotations

import json
from collections.abc import Mapping

from fullcount.runtime.audit.findings import Judged, Way
from fullcount.runtime.text import plain


def skeleton(judged: Judged, way: Way, title: str) -> str:
    """Return the text of a dialect file."""
    lines = [
        f"# Begun by `fullcount audit-openapi` from {plain(judged.title)}; complete it from what the provider says.",
        f"title = {_toml(title or judged.title)}",
        f"items = {_toml(way.items)}",
    ]
    if way.total is not None:
        lines.append(f"total = {{ at = {_toml(way.total)}, exact = {_toml(way.total_exact)} }}")
    if way.end is not None:
        lines.append(f'end = [{{ name = "from_the_schema", when = {_toml(way.end)} }}]')
    else:
        lines += ["", "# No end is affirmed: without an `end` every list is COMPLETENESS_UNPROVABLE. To find out:"]
        lines += [f"# - {plain(each.declare)}" for each in judged.deciding if each.declare]
        lines.append('# end = [{ name = "last_page", when = { body = { last = true } } }]')
    if way.link:
        lines += ["", "[[cursor]]", 'link = "next"']
    elif way.cursor is not None and way.query is not None:
        lines += ["", "[[cursor]]", f"at = {_toml(way.cursor)}", f"query = {_toml(way.query)}"]
    elif way.cursor is not None:
        lines += ["", "# [[cursor]]", f"# `{plain(way.cursor)}` leads on; how it is sent back is not said"]
    for place, test in (*((each, True) for each in way.cut), *((each, {"empty": False}) for each in way.failed)):
        lines += ["", "[[finding]]", f"when = {_toml({'body': {place: test}})}", 'reason = "PARTIAL_ERRORS"']
    return "\n".join(lines) + "\n"


def _toml(value: object) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, Mapping):
        return "{ " + ", ".join(f"{_toml(key)} = {_toml(each)}" for key, each in value.items()) + " }"
    # A text of JSON is one of TOML, but for halves of characters, which TOML has not.
    text = str(value).encode("utf-8", "backslashreplace").decode("utf-8")
    return "".join(_escaped(character) for character in json.dumps(text, ensure_ascii=False))


def _escaped(character: str) -> str:
    return character if character.isascii() and character.isprintable() else f"\\U{ord(character):08x}"
