"""Deleting and restoring branches of real repositories: what must stay first, judged by the refs after."""

from __future__ import annotations

import pytest
from tests.support.repository import Branches, Repository

from fullcount.compiler.values import Cell, FieldState, present
from fullcount.runtime.connectors.base import ActCall, Outcome, SourceError
from fullcount.runtime.connectors.git import actor as actor_module
from fullcount.runtime.connectors.git.command import Git
from fullcount.runtime.evidence.codes import ActReason, Reason
from fullcount.runtime.evidence.envelope import Incompleteness


@pytest.fixture
def repository(tmp_path):
    """A repository with a branch `topic` that is not merged."""
    made = Repository.make(tmp_path / "work")
    made.branch("topic", {"a": "1\n"})
    return made


class TestWhatStays:
    @pytest.mark.requirement("R22")
    async def test_a_branch_that_moved_since_it_was_seen_stays(self, repository):
        """A new commit after the approval makes it another object."""
        call = await repository.source.call("delete", "topic")
        repository.git("checkout", "--quiet", "topic")
        moved = repository.commit(b="1\n")
        repository.git("checkout", "--quiet", "main")
        result = await repository.source.perform(call)
        assert (result.outcome, result.reason) == (Outcome.CHANGED, ActReason.PRECONDITION_FAILED)
        assert repository.sha("topic") == moved

    async def test_a_branch_that_moves_between_our_look_and_our_write_stays(self, repository, monkeypatch):
        """git itself compares the commit while it holds the ref's lock."""
        call = await repository.source.call("delete", "topic")
        update = actor_module.GitActor._update_refs

        async def late(actor, *commands):
            repository.git("update-ref", "refs/heads/topic", "main")
            return await update(actor, *commands)

        monkeypatch.setattr(actor_module.GitActor, "_update_refs", late)
        assert (await repository.source.perform(call)).outcome is Outcome.CHANGED
        assert repository.sha("topic") == repository.sha("main")
        assert repository.refs("refs/fullcount") == {}

    async def test_a_branch_that_is_gone_is_already_gone(self, repository):
        """Somebody else deleted it."""
        call = await repository.source.call("delete", "topic")
        repository.git("branch", "-D", "topic")
        assert (await repository.source.perform(call)).outcome is Outcome.ALREADY_GONE

    @pytest.mark.requirement("R28")
    @pytest.mark.parametrize("kind", ["base", "head", "worktree", "rebase", "pattern", "alias", "aliased"])
    async def test_what_somebody_needs_is_refused_whatever_the_plan_says(self, tmp_path, repository, kind):
        """The base, what is checked out or held, what the configuration protects, and what another name stands for."""
        source, name = repository.source.having(protected=["release/*"]), "topic"
        match kind:
            case "base":
                repository.git("checkout", "--quiet", "topic")
                name = "main"
            case "head":
                repository.git("checkout", "--quiet", "topic")
            case "worktree":
                repository.git("worktree", "add", "--quiet", str(tmp_path / "linked"), "topic")
            case "rebase":
                repository.commit(a="other\n")
                repository.git("checkout", "--quiet", "topic")
                repository.git("rebase", "main", check=False)
                repository.git("checkout", "--quiet", "--force", "--detach", "main")
            case "pattern":
                repository.branch(name := "release/1")
            case "alias":
                repository.git("symbolic-ref", "refs/heads/alias", "refs/heads/topic")
                name = "alias"
            case "aliased":
                repository.git("symbolic-ref", "refs/heads/alias", "refs/heads/topic")
        before = repository.refs()
        assert (await source.perform(await source.call("delete", name))).outcome is Outcome.REFUSED
        assert repository.refs() == before

    @pytest.mark.parametrize("seen", [{}, {"sha": Cell(FieldState.SOURCE_FAILED, None)}, {"sha": present("HEAD")}])
    async def test_without_the_commit_that_was_seen_nothing_is_deleted(self, repository, seen):
        """A precondition that can't be stated is a refusal."""
        call = await repository.source.call("delete", "topic", seen=seen)
        assert (await repository.source.perform(call)).outcome is Outcome.REFUSED
        assert "refs/heads/topic" in repository.refs()

    @pytest.mark.parametrize(
        "name", ["../topic", "topic\ndelete refs/heads/main", "topic\0x", "a..b", "", "topic.lock"]
    )
    async def test_a_name_that_git_could_not_have_is_refused(self, repository, name):
        """A name can't smuggle a second command into the transaction."""
        before = repository.refs()
        for operation in ("delete", "restore"):
            sha = repository.sha("topic")
            call = await repository.source.call(operation, name, seen={"sha": present(sha)}, sha=sha)
            assert (await repository.source.perform(call)).outcome is Outcome.REFUSED
        assert repository.refs() == before

    async def test_an_argument_that_names_another_branch_is_refused(self, repository):
        """The object acted on is the one that was approved."""
        call = await repository.source.call("delete", "topic")
        other = ActCall(call.resource, "delete", ("topic",), {"name": "main"}, call.expected, "key")
        assert (await repository.source.perform(other)).outcome is Outcome.REFUSED

    async def test_a_ref_that_another_process_holds_is_a_failure_with_nothing_written(self, repository):
        """git's lock is not broken."""
        call = await repository.source.call("delete", "topic")
        (repository.path / ".git/refs/heads/topic.lock").touch()
        result = await repository.source.perform(call)
        assert (result.outcome, "nothing was written" in result.detail) == (Outcome.FAILED, True)
        assert "refs/heads/topic" in repository.refs()
        assert repository.refs("refs/fullcount") == {}

    async def test_a_restore_never_moves_a_branch_that_is_there(self, repository):
        """A branch made anew since then keeps its work."""
        old = repository.sha("topic")
        await repository.source.perform(await repository.source.call("delete", "topic"))
        again = repository.branch("topic", {"z": "1\n"})
        result = await repository.source.perform(await repository.source.call("restore", "topic", seen={}, sha=old))
        assert (result.outcome, repository.sha("topic")) == (Outcome.CHANGED, again)

    @pytest.mark.parametrize("sha", ["HEAD", "main", "1" * 40, "tree", "abc"])
    async def test_a_restore_takes_only_a_whole_commit_id_that_is_there(self, repository, sha):
        """Names, short ids, other objects and missing ones are refused."""
        named = repository.sha("main^{tree}") if sha == "tree" else sha
        result = await repository.source.perform(await repository.source.call("restore", "new", seen={}, sha=named))
        assert result.outcome is Outcome.REFUSED
        assert "refs/heads/new" not in repository.refs()


