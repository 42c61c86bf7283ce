"""Hints and stripes that only one side of a comparison asks for."""

from __future__ import annotations

import pytest

from venturi.model.error import TargetProblem
from venturi.model.workload import Workload
from venturi.model.yaml_text import parse_yaml
from venturi.predict.alike import check_alike


def asking(words: str) -> Workload:
    text = (
        f"workload: 1\nname: alike\ngroups: {{g: {{ranks: 1}}}}\nfiles: {{f: {{path: f{words}}}}}\n"
        "program: {g: [{phase: p, do: [{create: f}, {close: f}]}]}\n"
    )
    return parse_yaml(text, "alike.yaml", Workload)


PLAIN = asking("")
HINTS = asking(", interface: mpiio, hints: {cb_nodes: 1}")
STRIPES = asking(", stripe: {count: 4}")


@pytest.mark.parametrize(
    ("proxy", "other", "words"),
    [
        (HINTS, None, r"hints \(cb_nodes=1\), and of the application a capture does not tell"),
        (STRIPES, None, r"stripes \(count 4\)"),
        (HINTS, PLAIN, r"hints \(cb_nodes=1\), the other workload for none"),
        (PLAIN, STRIPES, "has no stripes, the other workload for count 4"),
        (HINTS, STRIPES, "cb_nodes=1.*; the proxy has no stripes"),
    ],
)
def test_one_sided_settings_are_refused_or_said(
    proxy: Workload, other: Workload | None, words: str
) -> None:
    with pytest.raises(TargetProblem, match=words) as refused:
        check_alike(proxy, other, may_differ=False)
    assert "--unlike" in refused.value.hint
    assert check_alike(proxy, other, may_differ=True)


@pytest.mark.parametrize("other", [None, PLAIN])
def test_who_asks_for_nothing_is_alike(other: Workload | None) -> None:
    assert check_alike(PLAIN, other, may_differ=False) == []
    assert check_alike(HINTS, HINTS, may_differ=False) == []
