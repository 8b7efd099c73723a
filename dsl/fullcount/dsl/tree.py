"""The syntax tree: frozen, typed, every node with the span of text it came from.

The tree says what was written and nothing more: names are unresolved, literals are decoded, comments are kept in
`File.comments`. It is built by `builder.py` and read by every phase of the compiler.
"""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING

from fullcount.dsl.dataclass import dataclass
from fullcount.dsl.source import Span

if TYPE_CHECKING:
    from fullcount.dsl.trial_tree import Defaults, Trial

# ---------------------------------------------------------------------------------------------- names and types


@dataclass(frozen=True, slots=True)
class Name:
    """An identifier as written."""

    text: str
    span: Span


@dataclass(frozen=True, slots=True)
class Dotted:
    """A dotted path of names, `hr.employees` or `directory.update`."""

    parts: tuple[Name, ...]
    span: Span

    @property
    def text(self) -> str:
        """The path as written, without white space."""
        return ".".join(part.text for part in self.parts)


@dataclass(frozen=True, slots=True)
class TypeName:
    """A type as written: `text`, `timestamp?`, `list<text>`, `map<int>`. `record` has `fields`.

    `id of hr.employees` is called `id`, and `of` is the resource whose objects it names.
    """

    name: str
    arguments: tuple[TypeName, ...]
    fields: tuple[FieldDecl, ...]
    optional: bool
    span: Span
    of: Dotted | None = None


@dataclass(frozen=True, slots=True)
class FieldDecl:
    """`name: type` in a `fields` clause or a record type."""

    name: Name
    type: TypeName
    span: Span


@dataclass(frozen=True, slots=True)
class FieldSpread:
    """`...person`: the fields of a record. Alone in a `fields` clause it may be written `fields person`."""

    record: Name
    span: Span


# ---------------------------------------------------------------------------------------------- expressions


@dataclass(frozen=True, slots=True)
class Literal:
    """A literal. `kind` is the language's type; `value` its canonical form.

    text: str · int: int · decimal: Decimal · bool: bool · duration: int (microseconds) · size: int (bytes) ·
    percent: Decimal (5% is Decimal("5")) · timestamp: int (microseconds since the Unix epoch, UTC) ·
    date: int (days since the Unix epoch).
    """

    kind: str
    value: str | int | Decimal | bool
    span: Span


@dataclass(frozen=True, slots=True)
class ListLiteral:
    """`["eu-west-1", "us-east-1"]`."""

    items: tuple[Expr, ...]
    span: Span


@dataclass(frozen=True, slots=True)
class ListFile:
    """`file "known.csv" column "account"`: a list that stands in a file of the workspace."""

    path: str
    column: str | None
    may_be_empty: bool
    span: Span
    path_span: Span


@dataclass(frozen=True, slots=True)
class Now:
    """`now`: the instant of the plan."""

    span: Span


@dataclass(frozen=True, slots=True)
class Never:
    """`never`: the instant of an event that did not happen. It is only legal as the fallback of `else`."""

    span: Span


@dataclass(frozen=True, slots=True)
class Unknown:
    """`unknown`: where a value is absent, nobody knows what holds. It is only legal as the fallback of `else`."""

    span: Span


@dataclass(frozen=True, slots=True)
class Reference:
    """A name or a dotted path used as a value: `idle` (parameter), `a.owner` (field), `environment` (bare field)."""

    parts: tuple[Name, ...]
    span: Span


@dataclass(frozen=True, slots=True)
class Index:
    """`a.tags["env"]`: the value under a key of a map."""

    target: Expr
    key: Expr
    span: Span


@dataclass(frozen=True, slots=True)
class Unary:
    """`not x` or `-x`. `operator` is `not` or `-`."""

    operator: str
    operand: Expr
    span: Span


@dataclass(frozen=True, slots=True)
class Binary:
    """A binary operation. `operator`: `or and == != < <= > >= in "not in" + - * /`."""

    operator: str
    left: Expr
    right: Expr
    span: Span
    operator_span: Span


@dataclass(frozen=True, slots=True)
class StateTest:
    """`x is present`, `x is absent`, `x is known`."""

    operand: Expr
    state: str
    span: Span


@dataclass(frozen=True, slots=True)
class Else:
    """`a.last_login else a.created`: the fallback stands in only where the operand is truly absent."""

    operand: Expr
    fallback: Expr
    span: Span


