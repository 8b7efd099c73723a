"""Each clause: what it is read as, and how it is refused when repeated, missing or of the wrong kind."""

from __future__ import annotations

from decimal import Decimal

import pytest
from tests.support.language import codes, file_of, findings, shape, shown, snapshot, workflow

from fullcount.dsl import keywords

DAY = 86_400_000_000

INVENTORY = "inventory i from s.r {{ key id fields {{ id: text }} {} }}"
PROPOSE = "propose p from i as a {{ where all {} }}"
ACT = "act p with s.op(id: a.id) {{ {} }}"
VERIFY = "verify i {{ {} }}"
APPROVE = "approve p {{ {} }}"


def _in_workflow(inside: str) -> str:
    return f"workflow w {{\n{inside}\n}}\n"


# ---------------------------------------------------------------------------------------------- as written


@pytest.mark.requirement("R41")
def test_design_sample_is_read_as_the_stored_tree():
    """The sample of the design, clause by clause."""
    from tests.support.language import outline

    assert outline(file_of(snapshot("design_sample.fcw"))) == snapshot("design_sample.txt")


@pytest.mark.parametrize(
    ("clause", "expected"),
    [
        ('schedule cron "0 2 * * *"', "cron='0 2 * * *', every=None, timezone=None, catch_up=None"),
        ('schedule cron "x" timezone "UTC"', "cron='x', every=None, timezone='UTC', catch_up=None"),
        ("schedule every 6h", f"cron=None, every={DAY // 4}, timezone=None, catch_up=None"),
        ('schedule every 1d timezone "UTC" catch up within 4h', f"every={DAY}, timezone='UTC', catch_up={DAY // 6}"),
    ],
)
def test_schedule_is_read_as(clause: str, expected: str):
    """Exactly one of `cron` and `every`, the rest optional."""
    assert expected in shape(workflow(clause).schedule)


def test_texts_of_a_workflow_are_decoded():
    """`describe` and `owner` hold what was written, escapes resolved."""
    built = workflow('describe "a \\"b\\"" owner "\\u{e9}"')
    assert (built.describe, built.owner) == ('a "b"', "é")


@pytest.mark.parametrize(
    ("clause", "expected"),
    [
        (
            "param x: int",
            "ParamDecl(name=x, type=TypeName(name='int', arguments=[], fields=[], optional=False), default=None)",
        ),
        ("param x: duration = 90d", f"default=duration:{90 * DAY})"),
        ('param x: list<text> = ["a"]', "TypeName(name='list', arguments=[TypeName(name='text', arguments=[], "),
        ("param x: map<list<int>>? = y", "optional=True), default=y)"),
        ("param x: id of hr.employees?", "optional=True, of=hr.employees)"),
        ("param x: record { a: text, b: record { c: int? }, }", "fields=[FieldDecl(name=a, "),
    ],
)
def test_parameter_is_read_as(clause: str, expected: str):
    """Types as written, default or none."""
    assert expected in shape(workflow(clause).params[0])


def test_key_is_one_name_or_several_in_parentheses():
    """A key may have several parts."""
    one = workflow(INVENTORY.format(""))
    several = workflow("inventory i from s.r { key (repo, name,) fields { id: text } }")
    assert shape(one.inventories[0].key) == "[id]"
    assert shape(several.inventories[0].key) == "[repo, name]"


def test_inventory_takes_several_expectations_and_clauses_in_any_order():
    """`expect` may be repeated; nothing depends on order."""
    built = workflow(
        "inventory i from s.r { expect id == 1 fields { id: int } deadline 5m expect id == 2 scope x key id }"
    )
    assert shape(built.inventories[0].expects) == "[(== id int:1), (== id int:2)]"
    assert built.inventories[0].deadline == 300_000_000


