"""What a page remarks on a run keeps its words as they are."""

from __future__ import annotations

from report.record_factory import record
from venturi.model.record import Record
from venturi.model.verdict import Use, UseKind
from venturi.report.verdict import remarks


def barred(rule: str, note: str) -> Record:
    """A run that may not be ranked."""
    run = record()
    use = Use(what=UseKind.RANK, allowed=False, rule_set=run.name, broken=[rule])
    verdict = run.verdict.model_copy(update={"use": [use], "notes": [note]})
    return run.model_copy(update={"verdict": verdict})


def test_units_names_and_levels_keep_their_letters() -> None:
    told = [remark.text for remark in remarks(barred("random 4 KiB reads on Alpha", "MPI waits"))]
    assert any(text.endswith(": random 4 KiB reads on Alpha.") for text in told)
    assert any(text.startswith("Not for use in a ranking") for text in told)
    assert "MPI waits." in told
