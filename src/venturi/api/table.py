"""DataTable of numbers, for the tables that people work with."""

from __future__ import annotations

import importlib
from collections.abc import Iterator, Mapping, Sequence
from html import escape
from typing import Any

from venturi.model.error import UserError

Row = Mapping[str, Any]


class DataTable(Sequence[Row]):
    """DataTable with the same columns, each of which has its unit in its name."""

    def __init__(self, rows: Sequence[Row]) -> None:
        self._rows = list(rows)

    def __getitem__(self, index: Any) -> Any:
        found = self._rows[index]
        return DataTable(found) if isinstance(index, slice) else found

    def __len__(self) -> int:
        return len(self._rows)

    def __iter__(self) -> Iterator[Row]:
        return iter(self._rows)

    @property
    def columns(self) -> list[str]:
        """The names of the columns, in order."""
        return list(dict.fromkeys(name for row in self._rows for name in row))

    def to_dicts(self) -> list[dict[str, Any]]:
        """One dictionary for each row; what a row has not is None."""
        return [{name: row.get(name) for name in self.columns} for row in self._rows]

    def to_arrow(self) -> Any:
        """A `pyarrow.Table`. Raises UserError where pyarrow is not installed."""
        return _needed("pyarrow").Table.from_pylist(self.to_dicts())

    def to_pandas(self) -> Any:
        """A `pandas.DataFrame`, in which integers stay integers beside what is missing.

        Raises UserError where pandas is not installed.
        """
        pandas = _needed("pandas")
        table = pandas.DataFrame(self.to_dicts(), columns=self.columns)
        for name in self.columns:
            known = [row[name] for row in self if row.get(name) is not None]
            if len(known) < len(self) and known and all(type(value) is int for value in known):
                table[name] = pandas.array([row.get(name) for row in self], dtype="Int64")
        return table

    def __repr__(self) -> str:
        lines = [self.columns, *([_text(row.get(name)) for name in self.columns] for row in self)]
        widths = [max(len(line[at]) for line in lines) for at in range(len(self.columns))]
        return "\n".join(
            "  ".join(word.rjust(width) for word, width in zip(line, widths, strict=True))
            for line in lines
        )

    def _repr_html_(self) -> str:
        head = "".join(f"<th>{escape(name)}</th>" for name in self.columns)
        body = "".join(
            "<tr>"
            + "".join(f"<td>{escape(_text(row.get(name)))}</td>" for name in self.columns)
            + "</tr>"
            for row in self
        )
        return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def _text(value: Any) -> str:
    if value is None:
        return ""
    return f"{value:.6g}" if isinstance(value, float) else str(value)


def _needed(name: str) -> Any:
    """A library that is asked for by name. Raises UserError where it is not installed."""
    try:
        return importlib.import_module(name)
    except ImportError:
        raise UserError(
            f"{name} is not installed", f"pip install {name}, or use to_dicts()"
        ) from None
