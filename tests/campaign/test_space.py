"""The points of a campaign."""

from __future__ import annotations

import pytest

from venturi.campaign.space import number_at, points_of
from venturi.model.campaign import SampleMethod, Space, SpaceSample
from venturi.model.error import UserError


def test_products_groups_lists_and_derived_values() -> None:
    space = Space(
        product={"ranks": [1, 2]},
        zip=[{"transfer": ["64 KiB", "1 MiB"], "count": [16, 1]}],
        points=[{"ranks": 7, "transfer": "1 B", "count": 3}],
        derive={"total": "ranks * transfer * count"},
    )
    points = points_of(space)
    assert [point["total"] for point in points] == [1 << 20, 1 << 20, 2 << 20, 2 << 20, 21]
    assert points[1] == {"ranks": 1, "transfer": "1 MiB", "count": 1, "total": 1 << 20}


def test_words_stand_for_themselves_in_exclusions() -> None:
    space = Space(
        product={"tasks": [1, 2, 4], "sharing": ["shared", "own"]},
        exclude=["sharing == own and tasks < 4"],
    )
    assert points_of(space) == [
        {"tasks": 1, "sharing": "shared"},
        {"tasks": 2, "sharing": "shared"},
        {"tasks": 4, "sharing": "shared"},
        {"tasks": 4, "sharing": "own"},
    ]


def test_no_space_is_one_point() -> None:
    assert points_of(Space()) == [{}]


@pytest.mark.parametrize("method", list(SampleMethod))
def test_a_sample_is_the_same_each_time_and_has_its_size(method: SampleMethod) -> None:
    axes = {"a": list(range(10)), "b": list(range(10)), "c": list(range(10))}
    space = Space(product=axes, sample=SpaceSample(size=10, method=method, seed=3))
    points = points_of(space)
    assert len(points) == 10
    assert points == points_of(space)
    assert points != points_of(
        space.model_copy(update={"sample": SpaceSample(size=10, method=method, seed=4)})
    )


def test_a_latin_sample_has_every_level_equally_often() -> None:
    axes = {"a": list(range(5)), "b": list(range(10))}
    points = points_of(Space(product=axes, sample=SpaceSample(size=10, seed=1)))
    assert sorted(point["a"] for point in points) == sorted([*range(5), *range(5)])
    assert sorted(point["b"] for point in points) == list(range(10))


@pytest.mark.parametrize(
    ("space", "said"),
    [
        (Space(product={"a": [1]}, zip=[{"a": [2]}]), "'a' stands twice"),
        (Space(product={"a": [1]}, points=[{"b": 1}]), "same parameters"),
        (Space(product={"a": [1]}, exclude=["a == 1"]), "no point left"),
        (Space(product={"a": [1]}, exclude=["z == 1"]), "names z"),
        (Space(product={"a": [1]}, derive={"b": "a / 0"}), "no value"),
        (Space(product={n: list(range(100)) for n in "abc"}), "at most 100000"),
    ],
)
def test_what_is_wrong_is_one_sentence(space: Space, said: str) -> None:
    with pytest.raises(UserError, match=said):
        points_of(space)


def test_lists_that_go_together_have_one_length() -> None:
    with pytest.raises(ValueError, match="a has 2, b has 1"):
        Space(zip=[{"a": [1, 2], "b": [1]}])


def test_a_size_with_its_unit_is_a_number() -> None:
    assert number_at("x", "2 * size", {"size": "64 KiB"}) == 131072