@pytest.mark.parametrize(
    ("claim", "kind", "value"),
    [
        ("complete", "complete", None),
        ("fresh within 1h", "fresh", DAY // 24),
        ("snapshot pinned", "snapshot", "pinned"),
        ("snapshot interval", "snapshot", "interval"),
        ("visibility all", "visibility", "all"),
        ("rows at least 0", "rows", 0),
        ("change at most 2.5%", "change", Decimal("2.5")),
    ],
)
@pytest.mark.parametrize("after", ["", ","])
def test_claim_is_read_as(claim: str, kind: str, value: object, after: str):
    """Each claim alone, with and without a trailing comma; zero stays zero."""
    (built,) = workflow(VERIFY.format(claim + after)).verifies[0].claims
    assert (built.kind, built.value, built.agrees) == (kind, value, None)


def test_count_claim_names_what_it_agrees_with():
    """`count agrees with` takes a resource."""
    (built,) = workflow(VERIFY.format("count agrees with a.b.c")).verifies[0].claims
    assert (built.kind, shape(built.agrees)) == ("count", "a.b.c")


@pytest.mark.parametrize(
    ("across", "expected"),
    [
        ('region in ["a", "b"]', '[PartitionDecl(name=region, values=["a", "b"], listed=None)]'),
        ("account in b.id", "[PartitionDecl(name=account, values=None, listed=b.id)]"),
        ("x in [], y in b.id", "[PartitionDecl(name=x, values=[], listed=None), PartitionDecl(name=y, "),
    ],
)
def test_parts_are_read_as(across: str, expected: str):
    """Values that are written out, or a field of another inventory."""
    (built,) = workflow(f"inventory i from s.r across {across} {{ key id fields {{ id: text }} }}").inventories
    assert expected in shape(built.across)


@pytest.mark.parametrize(
    "across", ["", "region", "region == 1", "region in", 'region in "a"', 'in ["a"]', 'a in ["b"] across c in ["d"]']
)
def test_parts_in_any_other_form_are_refused(across: str):
    """A part that can't be read would not be read."""
    found = codes(f"workflow w {{ inventory i from s.r across {across} {{ key id }} }}")
    assert len(found) > 0


@pytest.mark.parametrize(
    ("clause", "expected"),
    [
        ("limit 0", "LimitDecl(count=0, percent=None)"),
        ("limit 50, 5%", "LimitDecl(count=50, percent=5)"),
        ("limit 0.5%, 50", "LimitDecl(count=50, percent=0.5)"),
        ("except in l except when a.x except in m", "ExceptDecl(list_name=None, condition=a.x)"),
        ("show a.x, a.y + 1", "show=[a.x, (+ a.y int:1)]"),
        (
            "keep at least 3 per a.x newest by a.y else a.z",
            "KeepDecl(count=3, per=a.x, order='newest', by=(else a.y a.z))",
        ),
        ("bounded limit 5", "bounded=BoundedDecl()"),
        (
            "pick oldest 10 per a.x by a.y limit 5",
            "PickDecl(count=10, percent=None, at_most=None, order='oldest', per=a.x, by=a.y, seed=None)",
        ),
        (
            'pick 2.5% at random seed "q4", at most 15 per a.x',
            "PickDecl(count=None, percent=2.5, at_most=15, order='random', per=a.x, by=None, seed='q4')",
        ),
        (
            'pick 10 at random seed "q4" pick newest 2 by a.y',
            "PickDecl(count=10, percent=None, at_most=None, order='random', per=None, by=None, seed='q4'), PickDecl(",
        ),
        ("keep at least 1 oldest by a.y show a.x", "KeepDecl(count=1, per=None, order='oldest', by=a.y)"),
        ("keep at least 1 newest by a.y keep at least 2 per a.x oldest by a.y", "KeepDecl(count=2, per=a.x, "),
    ],
)
def test_clause_of_a_proposal_is_read_as(clause: str, expected: str):
    """`limit 0` means none and is kept as zero, a missing half as None."""
    assert expected in shape(workflow(PROPOSE.format(clause)).proposals[0])


@pytest.mark.parametrize(
    ("rules", "expected"),
    [
        ('1 of role "a"', "quorums=[QuorumDecl(count=1, role='a', not_by_author=False)], expires=None"),
        (
            '2 of role "a" not by author, 1 of role "b", expires after 3d,',
            "QuorumDecl(count=1, role='b', not_by_author=False)]",
        ),
        ('expires after 3d, 1 of role "a"', f"expires={3 * DAY}"),
        (
            'automatically when reversible and count <= 5, otherwise 1 of role "a"',
            "automatic=AutomaticDecl(count=5, percent=None, reversible=True)",
        ),
        (
            'automatically when percent <= 0.5%, otherwise 1 of role "a", 1 of role "b"',
            "automatic=AutomaticDecl(count=None, percent=0.5, reversible=False)",
        ),
    ],
)
def test_approval_is_read_as(rules: str, expected: str):
    """One or more quorums, an optional life."""
    assert expected in shape(workflow(APPROVE.format(rules)).approvals[0])


@pytest.mark.parametrize(
    ("clause", "expected"),
    [
        ("", "undo=None, rate=None, concurrency=None, stop=None"),
        ("undo s.op(id: 1, key: 2,)", "undo=OperationCall(operation=s.op, arguments=[Argument(name=id, value=int:1), "),
        ("rate 10 per minute", "RateDecl(count=10, per='minute')"),
        ("rate 10 per hour", "RateDecl(count=10, per='hour')"),
        ("concurrency 4", "concurrency=4"),
        ("stop after 1 failure", "StopDecl(failures=1, percent=None)"),
        ("stop after 3 failures or 1%", "StopDecl(failures=3, percent=1)"),
        ("stop after 1%", "StopDecl(failures=None, percent=1)"),
        ("backup kept for 30d", "backup=BackupDecl(kept=2592000000000)"),
        ("cascades within limit", "cascades=CascadesDecl()"),
        ("canary 5 then wait 15m", "canary=CanaryDecl(count=5, wait=900000000, then=None)"),
        ("canary 5 then wait 15m then at most 0 of s.t.r", "then=AtMostDecl(count=0, resource=s.t.r))"),
        ("rehearse restore", "rehearse=RehearseDecl()"),
        ('window "Mon 09:00-16:00"', "windows=[WindowDecl(text='Mon 09:00-16:00', timezone=None)]"),
        ('window "a" timezone "UTC" window "b"', "WindowDecl(text='a', timezone='UTC'), WindowDecl(text='b', "),
    ],
)
def test_clause_of_an_act_is_read_as(clause: str, expected: str):
    """Each clause of `act`, and none."""
    assert expected in shape(workflow(ACT.format(clause)).acts[0])


def test_protection_is_read_as():
    """Name, resource, row, condition and reason, outside of any workflow."""
    one, other = "protect p from s.r as a where (a.x)", "protect q from s.r as a where (all)"
    file = file_of(f'{one} because "b"\nworkflow w {{ }}\n{other} because "c"')
    first, second = file.protects
    assert shape(first) == "ProtectDecl(name=p, resource=s.r, row=a, where=a.x, because='b')"
    assert shape(second.where) == "all"
    assert [each.name.text for each in file.workflows] == ["w"]


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ('protect p from s.r as a where (a.x) because ""', "FC004"),
        ('protect p from s.r as a where (a.x) because "  "', "FC004"),
        ("protect p from s.r as a where (a.x)", "FC001"),
        ('protect p from s.r as a where a.x because "b"', "FC001"),
        ('protect p from s.r where (a.x) because "b"', "FC001"),
        ('protect p from s.r as now where (a.x) because "b"', "FC021"),
        ('protect p from s.r as a where (true) because "b"', "FC006"),
        ('workflow w { protect p from s.r as a where (a.x) because "b" }', "FC002"),
    ],
)
def test_protection_without_one_of_its_parts_is_refused(text: str, code: str):
    """A reason is one of them; and a workflow has no protections of its own."""
    assert codes(text) == [code]


