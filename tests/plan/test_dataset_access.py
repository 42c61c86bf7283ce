"""Parts of datasets as boxes: they cover every element once, and no call moves too much."""

from __future__ import annotations

from collections import Counter
from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from venturi import library
from venturi.model import plan as p
from venturi.model.error import UserError
from venturi.model.expression import evaluate
from venturi.model.workload import Workload
from venturi.model.yaml_text import parse_yaml
from venturi.plan.make import PlanResult, make_plan
from venturi.plan.setting import RunSettings


def made_of(step: str, ranks: int, file: str, verb: str = "write") -> PlanResult:
    """The plan of a workload with one step on one file."""
    first = "" if verb == "write" else "        - write: f.u\n"
    text = (
        f"workload: 1\nname: t\nparameters: {{np: {{default: {ranks}, role: ranks}}}}\n"
        f"groups: {{g: {{ranks: np}}}}\nfiles:\n  f: {file}\n"
        f"program:\n  g:\n    - phase: w\n      do:\n{first}        - {verb}: {step}\n"
    )
    return make_plan(parse_yaml(text, "t.yaml", Workload), RunSettings())


def transfers_of(made: PlanResult, direction: str = "write") -> list[p.Transfer]:
    """The transfers of the one phase."""
    phase = made.plan.groups[0].program[0]
    assert isinstance(phase, p.Phase)
    return [s for s in phase.body if isinstance(s, p.Transfer) and s.operation == direction]


Element = tuple[int, ...]


def elements_of(made: PlanResult, rank: int, direction: str = "write") -> list[Element]:
    """(copy, index along each dimension) of all that a rank moves."""
    slots = [rank, made.plan.ranks, made.plan.ranks, 0, 0, 0]
    found: list[Element] = []
    for step in transfers_of(made, direction):
        box = step.pattern
        assert isinstance(box, p.Box)
        dataset = made.plan.files[step.file].datasets[box.dataset]
        first = 0 if box.first_copy is None else int(evaluate(box.first_copy, slots))
        start = [first] + [int(evaluate(code, slots)) for code in box.start]
        extent = [1] + [int(evaluate(code, slots)) for code in box.extent]
        loops = [
            (loop.dimension, int(evaluate(loop.count, slots)), int(evaluate(loop.step, slots)))
            for loop in box.loops
        ]
        for turn in product(*(range(count) for _, count, _ in loops)):
            at = list(start)
            for index, (dimension, _, step_elements) in zip(turn, loops, strict=True):
                at[dimension + 1] += index * step_elements
            inside = product(*(range(a, a + n) for a, n in zip(at, extent, strict=True)))
            call = list(inside)
            assert len(call) * dataset.type.bytes == evaluate(step.size, slots)
            found += call
    return found


@settings(deadline=None)
@given(
    st.lists(st.integers(1, 3), min_size=1, max_size=3),
    st.lists(st.integers(1, 3), min_size=3, max_size=3),
    st.integers(1, 2),
    st.integers(1, 300) | st.none(),
)
def test_boxes_cover_every_element_once(
    split: list[int], local: list[int], count: int, transfer: int | None
) -> None:
    shape = [parts * size for parts, size in zip(split, local, strict=False)]
    ranks = 1
    for parts in split:
        ranks *= parts
    file = (
        f"{{path: f, interface: hdf5, datasets: {{u: {{count: {count}, type: f32, "
        f"shape: {shape}, split: {split}}}}}}}"
    )
    step = "{to: f.u}" if transfer is None else f"{{to: f.u, transfer: {transfer}}}"
    made = made_of(step, ranks, file)
    touched = Counter(element for rank in range(ranks) for element in elements_of(made, rank))
    every = product(range(count), *(range(extent) for extent in shape))
    assert touched == Counter(every)
    assert made.totals.bytes_written == 4 * sum(touched.values())
    sizes = {int(evaluate(step.size, [0] * 6)) for step in transfers_of(made)}
    assert max(sizes) <= max(transfer or 10**9, 4)


def test_one_call_moves_a_rank_s_part_of_one_copy() -> None:
    made = make_plan(library.load("flash3"), RunSettings(assignments={"interface": "hdf5"}))
    assert made.totals.operations["write"] == 2 * 2 * 20
    assert made.plan.files[0].datasets[0].copies == 20


