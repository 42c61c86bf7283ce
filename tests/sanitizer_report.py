"""A report of a sanitizer fails the test whose programs made it.

Programs that were built with sanitizers write their reports into a folder, so none is lost in a
stderr that nobody reads or behind an exit code that a test expects. Run the tests with sanitized
engines by `make sanitized`, or some of them by `VENTURI_ENGINE_DIR=$PWD/build/asan`. What a
sanitizer itself makes impossible is marked: `@pytest.mark.unsanitized("why")`.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

SANITIZERS = ("ASAN", "LSAN", "TSAN", "UBSAN")
BESIDE = {"ASAN": ":verify_asan_link_order=0"}
"""Some tests load a library of their own before all others."""


@pytest.fixture(scope="session")
def reports(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """The folder of the reports, in which programs find it by their environment."""
    folder = tmp_path_factory.mktemp("sanitizers")
    with pytest.MonkeyPatch.context() as environment:
        for kind in SANITIZERS:
            options = f"{kind}_OPTIONS"
            known = os.environ.get(options, "")
            said = f"{known}:log_path={folder / kind}{BESIDE.get(kind, '')}"
            environment.setenv(options, said.lstrip(":"))
        yield folder


@pytest.fixture(autouse=True)
def _no_report(reports: Path) -> Iterator[None]:
    yield
    if texts := taken(reports):
        pytest.fail("a sanitizer reports:\n" + "\n".join(texts), pytrace=False)


@pytest.fixture(autouse=True)
def _no_sanitizer(request: pytest.FixtureRequest) -> None:
    mark = request.node.get_closest_marker("unsanitized")
    if mark and sanitized(os.environ.get("VENTURI_ENGINE_DIR", "")):
        pytest.skip(mark.args[0])


@cache
def sanitized(engines: str) -> bool:
    """Whether the engines of a folder were built with the address sanitizer."""
    engine = Path(engines) / "venturi-engine"
    return engine.is_file() and b"__asan_init" in engine.read_bytes()


def taken(reports: Path) -> list[str]:
    """The beginnings of all reports; they are removed, so that the next test is not blamed."""
    texts = []
    for path in sorted(reports.iterdir()):
        texts.append(path.read_text()[:3000])
        path.unlink()
    return texts
