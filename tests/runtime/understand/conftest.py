"""Plans over made-up accounts and people, and the questions that are put to them."""

from __future__ import annotations

from datetime import timedelta

import pytest
from tests.support.planning import NOW, ORPHANS, STRICT, account, evidence, exemption, person

from fullcount.compiler.values import FieldState
from fullcount.runtime.understand.explain import explain

LISTED = ORPHANS.replace("except when", "except in exemptions\n    except when")


def ago(days: float):
    """So many days before the plan."""
    return NOW - timedelta(days=days)


def accounts():
    """One account for each thing that a plan can say of one."""
    return [
        account("orphan"),
        account("left", owner="bo", last_login=ago(93)),
        account("used", last_login=ago(87)),
        account("owned", owner="ana"),
        account("dark", owner=FieldState.FORBIDDEN),
        account("plat", team="platform"),
        account("team-dark", team=FieldState.FORBIDDEN),
        account("listed"),
        account("never", last_login=None, created=ago(100)),
    ]


class Asked:
    """A plan, and the explanations that it is asked for."""

    def __init__(self, world, **changes):
        self.world = world
        self.document = world.plan(**changes)

    def why(self, key, lists=None):
        """Explain what the plan decided about an object; `lists` are the exemption lists as they are now."""
        read = {} if lists is None else lists
        return explain(self.document, self.world.store, key, lambda name: read.get(name, ()))


@pytest.fixture
def asked(tmp_path):
    """A plan over `accounts`, with one of them on a list."""
    borne_out = STRICT.replace("except when", "except in exemptions\n    except when")
    world = evidence(tmp_path, accounts(), [person("ana"), person("bo", active=False)], text=borne_out)
    return Asked(world, exemptions={"exemptions": (exemption("listed"),)})
