"""Run commands as a user who may only read: `python -m tests.support.auditor WARM PLACE UID COMMANDS`.

`COMMANDS` is JSON: a list of lists of arguments. Each is run in `WARM` first, as whoever starts this, so that every
module is loaded: the interpreter's files may be closed to the other user. Then the process becomes that user for good
and runs them in `PLACE`. What they printed and how they ended is printed as JSON.
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import sys
from pathlib import Path

from fullcount.runtime.cli.main import main


def _run(folder: Path, arguments: list[str]) -> tuple[int, str, str]:
    os.chdir(folder)
    sys.argv = ["fullcount", *arguments]
    out, err, code = io.StringIO(), io.StringIO(), 0
    try:
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            main()
    except SystemExit as ended:
        code = int(ended.code or 0)
    return code, out.getvalue(), err.getvalue()


def _become(uid: int) -> None:
    os.setgroups([])
    os.setresgid(uid, uid, uid)
    os.setresuid(uid, uid, uid)


if __name__ == "__main__":
    warm, place, user, commands = sys.argv[1:]
    given = json.loads(commands)
    for each in given:
        _run(Path(warm), each)
    if os.getuid() == 0:
        _become(int(user))
    sys.stdout.write(json.dumps([_run(Path(place), each) for each in given]))