def test_act_needs_no_block():
    """An act without undo, rate or stop is one line."""
    assert shape(workflow("act p with s.op() act q with s.t.op(id: 1)").acts[1].operation.operation) == "s.t.op"


def test_clauses_stand_in_any_order_and_on_one_line():
    """Clauses have no separators and no order."""
    built = workflow(
        'act p with s.op() approve p { 1 of role "r" } propose p from i as a { show a.x where all } '
        'verify i { complete } inventory i from s.r { fields { id: text } key id } owner "o"'
    )
    assert built.owner == "o"
    assert len(built.acts) == len(built.approvals) == len(built.proposals) == len(built.verifies) == 1


def test_file_without_a_workflow_is_an_empty_file():
    """No text is no workflow; whether that is right is not a question of syntax."""
    for text in ("", "\n\n", "# nothing\n", "\ufeff# nothing"):
        assert file_of(text).workflows == ()


def test_comments_are_kept_with_their_places():
    """Comments in order, hashes in texts excluded, line ends excluded."""
    text = '# a\r\nworkflow w { owner "#b" } # c\n#'
    assert [(comment.text, text[comment.span.start : comment.span.end]) for comment in file_of(text).comments] == [
        ("# a", "# a"),
        ("# c", "# c"),
        ("#", "#"),
    ]


