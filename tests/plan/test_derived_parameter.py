"""A parameter that follows from others and is out of its range: the error names those."""

from __future__ import annotations

import pytest

from venturi import library
from venturi.model.error import UserError
from venturi.plan.make import make_plan
from venturi.plan.setting import RunSettings


def refused(**assignments: str) -> UserError:
    with pytest.raises(UserError) as refusal:
        make_plan(library.load("ramses-hprot"), RunSettings(assignments=assignments))
    return refusal.value


def test_what_follows_from_others_names_them() -> None:
    error = refused(partition="1000")
    assert "octs for which a file of the partition's size has room" in str(error)
    assert error.hint == "it follows from contrib, nvar, partition: choose others with --set"


def test_what_somebody_chose_names_itself() -> None:
    assert refused(partition="0").hint == "choose another value with --set partition=..."


def test_what_no_rank_does_is_asked_of_no_interface() -> None:
    """madbench2's other file is never used, so an interface of datasets need not hold its bytes."""
    made = make_plan(library.load("madbench2"), RunSettings(assignments={"interface": "hdf5"}))
    text = made.plan.model_dump_json()
    used = {file.name: f'"file":{number},' in text for number, file in enumerate(made.plan.files)}
    assert used == {"shared": False, "own": True}