def test_a_reader_may_split_otherwise() -> None:
    file = "{path: f, interface: hdf5, datasets: {u: {shape: [4, 6], split: [2, 1]}}}"
    made = made_of("{from: f.u, split: [1, 2]}", 2, file, verb="read")
    assert elements_of(made, 1, "write")[0] == (0, 2, 0)
    assert elements_of(made, 1, "read")[0] == (0, 0, 3)


@pytest.mark.parametrize("individual", [False, True])
def test_a_step_moves_a_window_of_equal_datasets(individual: bool) -> None:
    file = (
        "{path: f, interface: %s, datasets: {u: {count: 5, type: i8, shape: [6, 2], "
        f"split: [3, 1], individual: {str(individual).lower()}}}}}}}"
    )
    made = made_of("{to: f.u, first: 1, count: 2}", 3, file % "hdf5")
    copies = {copy for copy, *_ in elements_of(made, 2)}
    assert copies == ({1 * 3 + 2, 2 * 3 + 2} if individual else {1, 2})
    assert made.totals.bytes_written == 2 * 12
    plain = made_of("{to: f.u, first: 4}", 3, file % "posix")
    assert plain.totals.bytes_written == 12
    [step] = transfers_of(plain)
    assert isinstance(step.pattern, p.Nest)
    assert evaluate(step.pattern.base, [2, 3, 3, 0, 0, 0]) == 4 * 12 + 2 * 4


def test_a_loop_moves_one_of_equal_datasets_at_a_time() -> None:
    text = (
        "workload: 1\nname: t\nparameters: {np: {default: 2, role: ranks}}\n"
        "groups: {g: {ranks: np}}\nfiles:\n  f: {path: f, interface: hdf5, datasets: "
        "{u: {count: 4, shape: [np], split: [np]}}}\nprogram:\n  g:\n    - phase: w\n      do:\n"
        "        - create: f\n        - {for: i, in: 4, do: [{write: {to: f.u, %s}}]}\n"
        "        - close: f\n"
    )
    made = make_plan(parse_yaml(text % "first: i, count: 1", "t.yaml", Workload), RunSettings())
    assert made.totals.operations["write"] == 4 * 2
    with pytest.raises(UserError, match="'count' must say"):
        make_plan(parse_yaml(text % "first: i", "t.yaml", Workload), RunSettings())


@pytest.mark.parametrize(
    ("step", "message"),
    [
        ("{to: f.u, first: 3, count: 2}", "2 datasets from number 3 on"),
        ("{to: f.u, first: 4}", "0 datasets from number 4 on|whole number"),
        ("{to: f.u, count: 5}", "5 datasets from number 0 on"),
    ],
)
def test_datasets_that_are_not_there_are_refused(step: str, message: str) -> None:
    file = "{path: f, interface: hdf5, datasets: {u: {count: 4, shape: [2], split: [2]}}}"
    with pytest.raises(UserError, match=message):
        made_of(step, 2, file)


def test_a_plain_file_has_no_first() -> None:
    with pytest.raises(UserError, match="plain file"):
        made_of("{to: f, size: 1 KiB, first: 1}", 1, "{path: f}")


def test_parts_can_be_datasets_of_their_own() -> None:
    file = (
        "{path: f, interface: %s, datasets: "
        "{u: {count: 2, type: i8, shape: [6, 2], split: [3, 1], individual: true}}}"
    )
    made = made_of("f.u", 3, file % "hdf5")
    dataset = made.plan.files[0].datasets[0]
    assert (dataset.copies, dataset.shape) == (6, [2, 2])
    assert {copy for copy, *_ in elements_of(made, 1)} == {1, 4}
    plain = transfers_of(made_of("f.u", 3, file % "posix"))[0]
    assert isinstance(plain.pattern, p.Nest)
    assert evaluate(plain.pattern.base, [1, 3, 3, 0, 0, 0]) == 4
    assert evaluate(plain.pattern.loops[0].stride, [1, 3, 3, 0, 0, 0]) == 12


def test_files_of_their_own_hold_whole_datasets() -> None:
    file = "{path: f, shared: rank, interface: hdf5, datasets: {u: {shape: [4], split: [1]}}}"
    made = made_of("f.u", 3, file)
    assert elements_of(made, 2) == [(0, 0), (0, 1), (0, 2), (0, 3)]


