"""FC69x: how a command was called. Their examples are sessions."""

from __future__ import annotations

from fullcount.dsl.codes.model import Code, Form
from fullcount.dsl.codes.terminal import APPROVE, PLAN, edited, session

CODES: tuple[Code, ...] = (
    Code(
        id="FC685",
        title="the file holds something else",
        explanation="""\
A command was told to write to a file that is there already, and what it holds is nothing that this command writes: a
workflow, a list, a page of somebody else. A slip of a path must not cost it, so nothing was written.

Name another file, or say `--force` if the file is really to be replaced.""",
        form=Form.COMMAND,
        wrong=session("fullcount graph accounts.fcw -o accounts.fcw"),
        right=session("fullcount graph accounts.fcw -o accounts.mmd"),
    ),
    Code(
        id="FC690",
        title="a file can't be read or written",
        explanation="""\
A path that was given does not exist, is a folder where a file is needed, or may not be read or written by you. The
message has the system's reason. Nothing was run, and nothing was changed.""",
        form=Form.COMMAND,
        wrong=session("fullcount check acounts.fcw"),
        right=session("fullcount check accounts.fcw"),
    ),
    Code(
        id="FC691",
        title="a workflow file is not UTF-8 text",
        explanation="""\
Workflow files are UTF-8. A file of another encoding is not guessed at, because one letter read wrongly in a name or a
pattern is another rule. The message has the place of the first byte that can't be read.

Save the file as UTF-8; `file` and `iconv` tell and convert encodings.""",
        form=Form.COMMAND,
        wrong=session("iconv -t LATIN1 -o old.fcw accounts.fcw", "fullcount check old.fcw"),
        right=session("fullcount check accounts.fcw"),
    ),
    Code(
        id="FC692",
        title="there is no workflow file to check",
        explanation="""\
The files and folders that were named, or the workspace's `workflows` folder, have no `.fcw` file. That is an error and
not a success: a check of nothing would look like a check that passed.""",
        form=Form.COMMAND,
        wrong=session("mkdir reports", "fullcount check reports"),
        right=session("fullcount check ."),
    ),
    Code(
        id="FC693",
        title="it is not clear which workflow or proposal is meant",
        explanation="""\
A file can have several workflows, and a workflow several proposals. There is no such name, or there are several and
none was chosen. Choose with `--workflow` or `--proposal`; nothing is picked for you.""",
        form=Form.COMMAND,
        wrong=session(f"{PLAN} --proposal unlock"),
        right=session(f"{PLAN} --proposal lock"),
    ),
    Code(
        id="FC694",
        title="the workflow has mistakes",
        explanation="""\
A workflow with a mistake is not run, not even in the parts that are right. The mistakes were shown, each with its own
code; `fullcount check` shows them again.""",
        form=Form.COMMAND,
        wrong=session(PLAN),
        right=session(PLAN),
        files=edited("accounts.fcw"),
        wrong_files=edited("accounts.fcw", ("    limit", "    limitt")),
    ),
    Code(
        id="FC695",
        title="a parameter can't be taken",
        explanation="""\
A parameter was given that the workflow does not have, was given twice, is not of its type, or has no default and was
not given. Parameters decide which objects are selected, so none is ignored and none is guessed.

Write `--param NAME=VALUE`, the value as in a workflow (`90d`, `10 GiB`, `true`), texts without quotes.""",
        form=Form.COMMAND,
        wrong=session(f"{PLAN} --param idle=soon"),
        right=session(f"{PLAN} --param idle=90d"),
    ),
    Code(
        id="FC696",
        title="an approval needs a person's decision",
        explanation="""\
Approving means to have looked at one plan and to say its digest. At a terminal you are shown the plan and type the
digest; a script says it with `--digest`. Silence, an empty answer or a wrong digest is never a yes. Taking an approval
back needs a reason, which is kept in the journal.""",
        form=Form.COMMAND,
        wrong=session("fullcount approve PLAN"),
        right=session(APPROVE),
    ),
    Code(
        id="FC697",
        title="a head of the journal can't be read",
        explanation="""\
`--anchor` takes the head of the journal as `fullcount verify` printed it earlier: the number of an entry, a colon, and
its hash, as in `120:sha256:5d0e…`. The text that was given is not of this form, so nothing was compared with it.""",
        form=Form.COMMAND,
        wrong=session("fullcount verify --anchor 12"),
        right=session("fullcount verify --anchor HEAD"),
    ),
    Code(
        id="FC698",
        title="a workspace can't be made there",
        explanation="""\
`fullcount init` overwrites nothing. The folder has one of the files already, or files can't be made in it. Nothing was
written; name another folder.""",
        form=Form.COMMAND,
        wrong=session("fullcount init ."),
        right=session("fullcount init other"),
    ),
    Code(
        id="FC699",
        title="the command was not understood",
        explanation="""\
An option or an argument is missing, unknown, or not of the form that it must have. Nothing was run. The help of every
command says what it takes: `fullcount COMMAND --help`.""",
        form=Form.COMMAND,
        wrong=session("fullcount chekc accounts.fcw"),
        right=session("fullcount check accounts.fcw"),
    ),
)
