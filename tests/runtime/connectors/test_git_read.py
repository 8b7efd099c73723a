"""Listing branches of real repositories: what git would leave out without a word first."""

from __future__ import annotations

import os
import shutil
import tempfile
from contextlib import contextmanager
from pathlib import Path

import pytest
from tests.support.repository import Branches, Repository

from fullcount.compiler.claims import Consistency
from fullcount.compiler.values import ABSENT, FieldState, present
from fullcount.runtime.connectors.base import Existence, SourceError
from fullcount.runtime.connectors.git import listing
from fullcount.runtime.connectors.git.command import Git
from fullcount.runtime.connectors.git.reader import END
from fullcount.runtime.evidence.codes import Reason, Way

NOBODY = 65534


@pytest.fixture
def repository(tmp_path):
    """A repository with one commit on `main`."""
    return Repository.make(tmp_path / "work")


@pytest.fixture
def seen_by_nobody():
    """A repository in a folder that every user of the machine may enter."""
    folder = Path(tempfile.mkdtemp(prefix="fullcount-refs-"))
    folder.chmod(0o755)
    yield Repository.make(folder / "work")
    shutil.rmtree(folder)


@contextmanager
def acting_as_nobody():
    """Give up root's right to enter every folder; who is not root has none to give up."""
    if os.geteuid() != 0:
        yield
        return
    os.seteuid(NOBODY)
    try:
        yield
    finally:
        os.seteuid(0)


class TestWhatFails:
    @pytest.mark.parametrize("kind", ["missing", "empty", "file"])
    async def test_a_folder_that_is_no_repository_is_never_an_empty_one(self, tmp_path, repository, kind):
        """Nothing is searched upwards: a folder inside of a repository is not that repository."""
        path = repository.path / "inside"
        if kind == "empty":
            path.mkdir()
        if kind == "file":
            path.write_text("x")
        with pytest.raises(SourceError) as caught:
            await Branches({"repository": str(path), "base": "main"}).reader()
        assert caught.value.reason.code is Reason.SOURCE_UNAVAILABLE
        assert caught.value.reason.data["finding"] == "FC613"

    async def test_a_repository_without_its_base_branch_lists_nothing_at_all(self, repository):
        """Without a base nothing can be said to be merged, so the answer is an error, not an empty list."""
        with pytest.raises(SourceError, match="no branch `trunk`"):
            await repository.source.having(base="trunk").read_all()

    async def test_an_unborn_repository_is_an_error(self, tmp_path, repository):
        """A repository without a commit has no base branch."""
        repository.git("init", "--quiet", "--bare", str(tmp_path / "new"))
        with pytest.raises(SourceError):
            await Branches({"repository": str(tmp_path / "new"), "base": "main"}).read_all()

    @pytest.mark.requirement("R36")
    async def test_a_broken_ref_that_git_skips_with_a_warning_makes_the_read_fail(self, repository):
        """git ends well and lists the rest; the one it could not read may be the one that matters."""
        repository.branch("kept")
        (repository.path / ".git/refs/heads/broken").write_text("not a commit\n")
        with pytest.raises(SourceError) as caught:
            await repository.source.read_all()
        assert caught.value.reason.code is Reason.MALFORMED_RESPONSE

    async def test_a_branch_whose_commit_is_missing_makes_the_read_fail(self, repository):
        """A ref to an object that is not there can't be judged."""
        (repository.path / ".git/refs/heads/lost").write_text("1" * 40 + "\n")
        with pytest.raises(SourceError) as caught:
            await repository.source.read_all()
        assert caught.value.reason.code is Reason.MALFORMED_RESPONSE

    @pytest.mark.requirement("R3", "R36")
    async def test_a_folder_of_refs_that_can_not_be_entered_is_restricted_visibility(self, seen_by_nobody):
        """git lists what is left without a word and ends well; the reader does not."""
        seen_by_nobody.branch("team/one")
        hidden = seen_by_nobody.path / ".git/refs/heads/team"
        hidden.chmod(0)
        with acting_as_nobody():
            listed = await Git(seen_by_nobody.path / ".git", 10).run(
                "for-each-ref", "--format=%(refname)", "refs/heads"
            )
            with pytest.raises(SourceError) as caught:
                await seen_by_nobody.source.read_all()
        assert (listed.code, listed.errors, listed.output) == (0, "", b"refs/heads/main\n")
        assert caught.value.reason.code is Reason.VISIBILITY_RESTRICTED

    async def test_branches_that_keep_changing_are_never_one_state(self, repository, monkeypatch):
        """Two listings in a row must agree; where they never do, the read fails and may be tried again."""
        read, count = listing._read, iter(range(1000))

        async def changing(git, *refs):
            repository.git("branch", f"b{next(count)}")
            return await read(git, *refs)

        monkeypatch.setattr(listing, "_read", changing)
        with pytest.raises(SourceError) as caught:
            await repository.source.read_all()
        assert (caught.value.reason.code, caught.value.retryable) == (Reason.SNAPSHOT_CHANGED, True)
        assert caught.value.continuation.way is Way.RESTART

    @pytest.mark.requirement("R16")
    async def test_git_over_its_time_is_killed_and_said(self, repository):
        """The time of one call is bounded."""
        with pytest.raises(SourceError) as caught:
            await repository.source.having(timeout=0.000001).reader()
        assert caught.value.reason.code is Reason.TIME_BUDGET_EXCEEDED

    async def test_a_name_that_is_not_text_makes_the_read_incomplete(self, repository):
        """The branch is counted, can't be listed, and is told."""
        packed = repository.path / ".git/packed-refs"
        packed.write_bytes(b"# pack-refs with: sorted\n" + repository.sha("main").encode() + b" refs/heads/\xff\xfe\n")
        read = await repository.source.read_all()
        assert (read.keys, read.codes) == (["main"], [Reason.MALFORMED_RESPONSE])
        assert await (await repository.source.reader()).count(repository.source.resource) == 2