def test_bytes_interfaces_have_no_datasets() -> None:
    made = make_plan(library.load("flash3"), RunSettings(assignments={"interface": "posix"}))
    assert made.plan.files[0].datasets == []
    assert isinstance(made.plan.groups[0].program[0], p.For)


@pytest.mark.parametrize(
    ("step", "size"),
    [
        ("{to: f, transfer: 10, size: 105}", 3 * 105),
        ("{to: f, pattern: strided, transfer: 7, count: 4}", 3 * 28),
        ("{to: f, pattern: random, transfer: 8, count: 5}", 3 * 40),
        ("{to: f, size: 6, at: '100 - 10 * rank'}", 106),
    ],
)
def test_bytes_get_a_dataset_of_their_own(step: str, size: int) -> None:
    made = made_of(step, 3, "{path: f, interface: hdf5}")
    assert made.plan.files[0].datasets == [
        p.Dataset(name="data", type=p.ElementType.I8, shape=[size])
    ]


def test_the_last_turn_of_a_loop_counts_for_the_size() -> None:
    made = make_plan(
        parse_yaml(
            "workload: 1\nname: t\nfiles:\n  f: {path: f, interface: hdf5}\nprogram:\n  g:\n"
            "    - phase: w\n      do:\n        - create: f\n        - for: i\n          in: 5\n"
            "          do: [{write: {to: f, size: 8, at: 8 * i}}]\n"
            "        - close: f\n",
            "t.yaml",
            Workload,
        ),
        RunSettings(),
    )
    assert made.plan.files[0].datasets[0].shape == [40]


def test_items_of_a_tree_get_one_each() -> None:
    chosen = RunSettings(assignments={"interface": "hdf5"})
    made = make_plan(library.load("mdtest-hard"), chosen)
    assert made.plan.files[0].datasets[0].shape == [3901]


@pytest.mark.parametrize(
    ("dataset", "step", "message"),
    [
        ("{shape: [4], split: [2], chunks: [2, 2]}", "f.u", "same number of dimensions"),
        ("{shape: [4], split: [2], chunks: [5]}", "f.u", "is larger than the dataset"),
        ("{shape: [4], split: [2], deflate: 3}", "f.u", "only chunks are compressed"),
        ("{shape: [4], split: [4]}", "f.u", "split into 4 parts, but 2 ranks"),
        ("{shape: [5], split: [2]}", "f.u", "2 parts do not divide 5"),
        ("{shape: [4], split: [2]}", "{to: f, size: 4}", "say which dataset of 'f'"),
        ("{shape: [1, 1, 1, 1, 1, 1, 1, 1, 2], split: [2]}", "f.u", "same number of dimensions"),
    ],
)
def test_refused_datasets(dataset: str, step: str, message: str) -> None:
    file = f"{{path: f, interface: hdf5, datasets: {{u: {dataset}}}}}"
    with pytest.raises(UserError) as caught:
        made_of(step, 2, file)
    assert message in caught.value.message


@pytest.mark.parametrize("interface", ["hdf5", "posix"])
def test_a_loop_moves_one_part_after_the_other(interface: str) -> None:
    file = f"{{path: f, interface: {interface}, datasets: {{u: {{shape: [4, 6], split: [1, 1]}}}}}}"
    made = made_of("{from: f.u, split: [2, 3], part: 4}", 1, file, verb="read")
    assert made.totals.bytes_read == 2 * 2 * 8
    if interface == "hdf5":
        assert elements_of(made, 0, "read")[0] == (0, 2, 2)
    else:
        [step] = transfers_of(made, "read")
        assert isinstance(step.pattern, p.Nest)
        assert evaluate(step.pattern.base, [0, 1, 1, 0, 0, 0]) == (2 * 6 + 2) * 8


def test_parts_that_cannot_be_chosen_are_refused() -> None:
    for file, step, message in (
        ("{path: f, datasets: {u: {shape: [4], split: [1]}}}", "{from: f, part: 1, size: 8}",
         "plain file"),
        ("{path: f, interface: hdf5, datasets: {u: {shape: [4], split: [1], individual: true}}}",
         "{from: f.u, part: 0}", "datasets of their own"),
        ("{path: f, interface: hdf5, datasets: {u: {shape: [4], partition: {first: 0, rows: 4}}}}",
         "{from: f.u, part: 0}", "needs a 'split'"),
    ):  # fmt: skip
        with pytest.raises(UserError) as caught:
            made_of(step, 1, file, verb="read")
        assert message in caught.value.message
