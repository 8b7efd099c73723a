"""FC1xx: names, and what they stand for in the workspace."""

from __future__ import annotations

from fullcount.dsl.codes.examples import TIDY, VERIFY, WHERE, ruled, tidy, with_people
from fullcount.dsl.codes.model import Code
from fullcount.dsl.diagnostics import Severity

_PARAM = ("  inventory accounts", "  param idle: duration = 90d\n\n  inventory accounts")

_UNDONE = """\
act disable with directory.update(id: a.id, locked: true) {
    undo directory.update(id: a.id, locked: false)
  }"""

CODES: tuple[Code, ...] = (
    Code(
        id="FC101",
        title="declared twice",
        explanation=(
            "Two declarations share one name. Which of them an act would follow would be a matter of luck, so "
            "neither is taken. A workflow's name is its own in the whole workspace: its plans, its schedule and its "
            "history are kept by it, so two files with one name are found when they are checked together.\n\n"
            "Remove one, or give it a name of its own."
        ),
        wrong=tidy((VERIFY, VERIFY + "  verify accounts { complete, fresh within 24h }\n")),
        right=TIDY,
    ),
    Code(
        id="FC102",
        title="unknown source",
        explanation=(
            "A source is a named connection in the workspace's `fullcount.toml`. This name is not among them.\n\n"
            "Correct the name, or add the source to the configuration."
        ),
        wrong=tidy(("from directory.accounts", "from direktory.accounts")),
        right=TIDY,
    ),
    Code(
        id="FC103",
        title="unknown resource",
        explanation=(
            "The source is known, but its connector does not declare a resource of this name, so nothing is known "
            "of its fields, its key, or how completely it can be read.\n\n"
            "`fullcount check` lists the resources it has."
        ),
        wrong=tidy(("from directory.accounts", "from directory.acounts")),
        right=TIDY,
    ),
    Code(
        id="FC104",
        title="a field the source does not have",
        explanation=(
            "The connector does not declare this field. A rule over it could never be decided, and every object "
            "would end as undecided.\n\n"
            "Correct the name, or remove the field."
        ),
        wrong=tidy(("team: text", "taem: text")),
        right=TIDY,
    ),
    Code(
        id="FC105",
        title="a field of another type",
        explanation=(
            "The workflow and the connector disagree about the type of a field, or about whether it may be "
            "absent. Nothing is converted on the way, and a field that may be absent must be declared so "
            "(`text?`), because rules then have to say what absent means.\n\n"
            "Declare the field as the source gives it."
        ),
        wrong=tidy(("owner: text?", "owner: text")),
        right=TIDY,
    ),
    Code(
        id="FC106",
        title="not the key of the resource",
        explanation=(
            "Objects are matched, approved and acted on by their key. With another field two objects could be "
            "taken for one, and the wrong one acted on.\n\n"
            "Use the key that the source declares."
        ),
        wrong=tidy(("key id", "key team")),
        right=TIDY,
    ),
    Code(
        id="FC107",
        title="not what tells a recreated object",
        explanation=(
            "The incarnation is what differs when an object is deleted and made again under the same key. It must "
            "be the field that the source declares for this, and it must always be there: otherwise an object "
            "made this morning would pass for the one that was approved last night."
        ),
        wrong=tidy(("incarnation entry_uuid", "incarnation team")),
        right=TIDY,
    ),
    Code(
        id="FC108",
        title="unknown inventory",
        explanation=(
            "A rule, a `verify` or a proposal names an inventory that this workflow does not declare.\n\n"
            "Correct the name, or declare it with `inventory … from …`."
        ),
        wrong=tidy((VERIFY, VERIFY + "  verify people { complete, fresh within 24h }\n")),
        right=with_people(),
    ),
    Code(
        id="FC109",
        title="unknown name in an expression",
        explanation=(
            "A name in a rule is a parameter, or a row followed by one of its fields: `a.owner`. Fields are "
            "written without a row only in the `scope` and `expect` of their own inventory."
        ),
        wrong=ruled("owner is absent"),
        right=ruled("a.owner is absent"),
    ),
    Code(
        id="FC110",
        title="a field that was not asked for",
        explanation=(
            "A rule can only use the fields that its inventory declares, because only those are read. What was "
            "not asked for is not absent: it is unknown.\n\n"
            "Add the field to `fields`."
        ),
        wrong=ruled('a.environment == "test"'),
        right=tidy(("team: text", "team: text, environment: text"), (WHERE, 'a.environment == "test"')),
    ),
    Code(
        id="FC111",
        title="one name for two things",
        explanation=(
            "A row has the same name as an enclosing row or as a parameter. The two look alike in a rule, and a "
            "condition on the wrong one selects the wrong objects.\n\n"
            "Give one of them another name."
        ),
        wrong=with_people(rule='a.owner is present and no people as a where (a.id == "x")'),
        right=with_people(),
    ),
    Code(
        id="FC112",
        title="unknown proposal",
        explanation=(
            "An `approve` or `act` names a proposal that this workflow does not make.\n\n"
            "Correct the name: the three belong together by it."
        ),
        wrong=tidy(("act disable with", "act disabel with"), ("approve disable", "approve disabel")),
        right=TIDY,
    ),
    Code(
        id="FC113",
        title="unknown operation",
        explanation=(
            "The connector declares each write it can do on a resource, by name. There is no general write: an "
            "operation that is not declared does not exist.\n\n"
            "It is written `source.operation`, or `source.resource.operation` where several resources of a source have "
            "one of that name."
        ),
        wrong=tidy(("act disable with directory.update", "act disable with directory.updat")),
        right=TIDY,
    ),
    Code(
        id="FC114",
        title="an operation of another resource",
        explanation=(
            "An act changes the objects that were proposed, so its operation must belong to the resource that the "
            "proposal's inventory reads. An operation of another resource may only make something new, such as a "
            "message or a snapshot: whatever is already there was proposed by nobody."
        ),
        wrong=tidy(
            ("act disable with directory.update(id: a.id, locked: true)", "act disable with vcs.delete(name: a.id)")
        ),
        right=TIDY,
    ),
    Code(
        id="FC115",
        title="an argument too many or too few",
        explanation="An operation is called with exactly the parameters it declares, each by its name.",
        wrong=tidy(("update(id: a.id, locked: true)", "update(id: a.id)")),
        right=TIDY,
    ),
    Code(
        id="FC116",
        title="not the key of the proposed object",
        explanation=(
            "The key parameter of an operation must be given the key of the row that was proposed, as `id: a.id`, "
            "and nothing else. This is what makes sure that the object acted on is the object that was approved."
        ),
        wrong=tidy(("update(id: a.id, locked: true)", "update(id: a.team, locked: true)")),
        right=TIDY,
    ),
    Code(
        id="FC117",
        title="an undo that takes nothing back",
        explanation=(
            "The connector declares which operations take back which. An `undo` that does something else would be "
            "found out when it is needed most, so it is refused; so is one that sets again "
            "what the act set. Without a real undo the act counts as irreversible."
        ),
        wrong=tidy(("undo directory.update(id: a.id, locked: false)", "undo directory.delete(id: a.id)")),
        right=TIDY,
    ),
    Code(
        id="FC118",
        title="unknown function",
        explanation=(
            "There is no function and no definition of this name. The language has a small, closed set of functions; "
            "others are written with `define`, in this file or in one that it imports."
        ),
        wrong=ruled('lowercase(a.team) == "ops"'),
        right=ruled('lower(a.team) == "ops"'),
    ),
    Code(
        id="FC119",
        title="unknown exemption list",
        explanation=(
            "`except in NAME` keeps every object on a list of the workspace. Without the list nobody on it would "
            "be kept, so a name that is not configured is an error."
        ),
        wrong=tidy(("    limit 50", "    except in exemptoins\n    limit 50")),
        right=tidy(("    limit 50", "    except in exemptions\n    limit 50")),
    ),
    Code(
        id="FC120",
        title="unknown role",
        explanation=(
            "Roles and the people who hold them are configured in the workspace. An approval by a role that does "
            "not exist could never be given."
        ),
        wrong=tidy(('role "iam-admin"', 'role "iam-admins"')),
        right=TIDY,
    ),
    Code(
        id="FC121",
        title="no independent count",
        explanation=(
            "`count agrees with` compares the number of objects read with a count from somewhere else. A count "
            "taken from the same listing agrees with it even when both were cut short, so only resources that "
            "their connector declares as counts may be named. The same goes for what is counted after a canary: "
            "`canary 5 then wait 15m then at most 0 of monitoring.firing_alerts`."
        ),
        wrong=with_people(verify="  verify people { complete, fresh within 24h, count agrees with hr.employees }\n"),
        right=with_people(verify="  verify people { complete, fresh within 24h, count agrees with hr.headcount }\n"),
    ),
    Code(
        id="FC122",
        title="an inventory that nothing uses",
        severity=Severity.WARNING,
        explanation=(
            "The inventory would be read at every run, and nothing depends on what it says. Often its name was "
            "mistyped in the rule that was meant to use it."
        ),
        wrong=with_people(rule="a.owner is absent", verify=""),
        right=with_people(),
    ),
    Code(
        id="FC123",
        title="a parameter that nothing uses",
        severity=Severity.WARNING,
        explanation="Someone who sets the parameter with `--param` would expect a difference, and there would be none.",
        wrong=tidy(_PARAM),
        right=tidy(_PARAM, ("now - 90d", "now - idle")),
    ),
    Code(
        id="FC124",
        title="a file that declares nothing",
        explanation=(
            "A file declares workflows, or records and definitions for others. An empty one is more likely a file that "
            "was cut short, or written to the wrong place, than a decision to do nothing."
        ),
        wrong="# nothing here yet\n",
        right=TIDY,
    ),
    Code(
        id="FC125",
        title="a value that the source does not have",
        explanation=(
            "Some parameters take one of a few texts that the source itself declares, such as the templates of "
            "`mail.send`. They are written out, so that a missing one is found by `check` and not by the act."
        ),
        wrong=tidy((_UNDONE, 'act disable with mail.send(to: a.team, template: "to-be-lockd")')),
        right=tidy((_UNDONE, 'act disable with mail.send(to: a.team, template: "to-be-locked")')),
    ),
)
