"""Logs that others published: never a crash; a workload that adds up, or a sentence why not."""

from __future__ import annotations

import re

import pytest
from test_ours import check_totals

from darshan_log import public_logs
from outside_data import data_folder, logs_in
from venturi.derive.workload import derive
from venturi.derive.yaml_text import to_yaml
from venturi.model.error import UserError
from venturi.model.trace import Trace
from venturi.model.workload import Workload
from venturi.model.yaml_text import parse_yaml
from venturi.sources.open import read

NOTHING_IN_IT = ("empty_log", "runtime_heatmap_inactive_ranks", "2110482")
"""Logs without I/O of an application: no records, standard streams, an interpreter's files."""

KNOWN_LINES = {
    "io500/ior-easy_api_MPIIO": "ior -a MPIIO -F -w -r -e -t 4m -b 1g -s 1",
    "io500/ior-easy_api_POSIX": "ior -a POSIX -w -r -e -t 1m -b 1g -s 1",
    "io500/ior-hard_api_POSIX": "ior -a POSIX -w -r -e -t 47008 -b 47008 -s 100000",
    "ior_daos-snyder_ior-POSIX": "ior -a POSIX -w -r -t 256k -b 1m -s 1",
    "ior_pnetcdf_hdf5-shane_ior-HDF5": "ior -a HDF5 -w -r -t 256k -b 1m -s 1",
    "ior_pnetcdf_hdf5-shane_ior-PNETCDF": "ior -a NCMPI -w -r -t 256k -b 1m -s 1",
    "mpi_io_test_with_dxt": "ior -a MPIIO -w -r -t 16m -b 16m -s 4",
    "release_logs-mpi-io-test": "ior -a MPIIO -w -r -t 16m -b 16m -s 1",
}
"""From the names, ini files and READMEs that came with the logs."""


@pytest.mark.parametrize("name", public_logs())
def test_logs_that_ship_with_pydarshan(name: str) -> None:
    check(name, read(public_logs()[name]))


@pytest.mark.nightly
@pytest.mark.parametrize("name", logs_in("darshan/public"))
def test_public_logs(name: str) -> None:
    check(name, read(data_folder(f"darshan/public/{name}")))


def check(name: str, trace: Trace) -> None:
    """A workload of the log adds up, or one sentence says why there is none."""
    if any(word in name for word in NOTHING_IN_IT):
        with pytest.raises(UserError, match=re.escape(trace.source.file)):
            derive(trace, name)
        return
    workload = derive(trace, name)
    assert workload.origin is not None
    assert parse_yaml(to_yaml(workload), name, Workload) == workload
    check_totals(workload)
    known = [line for start, line in KNOWN_LINES.items() if name.startswith(start)]
    assert not known or workload.origin.ior == known[0]
    assert workload.origin.truncated == bool(trace.gaps)