@dataclass(frozen=True, slots=True)
class Call:
    """A function of the language: `lower(a.name)`, `matches(a.name, "svc-.*")`."""

    function: Name
    arguments: tuple[Expr, ...]
    span: Span


@dataclass(frozen=True, slots=True)
class Quantified:
    """`some people as p where (…)` or `no people as p where (…)`. `quantifier` is `some` or `no`."""

    quantifier: str
    inventory: Name
    row: Name
    where: Expr
    span: Span


@dataclass(frozen=True, slots=True)
class ListTest:
    """`any a.groups as g where (…)`, `all a.groups as g where (…)`: a test of the items of a list, each called `g`."""

    quantifier: str
    collection: Expr
    item: Name
    where: Expr
    span: Span


@dataclass(frozen=True, slots=True)
class AggregateExpr:
    """`count people as p where (…)`, `max logins as l where (…) of l.at`. `of` is None only for `count`.

    `needs`: of how many rows at least the value is known (`max cpu as c where (…) of c.value needs 12`); None: of any.
    """

    function: str
    inventory: Name
    row: Name
    where: Expr
    of: Expr | None
    span: Span
    needs: int | None = None


@dataclass(frozen=True, slots=True)
class All:
    """`all`: the selector that was typed in full by someone who meant every object."""

    span: Span


Expr = (
    Literal
    | ListLiteral
    | ListFile
    | Now
    | Never
    | Unknown
    | Reference
    | Index
    | Unary
    | Binary
    | StateTest
    | Else
    | Call
    | Quantified
    | ListTest
    | AggregateExpr
    | All
)

# ---------------------------------------------------------------------------------------------- clauses


@dataclass(frozen=True, slots=True)
class ScheduleClause:
    """`schedule cron "0 2 * * *" timezone "Europe/Berlin" catch up within 4h` or `schedule every 6h`.

    Exactly one of `cron` and `every` (microseconds) is set. `catch_up` in microseconds; None: missed slots are
    skipped.
    """

    cron: str | None
    every: int | None
    timezone: str | None
    catch_up: int | None
    span: Span
    cron_span: Span
    timezone_span: Span | None


@dataclass(frozen=True, slots=True)
class ParamDecl:
    """`param idle: duration = 90d`; without a default it must be given with `--param`."""

    name: Name
    type: TypeName
    default: Expr | None
    span: Span


@dataclass(frozen=True, slots=True)
class PartitionDecl:
    """`region in ["eu-west-1", "us-east-1"]` (`values`) or `account in accounts.id` (`listed`): exactly one is set."""

    name: Name
    values: ListLiteral | None
    listed: Dotted | None
    span: Span


@dataclass(frozen=True, slots=True)
class InventoryDecl:
    """One question put to a source. `deadline` in microseconds. `normalized`: the rules that the key is spelled by."""

    name: Name
    resource: Dotted
    key: tuple[Name, ...]
    incarnation: Name | None
    fields: tuple[FieldDecl | FieldSpread, ...]
    scope: Expr | None
    deadline: int | None
    expects: tuple[Expr, ...]
    span: Span
    head_span: Span
    across: tuple[PartitionDecl, ...] = ()
    normalized: tuple[Name, ...] = ()


@dataclass(frozen=True, slots=True)
class ClaimDecl:
    """One claim of a `verify` clause.

    kind: `complete` · `fresh` (value: microseconds) · `snapshot` (value: pinned|interval) · `visibility` (value: all)
    · `rows` (value: int) · `change` (value: percent as Decimal) · `count` (agrees: Dotted).
    """

    kind: str
    value: int | str | Decimal | None
    agrees: Dotted | None
    span: Span


@dataclass(frozen=True, slots=True)
class VerifyDecl:
    """`verify accounts { complete, fresh within 1h }`."""

    inventory: Name
    claims: tuple[ClaimDecl, ...]
    span: Span


@dataclass(frozen=True, slots=True)
class LimitDecl:
    """`limit 50, 5%`: both hold, the stricter wins; 0 means none. A missing half is None."""

    count: int | None
    percent: Decimal | None
    span: Span


@dataclass(frozen=True, slots=True)
class ExceptDecl:
    """`except in exemptions` (`list_name`) or `except when <condition>` (`condition`): exactly one is set."""

    list_name: Name | None
    condition: Expr | None
    span: Span


@dataclass(frozen=True, slots=True)
class DoubtDecl:
    """`undecided when a.used_by_api != a.used_by_sso`: what a person has to look at before it is selected."""

    condition: Expr
    span: Span


