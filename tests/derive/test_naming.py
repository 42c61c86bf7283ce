"""Which files share an entry of a derived workload."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

import numpy as np

from venturi.derive.operation.naming import Choice, Names, Owners


def test_files_of_no_rule_share_no_entry_with_files_of_a_rule_or_with_more_files() -> None:
    """An entry names as many files as its first use makes; a later one of more would find none."""
    none = np.zeros(0, np.int64)
    streams: Any = SimpleNamespace(kept=[SimpleNamespace(name="stream1", is_shared=True)])
    names = Names(Owners(none, none), cast(Any, streams))
    key = (b"", 0, "i")
    chosen = [Choice(key, 0), Choice(key, 0, strangers=4), Choice(key, 0, strangers=5)]
    used = [names.use(one).name for one in chosen]
    assert len(set(used)) == len(used)
    assert [names.use(one).name for one in chosen] == used
    assert names.known(key) == used[0]
    assert [one.names_all for one in chosen] == [True, False, False]
