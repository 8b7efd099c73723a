"""`fullcount.toml`: everything that is refused, each with its place in the file, then what a good one says."""

from __future__ import annotations

import subprocess
import sys
from datetime import date
from pathlib import Path

import pytest

from fullcount.compiler.catalog import Effect, Idempotency, Visibility
from fullcount.compiler.claims import Consistency
from fullcount.dsl.codes import CODES
from fullcount.runtime.exit_codes import Exit
from fullcount.runtime.workspace import Exemption, Workspace, WorkspaceError

GOOD = """
[workspace]
name = "acme"

[sources.directory]
connector = "sql"
url       = "sqlite:///data/directory.db"
timezone  = "UTC"

[sources.directory.resources.accounts]
table           = "accounts"
key             = ["id"]
incarnation     = "entry_uuid"
version         = "row_version"
version_managed = true
writable        = ["locked"]
deletable       = true

[sources.directory.resources.accounts.fields]
id = "text"
entry_uuid = "text"
row_version = "int"
last_login = "timestamp?"
locked = "bool"
tags = "map<text>"

[sources.directory.resources.shown]
table  = "shown"
view   = true
key    = ["id"]
fields = { id = "text" }

[sources.vcs]
connector  = "git"
repository = "repo.git"
base       = "main"

[roles]
iam-admin = ["ana", "uid:1000"]

[exemptions]
kept = "kept.toml"
"""

ENTRY = """
[[exemption]]
key     = "svc-billing"
owner   = "payments"
reason  = "moves in March"
expires = 2027-03-31
"""


@pytest.fixture
def write(tmp_path):
    """Write the good file with one text of it replaced, and return its folder."""

    def write(old="", new=""):
        assert old in GOOD
        (tmp_path / "fullcount.toml").write_text(GOOD.replace(old, new, 1) if old else GOOD)
        return tmp_path

    return write


def refused(folder: Path) -> WorkspaceError:
    """Return the error of loading, which must be a known code with the exit code of an error."""
    with pytest.raises(WorkspaceError) as caught:
        Workspace.load(folder)
    assert caught.value.code in CODES
    assert caught.value.exit is Exit.ERROR
    return caught.value


