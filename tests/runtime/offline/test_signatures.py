"""Signatures and who may make them: every way of being wrong is told, with the standard library alone."""

from __future__ import annotations

import shutil
import subprocess

import pytest
from tests.support.ssh_keys import Key, ed25519_sign, line

from fullcount.runtime.offline import ed25519
from fullcount.runtime.offline.ed25519 import ed25519_valid
from fullcount.runtime.offline.signers import SignersWrong, read_signers, why_not_signed
from fullcount.runtime.offline.sshsig import SignatureWrong, check_signature, read_signature

ANA, BO = Key("ana"), Key("bo")
AT = 1_796_000_000 * 10**6  # 2026-11-30
SAID = b"a statement\n"


def why(signers: str, signature: str, message: bytes = SAID, at: int = AT, names=("ana", "uid:4001")) -> str | None:
    return why_not_signed(read_signers(signers), signature, message, names, at)


@pytest.mark.parametrize(
    ("signers", "signature", "expected"),
    [
        (line("ana", ANA), BO.sign(SAID), "is not among the allowed signers"),
        ("", ANA.sign(SAID), "is not among the allowed signers"),
        (line("bo", ANA), ANA.sign(SAID), "may not sign as `ana` or `uid:4001`"),
        (line("*,!ana", ANA), ANA.sign(SAID), "may not sign as"),
        (line("ana", ANA, 'namespaces="git"'), ANA.sign(SAID), "but not for `fullcount`"),
        (line("ana", ANA, 'valid-before="20261130Z"'), ANA.sign(SAID), "was no longer valid at 2026-11-30"),
        (line("ana", ANA, 'valid-after="20270101120000Z"'), ANA.sign(SAID), "was not valid yet at 2026-11-30"),
        (line("ana", ANA, "cert-authority"), ANA.sign(SAID), "is not among the allowed signers"),
        (line("ana", ANA), ANA.sign(SAID, "git"), "made for the namespace `git`, not for `fullcount`"),
        (line("ana", ANA), ANA.sign(b"another statement\n"), "does not fit what it stands for"),
        (line("ana", ANA), ANA.sign(SAID, hashing="sha1"), "a hash that is not known"),
        (line("ana", Key("ana", security=True)), Key("ana", security=True, touched=False).sign(SAID), "does not fit"),
        (line("ana", ANA), "-----BEGIN PGP SIGNATURE-----\n", "is not one of SSH"),
        (line("ana", ANA), ANA.sign(SAID) + "\n", "is not one of SSH"),
        (line("ana", ANA), ANA.sign(SAID).replace("\n", "\n\n", 2), "not written the one way"),
    ],
)  # fmt: skip
def test_a_signature_that_does_not_do_is_refused_with_its_reason(signers, signature, expected):
    """Wrong key, wrong person, other namespace, not yet or no longer valid, something else signed, not touched."""
    assert expected in str(why(signers, signature))


@pytest.mark.parametrize(
    "signers",
    [
        line("ana", ANA),
        line("uid:4001", ANA),
        line("bo,ana", ANA, 'namespaces="git,fullcount"'),
        line('"a?a,x y"', ANA, 'valid-after="20260101Z",valid-before="202701010000Z"'),
        line("ana", ANA, 'valid-before="20200101Z"') + line("ana", ANA),
    ],
)
def test_a_signature_by_a_key_that_may_is_taken(signers):
    """By name or by number, within its time; one line that allows it is enough."""
    assert why(signers, ANA.sign(SAID)) is None
    assert why(signers, ANA.sign(SAID, hashing="sha256")) is None


def test_a_security_key_that_was_touched_signs():
    """Its signature is over another message, and is checked as such."""
    key = Key("ana", security=True)
    assert why(line("ana", key), key.sign(SAID)) is None


@pytest.mark.parametrize(
    "text",
    [
        "ana",
        "ana ssh-ed25519",
        "ana ssh-ed25519 !!!!",
        'ana valid-before="20261130" ' + ANA.public,
        'ana valid-before="20261340Z" ' + ANA.public,
        'ana valid-bfore="20261130Z" ' + ANA.public,
        'ana namespaces="a",namespaces="b" ' + ANA.public,
        'ana namespaces="git ' + ANA.public,
        '"ana ' + ANA.public,
        "ana ssh-rsa " + ANA.public.split()[1],
    ],
)
def test_a_line_that_cannot_be_understood_makes_the_whole_file_unusable(text):
    """What it was meant to bar or to bound would be lost; an instant without `Z` is another one on each machine."""
    with pytest.raises(SignersWrong, match="line 2: "):
        read_signers(f"{line('bo', BO)}{text}\n")


