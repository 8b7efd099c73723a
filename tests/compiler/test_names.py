"""What names stand for: refused first, with what was probably meant."""

import pytest
from tests.support.compiling import codes, findings, only, rule_codes, underlined, with_rule, workflow

PEOPLE = "inventory people from hr.employees { key id fields { id: text } }"
PLAIN = with_rule("a.locked")


def changed(old, new, text=PLAIN):
    assert text.count(old) >= 1, old
    return text.replace(old, new)


def test_the_plain_file_has_no_finding():
    """The file that the cases below change is itself clean."""
    assert codes(PLAIN) == []


@pytest.mark.parametrize(
    ("old", "new", "code", "help_text"),
    [
        ("from directory.accounts", "from directry.accounts", "FC102", "did you mean `directory`?"),
        ("from directory.accounts", "from directory.acounts", "FC103", "did you mean `accounts`?"),
        ("from directory.accounts", "from directory", "FC103", "known resources: `accounts`"),
        ("team: text", "taem: text", "FC104", "did you mean `team`?"),
        ("logins: int", "logins: text", "FC105", "write `logins: int`"),
        ("owner: text?", "owner: text", "FC105", "write `owner: text?`"),
        ("key id", "key team", "FC106", "write `key id`"),
        ("key id", "key (id, team)", "FC106", "write `key id`"),
        ("incarnation entry_uuid", "", "FC107", "add to the inventory:  incarnation entry_uuid"),
        ("incarnation entry_uuid", "incarnation team", "FC107", "write `incarnation entry_uuid`"),
        ("from accounts as a", "from acounts as a", "FC108", "did you mean `accounts`?"),
        ("where a.locked", "where b.locked", "FC109", "known rows: `a`"),
        ("where a.locked", "where accounts.locked", "FC109", "a row of `accounts` is called `a` here"),
        ("where a.locked", "where locked", "FC109", "a field is written with its row: `a.locked`"),
        ("where a.locked", "where a.locked.x", "FC109", "write `a.locked`"),
        ("where a.locked", 'where a.tags.env == "x"', "FC109", 'a key of a map is written `a.tags["env"]`'),
        ("where a.locked", "where a.lokced", "FC110", "did you mean `locked`?"),
        ("where a.locked", "where a.revision > 1", "FC110", "add `revision: int` to the fields of `accounts`"),
        ("directory.update(id: a.id, locked: true)", "directory.updat(id: a.id, locked: true)", "FC113", "`update`?"),
        ("undo directory.update(id: a.id, locked: false)", "undo vcs.restore(name: a.id)", "FC114", "`update`"),
        ("directory.update(id: a.id, locked: true)", "directory.branches.update(id: a.id, locked: true)", "FC113", ""),
        ("locked: true)", "lock: true)", "FC115", "add `locked: …`"),
        ("(id: a.id, locked: true)", "(locked: true)", "FC115", "add `id: a.id`"),
        ("locked: true)", "locked: true, locked: true)", "FC101", "remove one of them"),
        ("(id: a.id, locked: true)", "(id: a.team, locked: true)", "FC116", "write `id: a.id`"),
        ("(id: a.id, locked: true)", '(id: "root", locked: true)', "FC116", "write `id: a.id`"),
        ("(id: a.id, locked: true)", "(id: lower(a.id), locked: true)", "FC116", "write `id: a.id`"),
        ("locked: true)", 'locked: "yes")', "FC201", ""),
        ("locked: true)", "locked: a.protected)", "FC202", "a.protected else …"),
        ("undo directory.update(id: a.id, locked: false)", "undo directory.delete(id: a.id)", "FC117", "`update`"),
        ("(id: a.id, locked: false)", "(id: a.id, locked: true)", "FC117", "give `locked` the value that it had"),
        ("limit 50", "except in exemption limit 50", "FC119", "did you mean `exemptions`?"),
        ('role "iam-admin"', 'role "iam-admn"', "FC120", "did you mean `iam-admin`?"),
        ("complete, fresh", "complete, count agrees with hr.employees, fresh", "FC121", "`hr.headcount`"),
        ("where a.locked", 'where lowre(a.team) == "x"', "FC118", "did you mean `lower`?"),
        ("where a.locked", "where some peopel as p where (p.id == a.team)", "FC108", ""),
    ],
)  # fmt: skip
def test_a_name_that_stands_for_nothing_is_refused_with_what_was_meant(old, new, code, help_text):
    """Every kind of name that is unknown, misplaced or wrong is one error with a way on."""
    found = [f for f in findings(changed(old, new)) if f.code == code]
    assert found != []
    assert all(f.severity == "error" for f in found)
    assert help_text in found[0].help


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("verify accounts {", "verify accounts { complete }\n  verify accounts {"),
        ("approve disable {", 'approve disable { 1 of role "ops", expires after 1d }\n  approve disable {'),
        ("team: text,", "team: text, team: text,"),
        ("act disable with", "act disable with directory.delete(id: a.id)\n  act disable with"),
        ("propose disable from", "propose disable from accounts as b { where b.locked }\n  propose disable from"),
        ("inventory accounts from", f"{PEOPLE.replace('people', 'accounts')}\n  inventory accounts from"),
        ("  \n  inventory", "  param x: int = 1\n  param x: int = 2\n  inventory"),
        ("workflow tidy {", f"workflow tidy {{ {PEOPLE} }}\nworkflow tidy {{"),
    ],
)  # fmt: skip
def test_nothing_is_declared_twice(old, new):
    """A second declaration of one name is an error that shows the first."""
    found = [f for f in findings(changed(old, new)) if f.code == "FC101"]
    assert len(found) == 1
    assert "declared twice" in found[0].message
    assert len(found[0].labels) == 1


