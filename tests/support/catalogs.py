"""The example workspace that the compiler's tests and the examples of the codes are written against."""

from __future__ import annotations

from fullcount.compiler.catalog import (
    Closure,
    Effect,
    Idempotency,
    Operation,
    Parameter,
    Resource,
    StaticCatalog,
    Visibility,
)
from fullcount.compiler.claims import Consistency
from fullcount.compiler.types import (
    BOOL,
    DATE,
    DECIMAL,
    DURATION,
    INT,
    SIZE,
    TEXT,
    TIMESTAMP,
    FieldType,
    ListOf,
    MapOf,
    Type,
)


def _always(type_: Type) -> FieldType:
    return FieldType(type_)


def _maybe(type_: Type) -> FieldType:
    return FieldType(type_, optional=True)


def _restore(*undoes: str, name: str = "restore", sets_anew: str | None = None) -> Operation:
    return Operation(
        name=name,
        parameters={"id": Parameter(_always(TEXT), key="id")},
        effect=Effect.CREATE,
        idempotency=Idempotency.NATURAL,
        reversible=False,
        undoes=frozenset(undoes),
        restores=True,
        sets_anew=frozenset() if sets_anew is None else frozenset({sets_anew}),
    )


ACCOUNTS = Resource(
    source="directory",
    name="accounts",
    fields={
        "id": _always(TEXT),
        "entry_uuid": _always(TEXT),
        "owner": _maybe(TEXT),
        "sponsor": _maybe(TEXT),
        "team": _always(TEXT),
        "environment": _always(TEXT),
        "created": _always(TIMESTAMP),
        "last_login": _maybe(TIMESTAMP),
        "expires_on": _maybe(DATE),
        "tags": _always(MapOf(TEXT)),
        "groups": _always(ListOf(TEXT)),
        "logins": _always(INT),
        "locked": _always(BOOL),
        "protected": _maybe(BOOL),
        "risk": _always(DECIMAL),
        "session": _always(DURATION),
        "mailbox": _always(SIZE),
        "revision": _always(INT),
    },
    key=("id",),
    incarnation="entry_uuid",
    version="revision",
    consistency=Consistency.INTERVAL,
    visibility=Visibility.VOUCHED,
    lookup_fields=frozenset({"id", "owner"}),
    ids={"sponsor": "hr.employees"},
    operations={
        "update": Operation(
            name="update",
            parameters={
                "id": Parameter(_always(TEXT), key="id"),
                "locked": Parameter(_always(BOOL)),
                "note": Parameter(_maybe(TEXT), required=False),
            },
            effect=Effect.UPDATE,
            idempotency=Idempotency.NATURAL,
            reversible=True,
            undoes=frozenset({"update"}),
        ),
        "delete": Operation(
            name="delete",
            parameters={"id": Parameter(_always(TEXT), key="id")},
            effect=Effect.DELETE,
            closure=Closure.NONE,
            idempotency=Idempotency.NATURAL,
            reversible=False,
            backup=True,
        ),
        "restore": _restore("delete"),
    },
)

GROUPS = Resource(
    source="archive",
    name="groups",
    fields={"id": _always(TEXT), "created": _always(TIMESTAMP)},
    key=("id",),
    consistency=Consistency.PINNED,
    visibility=Visibility.VOUCHED,
    operations={
        name: Operation(
            name=name,
            parameters={"id": Parameter(_always(TEXT), key="id")},
            effect=Effect.DELETE,
            idempotency=Idempotency.NATURAL,
            reversible=False,
            closure=closure,
        )
        for name, closure in (("dissolve", Closure.UNKNOWN), ("delete", Closure.NONE))
    },
)

LOGS = Resource(
    source="archive",
    name="logs",
    fields={"id": _always(TEXT), "at": _always(TIMESTAMP)},
    key=("id",),
    consistency=Consistency.PINNED,
    visibility=Visibility.VOUCHED,
    operations={
        "purge": Operation(
            name="purge",
            parameters={"id": Parameter(_always(TEXT), key="id")},
            effect=Effect.DELETE,
            idempotency=Idempotency.NATURAL,
            reversible=False,
            closure=Closure.COMPUTED,
            backup=True,
        ),
        "shred": Operation(
            name="shred",
            parameters={"id": Parameter(_always(TEXT), key="id")},
            effect=Effect.DELETE,
            idempotency=Idempotency.PRECONDITION,
            reversible=False,
            closure=Closure.NONE,
            backup=True,
            escalates=True,
        ),
        "restore": _restore("purge", "shred"),
        "drop": Operation(
            name="drop",
            parameters={"id": Parameter(_always(TEXT), key="id")},
            effect=Effect.DELETE,
            idempotency=Idempotency.NATURAL,
            reversible=False,
            closure=Closure.NONE,
            backup=True,
        ),
        "write_again": _restore("drop", name="write_again", sets_anew="at"),
    },
)

