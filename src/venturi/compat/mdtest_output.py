"""Files that mdtest's options write and read: the status file and the table of ranks."""

from __future__ import annotations

from pathlib import Path

from venturi.compat.mdtest_csv import rank_csv
from venturi.compat.mdtest_operation import write_item_tables
from venturi.compat.mdtest_option import MdtestArguments
from venturi.compat.mdtest_result import most_items
from venturi.compat.tool_file import write_tool_file
from venturi.model.error import UserError
from venturi.model.expression import ExpressionError, Literal, tree_of
from venturi.model.record import Record
from venturi.store.archive import find_stored
from venturi.store.place import OPERATIONS_NAME


def seconds_of(text: str | None) -> float:
    """The seconds of our own --limit; 0 for none."""
    if text is None:
        return 0.0
    try:
        tree = tree_of(text)
    except ExpressionError as error:
        raise UserError(f"--limit {text}: {error}", "a time has a unit: --limit '30 s'") from None
    if not isinstance(tree, Literal) or tree.value <= 0:
        raise UserError(f"--limit {text}: a time above 0 s is needed", "--limit '30 s'")
    return float(tree.value)


def status_items(arguments: MdtestArguments) -> int | None:
    """What the status file of -x says, where nothing is created; None without one."""
    if not arguments.status_file or arguments.phases.create:
        return None
    path = Path(arguments.status_file)
    try:
        text = path.read_text("utf-8").strip()
    except (OSError, UnicodeDecodeError) as error:
        raise UserError(
            f"mdtest -x {path}: it cannot be read ({error})",
            "a run with -C, -W and -x writes it",
        ) from None
    if not (text.isascii() and text.isdecimal()) or int(text) == 0:
        raise UserError(f"mdtest -x {path}: {text[:40]!r} is not a number of items")
    return int(text)


def outputs_after(records: list[Record], arguments: MdtestArguments, store: Path) -> None:
    """Write the files that the options ask for, from the last record."""
    if not records:
        return
    if arguments.status_file and arguments.phases.create and arguments.limit_s:
        words = f"mdtest -x {arguments.status_file}"
        write_tool_file(words, arguments.status_file, f"{most_items(records[-1])}\n")
    if arguments.rank_csv:
        words = f"mdtest --saveRankPerformanceDetails {arguments.rank_csv}"
        write_tool_file(words, arguments.rank_csv, rank_csv(records[-1]))
    if arguments.operation_csv:
        log = find_stored(store, records[-1].id) / OPERATIONS_NAME
        if log.exists():
            write_item_tables(arguments.operation_csv, log, records[-1].repetitions)
