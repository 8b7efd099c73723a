"""FC618, FC781 to FC783: signatures of approvals. FC619: what may be written down of objects."""

from __future__ import annotations

from typing import Final

from fullcount.dsl.codes.model import Code, Form
from fullcount.dsl.codes.terminal import APPROVE, FILES, PLAN, session

_KEY: Final = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIHGNXpUuD9WKoP5jdzKsPs/z0CvfzsLHqmzDRV8ujBiG"


def _files(required: str, signers: str) -> tuple[tuple[str, str], ...]:
    table = f'\n[signatures]\nallowed_signers = "allowed_signers"\nrequired = {required}\n'
    return (("fullcount.toml", FILES["fullcount.toml"] + table), ("allowed_signers", f"{signers}\n"))


def _recorded(*fields: str) -> tuple[tuple[str, str], ...]:
    names = ", ".join(f'"{each}"' for each in ("id", "entry_uuid", "row_version", *fields))
    return (("fullcount.toml", f'{FILES["fullcount.toml"]}\n[record.fields]\n"directory.accounts" = [{names}]\n'),)


_GOOD: Final = _files("false", f'ana namespaces="fullcount" {_KEY}')

CODES: tuple[Code, ...] = (
    Code(
        "FC618",
        "the allowed signers can't be used",
        "`[signatures] allowed_signers` names a file in OpenSSH's format: who may sign as whom, with which key. It is "
        "missing, or has a line that can't be understood. Such a line is not passed over: what it was meant to bar, "
        "or until when, would be lost, and nobody's signature could be told from anybody's.\n\n"
        'A line is `ana,uid:1000 namespaces="fullcount" ssh-ed25519 AAAA…`; ssh-keygen(1) has the format under ALLOWED '
        'SIGNERS. Instants are written in UTC, with `Z`: `valid-before="20270101Z"` means the same on every machine.',
        form=Form.COMMAND,
        wrong=session(APPROVE),
        right=session(APPROVE),
        files=_GOOD,
        wrong_files=_files("false", f'ana valid-before="20270101" {_KEY}'),
    ),
    Code(
        "FC619",
        "a field that may not be written down",
        "`[record.fields]` in fullcount.toml lists, for a resource, the fields whose values may be in plans, reports "
        "and exports. The workflow would write another one down all the same: it shows it, hands it to a call, orders "
        "or groups objects by it, tries a pattern on it (near misses are named), or measures how long ago it was; or "
        "an explanation of its rule would show it.\n\n"
        "A rule may still compare such a field, by `==`, `in`, `is absent` and the like; its value then stays in the "
        "snapshot. Leave it out of the rest, or add it to the list if it is no secret.",
        form=Form.COMMAND,
        wrong=session(PLAN),
        right=session(PLAN),
        files=_recorded("last_login", "locked"),
        wrong_files=_recorded("locked", "owner"),
    ),
    Code(
        "FC781",
        "the approval must be signed",
        "This workspace counts signed approvals only (`[signatures] required = true`). Being logged in under the right "
        "account is not enough: whoever can write to the store could have written the rest.\n\n"
        "Sign with an Ed25519 key that `allowed_signers` gives to you: `fullcount approve PLAN --digest … --sign "
        "~/.ssh/id_ed25519`. For a key in an agent or on a security key name its public half.",
        form=Form.COMMAND,
        wrong=session(APPROVE),
        right=session(APPROVE),
        files=_GOOD,
        wrong_files=_files("true", f'ana namespaces="fullcount" {_KEY}'),
    ),
    Code(
        "FC782",
        "the signature does not carry the approval",
        "A signature counts only over the very plan, digest, person and instant of the yes, for the namespace "
        "`fullcount`, by an Ed25519 key that may sign as this person and was valid at that instant. The message says "
        "which of these failed: another key, another namespace, a plan that was made anew, a signature that was given "
        "before, a key that had run out or was taken out of `allowed_signers` since. One that is wrong is never taken "
        "for none.\n\n"
        "Before an act the same is asked again: what rests on a key that was taken out is not acted on. If the key is "
        "right, mend `allowed_signers`; otherwise have the plan approved anew.",
    ),
    Code(
        "FC783",
        "no signature could be made",
        "`ssh-keygen -Y sign` makes the signatures, so that keys in files, in an agent and on security keys all work. "
        "It is missing, there is no such key, its passphrase was wrong, the security key was not touched, or the key "
        "is not an Ed25519 one: other kinds can't be checked offline by the standard library alone.\n\n"
        "Nothing was signed or recorded. The message has the reason that `ssh-keygen` gave.",
        form=Form.COMMAND,
        wrong=session(f"{APPROVE} --sign id_ed25519.pub"),
        right=session(APPROVE),
    ),
)