@dataclass(frozen=True, slots=True)
class KeepDecl:
    """`keep at least 3 per a.team newest by a.created`. `order` is `newest` or `oldest`; without `per` one group."""

    count: int
    per: Expr | None
    order: str
    by: Expr
    span: Span
    count_span: Span


@dataclass(frozen=True, slots=True)
class PickDecl:
    """`pick oldest 10 per a.team by a.created` or `pick 10% at random seed "q4", at most 15 per a.team`.

    `order` is `oldest`, `newest` (with `by`) or `random` (with `seed`); one of `count` and `percent` is set.
    """

    count: int | None
    percent: Decimal | None
    at_most: int | None
    order: str
    per: Expr | None
    by: Expr | None
    seed: str | None
    span: Span
    amount_span: Span


@dataclass(frozen=True, slots=True)
class BoundedDecl:
    """`bounded`: act on what was found, although the inventory may not have been read to its end."""

    span: Span


@dataclass(frozen=True, slots=True)
class ExpectNoneDecl:
    """`expect no people as p where (p.id == a.owner) because "…"` of a proposal: what need not be in the data."""

    inventory: Name
    row: Name
    where: Expr
    because: str
    span: Span
    head_span: Span
    because_span: Span


@dataclass(frozen=True, slots=True)
class ProposeDecl:
    """`propose disable from accounts as a { where … except … expect no … keep … limit … show … }`."""

    name: Name
    inventory: Name
    row: Name
    where: Expr
    excepts: tuple[ExceptDecl, ...]
    limit: LimitDecl | None
    show: tuple[Expr, ...]
    span: Span
    head_span: Span
    keeps: tuple[KeepDecl, ...] = ()
    picks: tuple[PickDecl, ...] = ()
    bounded: BoundedDecl | None = None
    expects: tuple[ExpectNoneDecl, ...] = ()
    doubts: tuple[DoubtDecl, ...] = ()


@dataclass(frozen=True, slots=True)
class QuorumDecl:
    """`2 of role "iam-admin" not by author`."""

    count: int
    role: str
    not_by_author: bool
    span: Span


@dataclass(frozen=True, slots=True)
class AutomaticDecl:
    """`automatically when count <= 5 and reversible`. A missing half is None."""

    count: int | None
    percent: Decimal | None
    reversible: bool
    span: Span


@dataclass(frozen=True, slots=True)
class ApproveDecl:
    """`approve disable { 2 of role "iam-admin" not by author, expires after 3d }`. `expires` in microseconds.

    With `automatic` the quorums are what holds otherwise.
    """

    proposal: Name
    quorums: tuple[QuorumDecl, ...]
    expires: int | None
    span: Span
    automatic: AutomaticDecl | None = None


@dataclass(frozen=True, slots=True)
class Argument:
    """`id: a.id` of an operation."""

    name: Name
    value: Expr
    span: Span


@dataclass(frozen=True, slots=True)
class OperationCall:
    """`directory.update(id: a.id, locked: true)`."""

    operation: Dotted
    arguments: tuple[Argument, ...]
    span: Span


@dataclass(frozen=True, slots=True)
class StopDecl:
    """`stop after 3 failures or 1%`. A missing half is None."""

    failures: int | None
    percent: Decimal | None
    span: Span


@dataclass(frozen=True, slots=True)
class RateDecl:
    """`rate 10 per second`. `per` is `second`, `minute` or `hour`."""

    count: int
    per: str
    span: Span


@dataclass(frozen=True, slots=True)
class AtMostDecl:
    """`at most 0 monitoring.firing_alerts`: how many there may be of a resource once the canary was waited for."""

    count: int
    resource: Dotted


@dataclass(frozen=True, slots=True)
class CanaryDecl:
    """`canary 5 then wait 15m [then at most 0 of monitoring.firing_alerts]`. `wait` in microseconds."""

    count: int
    wait: int
    span: Span
    then: AtMostDecl | None = None


@dataclass(frozen=True, slots=True)
class RehearseDecl:
    """`rehearse restore`: one object of the canary is restored, compared and acted on again before the rest."""

    span: Span


@dataclass(frozen=True, slots=True)
class BackupDecl:
    """`backup kept for 30d`: each object is stored before it is acted on. `kept` in microseconds."""

    kept: int
    span: Span


@dataclass(frozen=True, slots=True)
class CascadesDecl:
    """`cascades within limit`: what goes with an object may go, and counts against the limit."""

    span: Span


