"""FC160 to FC169: lists that stand in files. A part of FC1xx."""

from __future__ import annotations

from fullcount.dsl.codes.examples import ruled
from fullcount.dsl.codes.model import Code

_CSV = (("known.csv", "account,team\na1,ops\na2,hr\n"),)
_RIGHT = ruled('a.id not in file "known.csv" column "account"')

CODES: tuple[Code, ...] = (
    Code(
        id="FC160",
        title="a list file that is not there",
        explanation=(
            "The file that a rule takes its values from is missing or can't be read as text. A list that is missing "
            "is not an empty list: what it would have kept would be selected.\n\n"
            "Correct the path, which starts at the folder of the file that names it."
        ),
        wrong=_RIGHT,
        right=_RIGHT,
        files=_CSV,
        wrong_files=(("other.csv", "account\na1\n"),),
    ),
    Code(
        id="FC161",
        title="a list that can't stand there",
        explanation=(
            "A list file is a `.csv`, `.json` or `.txt` file of the workspace, named by its path from the file with "
            "the rule. What a clean-up means must not depend on files that its reviewers do not see.\n\n"
            "A protection names its values itself."
        ),
        wrong=ruled('a.id not in file "known.xlsx" column "account"'),
        right=_RIGHT,
        files=_CSV,
    ),
    Code(
        id="FC162",
        title="a list file without a value",
        explanation=(
            "The file is there and has no value. A list that was emptied by mistake looks the same as one that is "
            "meant to be empty, and a rule that keeps what is listed would then keep nothing.\n\n"
            'Fill it, or say that it may be empty: `file "known.csv" column "account" may be empty`.'
        ),
        wrong=_RIGHT,
        right=ruled('a.id not in file "known.csv" column "account" may be empty'),
        files=(("known.csv", "account\n"),),
    ),
    Code(
        id="FC163",
        title="a list file with a faulty place",
        explanation=(
            "A list file is one value on each line of a `.txt` file (`#` begins a comment), one array in a `.json` "
            "file, or the cells of one named column in a `.csv` file with a header line. This one has a place that is "
            "none of that, or a value of another type.\n\n"
            "A value that is read wrongly selects or keeps the wrong object, so nothing is left out or guessed."
        ),
        wrong=_RIGHT.replace('column "account"', 'column "acount"'),
        right=_RIGHT,
        files=_CSV,
    ),
)
