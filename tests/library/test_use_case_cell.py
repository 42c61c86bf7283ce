"""The page's table of use cases and interfaces: a plan is made where it says so, else refused."""

from __future__ import annotations

from pathlib import Path

import pytest

from library.test_use_case_run import SMALL
from venturi import library
from venturi.model.error import UserError
from venturi.model.plan import Interface
from venturi.plan.make import make_plan
from venturi.plan.setting import RunSettings

PAGE = Path(__file__).parents[2] / "docs" / "interfaces.md"


def rows() -> dict[str, dict[str, str]]:
    """What the table says, by use case and interface: `yes`, or a refusal's number."""
    found: dict[str, dict[str, str]] = {}
    heads: list[str] = []
    for line in PAGE.read_text("utf-8").splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if cells[0] == "use case":
            heads = cells[1:]
        elif not line.startswith("|"):
            heads = []
        elif heads and cells[0].startswith("`"):
            said = zip(heads, cells[1:], strict=True)
            found[cells[0].strip("`")] = {
                name.strip("`"): cell for head, cell in said for name in head.split()
            }
    return found


ROWS = rows()


def test_every_cell_is_there() -> None:
    assert {"ramses-legacy", "ramses-hprot", "ramses-hdep", "cryoem-stream", "cryoem-batch"} <= set(
        ROWS
    )
    for row in ROWS.values():
        assert set(row) == {interface.value for interface in Interface}


@pytest.mark.parametrize(("name", "interface"), [(n, i) for n, row in ROWS.items() for i in row])
def test_a_cell_is_as_the_page_says(name: str, interface: str) -> None:
    words = {key: str(value) for key, value in SMALL[name].items()} | {"interface": interface}
    settings = RunSettings(assignments=words)
    if ROWS[name][interface] == "runs":
        make_plan(library.load(name), settings)
    else:
        assert ROWS[name][interface] == "refused"
        with pytest.raises(UserError) as refusal:
            make_plan(library.load(name), settings)
        assert refusal.value.hint
