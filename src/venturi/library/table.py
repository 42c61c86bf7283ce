"""The tables of a workload, which lie in files beside its own."""

from __future__ import annotations

import re
from pathlib import Path

import yaml

from venturi.model.document import DocumentError, parse_json
from venturi.model.error import UserError
from venturi.model.row_table import RowTable, RowTables
from venturi.model.workload import Workload
from venturi.model.yaml_text import read_text

_ENDING = "rows.json"
_SEVERAL = re.compile(r'\s*\{\s*"tables"')
"""How a file begins that holds more than one table."""


def with_tables(workload: Workload, folder: Path) -> Workload:
    """The workload with the tables that it names by their files. Raises UserError."""
    files: dict[str, RowTable | RowTables] = {}
    tables: dict[str, RowTable | str] = dict(workload.tables)
    for name, file in workload.tables.items():
        if isinstance(file, str):
            if file not in files:
                files[file] = _read(name, file, folder)
            tables[name] = _table_in(files[file], name, folder / file)
    return workload.model_copy(update={"tables": tables}) if tables else workload


def _read(name: str, file: str, folder: Path) -> RowTable | RowTables:
    if Path(file).name != file:
        raise UserError(
            f"tables.{name}: '{file}' is not the name of a file",
            "a table lies in the folder of the workload",
        )
    path = folder / file
    if not path.is_file():
        raise UserError(
            f"tables.{name}: there is no file '{path}'",
            "the workload's table belongs beside it: copy both files",
        )
    text = read_text(path)
    try:
        if _SEVERAL.match(text):
            return parse_json(RowTables, text)
        return parse_json(RowTable, text)
    except DocumentError as error:
        raise UserError(f"{path}: {error}", "derive the workload again") from None


def _table_in(found: RowTable | RowTables, name: str, path: Path) -> RowTable:
    if isinstance(found, RowTable):
        return found
    if name not in found.tables:
        known = f"it has {', '.join(found.tables)}"
        raise UserError(f"tables.{name}: '{path}' has no table of that name", known)
    return found.tables[name]


def whole_text(text: str, workload: Workload) -> str:
    """The text of a workload with its tables inside instead of the names of their files, so that it
    stands alone."""
    found = {
        value.start_mark.index: (value.end_mark.index, workload.tables[str(key.value)])
        for key, value in _entries(text)
        if isinstance(value, yaml.ScalarNode)
    }
    for begin, (end, table) in sorted(found.items(), reverse=True):
        assert isinstance(table, RowTable)
        text = text[:begin] + table.to_json() + text[end:]
    return text


def _entries(text: str) -> list[tuple[yaml.Node, yaml.Node]]:
    root = yaml.compose(text, Loader=yaml.SafeLoader)
    assert root is not None
    tables = [value for key, value in root.value if key.value == "tables"]
    return list(tables[0].value) if tables else []


def beside(workload: Workload, path: Path) -> tuple[Workload, dict[Path, str]]:
    """A workload that will be written to `path`, and the text of the file beside it that holds its
    tables; none where it has none."""
    own = {name: one for name, one in workload.tables.items() if isinstance(one, RowTable)}
    if not own:
        return workload, {}
    file = path.with_name(f"{path.stem}.{_ENDING}")
    holds: RowTable | RowTables = RowTables(tables=own)
    if len(own) == 1:
        ((name, holds),) = own.items()
        file = path.with_name(f"{path.stem}.{name}.{_ENDING}")
    names: dict[str, RowTable | str] = dict.fromkeys(own, file.name)
    texts = {file: holds.to_json(indent=1) + "\n"}
    return workload.model_copy(update={"tables": workload.tables | names}), texts
