"""What of a file is in memory: parts that join, shares, and where a read goes on."""

from __future__ import annotations

import pytest

from venturi.predict.warm import READ_AHEAD, Warm, brought_by, windows_of


def test_parts_join_where_they_touch() -> None:
    warm = Warm()
    warm.add(0, 10)
    warm.add(20, 30)
    assert warm.share(0, 40) == 0.5
    warm.add(10, 20)
    assert warm.share(0, 30) == 1.0
    warm.add(5, 8)
    assert warm.share(0, 60) == 0.5


def test_nothing_is_in_memory_before_it_is_read_and_no_bytes_are_no_share() -> None:
    warm = Warm()
    warm.add(7, 7)
    assert (warm.share(0, 10), warm.share(7, 7)) == (0.0, 0.0)
    warm.add(3, 6)
    far = 6 + READ_AHEAD
    assert [warm.goes_on(at) for at in (3, 4, far, far + 1)] == [False, True, True, False]


@pytest.mark.parametrize(
    ("request_bytes", "window"),
    [
        (1, 16384),
        (4096, 16384),
        (4097, 16384),
        (10045, 32768),
        (32768, 65536),
        (65536, 131072),
        (2**20, 131072),
    ],
)
def test_a_first_read_brings_a_window(request_bytes: int, window: int) -> None:
    assert brought_by(request_bytes) == window


@pytest.mark.parametrize(
    ("extent", "windows"),
    [
        ((0, 40_000), [16384, 23616]),
        ((0, 100), [16384]),
        ((30_000, 40_000), [10_000]),
        ((0, 0), []),
        ((5, 5), []),
    ],
)
def test_a_file_comes_by_windows_that_grow(extent: tuple[int, int], windows: list[int]) -> None:
    assert windows_of(*extent, 8192, 40_000) == windows