class TestTheEnvironment:
    @pytest.mark.requirement("R27")
    async def test_variables_of_the_environment_never_choose_another_repository(
        self, tmp_path, repository, monkeypatch
    ):
        """`GIT_DIR` and its kin belong to whoever set them, not to the source."""
        other = Repository.make(tmp_path / "other")
        other.branch("elsewhere")
        for name in ("GIT_DIR", "GIT_COMMON_DIR", "GIT_OBJECT_DIRECTORY", "GIT_NAMESPACE", "GIT_CONFIG_COUNT"):
            monkeypatch.setenv(name, str(other.path / ".git"))
        assert (await repository.source.read_all()).keys == ["main"]

    async def test_a_replaced_commit_does_not_make_a_branch_look_merged(self, repository):
        """Replacement refs and grafts can put any commit into any history; both are ignored."""
        tip = repository.branch("topic", {"a": "1"})
        repository.commit(b="2")
        repository.git("replace", "--graft", "main", "main~1", tip)
        (repository.path / ".git/info").mkdir(exist_ok=True)
        (repository.path / ".git/info/grafts").write_text(f"{repository.sha('main')} {tip}\n")
        assert (await repository.source.facts("merged"))["topic"] == (False,)


class TestWhatIsListed:
    @pytest.mark.requirement("R1", "R2", "R13")
    async def test_every_branch_is_listed_with_the_end_marker_of_two_equal_listings(self, repository):
        """Loose and packed refs are one list, whatever the page size; its guarantee is an interval."""
        for number in range(7):
            repository.branch(f"b{number}")
            if number == 3:
                repository.git("pack-refs", "--all")
        read = await repository.source.read_all(page_rows=3)
        assert [page.rows for page in read.pages] == [3, 3, 2]
        assert (read.end, read.total, read.codes) == (END, 8, [])
        assert (read.info.consistency, read.info.visibility) == (Consistency.INTERVAL, "all")

    async def test_what_a_branch_is_comes_from_its_last_commit(self, repository):
        """Author, e-mail and committer date, and the upstream as it is configured."""
        sha = repository.branch("topic", {"a": "1"})
        repository.git("config", "branch.topic.remote", ".")
        repository.git("config", "branch.topic.merge", "refs/heads/main")
        row = next(row for row in (await repository.source.read_all()).rows if row["name"] == "topic")
        assert (row["sha"], row["author"], row["author_email"]) == (sha, "Ana", "ana@example.org")
        assert (row["upstream"], row["last_commit"].tzinfo is not None) == ("main", True)
        assert (await repository.source.see("main"))["upstream"] == ABSENT

    async def test_names_that_look_like_options_commands_or_sql_are_only_names(self, repository):
        """Every name that git allows is listed and can be read."""
        names = [
            "-rf",
            "--all",
            "$(id)",
            "`id`",
            "a;b",
            "a'b\"c",
            "a|b",
            "%00%(refname)",
            "é中😀",
            "refs/heads/x",
            "HEAD",
        ]
        for name in names:
            repository.git("update-ref", f"refs/heads/{name}", "main")
        source = repository.source
        assert set((await source.read_all()).keys) == {"main", *names}
        for name in names:
            assert (await source.see(name))["name"] == present(name)

    async def test_a_bare_repository_and_a_linked_work_tree_are_the_same_kind_of_source(self, tmp_path, repository):
        """The branches are those of the repository, wherever it is looked at from."""
        repository.branch("topic", {"a": "1"})
        repository.git("clone", "--quiet", "--bare", ".", str(tmp_path / "bare.git"))
        repository.git("worktree", "add", "--quiet", str(tmp_path / "linked"), "-b", "linked")
        bare = Branches({"repository": str(tmp_path / "bare.git"), "base": "main"})
        linked = Branches({"repository": str(tmp_path / "linked"), "base": "main"})
        assert (await bare.read_all()).keys == ["main", "topic"]
        assert (await linked.read_all()).keys == ["linked", "main", "topic"]
        one, other = await (await linked.reader()).identity(), await (await repository.source.reader()).identity()
        assert one == other

    async def test_what_is_in_use_is_checked_out(self, tmp_path, repository):
        """HEAD, the branch of another work tree, and one in the middle of a rebase."""
        repository.branch("topic", {"readme": "mine\n"})
        repository.branch("other")
        repository.branch("free")
        repository.commit(readme="theirs\n")
        repository.git("worktree", "add", "--quiet", str(tmp_path / "linked"), "other")
        repository.git("checkout", "--quiet", "topic")
        repository.git("rebase", "main", check=False)
        facts = await repository.source.facts("checked_out", "protected")
        assert facts["topic"] == facts["other"] == (True, True)
        assert facts["free"] == (False, False)

    async def test_protected_is_what_delete_would_refuse(self, repository):
        """The base, patterns of the configuration, and what another name stands for."""
        for name in ("release/1", "real", "free"):
            repository.branch(name)
        repository.git("symbolic-ref", "refs/heads/alias", "refs/heads/real")
        facts = await repository.source.having(protected=["release/*"]).facts("is_base", "protected")
        assert {name for name, (_, protected) in facts.items() if protected} == {"main", "release/1", "real", "alias"}
        assert facts["main"] == (True, True)