def test_a_key_of_another_kind_is_refused_and_never_passed():
    """RSA and ECDSA are not checked here, so they do not count."""
    other = ANA.sign(SAID).splitlines()
    import base64

    data = base64.b64decode("".join(other[1:-1])).replace(b"ssh-ed25519", b"ssh-ed44444")
    from fullcount.runtime.offline.sshsig import write_armour

    with pytest.raises(SignatureWrong, match="a kind that is not checked here, `ssh-ed44444`"):
        check_signature(read_signature(write_armour(data)), SAID)


@pytest.mark.parametrize(
    ("secret", "message", "signature"),
    [
        (
            "9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60",
            "",
            "e5564300c360ac729086e2cc806e828a84877f1eb8e5d974d873e065224901555fb8821590a33bacc61e39701cf9b46bd25bf5f0595bbe24655141438e7a100b",
        ),
        (
            "c5aa8df43f9f837bedb7442f31dcb7b166d38535076f094b85ce3a2e0b4458f7",
            "af82",
            "6291d657deec24024827e69c3abe01a30ce548a284743a445e3680d7db5ac3ac18ff9b538d16f290ae67f760984dc6594a7c15e9716ed28dc027beceea1ec40a",
        ),
    ],
)  # fmt: skip
def test_the_vectors_of_the_rfc_hold_and_any_other_byte_does_not(secret, message, signature):
    """RFC 8032, 7.1; a changed key, message or signature is refused, and so are the known second forms."""
    public, made = ed25519_sign(bytes.fromhex(secret), bytes.fromhex(message))
    said = bytes.fromhex(message)
    assert made.hex() == signature
    assert ed25519_valid(public, said, made)
    assert not ed25519_valid(public, said + b"x", made)
    for place in (0, 31, 32, 63):
        assert not ed25519_valid(public, said, made[:place] + bytes([made[place] ^ 1]) + made[place + 1 :])
    again = (int.from_bytes(made[32:], "little") + ed25519._ORDER).to_bytes(32, "little")
    assert not ed25519_valid(public, said, made[:32] + again)
    neutral = (1).to_bytes(32, "little")
    assert not ed25519_valid(neutral, said, neutral + bytes(32))
    assert not ed25519_valid((2**255 - 18).to_bytes(32, "little"), said, made)
    assert not ed25519_valid(public[:-1], said, made)


@pytest.mark.skipif(shutil.which("ssh-keygen") is None, reason="ssh-keygen is not installed")
def test_ssh_keygen_and_this_check_agree(tmp_path):
    """What it signs is taken here; what is signed here it takes, and refuses for the same reasons."""
    from fullcount.runtime.approve.ssh_keygen import CantSignError, sign_by

    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", tmp_path / "k"], check=True)
    made = sign_by(tmp_path / "k", SAID)
    assert why(f"ana {(tmp_path / 'k.pub').read_text()}", made) is None
    with pytest.raises(CantSignError, match="there is no key"):
        sign_by(tmp_path / "none", SAID)
    (tmp_path / "broken").write_text("no key\n")
    with pytest.raises(CantSignError, match="did not sign"):
        sign_by(tmp_path / "broken", SAID)

    def taken(signers: str, signature: str) -> bool:
        (tmp_path / "signers").write_text(signers)
        (tmp_path / "sig").write_text(signature)
        command = ["ssh-keygen", "-Y", "verify", "-f", "signers", "-I", "ana", "-n", "fullcount", "-s", "sig"]
        return subprocess.run(command, input=SAID, cwd=tmp_path, capture_output=True, check=False).returncode == 0

    for signers, signature in (
        (line("ana", ANA), ANA.sign(SAID)),
        (line("ana", ANA), BO.sign(SAID)),
        (line("ana", ANA), ANA.sign(SAID, "git")),
        (line("ana", ANA, 'namespaces="git"'), ANA.sign(SAID)),
        (line("ana", ANA, 'valid-before="20200101Z"'), ANA.sign(SAID)),
        (line("b*", ANA), ANA.sign(SAID)),
    ):
        assert taken(signers, signature) == (why(signers, signature, names=("ana",)) is None)
