"""Temporary files are put together by their names without the random letters."""

from __future__ import annotations

import pytest

from venturi.derive.operation.random_name import without_random


@pytest.mark.parametrize(
    ("names", "found"),
    [
        (["/tmp/ccPqPREk.s", "/tmp/ccYwUZh2.s"], ["/tmp/cc*.s"] * 2),
        (["/a/tmp_obj_WA5Ucr", "/a/tmp_obj_9hnoFJ"], ["/a/tmp_obj_*"] * 2),
        (["/tmp/tmpab12_xyz", "/tmp/tmpq8rst0uv"], ["/tmp/tmp*"] * 2),
        # Other folders, endings, words, numbers, or a single file.
        (["/a/tmp_obj_WA5Ucr", "/b/tmp_obj_9hnoFJ"], None),
        (["/tmp/ccPqPREk.s", "/tmp/ccYwUZh2.o"], None),
        (["/d/in_density", "/d/in_current"], None),
        (["/d/part000123", "/d/part456789"], None),
        (["/tmp/ccPqPREk.s"], None),
    ],
)
def test_random_letters(names: list[str], found: list[str] | None) -> None:
    assert without_random(names) == (found or names)
