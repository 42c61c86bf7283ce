"""A worker on real directories: what it makes, what survives, what it removes."""

from __future__ import annotations

import os
import signal
import subprocess
from pathlib import Path

import pytest

from probe.conftest import Place, hold
from venturi.execute.engine import find_engine
from venturi.model.probe import ProbeDurability, ProbeKind
from venturi.probe.ring import FAILED, WITHHELD, is_held, read_header
from venturi.probe.sample import from_ring

BOTH = pytest.mark.parametrize("kind", list(ProbeKind))


def pool(place: Place) -> list[str]:
    root = place.directory / place.header(ProbeKind.METADATA).root_name
    return sorted(path.name for path in root.glob("f*"))


@BOTH
def test_all_operations_are_measured_and_all_is_removed(place: Place, kind: ProbeKind) -> None:
    worker = place.start(kind)
    hold(lambda: place.header(kind).state == "running")
    place.wait_for_samples(kind, 40)
    assert place.stop(worker) == 0
    header = place.header(kind)
    assert header.state == "stopped"
    assert header.head == header.done + header.flagged
    assert header.errors == 0
    _, samples = from_ring(place.make(kind), 0)
    expected = {4, 5} if kind is ProbeKind.DATA else {0, 1, 2, 3}
    assert set(samples["operation"].tolist()) == expected
    assert (samples["response_ns"] >= samples["service_ns"]).all()
    answer = place.remove(kind)
    assert answer["left"] == []
    # One of the pool's files may be gone when the worker ends, between delete and create.
    assert answer["removed"] in ((1,) if kind is ProbeKind.DATA else (7, 8))
    assert list(place.directory.iterdir()) == []


def test_the_pool_keeps_its_size_and_moves_on_through_starts(place: Place) -> None:
    numbers = []
    for _ in range(3):
        worker = place.start(ProbeKind.METADATA)
        hold(lambda: place.header(ProbeKind.METADATA).state == "running")
        place.wait_for_samples(ProbeKind.METADATA, 20)
        place.stop(worker)
        header = place.header(ProbeKind.METADATA)
        names = [f"f{number:012}" for number in range(header.oldest, header.newest)]
        assert pool(place) == names
        assert len(names) in (7, 8)
        numbers.append(header.oldest)
    assert numbers == sorted(set(numbers))
    assert place.header(ProbeKind.METADATA).starts == 3


def test_a_killed_worker_costs_no_file_and_no_moment(place: Place) -> None:
    kind = ProbeKind.METADATA
    for _ in range(5):
        worker = place.start(kind)
        hold(lambda: place.header(kind).state == "running")
        place.wait_for_samples(kind, 7)
        worker.kill()
        worker.wait()
    worker = place.start(kind)
    place.wait_for_samples(kind, 20)
    place.stop(worker)
    header = place.header(kind)
    assert header.errors == 0
    assert len(pool(place)) in (7, 8)
    _, samples = from_ring(place.make(kind), 0)
    assert samples["sequence"].tolist() == list(range(header.head))
    assert not (samples["flags"] & FAILED).any()


def test_random_blocks_go_on_where_they_were(place: Place) -> None:
    draws = []
    for _ in range(2):
        worker = place.start(ProbeKind.DATA)
        hold(lambda: place.header(ProbeKind.DATA).state == "running")
        place.wait_for_samples(ProbeKind.DATA, 6)
        place.stop(worker)
        draws.append(place.header(ProbeKind.DATA).draws)
    assert draws[1] >= draws[0] + 6


@pytest.mark.parametrize("how", list(ProbeDurability))
def test_each_durability_reads_what_was_written(place: Place, how: ProbeDurability) -> None:
    place.settings["durability"] = how.value
    worker = place.start(ProbeKind.DATA)
    hold(lambda: place.header(ProbeKind.DATA).state == "running")
    place.wait_for_samples(ProbeKind.DATA, 10)
    place.stop(worker)
    header = place.header(ProbeKind.DATA)
    assert header.errors == 0
    used = header.durability_in_use
    assert used is not ProbeDurability.AUTO
    assert how in (ProbeDurability.AUTO, used)
    data = place.directory / header.root_name / "data"
    blocks = {data.read_bytes()[at : at + 4096] for at in range(0, 2**20, 4096)}
    assert len(blocks) == 256, "pages repeat, so a storage could keep one for several"


