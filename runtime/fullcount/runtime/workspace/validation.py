"""From the findings of pydantic to the one error of the workspace.

A message never repeats the value it complains of: values of a configuration may be secrets.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final, get_args

from pydantic import BaseModel, ValidationError

from fullcount.runtime.workspace.errors import SettingError, WorkspaceError, did_you_mean

Place = Sequence[str | int]
"""The way into a TOML document: table names, keys and positions."""


def toml_path(place: Place) -> str:
    """Return a place as it is written in TOML: `sources.hr.resources.people.key`, `exemption[2].owner`."""
    text = ""
    for step in place:
        if isinstance(step, int):
            text += f"[{step + 1}]"
        else:
            text += f".{step}" if text else step
    return text


def from_validation(
    error: ValidationError, file: Path, model: type[BaseModel], prefix: Sequence[str | int] = ()
) -> WorkspaceError:
    """Return the error that says every finding of pydantic in the words of the file: the first one leads."""
    items = error.errors(include_url=False, include_input=False)
    findings = [_finding(item, model, prefix) for item in items if not _follows(item, items)]
    findings.sort(key=lambda finding: finding[0] != "FC603")  # a misspelt key explains why another is missing
    code, message, help_text = findings[0]
    others = "".join(f"; also {more}" for _, more, _ in findings[1:])
    return WorkspaceError(code, f"{file.name}: {message}{others}", help=help_text)


def _follows(item: Any, items: Sequence[Any]) -> bool:
    """Whether a list is found too short only because something in it is wrong, which is a finding of its own."""
    place = item["loc"]
    return item["type"] == "too_short" and any(
        len(other["loc"]) > len(place) and other["loc"][: len(place)] == place for other in items
    )


def _finding(item: Any, model: type[BaseModel], prefix: Sequence[str | int]) -> tuple[str, str, str]:
    place = [step for step in item["loc"] if step != "[key]"]
    path = toml_path([*prefix, *place]) or "the file"
    if item["type"] == "extra_forbidden":
        return (
            "FC603",
            f"`{path}` is not a key that is known here",
            did_you_mean(str(place[-1]), _keys(model, place[:-1])),
        )
    if item["type"] == "missing":
        table = toml_path([*prefix, *place[:-1]])
        return "FC604", f"`{path}` is missing", f"add `{place[-1]} = …` to `[{table}]`" if table else f"add `[{path}]`"
    context = item.get("ctx", {})
    if isinstance(cause := context.get("error"), SettingError):
        return cause.code, f"`{path}`: {cause.message}", cause.help
    if item["type"] == "string_pattern_mismatch" and "A-Za-z_" in context.get("pattern", ""):
        return "FC604", f"`{path}`: a name has letters (a-z, A-Z), digits and `_`, and begins with no digit", ""
    return "FC604", f"`{path}`: {_wording(item)}", ""


_EXPECTED: Final = {
    "string_type": "expected text, in quotes",
    "int_type": "expected a whole number, without quotes",
    "int_parsing": "expected a whole number, without quotes",
    "bool_type": "expected `true` or `false`",
    "bool_parsing": "expected `true` or `false`",
    "list_type": "expected a list: `[…]`",
    "tuple_type": "expected a list: `[…]`",
    "dict_type": "expected a table",
    "model_type": "expected a table",
    "too_short": "expected at least {min_length} in the list, found {actual_length}",
    "too_long": "expected at most {max_length} in the list, found {actual_length}",
    "string_too_short": "expected a text of {min_length} or more characters",
    "string_too_long": "expected a text of {max_length} characters at most",
    "greater_than": "expected more than {gt}",
    "greater_than_equal": "expected {ge} or more",
    "less_than": "expected less than {lt}",
    "less_than_equal": "expected {le} or less",
}
"""What was expected, by the library's name of a finding; its own sentences speak of its insides."""


def _wording(item: Any) -> str:
    known = _EXPECTED.get(item["type"])
    if known is not None:
        return known.format_map(item.get("ctx", {}))
    text: str = item["msg"]
    text = text.removeprefix("Value error, ").removeprefix("Input ")
    return text[:1].lower() + text[1:]


def _keys(model: type[BaseModel], place: Sequence[str | int]) -> list[str]:
    """Return the keys that the table at `place` may have, as far as the models say."""
    current: Any = model
    for step in place:
        if isinstance(current, type) and issubclass(current, BaseModel):
            field = current.model_fields.get(str(step))
            current = None if field is None else field.annotation
        else:
            arguments = get_args(current)
            current = arguments[-1] if arguments else None
    return list(current.model_fields) if isinstance(current, type) and issubclass(current, BaseModel) else []
