"""FC900s of plans: what keeps a plan from being built, because no plan is better than one that is wrong."""

from __future__ import annotations

from fullcount.dsl.codes.model import Code

CODES: tuple[Code, ...] = (
    Code(
        "FC910",
        "the sums of the plan do not hold",
        "Every object that was read has to be exactly one of: proposed, kept, undecided. Here an object was lost or "
        "counted twice on the way from the snapshot to the plan, so no plan was written.\n\n"
        "This is a mistake in the product or a damaged snapshot, never in the workflow. Collect again; if it comes "
        "back, report it with the counts of the message.",
    ),
    Code(
        "FC911",
        "the snapshot does not have one row for each object",
        "A plan names objects by their key. In this snapshot a key is missing or occurs more than once, so it can't be "
        "told which object a row speaks of, and no plan was written.\n\n"
        "Look at the `key` clause of the inventory: it has to name the fields that tell one object from another.",
    ),
    Code(
        "FC912",
        "there are too many objects to list one by one",
        "A plan lists each object that it proposes and each that could not be decided, with all that was read of it, "
        "so that a person can look at them. The whole list is held in memory, hashed and stored as one document, which "
        "bounds it to 50,000; and with more than some ten thousands nobody can look, and the rule or the rights of "
        "the reading account are almost always wrong. Inventories have no such bound: they may be as large as the "
        "disk.\n\n"
        "Find out why so many are selected. If they are meant, narrow the `scope` of the inventory and clean up a part "
        "at a time, by team, by region or by age; a parameter in the scope makes that one workflow with many plans. If "
        "they are undecided, give the reading account the fields that the message names.",
    ),
    Code(
        "FC913",
        "a part that the plan needs was not handed to it",
        "The plan rests on a snapshot, an exemption list or a value that was not there when it was to be built. It is "
        "never taken as empty, so no plan was written.\n\n"
        "This is a mistake in the product: report it with the message.",
    ),
    Code(
        "FC914",
        "an explanation contradicts its plan",
        "A plan was asked why it decided about an object as it did. Deciding again over the same snapshots, with the "
        "same rule and parameters, came to another verdict than the plan holds, so no explanation is given: a wrong "
        "one would be worse than none.\n\n"
        "This is a mistake in the product, or the plan was made by a version with another understanding of the rule. "
        "Plan again with this version; if it comes back, report it with the message.",
    ),
)