EMPLOYEES = Resource(
    source="hr",
    name="employees",
    fields={
        "id": _always(TEXT),
        "active": _always(BOOL),
        "department": _always(TEXT),
        "manager": _maybe(TEXT),
        "left_on": _maybe(DATE),
        "left_at": _maybe(TIMESTAMP),
        "hired_at": _always(TIMESTAMP),
    },
    key=("id",),
    consistency=Consistency.PINNED,
    visibility=Visibility.VOUCHED,
    lookup_fields=frozenset({"id"}),
)

HEADCOUNT = Resource(
    source="hr",
    name="headcount",
    fields={"total": _always(INT)},
    key=("total",),
    consistency=Consistency.PINNED,
    visibility=Visibility.VOUCHED,
    counted=True,
)

BRANCHES = Resource(
    source="vcs",
    name="branches",
    fields={
        "name": _always(TEXT),
        "sha": _always(TEXT),
        "author": _always(TEXT),
        "committed_at": _always(TIMESTAMP),
        "merged": _always(BOOL),
    },
    key=("name",),
    version="sha",
    consistency=Consistency.PINNED,
    visibility=Visibility.VOUCHED,
    operations={
        "delete": Operation(
            name="delete",
            parameters={"name": Parameter(_always(TEXT), key="name")},
            effect=Effect.DELETE,
            closure=Closure.NONE,
            idempotency=Idempotency.PRECONDITION,
            reversible=True,
        ),
        "restore": Operation(
            name="restore",
            parameters={"name": Parameter(_always(TEXT), key="name"), "sha": Parameter(_always(TEXT))},
            effect=Effect.CREATE,
            idempotency=Idempotency.NATURAL,
            reversible=False,
            undoes=frozenset({"delete"}),
        ),
    },
)

LOGINS = Resource(
    source="audit",
    name="logins",
    fields={
        "id": _always(TEXT),
        "account": _always(TEXT),
        "at": _always(TIMESTAMP),
        "address": _maybe(TEXT),
        "bytes": _always(SIZE),
    },
    key=("id",),
    consistency=Consistency.INTERVAL,
    visibility=Visibility.VOUCHED,
)

TICKETS = Resource(
    source="legacy",
    name="tickets",
    fields={"id": _always(TEXT), "account": _always(TEXT), "open": _always(BOOL)},
    key=("id",),
    consistency=Consistency.UNSTABLE,
    visibility=Visibility.VOUCHED,
)

VOLUMES = Resource(
    source="cloud",
    name="volumes",
    fields={
        "id": _always(TEXT),
        "owner": _maybe(TEXT),
        "size": _always(SIZE),
        "attached": _always(BOOL),
        "created": _always(TIMESTAMP),
    },
    key=("id",),
    consistency=Consistency.INTERVAL,
    visibility=Visibility.UNKNOWN,
    operations={
        "delete_volume": Operation(
            name="delete_volume",
            parameters={"id": Parameter(_always(TEXT), key="id")},
            effect=Effect.DELETE,
            closure=Closure.NONE,
            idempotency=Idempotency.NATURAL,
            reversible=False,
        ),
    },
)

PARTITIONS = Resource(
    source="warehouse",
    name="partitions",
    fields={"table_name": _always(TEXT), "day": _always(DATE), "rows": _always(INT)},
    key=("table_name", "day"),
    consistency=Consistency.PINNED,
    visibility=Visibility.VOUCHED,
)

SNAPSHOTS = Resource(
    source="cloud",
    name="snapshots",
    fields={"id": _always(TEXT), "volume": _always(TEXT), "note": _maybe(TEXT)},
    key=("id",),
    consistency=Consistency.INTERVAL,
    visibility=Visibility.UNKNOWN,
    operations={
        "create_snapshot": Operation(
            name="create_snapshot",
            parameters={"volume": Parameter(_always(TEXT)), "note": Parameter(_maybe(TEXT), required=False)},
            effect=Effect.CREATE,
            idempotency=Idempotency.KEY,
            reversible=True,
            key_life=7 * 86_400 * 10**6,
        ),
        "post_note": Operation(
            name="post_note",
            parameters={"note": Parameter(_always(TEXT))},
            effect=Effect.CREATE,
            idempotency=Idempotency.KEY,
            reversible=False,
            key_life=3_600 * 10**6,
        ),
        "delete_snapshot": Operation(
            name="delete_snapshot",
            parameters={"id": Parameter(_always(TEXT), key="id")},
            effect=Effect.DELETE,
            closure=Closure.NONE,
            idempotency=Idempotency.NATURAL,
            reversible=False,
            undoes=frozenset({"create_snapshot"}),
        ),
    },
)

