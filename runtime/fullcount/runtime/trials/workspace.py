"""The workspace of a test: the real one's declarations and protections, with stand-ins for everything that could reach
anything: sources, people, exemption lists, freezes. There is no way from here to a real source.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from datetime import date
from pathlib import Path

from pydantic import BaseModel

from fullcount.compiler.catalog import StaticCatalog
from fullcount.compiler.claims import Agrees
from fullcount.compiler.program import Inventory
from fullcount.compiler.trials.model import Key
from fullcount.runtime.approve.identity import Person
from fullcount.runtime.approve.signing import UNSIGNED, Signing
from fullcount.runtime.connectors.base import Connector
from fullcount.runtime.evidence.warned import RUNS, Accepted
from fullcount.runtime.trials.source import NoSettings, TrialConnector
from fullcount.runtime.trials.world import World
from fullcount.runtime.workspace import Workspace
from fullcount.runtime.workspace.exemptions import Exemption
from fullcount.runtime.workspace.freezes import Freeze
from fullcount.runtime.workspace.notifiers import MailConfig, WebhookConfig
from fullcount.runtime.workspace.protections import ProtectionFiles

PLANNER = Person(900_000_000, "the one who plans in a test")
_ALWAYS = date(9999, 12, 31)


class TrialWorkspace(Workspace):
    """Stands in for a workspace in one test; `approvers` hold every role of it."""

    def __init__(self, real: Workspace, world: World, folder: Path, approvers: int) -> None:
        self._real = real
        self._world = world
        self._folder = folder
        self._connector = TrialConnector(world, real.catalog())
        self.approvers = tuple(
            Person(PLANNER.uid + number, f"approver {number} of a test") for number in range(1, approvers + 1)
        )

    @property
    def root(self) -> Path:
        """See `Workspace.root`."""
        return self._real.root

    @property
    def name(self) -> str:
        """See `Workspace.name`."""
        return self._real.name

    @property
    def store_url(self) -> str:
        """The store of the test."""
        return f"sqlite:///{self._folder / 'state.db'}"

    @property
    def snapshot_dir(self) -> Path:
        """The snapshots of the test."""
        return self._folder / "snapshots"

    @property
    def backup_dir(self) -> Path:
        """The backups of the test."""
        return self._folder / "backups"

    @property
    def roles(self) -> Mapping[str, tuple[str, ...]]:
        """Every role, held by the approvers of the test."""
        members = tuple(person.principal for person in self.approvers)
        return dict.fromkeys(self._real.roles, members)

    @property
    def source_names(self) -> tuple[str, ...]:
        """See `Workspace.source_names`."""
        return self._real.source_names

    def connector(self, source: str) -> tuple[Connector, BaseModel]:
        """Return the stand-in for a source."""
        return self._connector, NoSettings()

    def catalog(self) -> StaticCatalog:
        """See `Workspace.catalog`."""
        return self._real.catalog()

    def signing(self) -> Signing:
        """See `Workspace.signing`: the people of a test have no keys, and nobody asks them to sign."""
        return UNSIGNED

    def signers_text(self) -> str | None:
        """See `Workspace.signers_text`: nobody signs in a test."""
        return None

    def recorded(self, inventories: Iterable[Inventory]) -> Mapping[str, frozenset[str]]:
        """See `Workspace.recorded`: what may be written down of a test is what may be of the real thing."""
        return self._real.recorded(inventories)

    @property
    def protections(self) -> ProtectionFiles:
        """The real protections: a rule is tested under what holds for it."""
        return self._real.protections

    def freezes(self) -> tuple[Freeze, ...]:
        """None: a test goes by its own clock."""
        return ()

    @property
    def notifiers(self) -> Mapping[str, MailConfig | WebhookConfig]:
        """None: a test tells nobody."""
        return {}

    def exemptions(self, list_name: str) -> tuple[Exemption, ...]:
        """Return the entries that the test gives."""
        return tuple(
            Exemption(self._written(key), None, "test", "given by the test", _ALWAYS)
            for key in self._world.lists.get(list_name, ())
        )

    def exemption_table(self, list_name: str) -> None:
        """None: the entries of a list are those that the test gives, wherever it stands."""

    def exemption_file(self, list_name: str) -> str:
        """Return where a list stands: in the test."""
        return "given by the test"

    def irreversible_approvals(self) -> int:
        """Return what the real workspace asks for."""
        return self.catalog().irreversible_approvals()

    def undo_quorums(self) -> None:
        """None: a test takes nothing back."""

    def automatic_approval(self) -> int:
        """Return the policy of the real workspace: a rule is tested under what holds for it."""
        return self.catalog().automatic_approval()

    def warnings_become_failures(self) -> int:
        """Return the usual number: a test has one reading, or says otherwise of none."""
        return RUNS

    def accepted_warnings(self) -> tuple[Accepted, ...]:
        """None: a test says what a warning does to the rule, not what is accepted these days."""
        return ()

    def exempted(self, list_name: str) -> Collection[Key]:
        """Return the keys on a list by now."""
        return self._world.lists.get(list_name, ())

    def counted(self, claim: Agrees) -> int | None:
        """Return what the independent count of a claim says."""
        return self._world.count((claim.source, claim.resource))

    def _written(self, key: tuple[object, ...]) -> tuple[str | int, ...]:
        return tuple(part if isinstance(part, str | int) else str(part) for part in key)
