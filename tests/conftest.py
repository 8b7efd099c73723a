"""What all tests share: how many examples a property test runs, and the list of requirements with their tests.

A property test states its full number by `tests.support.profiles.examples`. The profile `nightly` runs all of them,
`ci` an eighth, so that a change is judged within minutes, `dev` a tenth. It is `ci` where the environment says `CI`;
each can be chosen by `HYPOTHESIS_PROFILE`.
"""

from __future__ import annotations

import os
import tempfile

from hypothesis import settings

pytest_plugins = ["tests.support.requirements_report"]

settings.register_profile("nightly", max_examples=500, deadline=None, derandomize=False, print_blob=True)
settings.register_profile("ci", max_examples=100, deadline=None, derandomize=False, print_blob=True)
settings.register_profile("dev", max_examples=100, deadline=None)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE") or ("ci" if os.environ.get("CI") else "dev"))


# What a command keeps for the next one goes to a folder of this run: no test depends on what another run left there.
os.environ["XDG_CACHE_HOME"] = tempfile.mkdtemp(prefix="fullcount-cache-")
