"""What a run of the official program left, and what a submission lacks, on the terminal."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from venturi.report.printer import Printer

if TYPE_CHECKING:
    from rich.console import Console


def print_packed(folder: str, archive: str, missing: Sequence[str], console: Console) -> None:
    """Where it lies, and each thing that is missing."""
    out = Printer(console)
    out.line()
    out.line((" NOT A SUBMISSION", "bold yellow"), "   what is missing:")
    for sentence in missing:
        out.wrapped("- ", sentence)
    out.line()
    out.wrapped("folder   ", folder)
    out.wrapped("archive  ", archive)
    out.wrapped("fill in  ", f"{folder}/system-information.txt, then pack it again")
