"""Interfaces to local files, beyond moving bytes: options, growth, buffers, accidents."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from engine.plans import (
    RANK,
    Content,
    Plan,
    Sync,
    SyncMode,
    Tree,
    file,
    hold,
    items,
    manage,
    nest,
    number,
    phase,
    plan,
    read,
    times,
    write,
    write_and_read,
)
from engine.running import Engine, is_gone, meddled, parse, traced
from venturi.model.plan import Append

KIB = 1024


@pytest.mark.parametrize("interface", ["posix", "uring"])
def test_options_of_opening_reach_the_kernel(
    engine: Engine, tmp_path: Path, interface: str
) -> None:
    options = {"open_sync": "dsync", "preallocate": "1 MiB", "advice": "random"}
    made = write_and_read(tmp_path, 1, size=512, count=2, interface=interface, options=options)
    lines = traced(engine, made, "openat,openat2,fallocate,fadvise64")
    opens = [line for line in lines if '"data"' in line]
    assert len(opens) == 2
    assert all("O_DSYNC" in line for line in opens)
    assert sum(", 0, 0, 1048576)" in line for line in lines) == 1
    assert sum("POSIX_FADV_RANDOM" in line for line in lines) == 2


def test_open_sync_is_synchronous(engine: Engine, tmp_path: Path) -> None:
    made = write_and_read(tmp_path, 1, size=512, count=2, options={"open_sync": "sync"})
    opens = [line for line in traced(engine, made, "openat,openat2") if '"data"' in line]
    assert all("O_SYNC" in line for line in opens)


def test_a_plain_file_costs_no_further_call(engine: Engine, tmp_path: Path) -> None:
    made = write_and_read(tmp_path, 1, size=512, count=2)
    lines = traced(engine, made, "fallocate,fadvise64,ftruncate,fcntl,pwrite64,pread64")
    assert len([line for line in lines if ", 512, " in line]) == 4
    # The only file that is allocated or cut beforehand is the engine's manifest.
    others = [line for line in lines if ", 512, " not in line and "pread64(" not in line]
    assert len([line for line in others if "fallocate(" in line]) <= 1
    assert not [line for line in others if "fadvise" in line]


def test_one_system_call_for_several_requests(engine: Engine, tmp_path: Path) -> None:
    body = read(4096, nest(0, (64, 0)), depth=32)
    target = file(interface="uring", prestage=number(4096))
    made = plan(tmp_path, [target], [manage("open"), phase("r", body)])
    lines = traced(engine, made, "io_uring_enter,pread64")
    assert not [line for line in lines if "pread64" in line and ", 4096, 0)" in line]
    # At depth 32 in runs of four, so that a device does not wait for the last one.
    submitted = [line for line in lines if "io_uring_enter" in line and ", 4, " in line]
    assert len(submitted) >= 8, lines


@pytest.mark.parametrize("interface", ["posix", "uring", "stdio"])
def test_appended_data_follows(engine: Engine, tmp_path: Path, interface: str) -> None:
    body = write(100, Append(count=number(3)))
    made = plan(
        tmp_path,
        [file(interface=interface, append=True, keep=True)],
        [phase("p", manage("create"), body, body, manage("close"))],
    )
    outcome = engine.run(made, "alone")
    assert outcome.code == 0, outcome.events
    assert (Path(made.directory) / "data").stat().st_size == 600


@pytest.mark.parametrize("per_rank", [False, True])
@pytest.mark.parametrize("size", ["0", "5 kB", "3 MiB"])
def test_mapped_files_end_where_their_content_ends(
    engine: Engine, tmp_path: Path, per_rank: bool, size: str
) -> None:
    made = write_and_read(
        tmp_path,
        3,
        size=3901,
        count=700,
        per_rank=per_rank,
        interface="mmap",
        options={"size": size},
        keep=True,
        content=Content(verify=True),
    )
    outcome = engine.run(made)
    assert outcome.code == 0, outcome.events
    least = {"0": 0, "5 kB": 5000, "3 MiB": 3 << 20}[size]
    found = [path.stat().st_size for path in Path(made.directory).glob("data*")]
    assert found == ([max(3901 * 700, least)] * 3 if per_rank else [3901 * 700 * 3])


def test_a_mapped_file_that_was_cut_is_an_error(engine: Engine, tmp_path: Path) -> None:
    pattern = nest(0, (64, 4096))
    made = plan(
        tmp_path,
        [file(interface="mmap")],
        [
            phase("w", manage("create"), write(4096, pattern)),
            hold(),
            phase("r", read(4096, pattern)),
        ],
    )
    target = Path(made.directory) / "data"
    mark = '"phase_finished","path":"w"'
    outcome = meddled(engine, made, mark, lambda: os.truncate(target, 10 * 4096), "alone")
    assert outcome.code == 3
    assert "somebody cut the file" in outcome.failed["hint"]
    event = outcome.phase("r")
    assert event["details"][0]["offset"] == 10 * 4096
    assert event["operations"] == 10


def test_a_stream_keeps_small_writes_until_it_is_flushed(engine: Engine, tmp_path: Path) -> None:
    body = write(8, nest(0, (100, 8)))
    flush = Sync(file=0, mode=SyncMode.FLUSH)
    made = plan(
        tmp_path,
        [file(interface="stdio", options={"buffer_bytes": "64 KiB"})],
        [phase("w", manage("create"), body), hold(), phase("f", flush), hold()],
    )
    target = Path(made.directory) / "data"
    sizes: list[int] = []
    outcome = meddled(
        engine, made, '"phase_finished"', lambda: sizes.append(target.stat().st_size), "alone"
    )
    assert (outcome.code, sizes) == (0, [0, 800])
    lines = traced(engine, write_streams(tmp_path / "again"), "write")
    # 4096 writes of 8 bytes are 8 of the C library's 4096.
    assert len([line for line in lines if line.endswith("= 4096")]) == 8


def write_streams(place: Path) -> Plan:
    """4096 writes of 8 bytes each, through the C library's own buffer."""
    place.mkdir()
    body = write(8, nest(0, (4096, 8)))
    return plan(
        place, [file(interface="stdio")], [phase("w", manage("create"), body, manage("close"))]
    )


