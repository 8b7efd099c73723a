"""FC330 to FC339: inventories that are read in parts. A part of FC3xx."""

from __future__ import annotations

from fullcount.dsl.codes.model import Code
from fullcount.dsl.diagnostics import Severity

_RIGHT = """\
workflow tidy_volumes {
  inventory volumes from fleet.volumes across region in ["eu-west-1", "us-east-1"] {
    key (region, id)
    fields { region: text, id: text, attached: bool, created: timestamp }
  }

  verify volumes { complete, fresh within 1h }

  propose remove from volumes as v {
    where not v.attached and v.created < now - 30d
    limit 20, 2%
  }

  approve remove { 2 of role "platform" not by author, expires after 2d }

  act remove with fleet.delete(region: v.region, id: v.id)
}
"""
_ACROSS = ' across region in ["eu-west-1", "us-east-1"]'
_LISTED = """\
  inventory regions from fleet.regions {
    key name
    fields { name: text, opted_in: bool }
  }

"""


def _changed(*changes: tuple[str, str]) -> str:
    text = _RIGHT
    for old, new in changes:
        if old not in text:
            raise ValueError(f"the example has no `{old}`")
        text = text.replace(old, new, 1)
    return text


_FROM_INVENTORY = _changed(
    ("  inventory volumes", _LISTED + "  inventory volumes"),
    (_ACROSS, " across region in regions.name"),
    ("  verify volumes", "  verify regions { complete, fresh within 24h }\n  verify volumes"),
)

_BY_HAND = """\
workflow unused_regions {
  inventory regions from fleet.regions {
    key name
    fields { name: text, opted_in: bool }
  }
  inventory volumes from fleet.volumes across region in ["eu-west-1", "us-east-1"] {
    key (region, id)
    fields { region: text, id: text }
  }

  verify regions { complete, fresh within 24h }
  verify volumes { complete, fresh within 1h }

  propose unused from regions as r {
    where r.opted_in and no volumes as v where (v.region == r.name)
    limit 2, 10%
  }
}
"""

CODES: tuple[Code, ...] = (
    Code(
        id="FC330",
        title="a source that is not split in this way",
        explanation=(
            "`across` names the parts that a source is read in, one scan for each: regions, accounts, projects. Which "
            "parts a source has is declared by its connector and its configuration.\n\n"
            "Use one of its partitions. A part of a source that is one listing is taken by `scope`."
        ),
        wrong=_changed(("region in", "zone in")).replace(
            _ACROSS.replace("region", "zone"), ' across region in ["eu-west-1"], zone in ["a"]'
        ),
        right=_RIGHT,
    ),
    Code(
        id="FC331",
        title="a source that is split, and nothing says which parts are meant",
        explanation=(
            "There is no listing of everything in a source that is split: each part is asked by itself, and a part "
            "that is not named is not read. What lives there would look as if it did not exist.\n\n"
            'Name the parts: `across region in ["eu-west-1", "us-east-1"]`, or by a field of an inventory that is '
            "complete: `across account in accounts.id`."
        ),
        wrong=_changed((_ACROSS, "")),
        right=_RIGHT,
    ),
    Code(
        id="FC332",
        title="parts that are not named clearly",
        explanation=(
            "The parts of an inventory are texts that are written out, each once and at least one, or the values of a "
            "field of another inventory that every row of it has. An empty list means nothing at all, never all there "
            "are."
        ),
        wrong=_changed(('["eu-west-1", "us-east-1"]', "[]")),
        right=_FROM_INVENTORY,
    ),
    Code(
        id="FC333",
        title="an inventory that would have to be read before itself",
        explanation=(
            "An inventory whose parts are named by another one is read after it. These name each other, so neither "
            "could be read first.\n\n"
            "Name the parts of one of them by values that are written out."
        ),
        wrong=_changed((_ACROSS, " across region in volumes.region")),
        right=_RIGHT,
    ),
    Code(
        id="FC334",
        title="an act on objects of which nobody could say where they are",
        explanation=(
            "Right before the act each object is read again, in the part of the source in which it lives. The key of "
            "this resource does not say which part that is, and the same key may stand in several.\n\n"
            "Declare the partition as a field of the resource and as a part of its `key` in fullcount.toml."
        ),
        wrong=_changed(
            ("fleet.volumes", "fleet.disks"),
            ("key (region, id)", "key id"),
            ("{ region: text, id: text,", "{ id: text,"),
            ("fleet.delete(region: v.region, id: v.id)", "fleet.delete(id: v.id)"),
        ),
        right=_RIGHT,
    ),
    Code(
        id="FC335",
        title="an absence that is looked for in parts listed by hand",
        explanation=(
            "The objects belong to no part, or to parts that an inventory names, and whether something uses them is "
            "looked for in a list of parts that was written by hand. A region, account or tenant that is not on the "
            "list, because it was forgotten or is newer than the list, is not looked into, and what is used there "
            "alone is taken for unused.\n\n"
            "Name the parts by an inventory of them: `across region in regions.name`. Then a part that comes later is "
            "read as well, and one that does not answer refuses the whole."
        ),
        severity=Severity.WARNING,
        wrong=_BY_HAND,
        right=_BY_HAND.replace(_ACROSS, " across region in regions.name"),
    ),
)
