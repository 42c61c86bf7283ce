"""What holds for every test."""

import gc
import os

import pytest

from need import (
    pytest_addoption,
    pytest_collection_modifyitems,
    pytest_runtest_setup,
    pytest_sessionfinish,
    pytest_terminal_summary,
    pytest_testnodedown,
)
from sanitizer_report import _no_report, _no_sanitizer, reports

__all__ = [
    "_no_report",
    "_no_sanitizer",
    "_own_store",
    "pytest_addoption",
    "pytest_collection_finish",
    "pytest_collection_modifyitems",
    "pytest_runtest_setup",
    "pytest_sessionfinish",
    "pytest_terminal_summary",
    "pytest_testnodedown",
    "reports",
]


def pytest_collection_finish() -> None:
    """Look for garbage among what tests make, not among eleven thousand tests and all modules."""
    gc.collect()
    gc.freeze()


@pytest.fixture(scope="session", autouse=True)
def _own_store(tmp_path_factory: pytest.TempPathFactory) -> None:
    """Runs of a test that names no store are kept beside its other files, not with the user's."""
    os.environ["VENTURI_STORE"] = str(tmp_path_factory.mktemp("store"))