def test_spans_of_blocks_and_heads_cover_what_they_name():
    """Diagnostics of later phases underline the head of a block, not all of it."""
    text = _in_workflow("inventory i from s.r { key id fields { id: text } }\npropose p from i as a { where all }")
    built = file_of(text).workflows[0]
    head, other = built.inventories[0].head_span, built.proposals[0].head_span
    assert text[head.start : head.end] == "inventory i from s.r"
    assert text[other.start : other.end] == "propose p from i as a"
    assert text[built.span.start : built.span.end] == text.strip()


# ---------------------------------------------------------------------------------------------- repeated


@pytest.mark.parametrize(
    ("text", "clause"),
    [
        ('describe "a" describe "b"', "describe"),
        ('owner "a" owner "b"', "owner"),
        ("schedule every 1h schedule every 2h", "schedule"),
        (INVENTORY.format("key id"), "key"),
        (INVENTORY.format("fields { b: text }"), "fields"),
        (INVENTORY.format("incarnation a incarnation b"), "incarnation"),
        (INVENTORY.format("scope a scope b"), "scope"),
        (INVENTORY.format("deadline 1m deadline 2m"), "deadline"),
        (VERIFY.format("complete, complete"), "complete"),
        (VERIFY.format("fresh within 1h, fresh within 2h"), "fresh"),
        (PROPOSE.format("where a.x"), "where"),
        (PROPOSE.format("limit 5 limit 50"), "limit"),
        (PROPOSE.format("show a.x show a.y"), "show"),
        (APPROVE.format('1 of role "r", expires after 1d, expires after 2d'), "expires"),
        (ACT.format("undo s.op() undo s.op()"), "undo"),
        (ACT.format("rate 1 per second rate 2 per second"), "rate"),
        (ACT.format("concurrency 1 concurrency 2"), "concurrency"),
        (ACT.format("stop after 1% stop after 2%"), "stop"),
        (ACT.format("canary 1 then wait 1m canary 2 then wait 1m"), "canary"),
        (ACT.format("backup kept for 1d backup kept for 2d"), "backup"),
        (ACT.format("cascades within limit cascades within limit"), "cascades"),
        (ACT.format("rehearse restore rehearse restore"), "rehearse"),
    ],
)
def test_repeated_clause_is_refused_and_points_at_the_first(text: str, clause: str):
    """Neither the first nor the last wins silently."""
    whole = _in_workflow(text)
    (found,) = findings(whole)
    assert found.code == "FC003"
    assert whole[found.span.start : found.span.end] == clause
    (label,) = found.labels
    assert whole[label.span.start : label.span.end] == clause
    assert label.span.start < found.span.start


