"""Files of uneven length, each read in its turn, stay uneven: the cold part of each costs its own
requests to the device."""

from __future__ import annotations

import random

from traced_run import TracedRun, check_exact, derived, moves_of

from venturi.model.operation import Kind

FILES = 60
REQUEST = 10_240


def test_each_turn_has_its_own_number_of_requests() -> None:
    run, chance = TracedRun(1), random.Random(3)
    run.open(0, "archive")
    lengths = []
    for number in range(FILES):
        length = chance.randrange(500, 5 * REQUEST)
        lengths.append(length)
        path = f"source/file{number:03d}"
        run.open(0, path, detail=0)
        requests = [(at, min(REQUEST, length - at)) for at in range(0, length, REQUEST)]
        run.move(0, Kind.READ, path, requests)
        run.move(0, Kind.WRITE, "archive", [(number * 512, 512)])
        run.close(0, path)
    run.close(0, "archive")
    found = derived(run)
    made = check_exact(run, found)
    # What is there is what is read: no file goes on behind its last request.
    assert made.totals.bytes_prestaged == sum(lengths)


def test_of_one_shared_length_it_stays_a_size() -> None:
    run = TracedRun(1)
    for number in range(FILES):
        path = f"source/file{number:03d}"
        run.open(0, path, detail=0)
        run.move(0, Kind.READ, path, [(0, REQUEST), (REQUEST, REQUEST)])
        run.close(0, path)
    found = derived(run)
    check_exact(run, found)
    (staged,) = (spec.prestage for spec in found.files.values() if spec.prestage is not None)
    assert staged == "20 KiB"


def test_few_lengths_are_told_as_they_are() -> None:
    run, chance = TracedRun(1), random.Random(5)
    lengths = [3000, REQUEST + 700, 3 * REQUEST, 4 * REQUEST + 1] * (FILES // 4)
    chance.shuffle(lengths)
    for number, length in enumerate(lengths):
        path = f"source/file{number:03d}"
        run.open(0, path, detail=0)
        requests = [(at, min(REQUEST, length - at)) for at in range(0, length, REQUEST)]
        run.move(0, Kind.READ, path, requests)
        run.close(0, path)
    found = derived(run)
    made = check_exact(run, found)
    (read,) = moves_of(found)
    assert read.transfer == "10 KiB"
    assert str(read.size).count(" if i < ") == 3
    (staged,) = (spec.prestage for spec in found.files.values() if spec.prestage is not None)
    assert staged == read.size
    assert made.totals.bytes_prestaged == sum(lengths)
    sizes = {size: count for (_, size), count in made.totals.sizes.items()}
    assert sizes == {REQUEST: 8 * FILES // 4, 3000: FILES // 4, 700: FILES // 4, 1: FILES // 4}