class TestMerged:
    async def merged(self, repository, *names):
        facts = await repository.source.facts("merged", "merged_by_content")
        return [facts[name] for name in names]

    async def test_what_is_not_in_the_base_is_not_merged(self, repository):
        """Neither an open branch, nor one of which only a part was picked, nor one without a common history."""
        repository.branch("open", {"a": "1\n"})
        repository.branch("partly", {"b": "1\n"}, {"c": "1\n"})
        repository.git("cherry-pick", "partly~1")
        repository.git("checkout", "--quiet", "--orphan", "stranger")
        repository.commit(readme="hello\n")
        repository.git("checkout", "--quiet", "main")
        assert await self.merged(repository, "open", "partly", "stranger") == [(False, False)] * 3

    async def test_a_squash_that_differs_in_blanks_is_not_the_same_content(self, repository):
        """git's own patch ids would take a re-indented change for the same."""
        repository.branch("topic", {"code": "if x:\n    y()\n    z()\n"})
        repository.commit(code="if x:\n    y()\nz()\n")
        assert await self.merged(repository, "topic") == [(False, False)]

    async def test_a_squash_that_was_edited_is_not_the_same_content(self, repository):
        """One line more or less is another change."""
        repository.branch("topic", {"a": "1\n2\n"})
        repository.commit(a="1\n2\n3\n")
        assert await self.merged(repository, "topic") == [(False, False)]

    async def test_work_that_a_merge_commit_of_the_branch_holds_is_not_overlooked(self, repository):
        """A merge may hold changes of its own, which none of the branch's patches shows."""
        repository.branch("topic", {"a": "1\n"})
        repository.commit(b="1\n")
        repository.git("checkout", "--quiet", "topic")
        repository.git("merge", "--quiet", "--no-commit", "main")
        repository.commit(evil="only here\n")
        repository.git("checkout", "--quiet", "main")
        repository.git("cherry-pick", "topic~1")
        assert await self.merged(repository, "topic") == [(False, False)]

    async def test_binary_files_of_other_content_are_other_changes(self, repository):
        """Names and sizes are not enough: the bytes count."""
        repository.branch("topic", {})
        repository.git("checkout", "--quiet", "topic")
        (repository.path / "image").write_bytes(b"\0\1\2\3")
        repository.commit()
        repository.git("checkout", "--quiet", "main")
        (repository.path / "image").write_bytes(b"\0\1\2\4")
        repository.commit()
        assert await self.merged(repository, "topic") == [(False, False)]

    async def test_an_ancestor_of_the_base_is_merged(self, repository):
        """By a merge commit, by fast-forward, and a branch that never left."""
        repository.branch("merged", {"a": "1\n"})
        repository.git("merge", "--quiet", "--no-ff", "-m", "merge", "merged")
        repository.branch("forward", {"b": "1\n"})
        repository.git("merge", "--quiet", "--ff-only", "forward")
        repository.branch("untouched", start="main~1")
        assert await self.merged(repository, "merged", "forward", "untouched") == [(True, True)] * 3

    async def test_a_squash_merge_is_merged_by_content(self, repository):
        """Several commits of the branch are one of the base, though the base went on before and after."""
        repository.branch("topic", {"a": "1\n"}, {"a": "1\n2\n", "b": "x\n"})
        repository.commit(c="1\n")
        repository.git("merge", "--quiet", "--squash", "topic")
        repository.commit("squashed")
        repository.commit(d="1\n")
        assert await self.merged(repository, "topic") == [(False, True)]
        assert (await repository.source.see("topic"))["merged_by_content"] == present(True)

    async def test_a_squash_merge_after_the_base_was_merged_into_the_branch_is_merged_by_content(self, repository):
        """The usual way to bring a branch up to date before it is squashed."""
        repository.branch("topic", {"a": "1\n"})
        repository.commit(c="1\n")
        repository.git("checkout", "--quiet", "topic")
        repository.git("merge", "--quiet", "-m", "update", "main")
        repository.git("checkout", "--quiet", "main")
        repository.git("merge", "--quiet", "--squash", "topic")
        repository.commit("squashed")
        assert await self.merged(repository, "topic") == [(False, True)]

    async def test_a_rebase_merge_is_merged_by_content(self, repository):
        """Each commit of the branch is in the base under another id."""
        repository.branch("topic", {"a": "1\n"}, {"b": "1\n"})
        repository.commit(c="1\n")
        repository.git("cherry-pick", "topic~1", "topic")
        assert await self.merged(repository, "topic") == [(False, True)]

    async def test_a_branch_whose_changes_cancel_out_has_nothing_to_merge(self, repository):
        """From the parting to its end it changed nothing."""
        repository.branch("topic", {"a": "1\n"})
        repository.git("checkout", "--quiet", "topic")
        repository.git("revert", "--no-edit", "HEAD")
        repository.git("checkout", "--quiet", "main")
        repository.commit(c="1\n")
        assert await self.merged(repository, "topic") == [(False, True)]

    @pytest.mark.requirement("R7")
    async def test_in_a_shallow_clone_what_is_not_found_merged_is_indeterminate(self, tmp_path, repository):
        """The history that would show it was cut off."""
        repository.branch("topic", {"a": "1\n"})
        repository.commit(c="1\n")
        repository.git(
            "clone",
            "--quiet",
            "--bare",
            "--depth=1",
            "--no-single-branch",
            f"file://{repository.path}",
            str(tmp_path / "cut"),
        )
        read = await Branches({"repository": str(tmp_path / "cut"), "base": "main"}).read_all()
        assert read.keys == ["main", "topic"]
        assert read.states("merged") == [None, FieldState.INDETERMINATE]

    async def test_telling_whether_a_branch_is_merged_writes_nothing(self, repository):
        """A reader leaves the repository as it was, objects included."""
        repository.branch("topic", {"a": "1\n"})
        repository.git("merge", "--quiet", "--squash", "topic")
        repository.commit("squashed")
        before = sorted(path for path in (repository.path / ".git").rglob("*"))
        await repository.source.read_all()
        assert before == sorted(path for path in (repository.path / ".git").rglob("*"))


