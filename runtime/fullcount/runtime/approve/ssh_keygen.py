"""Signing by `ssh-keygen -Y sign`: keys in files, in an agent and on security keys alike. No key is ever read here."""

from __future__ import annotations

import subprocess
from pathlib import Path

from fullcount.runtime.errors import FullcountError
from fullcount.runtime.exit_codes import Exit
from fullcount.runtime.offline.sshsig import NAMESPACE, SignatureWrong, check_signature, read_signature


class CantSignError(FullcountError):
    """No signature could be made; nothing was recorded."""

    exit = Exit.ERROR

    def __init__(self, message: str) -> None:
        super().__init__(
            "FC783",
            f"{message}; nothing was signed",
            help="name an Ed25519 key, or the public half of one in your agent or on a security key: "
            "`--sign ~/.ssh/id_ed25519.pub`",
        )


def sign_by(key: Path, message: bytes) -> str:
    """Return the armoured signature over a message in our namespace. Raises `CantSignError` FC783.

    The person may be asked at the terminal for a passphrase, or to touch a security key. What comes back is checked.
    """
    if not key.expanduser().is_file():
        raise CantSignError(f"there is no key `{key}`")
    command = ["ssh-keygen", "-q", "-Y", "sign", "-n", NAMESPACE, "-f", str(key.expanduser())]
    try:
        made = subprocess.run(command, input=message, capture_output=True, check=False)
    except OSError as error:
        raise CantSignError(f"`ssh-keygen` can't be run: {error.strerror}") from error
    if made.returncode != 0:
        lines = made.stderr.decode("utf-8", "backslashreplace").strip().splitlines()
        raise CantSignError(f"`ssh-keygen` did not sign with `{key}`: {lines[-1] if lines else 'it gave no reason'}")
    armoured = made.stdout.decode("ascii", "backslashreplace")
    try:
        check_signature(read_signature(armoured), message)
    except SignatureWrong as error:
        raise CantSignError(f"the signature by `{key}` {error}") from error
    return armoured
