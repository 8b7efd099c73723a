"""Whether each act was one of the run that held the lease on its plan: judged for the store and for an export alike.

A run claims the lease, and gets a token above all earlier ones; whoever acts says by which token. A lease may be
renewed without an entry, so that it ran out can't be seen here: what can is that it was given back, taken over, or
given to another before it could have run out.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any


@dataclass(slots=True)
class LeaseHeldBy:
    """The latest claim of one lease. `run`: the run that acted by its token."""

    holder: str
    token: int
    until: int
    given_back: bool = False
    run: str | None = None


@dataclass(slots=True)
class Leases:
    """Every lease by its name. Each method returns what is wrong, or None."""

    held: dict[str, LeaseHeldBy] = field(default_factory=dict)

    def claimed(self, said: dict[str, Any], at: int) -> str | None:
        """A lease was given to somebody."""
        name, before = said["name"], self.held.get(said["name"])
        self.held[name] = LeaseHeldBy(said["holder"], said["token"], said["expires_at"])
        if said["expires_at"] <= at:
            return f"the lease on `{name}` was given for no time"
        if before is None:
            return None
        if said["token"] <= before.token:
            return f"the lease on `{name}` was given a token that is not newer"
        if not before.given_back and at < before.until and before.holder != said["holder"]:
            return f"the lease on `{name}` was given to another while `{before.holder}` held it"
        return None

    def released(self, said: dict[str, Any]) -> str | None:
        """A lease was given back."""
        lease = self.held.get(said["name"])
        if lease is None or lease.given_back or (lease.token, lease.holder) != (said["token"], said["holder"]):
            return f"the lease on `{said['name']}` was given back by one that did not hold it"
        lease.given_back = True
        return None

    def acted(self, plan_id: str, token: int, run_id: str | None) -> str | None:
        """A run acts on a plan, by a token."""
        own = f"plan/{plan_id}"
        leases = [lease for name, lease in self.held.items() if name == own or name.startswith(f"{own}/")]
        if len(leases) == 0:
            return f"nobody had the lease on the plan `{plan_id}`: the entry that gives it is missing"
        lease = next((each for each in leases if each.token == token), None)
        if lease is None:
            newest = max(each.token for each in leases)
            if token > newest:
                what = f"its token is {token}, and {newest} is the newest that was given"
                return f"the entry that gives the lease on the plan `{plan_id}` to its run is missing: {what}"
            return (
                f"its run had lost the lease on the plan `{plan_id}`: its token is {token}, and {newest} is the newest"
            )
        if lease.given_back:
            return f"its run had given the lease on the plan `{plan_id}` back"
        if lease.run is not None and lease.run != run_id:
            return f"two runs acted on the plan `{plan_id}` under one lease"
        lease.run = run_id
        return None