class TestWhatIsDone:
    async def test_a_delete_removes_one_ref_and_keeps_its_commit_from_garbage_collection(self, repository):
        """After the harshest clean-up of git itself the branch can be restored to the very commit."""
        sha = repository.sha("topic")
        result = await repository.source.perform(await repository.source.call("delete", "topic"))
        assert (result.outcome, result.before["sha"]) == (Outcome.DONE, sha)
        assert list(repository.refs()) == ["refs/heads/main"]
        repository.git("reflog", "expire", "--expire=now", "--all")
        repository.git("gc", "--quiet", "--prune=now")
        call = await repository.source.call("restore", "topic", seen={}, sha=result.before["sha"])
        assert (await repository.source.perform(call)).outcome is Outcome.DONE
        assert repository.sha("topic") == sha

    @pytest.mark.requirement("R29")
    async def test_doing_it_twice_is_doing_it_once(self, repository):
        """A second delete finds it gone; a second restore finds it there."""
        source, sha = repository.source, repository.sha("topic")
        call = await source.call("delete", "topic")
        assert [(await source.perform(call)).outcome for _ in range(2)] == [Outcome.DONE, Outcome.ALREADY_GONE]
        call = await source.call("restore", "topic", seen={}, sha=sha)
        assert [(await source.perform(call)).outcome for _ in range(2)] == [Outcome.DONE, Outcome.DONE]
        assert repository.sha("topic") == sha

    async def test_names_that_nest_and_come_again_never_block_each_other(self, repository):
        """`a`, then `a/b`, then one named like a commit: each is deleted, and each commit is kept."""
        source, kept = repository.source, set()
        long = "x" * 200
        for name in ("a", "a/b", f"a/{repository.sha('main')}", "é.x", "-rf", "$(id)", "HEAD", long, f"{long}/y"):
            repository.git("update-ref", f"refs/heads/{name}", repository.sha("topic"))
            result = await source.perform(await source.call("delete", name))
            assert result.outcome is Outcome.DONE, result.detail
            kept.add(result.before["kept"])
            assert f"refs/heads/{name}" not in repository.refs()
        assert kept == set(repository.refs("refs/fullcount"))

    async def test_a_packed_branch_of_a_bare_repository_is_deleted_too(self, tmp_path, repository):
        """Where the ref is kept makes no difference."""
        repository.git("clone", "--quiet", "--bare", ".", str(tmp_path / "bare.git"))
        bare = Repository(tmp_path / "bare.git")
        bare.git("pack-refs", "--all")
        source = Branches({"repository": str(bare.path), "base": "main"})
        assert (await source.perform(await source.call("delete", "topic"))).outcome is Outcome.DONE
        assert list(bare.refs()) == ["refs/heads/main"]


@pytest.mark.requirement("R32")
class TestWhetherALostWriteTookEffect:
    async def test_a_delete_is_told_by_the_ref(self, repository):
        """At its commit: no. Gone: yes. At another commit: nobody can tell."""
        source = repository.source
        call = await source.call("delete", "topic")
        assert await source.took_effect(call) is False
        await source.perform(call)
        assert await source.took_effect(call) is True
        repository.branch("topic")
        assert await source.took_effect(call) is None

    async def test_a_restore_is_told_by_the_ref(self, repository):
        """Absent: no. At the commit: yes. At another: nobody can tell."""
        source, sha = repository.source, repository.sha("topic")
        await source.perform(await source.call("delete", "topic"))
        call = await source.call("restore", "topic", seen={}, sha=sha)
        assert await source.took_effect(call) is False
        await source.perform(call)
        assert await source.took_effect(call) is True
        repository.git("update-ref", "refs/heads/topic", "main")
        assert await source.took_effect(call) is None

    async def test_a_write_that_was_killed_is_unknown(self, repository, monkeypatch):
        """Whether git had moved the ref before it was killed is found by reading."""
        call = await repository.source.call("delete", "topic")
        run = Git.run

        async def killed(git, *arguments, given=b""):
            ended = await run(git, *arguments, given=given)
            if arguments[0] == "update-ref":
                raise SourceError(Incompleteness(code=Reason.TIME_BUDGET_EXCEEDED, detail="killed"))
            return ended

        monkeypatch.setattr(Git, "run", killed)
        result = await repository.source.perform(call)
        assert (result.outcome, result.reason) == (Outcome.UNKNOWN, ActReason.OUTCOME_UNKNOWN)
        assert await repository.source.took_effect(call) is True
