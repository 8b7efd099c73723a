"""A hundred mixed clean-ups, in our language and as policies of Cloud Custodian.

Neither side is the other's translation: each is what its users write, in ten shapes that occur again with other names
and numbers.
"""

from __future__ import annotations

CONFIGURATION = """\
[workspace]
name = "mixed"

[sources.directory]
connector = "sql"
url = "sqlite:///directory.db"
timezone = "UTC"

[sources.directory.resources.accounts]
table = "accounts"
key = ["id"]
incarnation = "uuid"
version = "row_version"
version_managed = true
writable = ["locked"]
deletable = true
fields = { id = "text", uuid = "text", owner = "text?", team = "text", environment = "text", created = "timestamp", \
last_login = "timestamp?", locked = "bool", groups = "list<text>", tags = "map<text>", row_version = "int" }

[sources.directory.resources.logins]
table = "logins"
key = ["id"]
fields = { id = "text", account = "text", at = "timestamp" }

[sources.hr]
connector = "sql"
url = "sqlite:///hr.db"

[sources.hr.resources.employees]
table = "employees"
key = ["id"]
fields = { id = "text", team = "text", active = "bool", left = "date?" }

[sources.hr.resources.headcount]
table = "payroll"
key = ["employee_id"]
fields = { employee_id = "text" }

[sources.vcs]
connector = "git"
repository = "service.git"
base = "main"

[roles]
ops = ["ann"]

[exemptions]
kept = "kept.toml"
"""

_INVENTORY = """\
  inventory accounts from directory.accounts {{
    key         id
    incarnation uuid
    fields      {{ id: text, uuid: text, owner: text?, team: text, environment: text, created: timestamp,
                  last_login: timestamp?, locked: bool, groups: list<text>, tags: map<text> }}
    scope       environment == "production"
    deadline    10m
  }}
"""
_PEOPLE = """\
  inventory people from hr.employees {{
    key    id
    fields {{ id: text, team: text, active: bool, left: date? }}
  }}
"""
_LOGINS = """\
  inventory logins from directory.logins {{
    key    id
    fields {{ id: text, account: text, at: timestamp }}
  }}
"""
_APPROVE = """\
  approve take {{ {people} of role "ops" not by author, expires after {days}d }}
"""
_LOCK = """\
  act take with directory.update(id: a.id, locked: true) {{
    undo        directory.update(id: a.id, locked: false)
    rate        {people}0 per second
    concurrency 4
    stop        after 3 failures or 1%
  }}
"""
_HEAD = """\
workflow {name} {{
  describe "Clean-up number {number}."
  owner    "ops"
  schedule cron "{minute} 2 * * *" timezone "Europe/Berlin" catch up within 4h

  param idle: duration = {days}d

"""
_ALL = "  verify accounts {{ complete, fresh within 1h }}\n"
_BOTH = _ALL + "  verify people   {{ complete, fresh within 24h, rows at least 100, count agrees with hr.headcount }}\n"
_SEEN = _ALL + "  verify logins   {{ complete, fresh within 1h }}\n"


def _proposal(rule: str, more: str = "") -> str:
    return f"""\
  propose take from accounts as a {{{{
    where {rule}
    except in kept
{more}    limit {{most}}, 5%
    show  a.owner, a.team
  }}}}
"""


