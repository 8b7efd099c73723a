"""One spelling for texts that mean the same: `nfc`, `trim_dot`, and the rules of `key … normalized by …`.

The same in both lowerings for every text. `nfc` has no answer for a text with one of the few characters that took part
in normalisation only after Unicode 14, since what runs here and DuckDB may know different editions of it, nor for one
with a NUL. Two answers are none.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Sequence

from fullcount.compiler.functions import TRIM_CHARACTERS
from fullcount.compiler.lower import casing, sql_text

_YOUNG = (
    "\u0897\U000105c9\U000105e4\U00010efc-\U00010eff\U00011380-\U000113ff\U00011f00-\U00011f5f\U0001611e-\U00016129"
    "\U00016d63-\U00016d6a\U0001e08f\U0001e4ec-\U0001e4ef\U0001e5ee-\U0001e5ef\U0001e6e3-\U0001e6f5"
)
"""Characters that compose, decompose or have a place among combining marks only since Unicode 15 or later."""

_UNSURE = rf"[\x00{_YOUNG}]"
"""These, and the one at which DuckDB stops reading."""

_IS_UNSURE = re.compile(_UNSURE)


def nfc(text: str) -> str | None:
    """Return the text in Unicode normal form C; None where editions of Unicode may differ."""
    return None if _IS_UNSURE.search(text) else unicodedata.normalize("NFC", text)


def trim_dot(text: str) -> str:
    """Return the text without the dots at its end, as names of hosts may have one."""
    return text.rstrip(".")


NFC_SQL = f"CASE WHEN NOT regexp_matches({{0}}, {sql_text.text(_UNSURE)}) THEN nfc_normalize({{0}}) END"
TRIM_DOT_SQL = "rtrim({}, '.')"

_OF_TEXT: dict[str, Callable[[str], str | None]] = {
    "trim": lambda text: text.strip(TRIM_CHARACTERS),
    "trim_dot": trim_dot,
    "nfc": nfc,
    "lower": casing.lower,
}


def spelled(text: str, rules: Sequence[str]) -> str:
    """Return the normal spelling of a text; where there is none, the text as it is."""
    made = text
    for rule in rules:
        found = _OF_TEXT[rule](made)
        if found is None:
            return text
        made = found
    return made


def spelled_sql(text: str, rules: Sequence[str]) -> str:
    """Return SQL for the normal spelling of a text; where there is none, the text as it is."""
    made = text
    for rule in rules:
        made = _SQL[rule].format(f"({made})")
    return f"coalesce({made}, {text})"


_SQL = {
    "trim": f"trim({{}}, {sql_text.text(TRIM_CHARACTERS)})",
    "trim_dot": TRIM_DOT_SQL,
    "nfc": NFC_SQL,
    "lower": "lower({})",
}
