"""What holds for every test."""

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
    "pytest_addoption",
    "pytest_collection_modifyitems",
    "pytest_runtest_setup",
    "pytest_sessionfinish",
    "pytest_terminal_summary",
    "pytest_testnodedown",
    "reports",
]
