"""Find, read and check `fullcount.toml`; hand out what the other rooms need of it."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Mapping
from functools import cached_property
from pathlib import Path
from types import MappingProxyType
from typing import Annotated, Any, Self

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, StringConstraints, ValidationError

from fullcount.compiler.catalog import StaticCatalog, UndoQuorum
from fullcount.compiler.program import Inventory, Quorum
from fullcount.runtime.approve.signing import Signing
from fullcount.runtime.connectors.base import Connector, RestsOnFiles
from fullcount.runtime.connectors.registry import UnknownConnectorError, connector_named, is_built_in
from fullcount.runtime.evidence.warned import Accepted
from fullcount.runtime.workspace.accepted import AcceptedEntry, check_accepted
from fullcount.runtime.workspace.errors import SettingError, WorkspaceError, did_you_mean
from fullcount.runtime.workspace.exemption_tables import ExemptionTable, check_table
from fullcount.runtime.workspace.exemptions import Exemption, read_exemptions
from fullcount.runtime.workspace.freezes import Freeze, FreezeEntry, FreezeFile
from fullcount.runtime.workspace.ids import with_ids
from fullcount.runtime.workspace.notifiers import MailConfig, NotifierConfig, WebhookConfig
from fullcount.runtime.workspace.people import People
from fullcount.runtime.workspace.policy import Policy, PolicyFile
from fullcount.runtime.workspace.premises import FILE_NAME, Premises, find, read
from fullcount.runtime.workspace.record import Record, recorded_fields
from fullcount.runtime.workspace.secrets import ROOT, DatabaseUrl, RootedPath
from fullcount.runtime.workspace.signatures import Signatures, SignaturesFile
from fullcount.runtime.workspace.validation import from_validation

_WORD = r"^[A-Za-z_][A-Za-z0-9_]*$"


def _a_member(member: str) -> str:
    if member.startswith("uid:"):
        if not re.fullmatch(r"uid:(0|[1-9][0-9]*)", member):
            msg = "a user id is written as a number"
            raise SettingError(msg, help='as `"uid:1000"`')
    elif member.strip() != member or member == "":
        msg = "a member is the name of a user, without blanks around it"
        raise SettingError(msg)
    return member


_Member = Annotated[str, AfterValidator(_a_member)]
_Word = Annotated[str, StringConstraints(pattern=_WORD)]
_Notifier = Annotated[str, StringConstraints(pattern=r"^[A-Za-z][A-Za-z0-9_-]*$")]
_Name = Annotated[str, StringConstraints(min_length=1, strip_whitespace=True)]


class _Settings(BaseModel):
    model_config = ConfigDict(extra="forbid", validate_default=True)

    name: _Name
    store: DatabaseUrl = Field(default="sqlite:///.fullcount/state.db")  # type: ignore[assignment]
    snapshots: RootedPath = Path(".fullcount/snapshots")
    backups: RootedPath = Path(".fullcount/backups")


class _File(BaseModel):
    model_config = ConfigDict(extra="forbid")

    workspace: _Settings
    sources: dict[_Word, dict[str, Any]] = {}
    roles: dict[_Name, list[_Member]] = {}
    exemptions: dict[_Word, Any] = {}
    freeze: list[FreezeEntry] = []
    policy: Policy = Policy()
    signatures: Signatures = Signatures()
    record: Record = Record()
    accepted_warning: list[AcceptedEntry] = []
    ids: dict[str, str] = {}
    notify: dict[_Notifier, NotifierConfig] = {}


class _RolesOnly(BaseModel):
    """The part of the file that is read anew. The rest of it was checked when the workspace was loaded."""

    model_config = ConfigDict(extra="ignore")

    roles: dict[_Name, list[_Member]] = {}


class Workspace(Premises):
    """One checked `fullcount.toml`. Nothing of it changes after loading, but roles, exemption lists, protections,
    freezes and the policy are read anew: who left the role, and what was exempted or protected, counts from the next
    act on.
    """

    def __init__(
        self,
        root: Path,
        seen_from: Path,
        file: _File,
        sources: Mapping[str, tuple[Connector, BaseModel]],
        lists: Mapping[str, Path | ExemptionTable],
    ) -> None:
        resources = {name: connector.resources(name, config) for name, (connector, config) in sources.items()}
        # a rule can't sign, so nothing is approved by one where signatures are required
        allowed = 0 if file.signatures.required else file.policy.automatic_approval
        people, told = People(file.roles), tuple(file.notify)
        declared = StaticCatalog(
            resources,
            tuple(lists),
            tuple(file.roles),
            automatic=allowed,
            members=people,
            notifier_names=told,
            irreversible=file.policy.irreversible_approvals,
            undo=tuple(
                UndoQuorum(each.count, each.role, each.not_by_author) for each in file.policy.undo_approvals or ()
            ),
        )
        super().__init__(root, seen_from, with_ids(declared, file.ids, FILE_NAME))
        self._file = file
        self._sources = sources
        self._lists = lists
        self._recorded = recorded_fields(root / FILE_NAME, file.record, self.catalog())
        self._roles: tuple[bytes, Mapping[str, tuple[str, ...]]] | None = None

    @classmethod
    def load(cls, start: Path) -> Self:
        """Search `start` and the folders above it for `fullcount.toml`, and check the whole of it.

        Raises `WorkspaceError`: FC601 if there is none, FC602-FC607 and FC617 for what is wrong with it.
        """
        path = find(start)
        return cls.parse(path, read(path), start)

    @classmethod
    def parse(cls, path: Path, content: bytes, start: Path) -> Self:
        """Check the content of a `fullcount.toml`; files are named as seen from `start`. Raises `WorkspaceError`."""
        document = _toml(path, content)
        root = path.parent
        try:
            file = _File.model_validate(document, context={ROOT: root})
        except ValidationError as error:
            raise from_validation(error, path, _File) from None
        sources = {name: _source(path, name, table) for name, table in file.sources.items()}
        lists = {name: _list(path, name, place) for name, place in file.exemptions.items()}
        workspace = cls(root, start.resolve(), file, sources, lists)
        for number, entry in enumerate(file.accepted_warning):
            check_accepted(path, number, entry, workspace.catalog())
        for name, place in lists.items():
            if isinstance(place, ExemptionTable):
                check_table(path, name, place, workspace.catalog())
        return workspace

    @property
    def follows_from_its_bytes(self) -> bool:
        """Whether the catalogue follows from the bytes of `fullcount.toml` and our own code, and from nothing else.

        It does not where a source is read by a connector of others, or one that takes rules from further files.
        """
        ours = all(is_built_in(table["connector"]) for table in self._file.sources.values())
        return ours and not any(
            isinstance(connector, RestsOnFiles) and connector.rests_on(config) is not None
            for connector, config in self._sources.values()
        )

    @property
    def written_roles(self) -> Mapping[str, list[str]]:
        """The members of each role as they stood in the file when it was loaded; `roles` are those of now."""
        return self._file.roles

    @property
    def name(self) -> str:
        """The workspace's name."""
        return self._file.workspace.name

    @property
    def store_url(self) -> str:
        """The full address of the store, secrets in it. Raises `WorkspaceError` FC605 or FC607."""
        return self._file.workspace.store.resolve()

    @property
    def snapshot_dir(self) -> Path:
        """The folder of the snapshots, absolute."""
        return self._file.workspace.snapshots

    @property
    def backup_dir(self) -> Path:
        """The folder of the backups of single objects, absolute."""
        return self._file.workspace.backups

    @property
    def roles(self) -> Mapping[str, tuple[str, ...]]:
        """The members of each role as the file says now: user names, or `uid:1000`.

        Raises `WorkspaceError` when it can't be read: roles that nobody can read are never those of before.
        """
        path = self._root / FILE_NAME
        data = read(path)
        if self._roles is None or self._roles[0] != data:
            try:
                said = _RolesOnly.model_validate(_toml(path, data))
            except ValidationError as error:
                raise from_validation(error, path, _RolesOnly) from None
            self._roles = (data, MappingProxyType({role: tuple(members) for role, members in said.roles.items()}))
        return self._roles[1]

    @property
    def source_names(self) -> tuple[str, ...]:
        """The configured sources, in the order of the file."""
        return tuple(self._sources)

    def connector(self, source: str) -> tuple[Connector, BaseModel]:
        """Return a source's connector and its checked configuration. Raises `WorkspaceError` FC610."""
        found = self._sources.get(source)
        if found is None:
            message = f"{FILE_NAME} has no source `{source}`"
            raise WorkspaceError("FC610", message, help=did_you_mean(source, self._sources))
        return found

    @cached_property
    def _freezes(self) -> FreezeFile:
        return FreezeFile(self._root / FILE_NAME)

    @cached_property
    def _policy(self) -> PolicyFile:
        return PolicyFile(self._root / FILE_NAME)

    def irreversible_approvals(self) -> int:
        """Return how many must approve what can't be taken back, as the file says now. Raises `WorkspaceError`."""
        return self._policy.current().irreversible_approvals

    def undo_quorums(self) -> tuple[Quorum, ...] | None:
        """Return who must approve an undo, as the file says now; None: as its act. Raises `WorkspaceError`."""
        said = self._policy.current().undo_approvals
        return None if said is None else tuple(Quorum(each.count, each.role, each.not_by_author) for each in said)

    def automatic_approval(self) -> int:
        """Read anew how many objects a plan may have at most to be approved automatically. Raises `WorkspaceError`."""
        return 0 if self.signing().required else self._policy.current().automatic_approval

    @cached_property
    def _signatures(self) -> SignaturesFile:
        return SignaturesFile(self._root / FILE_NAME)

    def signing(self) -> Signing:
        """Read anew what is asked for of signatures, and who may sign. Raises `WorkspaceError` FC618 and its kin."""
        return self._signatures.current()

    def signers_text(self) -> str | None:
        """Return the text of the `allowed_signers` as it is now; None where none is named. Raises `WorkspaceError`."""
        return self._signatures.signers_text()

    def warnings_become_failures(self) -> int:
        """Read anew how often in a row a warning may come. Raises `WorkspaceError`."""
        return self._policy.current().warnings_become_failures

    def accepted_warnings(self) -> tuple[Accepted, ...]:
        """Read anew which warnings are accepted, ended entries among them. Raises `WorkspaceError`."""
        return self._policy.accepted_warnings()

    def freezes(self) -> tuple[Freeze, ...]:
        """Read the freezes anew. Raises `WorkspaceError`: freezes that can't be read are never none."""
        return self._freezes.current()

    @property
    def notifiers(self) -> Mapping[str, MailConfig | WebhookConfig]:
        """Who can be told, and by which way."""
        return MappingProxyType(self._file.notify)

    def recorded(self, inventories: Iterable[Inventory]) -> Mapping[str, frozenset[str]]:
        """Return the fields that may be written down, by the name of the inventory; one without a list is left out."""
        listed = {each.name: self._recorded.get((each.source, each.resource)) for each in inventories}
        return {name: fields for name, fields in listed.items() if fields is not None}

    def exemptions(self, list_name: str) -> tuple[Exemption, ...]:
        """Read a list in a file anew. Raises `WorkspaceError` FC609: one that can't be read is never an empty one."""
        place = self._place(list_name)
        if isinstance(place, ExemptionTable):
            raise WorkspaceError("FC609", f"the exemption list `{list_name}` stands in a source, not in a file")
        return read_exemptions(place)

    def exemption_table(self, list_name: str) -> ExemptionTable | None:
        """Return where a list stands in a source; None for one in a file. Raises `WorkspaceError` FC609."""
        place = self._place(list_name)
        return place if isinstance(place, ExemptionTable) else None

    def exemption_file(self, list_name: str) -> str:
        """Return the file of a list, as seen from the workspace. Raises `WorkspaceError` FC609."""
        place = self._place(list_name)
        if isinstance(place, ExemptionTable):
            return place.place
        return str(place.relative_to(self._root)) if place.is_relative_to(self._root) else str(place)

    def _place(self, list_name: str) -> Path | ExemptionTable:
        place = self._lists.get(list_name)
        if place is None:
            message = f"{FILE_NAME} has no exemption list `{list_name}`"
            raise WorkspaceError("FC609", message, help=did_you_mean(list_name, self._lists))
        return place


