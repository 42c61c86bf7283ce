"""How files that are used alike are called."""

from __future__ import annotations

import pytest

from venturi.derive.known_name import known_name


@pytest.mark.parametrize(
    ("paths", "name"),
    [
        ([], ""),
        (["/run2/dump_7.h5"], "/run2/dump_7.h5"),
        (["/run2/dump_7.h5", "/run2/dump_12.h5"], "/run2/dump_#.h5"),
        (["/a/1/x.7", "/a/2/x.7"], "/a/#/x.7"),
        (["/run/a.c", "/run/deep/b.c"], "/run/*"),
        (["a", "b"], "*"),
        (["/run/a", "b"], "*"),
    ],
)
def test_names_as_one(paths: list[str], name: str) -> None:
    assert known_name(paths) == name
