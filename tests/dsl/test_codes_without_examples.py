"""Which codes have no example, and why nobody can write one."""

from __future__ import annotations

from fullcount.dsl.codes import CODES

WITHOUT = {
    "a package is missing on this machine": {"FC611", "FC678"},
    "another version of the program or of a connector is needed for it": {"FC731", "FC735", "FC756", "FC757"},
    "a program of the host makes what is wrong": {"FC782"},
    "two processes have to meet, or a signal has to come": {"FC720", "FC721", "FC765"},
    "the target fails, or a long act stands at another step": {
        "FC738", "FC763", "FC764", "FC770", "FC780", "FC786", "FC787", "FC795", "FC797",
    },
    "the target gives an object only in part": {"FC788"},
    "the source itself answers worse than it declares": {"FC745", "FC748"},
    "the store has to be damaged past its own locks": {"FC717", "FC741"},
    "a second lock: the compiler, the plan or the engine refuses it before": {
        "FC706", "FC723", "FC724", "FC725", "FC726", "FC727", "FC728", "FC729", "FC733", "FC734", "FC747", "FC759",
        "FC766",
    },
    "a source has to tell of the same doubt, night after night": {"FC737"},
    "a rule has to select more than 50,000 objects": {"FC912"},
    "a mistake of the program": {"FC901", "FC910", "FC911", "FC913", "FC914", "FC920"},
}  # fmt: skip


def test_a_code_without_an_example_is_one_that_nobody_can_write():
    """Whoever adds a code writes what brings it about, or says here why no text and no command does."""
    without = {code.id for code in CODES.values() if code.wrong == "" or code.right == ""}
    assert {code for codes in WITHOUT.values() for code in codes} == without
    assert sum(map(len, WITHOUT.values())) == len(without)
