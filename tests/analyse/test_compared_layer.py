"""A proxy is compared in the layer that it replays, file by file, and tables name that layer."""

from __future__ import annotations

import io

from rich.console import Console

from capture_factory import O_CREAT, O_WRONLY, CaptureFactory
from venturi.analyse.compared_layer import in_layers_of, in_layers_of_workload
from venturi.analyse.fidelity_report import fidelity
from venturi.analyse.planned_fidelity import planned_fidelity
from venturi.derive.workload import derive
from venturi.model.fidelity_report import FidelityReport, Match
from venturi.model.operation import LAYER_CODES, SCATTERED, Kind
from venturi.model.trace import Layer
from venturi.model.trace_folder import Captured
from venturi.report.fidelity_report import print_fidelity_report, section
from venturi.report.quantity import Units

EVEN, ODD = "/s/even.h5", "/s/odd.h5"
NEW = O_WRONLY | O_CREAT
_LIBRARY = (Layer.HDF5_FILE, Layer.HDF5_DATASET)


def run_of(
    names: dict[str, str], above: tuple[str, ...], requests: int = 2, known: bool = False
) -> Captured:
    """Rows of a dataset in each of two files, in order and in none; library calls `above` some."""
    made = CaptureFactory(1)
    for about, rows in ((EVEN, (0, 1, 2, 3, 4, 5)), (ODD, (7, 2, 19, 4, 11, 2))):
        path = names[about]
        more = {"stands_for": about} if known else {}
        made.file(path, **more)
        extent = len(rows) if about == EVEN else 20
        key = f"{path}:/d"
        if about in above:
            made.file(key, within=made.files[path], shape=[extent, 64], element_bytes=8)
            made.call(0, Kind.OPEN, path, layer=Layer.HDF5_FILE, detail=NEW)
        made.call(0, Kind.OPEN, path, detail=NEW)
        for row in rows:
            if about in above:
                is_odd = SCATTERED if about == ODD else 0
                place = (512, 512 * row)
                made.call(0, Kind.WRITE, key, *place, layer=Layer.HDF5_DATASET, detail=is_odd)
            for part in range(requests):
                made.call(0, Kind.WRITE, path, 512, 2048 + 1024 * row + 512 * part)
        made.call(0, Kind.CLOSE, path)
        if about in above:
            made.call(0, Kind.CLOSE, path, layer=Layer.HDF5_FILE)
        made.pause(1.0)
    return made.captured()


def application() -> Captured:
    return run_of({EVEN: EVEN, ODD: ODD}, (EVEN, ODD))


def proxy(above: tuple[str, ...] = (EVEN,), requests: int = 2) -> Captured:
    return run_of({EVEN: "streamA1", ODD: "streamB1"}, above, requests, known=True)


def layers(report: FidelityReport) -> dict[str, str]:
    return {stream.name: stream.layer for stream in report.streams}


def library_calls(captured: Captured) -> set[str]:
    """The files that HDF5 still speaks to."""
    operations = captured.operations
    assert operations is not None
    rows = operations.layer == LAYER_CODES[Layer.HDF5_FILE]
    return {captured.trace.files[file].path for file in operations.file[rows].tolist()}


def test_each_file_is_compared_in_the_layer_that_its_proxy_replays() -> None:
    report = fidelity(application(), proxy())
    assert report.match is Match.EQUAL, report.headline
    assert layers(report) == {EVEN: "hdf5_dataset", ODD: "posix"}
    assert report.total.layer == "posix, hdf5_dataset"
    writes = {field.name: field.application for field in report.total.fields}
    assert writes["write operations"] == 6 + 12


def test_where_the_proxy_replays_the_library_that_is_compared() -> None:
    report = fidelity(application(), proxy(above=(EVEN, ODD)))
    assert report.match is Match.EQUAL, report.headline
    assert set(layers(report).values()) == {"hdf5_dataset"}


def test_what_the_proxy_asks_for_otherwise_below_is_off() -> None:
    report = fidelity(application(), proxy(requests=3))
    assert report.match is Match.OFF
    [odd] = [stream for stream in report.streams if stream.name == ODD]
    assert "write operations" in {f.name for f in odd.fields if f.match is Match.OFF}
    [even] = [stream for stream in report.streams if stream.name == EVEN]
    assert {f.match for f in even.fields} <= {Match.EQUAL, Match.BESIDE}


def test_two_applications_are_compared_as_they_are() -> None:
    both = application()
    assert in_layers_of(both, application()) is both


def test_a_derived_workload_is_compared_in_its_layers_without_a_run() -> None:
    both = application()
    workload = derive(both, "app")
    assert library_calls(both) == {EVEN, ODD}
    assert library_calls(in_layers_of_workload(both, workload)) == {EVEN}
    report = planned_fidelity(both, workload, ("app", "proxy"))
    assert report.match is not Match.OFF, report.headline


def test_tables_name_the_layer() -> None:
    report = fidelity(application(), proxy())
    text = io.StringIO()
    print_fidelity_report(report, Console(file=text, width=200))
    assert "calls are compared in: POSIX, HDF5 datasets" in text.getvalue()
    assert f"{ODD} beside streamB1, compared in POSIX" in text.getvalue()
    found = section(report, Units.IEC)
    assert found is not None
    titles = [str(getattr(block, "title", "")) for block in found.blocks]
    assert titles[0] == "All in all, compared in POSIX, HDF5 datasets"
    assert f"{EVEN}, beside streamA1, compared in HDF5 datasets, equal" in titles