@pytest.mark.parametrize(
    "text", [PROPOSE.format("limit 5, 6"), PROPOSE.format("limit 5%, 6%"), ACT.format("stop after 1% or 2%")]
)
def test_half_of_a_limit_given_twice_is_refused(text: str):
    """Two counts would leave open which one holds."""
    assert codes(_in_workflow(text)) == ["FC003"]


# ---------------------------------------------------------------------------------------------- missing


@pytest.mark.parametrize(
    ("text", "code", "part"),
    [
        ("inventory i from s.r { fields { id: text } }", "FC004", "`key`"),
        ("inventory i from s.r { key id }", "FC004", "`fields`"),
        ("inventory i from s.r { key id fields { } }", "FC004", "`fields`"),
        ("verify i { }", "FC004", "claims nothing"),
        ("approve p { }", "FC004", "who approves"),
        ("approve p { expires after 3d }", "FC004", "who approves"),
        ("param x: record { }", "FC004", "fields"),
        ("param x: record", "FC004", "fields"),
        ("propose p from i as a { }", "FC005", "which objects"),
        ("propose p from i as a { limit 5 }", "FC005", "which objects"),
    ],
)
@pytest.mark.requirement("R21")
def test_missing_part_is_refused_and_never_defaulted(text: str, code: str, part: str):
    """Nothing that a clean-up cannot do without is assumed."""
    (found,) = findings(_in_workflow(text))
    assert found.code == code
    assert part in found.message
    assert found.help != ""


def test_proposal_without_where_is_told_to_write_where_all():
    """An empty selector never means every object, and the help says how every object is meant."""
    (found,) = findings(_in_workflow("propose p from i as a { }"))
    assert "where all" in found.help


def test_type_that_is_no_record_has_no_fields():
    """Fields in braces belong to `record` alone."""
    assert codes(_in_workflow("param x: text { a: int }")) == ["FC001"]


# ---------------------------------------------------------------------------------------------- wrong kind


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("schedule every 5", "a duration"),
        ("schedule every 1h catch up within 5%", "a duration"),
        (INVENTORY.format("deadline 10"), "a duration"),
        (INVENTORY.format("deadline 10 MB"), "a duration"),
        (VERIFY.format("fresh within 5"), "a duration"),
        (VERIFY.format("rows at least 5%"), "a whole number"),
        (VERIFY.format("rows at least 5.5"), "a whole number"),
        (VERIFY.format("change at most 20"), "a percentage"),
        (PROPOSE.format("limit 5d"), "a whole number or a percentage"),
        (PROPOSE.format("limit 5.5"), "a whole number or a percentage"),
        (PROPOSE.format("keep at least 5% newest by a.x"), "a whole number"),
        (PROPOSE.format("pick oldest 5% by a.x"), "a whole number"),
        (PROPOSE.format('pick 5d at random seed "x"'), "a whole number"),
        (PROPOSE.format('pick 5% at random seed "x", at most 5%'), "a whole number"),
        (PROPOSE.format("keep at least 5d newest by a.x"), "a whole number"),
        (APPROVE.format('5% of role "r"'), "a whole number"),
        (APPROVE.format('automatically when count <= 5%, otherwise 1 of role "r"'), "a whole number"),
        (APPROVE.format('automatically when percent <= 5, otherwise 1 of role "r"'), "a percentage"),
        (APPROVE.format('1 of role "r", expires after 3'), "a duration"),
        (ACT.format("rate 5% per second"), "a whole number"),
        (ACT.format("concurrency 4s"), "a whole number"),
        (ACT.format("canary 5% then wait 1m"), "a whole number"),
        (ACT.format("backup kept for 15"), "a duration"),
        (ACT.format("canary 5 then wait 15"), "a duration"),
        (ACT.format("canary 5 then wait 15m then at most 5% of s.r"), "a whole number"),
        (ACT.format("canary 5 then wait 15m then at most 0.5 of s.r"), "a whole number"),
        (ACT.format("stop after 3"), "does not say what it counts"),
        (ACT.format("stop after 3% failures"), "is not a number of failures"),
        (ACT.format("stop after 3d"), "a whole number or a percentage"),
    ],
)
def test_amount_of_the_wrong_kind_is_refused(text: str, wanted: str):
    """No bare number stands for seconds, no share for a count."""
    (found,) = findings(_in_workflow(text))
    assert found.code == "FC022"
    assert wanted in found.message


