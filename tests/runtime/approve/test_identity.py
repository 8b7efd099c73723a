"""Who someone is comes from the process, never from what can be set by the one who asks (R27)."""

from __future__ import annotations

import os
import pwd

import pytest

from fullcount.runtime.approve import identity
from fullcount.runtime.approve.identity import current_person, uid_of


@pytest.mark.requirement("R27", "R39")
@pytest.mark.parametrize("variable", ["USER", "LOGNAME", "USERNAME", "SUDO_USER", "SUDO_UID", "HOME"])
def test_an_environment_variable_never_says_who_someone_is(monkeypatch, variable):
    """Setting the variables that other tools trust changes nothing."""
    before = current_person()
    monkeypatch.setenv(variable, "4242")
    assert current_person() == before
    assert current_person().uid == os.getuid()


def test_the_name_is_what_the_system_says_of_the_uid():
    """The name comes from the user database."""
    assert current_person().name == pwd.getpwuid(os.getuid()).pw_name


def test_a_uid_without_a_name_is_still_someone(monkeypatch):
    """A process may run under a uid that has no account; it is named by its number."""
    monkeypatch.setattr(identity.os, "getuid", lambda: 3_999_999)
    assert str(current_person()) == "uid:3999999 (uid:3999999)"
    assert current_person().principal == "uid:3999999"


@pytest.mark.parametrize("member", ["", "uid:", "uid:-1", "uid:1.5", "uid:١", "*", "uid:*", "no such user", "a\x00b"])
def test_a_name_that_the_system_does_not_know_is_nobody(member):
    """What can't be resolved is None, for the caller to refuse; never a number that happens to fit."""
    assert uid_of(member) is None


def test_names_and_numbers_resolve_to_the_same_person():
    """`root` and `uid:0` are one."""
    assert uid_of("root") == uid_of("uid:0") == 0
