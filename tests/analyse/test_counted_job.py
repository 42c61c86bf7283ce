"""What a Darshan log counts, against the text of darshan-parser that stands beside it."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

import pytest

from darshan_log import log_of, text_of
from venturi.analyse.characterization import characterization_of
from venturi.analyse.counted_job import MOST_FILES, counted_job_of
from venturi.model.characterization_data import CountedJob
from venturi.model.trace import CounterRecord, Layer
from venturi.report.render import render_document
from venturi.sources.counter import LAYERS
from venturi.sources.open import read_capture

LOGS = Path(__file__).parents[2] / "examples" / "darshan"
COUNTERS = {
    "opens": ("OPENS", "INDEP_OPENS", "COLL_OPENS"),
    "seeks": ("SEEKS",),
    "stats": ("STATS",),
    "syncs": ("FSYNCS", "FDSYNCS", "SYNCS", "FLUSHES"),
    "bytes_read": ("BYTES_READ",),
    "bytes_written": ("BYTES_WRITTEN",),
}
PREFIXES = {"posix": "POSIX_", "stdio": "STDIO_", "mpiio": "MPIIO_"}


def sums_of(text: Path) -> dict[str, dict[str, int]]:
    """The sum of each counter by module, from the parser's rows."""
    found: dict[str, dict[str, int]] = {}
    for line in text.read_text("utf-8").splitlines():
        row = line.split("\t")
        if len(row) >= 8 and not line.startswith("#") and "_F_" not in row[3]:
            own = found.setdefault(row[3].partition("_")[0], {})
            name = row[3].partition("_")[2]
            own[name] = own.get(name, 0) + max(0, int(row[4]))
    return found


def counted(path: Path) -> CountedJob:
    found = counted_job_of(read_capture(path).trace)
    assert found is not None
    return found


@pytest.mark.parametrize("name", ["miniapp", "ior_mpiio_indep", "h5slab", "serial_app"])
def test_modules_have_the_sums_of_the_parser_s_rows(name: str) -> None:
    found = counted(LOGS / name / f"{name}.darshan")
    sums = sums_of(LOGS / name / "counters.txt")
    layers = [layer for layer in found.layers if layer.layer in PREFIXES]
    assert layers
    for layer in layers:
        own = sums[PREFIXES[layer.layer].rstrip("_")]
        for field, counters in COUNTERS.items():
            assert getattr(layer, field) == sum(own.get(c, 0) for c in counters), (layer, field)


def sizes_of(text: Path) -> dict[str, Counter[int]]:
    """How often each size came, by module, from the parser's rows."""
    rows = [line.split("\t") for line in text.read_text("utf-8").splitlines() if line[:1] != "#"]
    values = {(row[0], row[1], row[2], row[3]): int(row[4]) for row in rows
              if len(row) >= 8 and re.search(r"_ACCESS\d_(ACCESS|COUNT)$", row[3])}  # fmt: skip
    found: dict[str, Counter[int]] = {}
    for (module, rank, record, name), count in values.items():
        if name.endswith("_COUNT") and count > 0:
            size = values[module, rank, record, name.replace("_COUNT", "_ACCESS")]
            found.setdefault(module, Counter())[size] += count
    return found


@pytest.mark.parametrize("name", ["miniapp", "h5slab", "ior_hdf5_coll", "ior_ncmpi_coll"])
def test_common_sizes_are_the_four_most_frequent_of_each_module(name: str) -> None:
    found = {
        layer.layer: {size.bytes: size.count for size in layer.common_sizes}
        for layer in counted(log_of(name)).layers
        if layer.common_sizes
    }
    sizes = {LAYERS[module][0].value: own for module, own in sizes_of(text_of(name)).items()}
    assert set(found) == set(sizes)
    for layer, own in found.items():
        assert own == {size: sizes[layer][size] for size in own}
        assert list(own.values()) == [count for _, count in sizes[layer].most_common(4)]


def test_the_page_has_the_common_sizes_of_each_module() -> None:
    captured = read_capture(log_of("ior_hdf5_coll"))
    page = render_document(characterization_of(captured, "ior"), "md")
    table = page.partition("**Common access sizes**")[2].partition("**")[0]
    rows = re.findall(r"^\| ([\w -]*?) *\| ([\d,]+ \w+) \| (\d+) \(", table, re.M)
    assert rows[:2] == [("POSIX", "256 KiB", "64"), ("", "512 B", "11")]
    assert rows[-1] == ("HDF5 datasets", "256 KiB", "64")
    assert [module for module, _, _ in rows if module] == ["POSIX", "MPI-IO", "HDF5 datasets"]


def test_the_job_is_that_of_the_log_by_both_routes() -> None:
    folder = LOGS / "miniapp"
    log, text = counted(folder / "miniapp.darshan"), counted(folder / "counters.txt")
    assert (log.number, log.command) == ("3662", "/apps/mini/miniapp /scratch/run350")
    assert log.started.startswith("2026-11-21T20:08:49")
    assert (text.number, text.command, text.started) == (log.number, log.command, log.started)
    assert [(f.name, f.bytes_written) for f in text.files] == [
        (f.name, f.bytes_written) for f in log.files
    ]


def test_the_page_names_job_command_modules_and_every_file() -> None:
    captured = read_capture(LOGS / "miniapp" / "miniapp.darshan")
    page = render_document(characterization_of(captured, "miniapp"), "md")
    names = {record.file for record in captured.trace.records}
    assert len(names) == 8
    said = ["3662", "2026-11-21 20:08:49 UTC", "/apps/mini/miniapp /scratch/run350", *names]
    assert [word for word in said if word not in page] == []
    assert "45 (87 %)" in page  # of 52 writes


def test_the_largest_files_stay_and_the_others_are_counted() -> None:
    trace = read_capture(LOGS / "miniapp" / "miniapp.darshan").trace
    records = [
        CounterRecord(
            layer=Layer.POSIX,
            file=f"/f{number}",
            identity=str(number),
            rank=0,
            counters={"BYTES_READ": number},
            times={},
        )
        for number in range(MOST_FILES + 5)
    ]
    found = counted_job_of(trace.model_copy(update={"records": records}))
    assert found is not None
    assert (len(found.files), found.left_out) == (MOST_FILES, 5)
    assert (found.files[0].bytes_read, found.files[-1].bytes_read) == (MOST_FILES + 4, 5)


def test_other_captures_have_no_such_tables() -> None:
    trace = read_capture(LOGS / "miniapp" / "miniapp.darshan").trace
    source = trace.source.model_copy(update={"format": "venturi"})
    assert counted_job_of(trace.model_copy(update={"source": source})) is None
