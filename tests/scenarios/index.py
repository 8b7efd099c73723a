"""How clean-up tools have gone wrong: the cases that the language decides, each in one line.

The letters and numbers are those by which the project knows them; `c7n-…` are of one widely used policy engine. A
test is named by the id that it holds (`test_b01_…`, `test_c7n_74_…`) and marked with it; `test_index.py` sees to it
that none is forgotten.
"""

from __future__ import annotations

SCENARIOS: dict[str, str] = {
    # what is selected
    "B01": "a filter without a value asked for everything, and what came was not looked at again",
    "B02": "a field left blank took a default term, and the object was deleted when it ended",
    "B03": "an empty prefix or filter matched the whole data set",
    "B04": "a threshold of zero was taken for no threshold",
    "B06": "the same clause twice: the second replaced the first without a word",
    "B07": "an option that the version did not know was ignored, and what it exempted was not",
    "B08": "a typing mistake in a negative condition, which then ruled out nobody",
    "B09": "two filters on different forms of a name; nobody saw which one had decided",
    "B10": "an exemption by a property that this kind of object does not have",
    "B11": "an exempted object was deleted all the same, as a side effect of another",
    "B12": "a guard was not passed on to every kind, and a new kind had none",
    "B15": "anchors around `a|b` without a group matched far more than was meant",
    "B16": "the parts of a tagged bundle looked unreferenced",
    "B17": "a name was deleted, and with the body that it shared all other names",
    "B18": "of the newest that are kept, noise took the places",
    "B19": "groups by a key that changes: each object was its own group",
    "B22": "the age was taken from the name of a part, not from what is in it",
    "B25": "an edit that was to narrow a rule widened it to everybody",
    "B27": "the act of another level: a server was deleted in place of a database",
    # time
    "C01": "a nightly job ran twice when the clocks went back",
    "C02": "a local time that does not exist, or comes twice: skipped, or double",
    "C03": "an alarm that rang early, and again on time, ran the job twice",
    "C04": "two schedulers ran the same slot",
    "C05": "a leader that had lost its lease went on to act",
    "C06": "`* 1 * * *` was taken for once a day at one",
    "C07": "a day was local where it was set and UTC where it was compared",
    "C09": "windows of notice and act overlapped at their boundary",
    "C13": "windows were evaluated wrongly, and only at the start",
    "c7n-45": "instants with and without a zone in one list: what was compared leaked from one to the next",
    "c7n-46": "marked for a local day, deleted on the evening before",
    "c7n-47": "a delay shorter than a day was kept as a date, and was over at once",
    "c7n-48": "a delay was rounded down to the hour",
    "c7n-49": "a default that the manual says otherwise, and a zero that means the default",
    "c7n-50": "`seven days before` meant seven or fewer: told, and acted on, every day after",
    "c7n-53": "a date that is missing: a crash, and after the repair false",
    # what the words mean
    "c7n-74": "a misspelt key in place of the filter: no filter, everything selected",
    "c7n-75": "two lists of rules in one file: only the last was run",
    "c7n-76": "`or` around one part, and `empty` that meant absent or blank: everything was stopped",
    "c7n-77": "present and absent over lists were no opposites",
    "c7n-79": "patterns did not mind case and were not bound at the end",
    "c7n-81": "the list of what is allowed was misspelt, and so there was none",
    "c7n-82": "a value for what is missing of 0 was taken for none",
    "c7n-83": "no data: neither zero nor absent, and the rule could not say which",
    "c7n-84": "the same rule matched 22 objects here and 396 there",
    # what is acted on
    "c7n-30": "the act had a selection of its own, which went beyond what the rule had matched",
    "c7n-31": "the words said `unused`, the code compared when it was made",
    "c7n-32": "a later filter overwrote what an earlier one had matched",
    "c7n-33": "objects were reported whose list of matches was empty",
    "c7n-34": "the act dropped objects that lacked a value, and said that it had done them all",
    # limits
    "c7n-56": "a limit that the schema took, and that one kind of source did not keep",
    "c7n-58": "a limit that also hid the list, so that nobody could see what was too much",
}
"""What each is, by its id."""

ELSEWHERE: dict[str, str] = {}
"""Those that no test here holds yet, with the reason."""
