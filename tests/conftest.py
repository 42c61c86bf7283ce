"""What holds for every test."""

from sanitizer_report import _no_report, _no_sanitizer, reports

__all__ = ["_no_report", "_no_sanitizer", "reports"]