class TestWhatIsRefused:
    def test_a_folder_without_a_configuration_has_no_workspace(self, tmp_path):
        """Nothing is assumed where nothing is configured."""
        error = refused(tmp_path)
        assert (error.code, "fullcount init" in error.help) == ("FC601", True)

    @pytest.mark.parametrize("content", [b"[workspace", b"\xff\xfe", b"a = 1\na = 2\n"])
    def test_a_file_that_is_not_toml_is_taken_for_nothing_else(self, tmp_path, content):
        """A file that can't be read as a whole is not read in part."""
        (tmp_path / "fullcount.toml").write_bytes(content)
        assert refused(tmp_path).code == "FC602"

    @pytest.mark.parametrize(
        ("line", "said"),
        [
            ('"directory.acounts.owner" = "directory.accounts"', "`directory.acounts.owner` is not a field"),
            ('"directory.accounts.ownr" = "directory.accounts"', "has no field `ownr`"),
            ('"directory.accounts.locked" = "vcs.branchs"', "`vcs.branchs` is neither"),
            ('"directory.accounts.last_login" = "vcs.branches"', "holds `timestamp`"),
            ('"directory.accounts.id" = "directory.accounts"', "an id of itself"),
        ],
    )
    def test_an_id_of_what_is_not_there_is_refused(self, write, line, said):
        """A line of `[ids]` that fits nothing would let rules compare what is never equal."""
        error = refused(write("[roles]", f"[ids]\n{line}\n\n[roles]"))
        assert (error.code, said in error.message) == ("FC617", True)

    @pytest.mark.parametrize(
        ("old", "new", "place", "hint"),
        [
            ("[roles]", "[role]", "`role`", "`roles`"),
            ('name = "acme"', 'name = "acme"\nstor = "x"', "`workspace.stor`", "`store`"),
            ("deletable ", "deleteable ", "`sources.directory.resources.accounts.deleteable`", "`deletable`"),
            ("base ", "bass ", "`sources.vcs.bass`", "`base`"),
            ('"sqlite:///data/directory.db"', '{ evn = "X" }', "`sources.directory.url.evn`", "`env`"),
        ],
    )
    def test_an_unknown_key_is_an_error_with_its_place_and_the_nearest_known_one(self, write, old, new, place, hint):
        """A misspelt safety that is ignored is one that is only believed in."""
        error = refused(write(old, new))
        assert (error.code, place in error.message, hint in error.help) == ("FC603", True, True)

    @pytest.mark.parametrize(
        ("old", "new", "place"),
        [
            ('name = "acme"', "", "`workspace.name`"),
            ('name = "acme"', "name = 3", "`workspace.name`"),
            ('connector = "sql"', "", "`sources.directory.connector`"),
            ('key             = ["id"]', "", "`sources.directory.resources.accounts.key`"),
            ('key             = ["id"]', "key = []", "`sources.directory.resources.accounts.key`"),
            ('key             = ["id"]', 'key = ["ID"]', "`ID`"),
            ('key             = ["id"]', 'key = ["last_login"]', "`last_login`"),
            ('key             = ["id"]', 'key = ["id", "id"]', "twice"),
            ('"locked"]', '"row_version"]', "`row_version` can't be writable"),
            ('"locked"]', '"nothing"]', "`nothing`"),
            ('"row_version"\n', '"last_login"\n', "`version_managed`"),
            ("view   = true", "view = true\ndeletable = true", "a view can be read"),
            ('locked = "bool"', 'locked = "boolean"', "`sources.directory.resources.accounts.fields.locked`"),
            ('tags = "map<text>"', 'tags = "map<map<text>>"', "`sources.directory.resources.accounts.fields.tags`"),
            ('timezone  = "UTC"', 'timezone = "Mars/Base"', "`sources.directory.timezone`"),
            ('timezone  = "UTC"', "max_rows = -1", "`sources.directory.max_rows`"),
            ('"uid:1000"', '"uid:root"', "`roles.iam-admin[2]`"),
            ('"uid:1000"', '" bo"', "`roles.iam-admin[2]`"),
            ("[sources.vcs]", '[sources."v c s"]', "v c s"),
        ],
    )
    def test_a_wrong_value_is_an_error_with_its_place(self, write, old, new, place):
        """Whatever does not fit is said where it stands."""
        error = refused(write(old, new))
        assert (error.code, place in error.message) == ("FC604", True), error.message

    def test_a_connector_that_does_not_exist_is_an_error(self, write):
        """The nearest name is offered."""
        error = refused(write('"git"', '"gti"'))
        assert (error.code, "`git`" in error.help) == ("FC606", True)

    @pytest.mark.parametrize(
        "address",
        [
            "mysql://h/d",
            "sqlite://",
            "sqlite:///:memory:",
            "sqlite:///x?mode=rw",
            "postgresql://h",
            "postgresql://h:x/d",
            "x",
        ],
    )
    def test_an_address_that_can_not_be_used_is_an_error(self, write, address):
        """What names no database that is spoken to is refused before anything is opened."""
        assert refused(write("sqlite:///data/directory.db", address)).code == "FC607"

    @pytest.mark.requirement("R28")
    @pytest.mark.parametrize("address", ["postgresql://u:hunter2@h/d", "postgresql://u@h/d?password=hunter2"])
    def test_a_password_in_the_file_is_refused_and_not_repeated(self, write, address):
        """Credentials stand in the configuration by reference only."""
        error = refused(write("sqlite:///data/directory.db", address))
        assert error.code == "FC607"
        assert "hunter2" not in error.message + error.help

    def test_a_wrong_value_is_never_repeated_since_it_may_be_a_secret(self, write):
        """The message says what was expected, not what was found."""
        error = refused(write('"sqlite:///data/directory.db"', '{ env = ["hunter2"] }'))
        assert "hunter2" not in error.message + error.help

    def test_an_unknown_source_is_an_error(self, write):
        """Nothing stands in for a source that is not configured."""
        with pytest.raises(WorkspaceError) as caught:
            Workspace.load(write()).connector("directry")
        assert (caught.value.code, "`directory`" in caught.value.help) == ("FC610", True)