MESSAGES = Resource(
    source="mail",
    name="messages",
    fields={"id": _always(TEXT)},
    key=("id",),
    consistency=Consistency.UNSTABLE,
    visibility=Visibility.UNKNOWN,
    operations={
        "write": Operation(
            name="write",
            parameters={name: Parameter(_always(TEXT)) for name in ("to", "subject", "text")},
            effect=Effect.CREATE,
            idempotency=Idempotency.NONE,
            reversible=False,
        ),
        "send": Operation(
            name="send",
            parameters={
                "to": Parameter(_always(TEXT)),
                "template": Parameter(_always(TEXT), among=("to-be-locked",)),
                "about": Parameter(_maybe(TEXT), required=False),
            },
            effect=Effect.CREATE,
            idempotency=Idempotency.NONE,
            reversible=False,
        ),
    },
)

REGION = _always(TEXT)

FLEET_VOLUMES = Resource(
    source="fleet",
    name="volumes",
    fields={
        "region": REGION,
        "id": _always(TEXT),
        "owner": _maybe(TEXT),
        "attached": _always(BOOL),
        "created": _always(TIMESTAMP),
    },
    key=("region", "id"),
    consistency=Consistency.PINNED,
    visibility=Visibility.VOUCHED,
    operations={
        "delete": Operation(
            name="delete",
            parameters={"region": Parameter(REGION, key="region"), "id": Parameter(_always(TEXT), key="id")},
            effect=Effect.DELETE,
            closure=Closure.NONE,
            idempotency=Idempotency.PRECONDITION,
            reversible=False,
        ),
    },
    partitions={"region": REGION},
    ids={"region": "fleet.regions"},
)

FLEET_DISKS = Resource(
    source="fleet",
    name="disks",
    fields={"id": _always(TEXT), "attached": _always(BOOL), "created": _always(TIMESTAMP)},
    key=("id",),
    consistency=Consistency.PINNED,
    visibility=Visibility.VOUCHED,
    operations={
        "delete": Operation(
            name="delete",
            parameters={"id": Parameter(_always(TEXT), key="id")},
            effect=Effect.DELETE,
            closure=Closure.NONE,
            idempotency=Idempotency.PRECONDITION,
            reversible=False,
        ),
    },
    partitions={"region": REGION},
)

FLEET_REGIONS = Resource(
    source="fleet",
    name="regions",
    fields={"name": _always(TEXT), "opted_in": _always(BOOL), "parent": _maybe(TEXT)},
    key=("name",),
    consistency=Consistency.PINNED,
    visibility=Visibility.VOUCHED,
)

FLEET_IMAGES = Resource(
    source="fleet",
    name="images",
    fields={"region": REGION, "account": REGION, "id": _always(TEXT), "volume": _always(TEXT)},
    key=("region", "account", "id"),
    consistency=Consistency.PINNED,
    visibility=Visibility.VOUCHED,
    partitions={"region": REGION, "account": REGION},
)

FLEET = (FLEET_VOLUMES, FLEET_DISKS, FLEET_REGIONS, FLEET_IMAGES)

EXAMPLE_RESOURCES = (
    ACCOUNTS, EMPLOYEES, HEADCOUNT, BRANCHES, LOGINS, TICKETS, VOLUMES, PARTITIONS, SNAPSHOTS, MESSAGES, GROUPS, LOGS,
    *FLEET,
)  # fmt: skip


def catalog_of(*resources: Resource) -> StaticCatalog:
    """Return a catalogue of these resources, with the example's exemption lists and roles.

    `ops` has two people, of whom one is all of `duty`; `on-call` has nobody; of the other roles nobody knows.
    """
    by_source: dict[str, dict[str, Resource]] = {}
    for resource in resources:
        by_source.setdefault(resource.source, {})[resource.name] = resource
    return StaticCatalog(
        by_source,
        lists=("exemptions",),
        role_names=("iam-admin", "ops", "platform", "duty", "on-call"),
        automatic=10,
        members={"ops": frozenset({"uid:71", "uid:72"}), "duty": frozenset({"uid:71"}), "on-call": frozenset()},
        notifier_names=("ops-mail", "chat"),
    )


EXAMPLE = catalog_of(*EXAMPLE_RESOURCES)