@pytest.mark.parametrize(
    ("rules", "code"),
    [
        ('automatically when reversible, 1 of role "a"', "FC026"),
        ('otherwise 1 of role "a"', "FC026"),
        ('1 of role "a", automatically when reversible', "FC026"),
        ('automatically when reversible, otherwise 1 of role "a", otherwise 1 of role "b"', "FC026"),
        ("automatically when reversible", "FC004"),
        ('automatically when reversible and reversible, otherwise 1 of role "a"', "FC003"),
        ('automatically when count <= 5 and count <= 6, otherwise 1 of role "a"', "FC003"),
        ('automatically when count < 5, otherwise 1 of role "a"', "FC001"),
        ('automatically when count <= 5 or reversible, otherwise 1 of role "a"', "FC001"),
        ('automatically when not reversible, otherwise 1 of role "a"', "FC001"),
        ('automatically, otherwise 1 of role "a"', "FC001"),
        ('automatically when reversible, otherwise 1 of role "a", automatically when count <= 5', "FC003"),
    ],
)
def test_automatic_approval_in_any_other_form_is_refused(rules: str, code: str):
    """Who is asked otherwise is said, once and right behind the conditions, and these are the few that there are."""
    assert code in codes(_in_workflow(APPROVE.format(rules)))


# ---------------------------------------------------------------------------------------------- unknown


@pytest.mark.parametrize(
    ("block", "template"),
    [
        ("workflow", "{}"),
        ("inventory", INVENTORY),
        ("propose", PROPOSE),
        ("act", ACT),
    ],
)
def test_each_clause_is_suggested_for_its_misspelling(block: str, template: str):
    """One letter too much is answered with the clause that was meant."""
    for word in keywords.CLAUSES[block]:
        misspelt = word[:-1] + "q" + word[-1]
        found = findings(_in_workflow(template.format(f"\n{misspelt} x\n")))
        assert [each.code for each in found] == ["FC002"], shown(_in_workflow(template.format(f"\n{misspelt} x\n")))
        assert f"did you mean `{word}`?" in found[0].help


@pytest.mark.parametrize("word", ["zzz", "mirror", "announce", "retain", "opening", "trial"])
def test_word_that_is_like_none_gets_the_list_and_no_suggestion(word: str):
    """A suggestion that is far away is worse than none."""
    for template in (INVENTORY, PROPOSE, ACT):
        (found,) = findings(_in_workflow(template.format(f"\n{word} 5\n")))
        assert found.code == "FC002"
        assert "did you mean" not in found.help
        assert "are `" in found.help


def test_across_in_the_body_of_an_inventory_is_sent_to_its_head():
    """It is a word of the language, and stands before the `{`."""
    body = '\nacross region in ["eu"]\nkey id\nfields { id: text }\n'
    (found,) = findings(_in_workflow(f"inventory v from s.r {{{body}}}"))
    assert found.code == "FC002"
    assert "head of an inventory: `inventory v from s.r across region in" in found.help


def test_clause_of_another_block_is_sent_there():
    """`limit` in an act belongs into the proposal."""
    (found,) = findings(_in_workflow(ACT.format("\nlimit 5\n")))
    assert (found.code, found.help) == ("FC002", "`limit` belongs into `propose`")


@pytest.mark.parametrize("word", ["complet", "freesh", "snaphot", "visibilty", "row", "chnage", "cout"])
def test_misspelt_claim_is_suggested(word: str):
    """The same inside of `verify`."""
    (found,) = findings(_in_workflow(VERIFY.format(f"complete, {word} x")))
    assert found.code == "FC002"
    assert "did you mean" in found.help