class TestSecrets:
    @pytest.fixture
    def settings(self, write):
        """Load a workspace whose directory has this address, and return the source's configuration."""

        def settings(url):
            return Workspace.load(write('"sqlite:///data/directory.db"', url)).connector("directory")[1]

        return settings

    def test_a_missing_or_empty_variable_is_an_error_only_when_it_is_needed(self, settings, monkeypatch):
        """Checking a workflow needs no secret; connecting does."""
        monkeypatch.delenv("DIRECTORY_URL", raising=False)
        config = settings('{ env = "DIRECTORY_URL" }')
        for value in (None, ""):
            if value is not None:
                monkeypatch.setenv("DIRECTORY_URL", value)
            with pytest.raises(WorkspaceError) as caught:
                config.url.resolve()
            assert (caught.value.code, "DIRECTORY_URL" in caught.value.message) == ("FC605", True)

    async def test_opening_without_the_secret_contacts_nothing(self, settings, write, monkeypatch):
        """The error is that of the configuration, not one of a connection."""
        monkeypatch.delenv("DIRECTORY_URL", raising=False)
        config = settings('{ env = "DIRECTORY_URL" }')
        connector, _ = Workspace.load(write()).connector("directory")
        for opening in (connector.open_reader, connector.open_actor):
            with pytest.raises(WorkspaceError) as caught:
                await opening("directory", config)
            assert caught.value.code == "FC605"

    def test_a_secret_file_that_is_not_there_is_an_error(self, settings):
        """A path is relative to the configuration."""
        with pytest.raises(WorkspaceError) as caught:
            settings('{ file = "secrets/url" }').url.resolve()
        assert caught.value.code == "FC605"

    @pytest.mark.parametrize("text", ["mysql://u:hunter2@h/d", "hunter2", "postgresql://u:hunter2@h"])
    def test_an_address_from_a_secret_is_checked_and_never_shown(self, settings, monkeypatch, text):
        """The name of the variable is in the message, its value is not."""
        monkeypatch.setenv("DIRECTORY_URL", text)
        with pytest.raises(WorkspaceError) as caught:
            settings('{ env = "DIRECTORY_URL" }').url.resolve()
        assert caught.value.code == "FC607"
        assert "hunter2" not in caught.value.message + caught.value.help

    def test_secrets_are_resolved_from_a_variable_or_a_file_and_never_shown(self, settings, tmp_path, monkeypatch):
        """A password with any characters arrives whole, and no `repr` has it."""
        secret = "p@ss:/?#w%rd "
        monkeypatch.setenv("PASSWORD", secret)
        (tmp_path / "password").write_text(secret + "\n")
        for where in ('{ env = "PASSWORD" }', '{ file = "password" }'):
            config = settings(f'{{ url = "postgresql://u@h:5433/d", password = {where} }}')
            url = config.url.resolve()
            from sqlalchemy import make_url

            parsed = make_url(url)
            assert (parsed.username, parsed.password, parsed.host, parsed.port) == ("u", secret, "h", 5433)
            assert secret not in repr(config)

    @pytest.mark.parametrize(
        "url",
        [
            '{ env = "A", file = "b" }',
            "{ }",
            '{ env = "A", password = { env = "B" } }',
            '{ url = "sqlite:///x", password = {} }',
        ],
    )
    def test_a_secret_has_exactly_one_place(self, settings, url):
        """Two places, or none, say nothing."""
        with pytest.raises(WorkspaceError) as caught:
            settings(url)
        assert caught.value.code == "FC604"


class TestExemptions:
    @pytest.fixture
    def kept(self, write):
        """Write the list and return what is read of it."""

        def kept(text):
            folder = write()
            if text is not None:
                (folder / "kept.toml").write_text(text)
            return Workspace.load(folder).exemptions("kept")

        return kept

    @pytest.mark.parametrize(
        ("text", "place"),
        [
            (None, "kept.toml"),
            ("[[exemption]", "kept.toml"),
            (ENTRY.replace("owner", "ownr"), "`exemption[1].ownr`"),
            (ENTRY + ENTRY.replace('reason  = "moves in March"\n', ""), "`exemption[2].reason`"),
            (ENTRY.replace('"payments"', '"  "'), "`exemption[1].owner`"),
            (ENTRY.replace("expires = 2027-03-31\n", ""), "`exemption[1].expires`"),
            (ENTRY.replace("2027-03-31", '"never"'), "`exemption[1].expires`"),
            (ENTRY.replace("2027-03-31", "2027-03-31T00:00:00Z"), "`exemption[1].expires`"),
            (ENTRY.replace('"svc-billing"', "[]"), "`exemption[1].key`"),
            (ENTRY.replace('"svc-billing"', "1.5"), "`exemption[1].key"),
            (ENTRY.replace("[[exemption]]", "[[exemptions]]"), "`exemptions`"),
        ],
    )
    def test_a_list_that_can_not_be_read_whole_is_an_error_never_an_empty_list(self, kept, text, place):
        """An exemption that is lost without a word is a deletion."""
        with pytest.raises(WorkspaceError) as caught:
            kept(text)
        assert (caught.value.code, place in caught.value.message) == ("FC609", True), caught.value.message

    def test_a_list_that_is_not_configured_is_an_error(self, write):
        """Its name must be one of the configuration's."""
        with pytest.raises(WorkspaceError) as caught:
            Workspace.load(write()).exemptions("keep")
        assert (caught.value.code, "`kept`" in caught.value.help) == ("FC609", True)

    def test_an_empty_file_is_an_empty_list(self, kept):
        """Here empty is what the file says."""
        assert kept("") == ()

    def test_entries_keep_one_object_until_their_last_day(self, kept):
        """A key has one part or several; the last day is included."""
        composite = ENTRY.replace('"svc-billing"', '["eu", 7]\nworkflow = "prune"')
        one, two = kept(ENTRY + composite)
        assert one == Exemption(("svc-billing",), None, "payments", "moves in March", date(2027, 3, 31))
        assert (two.key, two.workflow) == (("eu", 7), "prune")
        assert [one.holds_on(date(2027, 3, day)) for day in (30, 31)] == [True, True]
        assert not one.holds_on(date(2027, 4, 1))

    def test_the_file_is_read_anew_at_each_call(self, write):
        """An exemption that is added now holds now."""
        folder = write()
        (folder / "kept.toml").write_text("")
        workspace = Workspace.load(folder)
        assert workspace.exemptions("kept") == ()
        (folder / "kept.toml").write_text(ENTRY)
        assert len(workspace.exemptions("kept")) == 1

    @pytest.mark.requirement("R24", "R39")
    def test_roles_are_read_anew_and_never_taken_from_before(self, write):
        """Who left the role is out at the next look; a file that can't be read is an error, not yesterday's roles."""
        root = write()
        workspace, path = Workspace.load(root), root / "fullcount.toml"
        assert workspace.roles == {"iam-admin": ("ana", "uid:1000")}
        path.write_text(path.read_text().replace('"uid:1000"', '"uid:2000"'))
        assert workspace.roles == {"iam-admin": ("ana", "uid:2000")}
        for broken in ("[roles\n", "[roles]\niam-admin = 1\n"):
            path.write_text(broken)
            with pytest.raises(WorkspaceError):
                workspace.roles  # noqa: B018 - looking is what reads
        path.unlink()
        with pytest.raises(WorkspaceError) as found:
            workspace.roles  # noqa: B018
        assert found.value.code == "FC602"