def test_two_probes_on_one_pool_are_refused(place: Place) -> None:
    place.start(ProbeKind.METADATA)
    path = place.make(ProbeKind.METADATA)
    hold(lambda: is_held(path))
    second = subprocess.run(
        [str(find_engine()), "probe", str(path)], capture_output=True, check=False
    )
    assert second.returncode == 5
    assert b"another process probes with this pool" in second.stderr


def test_the_worker_ends_with_its_parent(place: Place) -> None:
    path = place.make(ProbeKind.METADATA)
    line = f"{find_engine()} probe {path} & echo $!; sleep 1000"
    parent = subprocess.Popen(["bash", "-c", line], stdout=subprocess.PIPE, process_group=0)
    assert parent.stdout is not None
    pid = int(parent.stdout.readline())
    hold(lambda: read_header(path).state == "running")
    parent.kill()
    hold(lambda: read_header(path).state == "stopped")
    hold(lambda: not Path(f"/proc/{pid}").exists() or not is_held(path))
    os.killpg(parent.pid, signal.SIGKILL)
    parent.wait()
    parent.stdout.close()


def test_files_of_others_are_neither_deleted_nor_removed(place: Place) -> None:
    kind = ProbeKind.METADATA
    worker = place.start(kind)
    hold(lambda: place.header(kind).state == "running")
    place.stop(worker)
    header = place.header(kind)
    root = place.directory / header.root_name
    ours = root / f"f{header.oldest + 1:012}"
    ours.unlink()
    ours.write_text("somebody's")
    other = root / "notes.txt"
    other.write_text("somebody's, too")
    link = root / f"f{header.newest + 100:012}"
    link.symlink_to(other)
    worker = place.start(kind)
    hold(lambda: place.header(kind).foreign == 1)
    place.stop(worker)
    assert ours.read_text() == "somebody's"
    answer = place.remove(kind)
    assert sorted(answer["left"]) == sorted([ours.name, other.name, link.name])
    assert sorted(path.name for path in root.iterdir()) == sorted(
        [ours.name, other.name, link.name, ".venturi"]
    )


def test_a_directory_with_the_probes_name_but_not_its_marker_stays(place: Place) -> None:
    path = place.make(ProbeKind.METADATA)
    root = place.directory / read_header(path).root_name
    root.mkdir()
    (root / ".venturi").write_text("another key\n")
    answer = place.remove(ProbeKind.METADATA)
    assert "not the one that this probe made" in answer["why"]
    assert root.exists()


def test_a_file_that_vanishes_is_an_error_and_the_pool_recovers(place: Place) -> None:
    kind = ProbeKind.METADATA
    worker = place.start(kind)
    hold(lambda: place.header(kind).state == "running")
    header = place.wait_for_samples(kind, 4)
    gone = place.directory / header.root_name / f"f{header.oldest + 3:012}"
    gone.unlink()
    hold(lambda: place.header(kind).oldest > header.oldest + 5)
    place.stop(worker)
    _, samples = from_ring(place.make(kind), 0)
    failed = samples[(samples["flags"] & FAILED) != 0]
    assert set(failed["error"].tolist()) == {2}
    assert (samples["flags"] & WITHHELD).any()
    assert len(pool(place)) in (7, 8)


@pytest.mark.parametrize("text", [b"", b"VNTPROB1", b"x" * 8192])
def test_what_is_no_ring_is_refused(tmp_path: Path, text: bytes) -> None:
    path = tmp_path / "ring"
    path.write_bytes(text)
    done = subprocess.run(
        [str(find_engine()), "probe", str(path)], capture_output=True, check=False
    )
    assert done.returncode == 2
    assert b"no ring of a probe" in done.stderr
    assert path.read_bytes() == text