def _toml(path: Path, data: bytes) -> dict[str, Any]:
    try:
        return tomllib.loads(data.decode())
    except (UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise WorkspaceError("FC602", f"`{path}` is not TOML: {error}") from None


def _list(path: Path, name: str, place: Any) -> Path | ExemptionTable:
    """Return where an exemption list stands: the path of a file, or a table of a source."""
    if isinstance(place, str):
        return path.parent / Path(place).expanduser()
    if not isinstance(place, dict):
        message = f"{path.name}: `exemptions.{name}` is neither the path of a file nor a table"
        help_text = f'as `{name} = "exemptions.toml"`, or `[exemptions.{name}]` with `source`, `resource`, `key`, …'
        raise WorkspaceError("FC604", message, help=help_text)
    try:
        return ExemptionTable.model_validate(place)
    except ValidationError as error:
        raise from_validation(error, path, ExemptionTable, ("exemptions", name)) from None


def _source(path: Path, name: str, table: Mapping[str, Any]) -> tuple[Connector, BaseModel]:
    settings = dict(table)
    kind = settings.pop("connector", None)
    if not isinstance(kind, str):
        found = "is missing" if kind is None else "must be text"
        message = f"{path.name}: `sources.{name}.connector` {found}"
        raise WorkspaceError("FC604", message, help='as `connector = "sql"`')
    try:
        connector = connector_named(kind)
    except UnknownConnectorError as error:
        message = f"{path.name}: `sources.{name}.connector`: there is no connector `{kind}`"
        raise WorkspaceError("FC606", message, help=did_you_mean(kind, error.known)) from None
    model = connector.config_model
    try:
        config = model.model_validate(settings, context={ROOT: path.parent})
    except ValidationError as error:
        raise from_validation(error, path, model, ("sources", name)) from None
    return connector, config