class TestAGoodFile:
    def test_it_is_found_from_any_folder_below(self, write):
        """Paths of the file are relative to the file, wherever the command runs."""
        root = write()
        (root / "workflows" / "deep").mkdir(parents=True)
        workspace = Workspace.load(root / "workflows" / "deep")
        assert (workspace.root, workspace.name) == (root.resolve(), "acme")
        assert workspace.store_url == f"sqlite:///{root.resolve()}/.fullcount/state.db"
        assert workspace.snapshot_dir == root.resolve() / ".fullcount/snapshots"
        assert workspace.connector("directory")[1].url.resolve() == f"sqlite:///{root.resolve()}/data/directory.db"
        assert workspace.connector("vcs")[1].repository == root.resolve() / "repo.git"
        assert workspace.source_names == ("directory", "vcs")
        assert workspace.roles == {"iam-admin": ("ana", "uid:1000")}

    @pytest.mark.requirement("R13", "R28")
    def test_the_catalogue_declares_what_the_configuration_allows_and_no_more(self, write):
        """A resource has the operations that were named; what may hide rows says so."""
        catalog = Workspace.load(write()).catalog()
        accounts, shown = (catalog.resources("directory")[name] for name in ("accounts", "shown"))
        assert set(accounts.operations) == {"update", "delete", "restore"}
        update, delete = accounts.operations["update"], accounts.operations["delete"]
        assert set(update.parameters) == {"id", "locked"}
        assert (update.effect, update.reversible, update.undoes) == (Effect.UPDATE, True, {"update"})
        assert (delete.effect, delete.reversible, set(delete.parameters)) == (Effect.DELETE, False, {"id"})
        assert {operation.idempotency for operation in (update, delete)} == {Idempotency.PRECONDITION}
        assert (accounts.consistency, accounts.visibility) == (Consistency.PINNED, Visibility.VOUCHED)
        assert (shown.visibility, dict(shown.operations)) == (Visibility.UNKNOWN, {})
        branches = catalog.resources("vcs")["branches"]
        assert (branches.consistency, set(branches.operations)) == (Consistency.INTERVAL, {"delete", "restore"})
        assert branches.operations["restore"].undoes == {"delete"}
        assert (catalog.roles(), catalog.exemption_lists()) == (("iam-admin",), ("kept",))

    def test_checking_needs_no_database_library(self, write):
        """Loading a workspace and its catalogue imports nothing heavy."""
        heavy = ("sqlalchemy", "pyarrow", "duckdb", "networkx", "alembic", "apscheduler", "re2", "rich", "psycopg")
        program = (
            "import sys; from pathlib import Path; from fullcount.runtime.workspace import Workspace;"
            f"Workspace.load(Path({str(write())!r})).catalog();"
            f"print([name for name in {heavy!r} if name in sys.modules])"
        )
        done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
        assert done.stdout.strip() == "[]"