def test_fields_that_differ_in_case_only_are_refused():
    """A snapshot can't hold both, and one of them would answer for the other."""
    text = with_rule("a.locked").replace("owner: text?", "owner: text?, OWNER: text?", 1)
    found = [each for each in findings(text) if each.code == "FC101"]
    assert len(found) == 1
    assert "upper and lower case" in found[0].message


@pytest.mark.parametrize(
    "rule",
    [
        'some people as a where (a.id == "x")',
        'some people as p where (p.active and no logins as p where (p.account == "x"))',
        "some people as idle where (idle.active)",
    ],
)
def test_a_row_never_shadows_another_name(rule):
    """A row named like an enclosing row or a parameter is an error."""
    assert "FC111" in rule_codes(rule + " and a.session > idle", params="param idle: duration = 90d")


def test_a_parameter_never_hides_a_field():
    """A bare name in a scope that is both a field and a parameter is an error."""
    text = with_rule("a.locked", params="param locked: bool = true").replace("key id", "key id scope locked", 1)
    assert codes(text) == ["FC111"]


def test_what_nothing_uses_is_warned_of():
    """An unused inventory and an unused parameter are warnings, and the program is made."""
    text = with_rule(
        "a.locked",
        params=f"param idle: duration = 90d\n  {PEOPLE}",
    )
    assert codes(text) == ["FC123", "FC122"]
    assert workflow(text).params[0].default == 90 * 86_400_000_000


@pytest.mark.requirement("R24")
def test_an_act_without_an_approval_does_not_compile():
    """There is no act that nobody was asked about."""
    text = changed('  approve disable { 2 of role "iam-admin" not by author, expires after 3d }\n', "")
    assert codes(text) == ["FC401"]
    assert underlined(text) == "disable"


def test_a_proposal_without_approval_and_act_is_a_report():
    """A report compiles; it needs no limit."""
    report = PLAIN[: PLAIN.index("  approve disable")].replace("limit 50, 5%", "") + "}\n"
    assert codes(report) == []
    assert workflow(report).acts == ()


def test_an_operation_may_be_named_with_its_resource():
    """`source.resource.operation` means the same as `source.operation`."""
    longer = changed("with directory.update", "with directory.accounts.update")
    assert workflow(longer) == workflow(PLAIN)


@pytest.mark.requirement("R28")
def test_an_act_is_reversible_only_with_an_undo_that_takes_it_back():
    """The program says of each act whether it can be taken back."""
    (with_undo,) = workflow(PLAIN).acts
    assert with_undo.call.reversible
    assert with_undo.undo is not None
    (without,) = workflow(changed("{\n    undo directory.update(id: a.id, locked: false)\n  }", "")).acts
    assert not without.call.reversible
    assert without.undo is None


def test_one_person_alone_for_an_irreversible_act_is_warned_of():
    """An act that can't be taken back should not hang on one person."""
    text = changed("{\n    undo directory.update(id: a.id, locked: false)\n  }", "").replace("2 of role", "1 of role")
    assert only(text).code == "FC405"
    assert codes(changed("2 of role", "1 of role")) == []


def test_a_file_without_a_workflow_is_refused():
    """Empty is never a decision to do nothing."""
    assert codes("# nothing\n") == ["FC124"]


@pytest.mark.parametrize(
    ("edits", "expected"),
    [
        ([("approve disable", "approve disabel")], ["FC112"]),
        ([("act disable", "act disabel")], ["FC112"]),
        ([("approve disable", "approve disabel"), ('role "iam-admin"', 'role "iam-admn"')], ["FC112", "FC120"]),
    ],
)
def test_an_approval_or_act_of_a_proposal_that_is_not_there_is_one_mistake(edits, expected):
    """That the proposal it was meant for then lacks one is no second mistake, and hides none."""
    text = PLAIN
    for old, new in edits:
        assert old in text
        text = text.replace(old, new)
    assert codes(text) == expected
