"""The browsers in which pages of a site are looked at; a module takes one as its `browser`."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from browser import Browser
from firefox import Firefox


def _opened(
    kind: type[Browser | Firefox], paths: pytest.TempPathFactory
) -> Iterator[Browser | Firefox]:
    found = kind(paths.mktemp("profile"))
    found.look(1280)
    yield found
    found.close()


@pytest.fixture(scope="module", params=["chromium", "firefox"])
def both(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Browser | Firefox]:
    """Each test in Chromium and in Firefox."""
    yield from _opened(Firefox if request.param == "firefox" else Browser, tmp_path_factory)


@pytest.fixture(scope="module")
def chromium(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser | Firefox]:
    """Chromium alone."""
    yield from _opened(Browser, tmp_path_factory)