class TestSingleBranches:
    async def test_a_name_that_git_could_not_have_is_gone(self, repository):
        """Neither a pattern nor a path finds another branch."""
        repository.branch("team/one")
        reader = await repository.source.reader()
        for name in ("none", "team", "team/*", "*", "", "..", "a b", "main\0", "main\nx", "team/one.lock"):
            reading = await reader.read(repository.source.resource, (name,), ("sha",))
            assert reading.existence is Existence.GONE

    async def test_a_look_up_finds_equal_and_absent_values(self, repository):
        """Branches without an upstream are told too."""
        repository.branch("topic")
        repository.git("config", "branch.topic.remote", ".")
        repository.git("config", "branch.topic.merge", "refs/heads/main")
        matches = await (await repository.source.reader()).lookup(
            repository.source.resource, "upstream", "main", ("name",)
        )
        assert ([row["name"].value for row in matches.rows], matches.complete) == (["main", "topic"], True)
        matches = await (await repository.source.reader()).lookup(
            repository.source.resource, "name", "topic", ("name",)
        )
        assert [row["name"].value for row in matches.rows] == ["topic"]


async def test_a_command_never_goes_through_a_shell(tmp_path, repository):
    """What a shell would run is an argument like any other."""
    ended = await Git(repository.path / ".git", 10).run(
        "rev-parse", "--verify", f"$(touch {tmp_path}/made); touch {tmp_path}/made"
    )
    assert ended.code != 0
    assert not (tmp_path / "made").exists()
