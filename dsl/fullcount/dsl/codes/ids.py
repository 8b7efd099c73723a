"""FC240 to FC249: ids of different kinds, and how ids are spelled. A part of the hundred of types."""

from __future__ import annotations

from fullcount.dsl.codes.examples import WHERE, tidy, with_people
from fullcount.dsl.codes.model import Code

_OWNER = "owner: text?"
_KEY = "key id"

CODES: tuple[Code, ...] = (
    Code(
        id="FC240",
        title="ids of different things compared",
        explanation=(
            "Both sides are ids, and of different resources: a key names its own objects, and a field names those "
            "that `[ids]` in fullcount.toml or `id of …` in the inventory says. No id of the one is an id of the "
            "other, so the comparison is false for every object, and `no people as p where (p.id == a.id)` takes all "
            "of them for orphans.\n\n"
            "Compare with the field that refers to the other resource. If both really name the same objects, say so: "
            "`id: id of hr.employees` where the field is declared, or once for all workflows in fullcount.toml."
        ),
        wrong=with_people(rule="no people as p where (p.id == a.id)"),
        right=with_people(rule="a.owner is present and no people as p where (p.id == a.owner)"),
    ),
    Code(
        id="FC241",
        title="an id of something else than the workspace says",
        explanation=(
            "The workspace declares of which resource this field holds ids, in `[ids]` of fullcount.toml or in the "
            "connector, and the inventory says it is another one. What a workflow says is not believed over what the "
            "workspace declares: a rule that looks for the ids in the wrong place finds nobody."
        ),
        wrong=tidy((_OWNER, "owner: text?, sponsor: id of directory.accounts?")),
        right=tidy((_OWNER, "owner: text?, sponsor: id of hr.employees?")),
    ),
    Code(
        id="FC242",
        title="an id of a resource with several key fields",
        explanation=(
            "The objects of this resource are told apart by several fields together, so no single value names one of "
            "them. Say which of the fields is meant: `id of warehouse.partitions.table_name`."
        ),
        wrong=tidy(("team: text", "team: id of warehouse.partitions")),
        right=tidy(("team: text", "team: id of warehouse.partitions.table_name")),
    ),
    Code(
        id="FC243",
        title="a key normalized by what is not there",
        explanation=(
            "`key id normalized by …` says in which spellings a key may come: `lower` (case), `nfc` (Unicode normal "
            "form C), `trim_dot` (dots at the end, as names of hosts have them), `trim` (white space around it). They "
            "are about texts; a number has one spelling."
        ),
        wrong=tidy((_KEY, "key id normalized by lowercase")),
        right=tidy((_KEY, "key id normalized by lower, nfc")),
    ),
    Code(
        id="FC244",
        title="spellings that do not meet",
        explanation=(
            "What a condition sees of a normalized key is its normal spelling. Compared with a plain text, the same "
            "rules hold for both sides. Two keys with different rules are not compared, since two spellings of one "
            "person would be one on one side and two on the other; and a part of a key that is asked for in capitals "
            "is in no key that is normalized by `lower`."
        ),
        wrong=tidy((_KEY, "key id normalized by lower"), (WHERE, 'starts_with(a.id, "SVC-")')),
        right=tidy((_KEY, "key id normalized by lower"), (WHERE, 'starts_with(a.id, "svc-")')),
    ),
)