@dataclass(frozen=True, slots=True)
class WindowDecl:
    """`window "Mon-Thu 09:00-16:00" timezone "Europe/Berlin"`. The text is as written."""

    text: str
    timezone: str | None
    span: Span
    text_span: Span
    timezone_span: Span | None


@dataclass(frozen=True, slots=True)
class StepDecl:
    """`disable: directory.update(…) undo … backup … cascades … rehearse … after 14d` of a graduated act.

    `after` in microseconds.

    `nag: mail.send(…) every 1h, 11 times` is so many steps, `after` that long each. The step called `release` is what
    is done to an object that no longer qualifies.
    """

    label: Name
    operation: OperationCall
    undo: OperationCall | None
    after: int | None
    span: Span
    after_span: Span | None
    times: int | None = None
    backup: BackupDecl | None = None
    cascades: CascadesDecl | None = None
    rehearse: RehearseDecl | None = None


@dataclass(frozen=True, slots=True)
class ActDecl:
    """`act disable with directory.update(…) { undo … rate … concurrency … canary … rehearse … stop … window … }`.

    A graduated act, `act retire with steps { … }`, has `steps` and no `operation`; with both the compiler refuses it.
    """

    proposal: Name
    operation: OperationCall | None
    undo: OperationCall | None
    rate: RateDecl | None
    concurrency: int | None
    stop: StopDecl | None
    span: Span
    windows: tuple[WindowDecl, ...] = ()
    canary: CanaryDecl | None = None
    steps: tuple[StepDecl, ...] = ()
    backup: BackupDecl | None = None
    cascades: CascadesDecl | None = None
    rehearse: RehearseDecl | None = None


@dataclass(frozen=True, slots=True)
class NotifyDecl:
    """`notify "ops-mail" on waiting, refused, stopped`: who is told of which ends of a run."""

    target: str
    events: tuple[Name, ...]
    span: Span
    target_span: Span


@dataclass(frozen=True, slots=True)
class Workflow:
    """One declared clean-up."""

    name: Name
    describe: str | None
    owner: str | None
    schedule: ScheduleClause | None
    params: tuple[ParamDecl, ...]
    inventories: tuple[InventoryDecl, ...]
    verifies: tuple[VerifyDecl, ...]
    proposals: tuple[ProposeDecl, ...]
    approvals: tuple[ApproveDecl, ...]
    acts: tuple[ActDecl, ...]
    span: Span
    trials: tuple[Trial, ...] = ()
    defaults: tuple[Defaults, ...] = ()
    """What `test defaults` says; of each inventory once."""
    notifies: tuple[NotifyDecl, ...] = ()


@dataclass(frozen=True, slots=True)
class ProtectDecl:
    """`protect payroll from directory.accounts as a where (…) because "…"`: keeps what no workflow may take.

    `head_span` is the part before `where`.
    """

    name: Name
    resource: Dotted
    row: Name
    where: Expr
    because: str
    span: Span
    head_span: Span
    because_span: Span


@dataclass(frozen=True, slots=True)
class Edition:
    """`edition "2026"`: the version of the language that the file is written in."""

    value: str
    span: Span


@dataclass(frozen=True, slots=True)
class Import:
    """`import "lib/people.fcw"`: the records and definitions of another file; the path is relative to this file."""

    path: str
    span: Span
    path_span: Span


@dataclass(frozen=True, slots=True)
class RecordDecl:
    """`record person { id: text, active: bool }`: fields under a name."""

    name: Name
    fields: tuple[FieldDecl | FieldSpread, ...]
    span: Span


@dataclass(frozen=True, slots=True)
class Parameter:
    """`last: timestamp?` of a definition."""

    name: Name
    type: TypeName
    span: Span


@dataclass(frozen=True, slots=True)
class Definition:
    """`define idle(last: timestamp?, made: timestamp) = (last else made) < now - 90d`: an expression under a name."""

    name: Name
    parameters: tuple[Parameter, ...]
    body: Expr
    span: Span


@dataclass(frozen=True, slots=True)
class Comment:
    """A `#` comment with its text (the `#` included) and place."""

    text: str
    span: Span


@dataclass(frozen=True, slots=True)
class File:
    """One `.fcw` file."""

    workflows: tuple[Workflow, ...]
    comments: tuple[Comment, ...]
    span: Span
    edition: Edition | None = None
    imports: tuple[Import, ...] = ()
    records: tuple[RecordDecl, ...] = ()
    definitions: tuple[Definition, ...] = ()
    protects: tuple[ProtectDecl, ...] = ()
