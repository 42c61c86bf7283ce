"""The parsers of the other tests read the tools' real output; so ours can be held against them."""

from __future__ import annotations

from compat.tool_output import (
    MDTEST_EXAMPLE,
    RANK_STATISTICS_EXAMPLE,
    WORKBENCH_EXAMPLE,
    mdtest_tables,
    workbench_phases,
)
from venturi.compat.mdtest_result import MdtestRow


def test_a_real_table_of_mdtest_is_read() -> None:
    rates = mdtest_tables(MDTEST_EXAMPLE)["rate"]
    assert list(rates) == [row.value for row in MdtestRow]
    assert rates["File stat"] == (777751.735, 756704.330, 767228.032, 14882.763)


def test_a_real_table_with_ranks_is_read() -> None:
    rates = mdtest_tables(RANK_STATISTICS_EXAMPLE)["rate"]
    assert rates["File creation"] == (887.066, 819.810, 853.438, 1639.573, 1639.573, 1639.573, 0.0)
    assert len(rates["Tree removal"]) == 7


def test_real_lines_of_md_workbench_are_read() -> None:
    first, second, last = workbench_phases(WORKBENCH_EXAMPLE)
    assert (first["name"], first["objects"], first["rate"]) == ("precreate", 2000, 1564.6)
    assert first["quantiles"]["create"][-1] == 2.0182e-02
    assert (second["name"], second["factor"], second["errors"]) == ("benchmark", 0.5, 0)
    assert list(last["quantiles"]) == ["delete"]