_IDLE = "(a.last_login else a.created) < now - idle"
_SHAPES = (
    _HEAD + _INVENTORY + _ALL + _proposal(f"not a.locked and {_IDLE}") + _APPROVE + _LOCK,
    _HEAD
    + _INVENTORY
    + _PEOPLE
    + _BOTH
    + _proposal(f"{_IDLE}\n      and (a.owner is absent or no people as p where (p.id == a.owner and p.active))")
    + _APPROVE
    + _LOCK,
    _HEAD
    + _INVENTORY
    + _LOGINS
    + _SEEN
    + _proposal("count logins as l where (l.account == a.id and l.at > now - idle) < 1 and not a.locked")
    + _APPROVE
    + _LOCK,
    _HEAD
    + _INVENTORY
    + _ALL
    + _proposal(f'any a.groups as g where (starts_with(g, "temp-{{number}}")) and {_IDLE}')
    + _APPROVE
    + _LOCK,
    _HEAD
    + _INVENTORY
    + _ALL
    + _proposal(_IDLE, "    keep   at least 3 per a.team newest by a.created\n")
    + _APPROVE
    + _LOCK,
    _HEAD
    + _INVENTORY
    + _ALL
    + _proposal(
        '(a.tags["expires"] else "never") == "{{number}}" and a.created < now - idle\n      and a.team not in ["core"]'
    )
    + '  approve take {{ 2 of role "ops" not by author, expires after {days}d }}\n'
    + "  act take with directory.delete(id: a.id) {{ rate 1 per second stop after 1 failure }}\n",
    _HEAD
    + _INVENTORY
    + _PEOPLE
    + _BOTH
    + _proposal(f"some people as p where (p.id == (a.owner else a.id) and not p.active) and {_IDLE}")
    + _APPROVE
    + _LOCK,
    _HEAD
    + _INVENTORY
    + _LOGINS
    + _SEEN
    + _proposal(
        "a.created < now - idle and (max logins as l where (l.account == a.id) of l.at else a.created) < now - idle"
    )
    + _APPROVE
    + _LOCK,
    _HEAD
    + _INVENTORY
    + _ALL
    + _proposal(f'(lower(a.team) == "team-{{number}}" or glob(a.id, "svc-{{number}}*")) and {_IDLE}')
    + _APPROVE
    + """\
  act take with directory.update(id: a.id, locked: true) {{
    undo   directory.update(id: a.id, locked: false)
    canary 5 then wait 15m
    stop   after 3 failures
    window "Mon-Thu 09:00-16:00" timezone "Europe/Berlin"
  }}
""",
    _HEAD
    + """\
  inventory branches from vcs.branches {{
    key    name
    fields {{ name: text, sha: text, author: text, last_commit: timestamp, merged: bool, protected: bool }}
  }}
  verify branches {{ complete, fresh within 1h }}
  propose take from branches as b {{
    where not b.protected and b.merged and b.last_commit < now - idle and not glob(b.name, "release/{number}/*")
    limit 20, 80%
    show  b.author, b.last_commit
  }}
  approve take {{ 1 of role "ops", expires after 1d }}
  act take with vcs.delete(name: b.name) {{ undo vcs.restore(name: b.name, sha: b.sha) stop after 1 failure }}
""",
)

_POLICIES = (
    """\
  - name: {name}
    resource: ec2
    description: Clean-up number {number}.
    filters:
      - "State.Name": running
      - "tag:Owner": absent
      - type: instance-age
        days: {days}
    actions:
      - type: mark-for-op
        op: terminate
        days: {people}
""",
    """\
  - name: {name}
    resource: ebs
    filters:
      - Attachments: []
      - type: value
        key: CreateTime
        value_type: age
        op: gt
        value: {days}
    actions:
      - type: delete
""",
    """\
  - name: {name}
    resource: iam-user
    filters:
      - type: credential
        key: password_last_used
        value_type: age
        op: gte
        value: {days}
    actions:
      - type: remove-keys
        disable: true
        age: {days}
""",
    """\
  - name: {name}
    resource: ebs-snapshot
    filters:
      - type: age
        days: {days}
        op: ge
      - type: unused
        value: true
    actions:
      - delete
""",
    """\
  - name: {name}
    resource: ami
    filters:
      - type: unused
        value: true
      - type: image-age
        days: {days}
    actions:
      - type: deregister
        delete-snapshots: true
""",
    """\
  - name: {name}
    resource: s3
    filters:
      - type: global-grants
      - "tag:Team": team-{number}
    actions:
      - type: delete-global-grants
        grantees:
          - "http://acs.amazonaws.com/groups/global/AllUsers"
""",
    """\
  - name: {name}
    resource: rds
    filters:
      - or:
        - "tag:Owner": absent
        - "tag:Team": absent
      - type: metrics
        name: DatabaseConnections
        days: {people}
        value: 0
        op: eq
    actions:
      - type: delete
        skip-snapshot: false
""",
    """\
  - name: {name}
    resource: security-group
    filters:
      - unused
      - type: value
        key: GroupName
        op: regex
        value: "^temp-{number}-.*"
    actions:
      - delete
""",
    """\
  - name: {name}
    resource: elb
    filters:
      - Instances: []
      - not:
        - "tag:keep": present
    actions:
      - type: mark-for-op
        op: delete
        days: {people}
""",
    """\
  - name: {name}
    resource: lambda
    filters:
      - type: value
        key: Runtime
        op: in
        value: [python3.8, nodejs16.x]
      - type: value
        key: LastModified
        value_type: age
        op: gt
        value: {days}
    actions:
      - type: tag
        key: outdated
        value: "{number}"
""",
)


def _filled(shapes: tuple[str, ...], number: int) -> str:
    return shapes[number % len(shapes)].format(
        name=f"cleanup_{number:03}",
        number=number,
        most=5 + number,
        days=30 + number,
        minute=number % 60,
        people=1 + number % 3,
    )


def workflow(number: int) -> str:
    """Return one workflow."""
    return _filled(_SHAPES, number) + "}\n"


def policy(number: int) -> str:
    """Return one policy, as an entry of `policies:`."""
    return _filled(_POLICIES, number)


def policies(count: int) -> str:
    """Return a whole file of policies."""
    return "policies:\n" + "".join(policy(number) for number in range(count))