@pytest.mark.parametrize(
    ("interface", "name", "value", "says"),
    [
        ("posix", "direct", "yes", "direct must be true or false, not yes"),
        ("posix", "open_sync", "all", "open_sync must be none, sync or dsync, not all"),
        ("posix", "preallocate", "1 KB", "preallocate must be 0 (nothing) or more bytes"),
        ("posix", "preallocate", "-1", "preallocate must be"),
        ("posix", "preallocate", "0.3 B", "preallocate must be"),
        ("posix", "advice", "", "advice must be"),
        ("stdio", "buffer_bytes", "2 GiB", "buffer_bytes must be"),
        ("mmap", "direct", "true", "there is no option direct"),
        ("simulated", "latency_s", "-1", "latency_s must be"),
    ],
)
def test_wrong_options_are_refused(
    engine: Engine, tmp_path: Path, interface: str, name: str, value: str, says: str
) -> None:
    made = write_and_read(tmp_path, 1, size=10, count=1, interface=interface, options={name: value})
    outcome = engine.run(made, "alone")
    assert outcome.code == 2
    assert outcome.failed["message"].startswith(says)
    assert outcome.failed["where"].startswith("files[0].options[0]")


@pytest.mark.parametrize("value", ["0", "1", "4096 B", "1.5 KiB", "64 KiB", "1 MB"])
def test_sizes_have_units(engine: Engine, tmp_path: Path, value: str) -> None:
    options = {"preallocate": value}
    made = write_and_read(tmp_path, 1, size=1, count=1, options=options, keep=True)
    assert engine.run(made, "alone").code == 0
    wanted = {"0": 1, "1": 1, "4096 B": 4096, "1.5 KiB": 1536, "64 KiB": 65536, "1 MB": 10**6}
    assert (Path(made.directory) / "data").stat().st_size == wanted[value]


@pytest.mark.parametrize("interface", ["posix", "uring"])
def test_a_file_that_was_made_and_cannot_get_its_size_is_removed(
    engine: Engine, tmp_path: Path, interface: str
) -> None:
    options = {"preallocate": "4096 TiB"}
    made = write_and_read(tmp_path, 1, size=1, count=1, interface=interface, options=options)
    outcome = engine.run(made, "alone")
    assert outcome.failed["code"] == "io", outcome.failed
    left = engine.clean(made)
    assert left["left_count"] == 0, left
    assert is_gone(made)


def test_contradictions_are_refused(engine: Engine, tmp_path: Path) -> None:
    polled = file(interface="uring", options={"poll": "true"})
    tree = Tree(items=number(1), size=number(10))
    items_of = file(interface="uring", tree=tree, options={"registered_buffers": "true"})
    for target, says in ((polled, "poll=true"), (items_of, "items of a tree")):
        place = tmp_path / says.split()[0]
        place.mkdir()
        body = manage("create") if target.tree is None else items("create", "close")
        outcome = engine.run(plan(place, [target], [phase("p", body)], ranks=2))
        assert outcome.code == 2, outcome.events
        assert says in outcome.failed["message"]


@pytest.mark.needs("root")
def test_a_full_file_system_is_an_error_for_a_mapped_file(engine: Engine, tmp_path: Path) -> None:
    small = tmp_path / "small"
    small.mkdir()
    body = write(4096, nest(0, (512, 4096)))
    target = file(interface="mmap", per_rank=True)
    made = plan(tmp_path, [target], [phase("w", manage("create"), body)])
    made = made.model_copy(update={"directory": str(small / "run")})
    (Path(made.journal) / "plan.json").write_text(made.to_json())
    mount = f'mount -t tmpfs -o size=1m tmpfs "{small}"'
    words = ["unshare", "-m", "sh", "-c"]
    done = subprocess.run(
        [*words, f'{mount} && exec "$@"', "sh", *engine.command(made, "alone")],
        capture_output=True,
        text=True,
        check=False,
        timeout=600,
    )
    events = parse(done.stdout)
    assert done.returncode == 3, done.stderr
    assert "No space left on device" in events[-1]["message"]
    finished = next(event for event in events if event["event"] == "phase_finished")
    assert 200 < finished["operations"] < 257  # a create among them


def test_two_ranks_write_one_mapped_file_at_once(engine: Engine, tmp_path: Path) -> None:
    """Blocks of all ranks lie between each other, and each rank makes the file longer."""
    ranks, count = 4, 300
    pattern = nest(times(RANK, 1000), (count, 1000 * ranks))
    made = plan(
        tmp_path,
        [file(interface="mmap", content=Content(verify=True))],
        [
            phase("w", manage("create"), write(1000, pattern), manage("close")),
            phase("r", manage("open"), read(1000, pattern), manage("close")),
        ],
        ranks=ranks,
        repetitions=3,
    )
    outcome = engine.run(made)
    assert outcome.code == 0, outcome.events
    assert [event["errors"] for event in outcome.of("phase_finished")] == [0] * 6
