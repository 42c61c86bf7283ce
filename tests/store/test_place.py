"""Where results are kept: said, in the user's data, or nowhere."""

from __future__ import annotations

import pwd
from pathlib import Path

import pytest

from venturi.execute.host import user_name
from venturi.model.error import UserError
from venturi.store.place import store_directory

SAID = ("VENTURI_STORE", "XDG_DATA_HOME", "HOME", "LOGNAME", "USER", "LNAME", "USERNAME")


@pytest.fixture
def nobody(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    """A user that the system knows by number only, with nothing in the environment."""

    def unknown(number: int) -> None:
        raise KeyError(f"getpwuid(): uid not found: {number}")

    for name in SAID:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(pwd, "getpwuid", unknown)
    return monkeypatch


def test_the_nearest_word_counts(nobody: pytest.MonkeyPatch) -> None:
    nobody.setenv("HOME", "/home/me")
    assert store_directory(None) == Path("/home/me/.local/share/venturi")
    nobody.setenv("XDG_DATA_HOME", "/data")
    assert store_directory(None) == Path("/data/venturi")
    nobody.setenv("VENTURI_STORE", "/store")
    assert store_directory(None) == Path("/store")
    assert store_directory("/chosen") == Path("/chosen")


def test_who_has_no_home_is_asked_where(nobody: pytest.MonkeyPatch) -> None:
    assert user_name() == ""
    with pytest.raises(UserError, match="no home directory") as caught:
        store_directory(None)
    assert "--store DIR" in caught.value.hint
