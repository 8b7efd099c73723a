"""Tests of workflows, checked: what a `test` block gives and expects, without a name left to resolve.

In code such a test is called a *trial*, so that nobody takes it for one of the project's own. Trials are made beside
the program and are no part of it: no digest, plan or approval depends on them.
"""

from fullcount.compiler.trials.check import Beside, check_trials
from fullcount.compiler.trials.model import Trial

__all__ = ["Beside", "Trial", "check_trials"]
