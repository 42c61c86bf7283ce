"""Small parsers of mdtest's and md-workbench's output, written from real outputs of the tools."""

from __future__ import annotations

import re
from typing import Any

MDTEST_EXAMPLE = """\
-- started at 11/21/2026 19:11:40 --

mdtest-4.1.0+dev was launched with 2 total task(s) on 1 node(s)
Command line used: mdtest '-b' '2' '-z' '2' '-I' '10' '-i' '2' '-d' '/scratch/run/s/md'
WARNING: Read bytes is 0, thus, a read test will actually just open/close
Nodemap: 11
Path                : /scratch/run/s/md
FS                  : 252.0 GiB   Used FS: 8.7%   Inodes: 16.0 Mi   Used Inodes: 3.7%
2 tasks, 140 files/directories

SUMMARY rate (in ops/sec): (of 2 iterations)
   Operation                     Max            Min           Mean        Std Dev
   ---------                     ---            ---           ----        -------
   Directory creation           2142.864       2059.493       2101.178         58.952
   Directory stat             752823.795      17522.158     385172.976     519936.774
   Directory rename           133333.915     127155.167     130244.541       4369.035
   Directory removal           12440.996      10402.724      11421.860       1441.276
   File creation                2186.982       2137.536       2162.259         34.964
   File stat                  777751.735     756704.330     767228.032      14882.763
   File read                  575688.784     520569.645     548129.215      38975.117
   File removal               287562.468     285049.786     286306.127       1776.734
   Tree creation               13567.527        893.301       7230.414       8962.031
   Tree removal                 8793.090       2064.997       5429.044       4757.480
-- finished at 11/21/2026 19:11:42 --
"""
RANK_STATISTICS_EXAMPLE = """\
SUMMARY rate (in ops/sec): (of 1 iterations)
   Operation     per Rank: Max            Min           Mean      per Iteration: Max            \
Min           Mean        Std Dev
   ---------               ---            ---           ----                      ---            \
---           ----        -------
   File creation             887.066        819.810        853.438               1639.573       \
1639.573       1639.573          0.000
   Tree removal                  190.149        190.149        190.149            190.149        \
190.149        190.149          0.000
"""
WORKBENCH_EXAMPLE = """\
MD-Workbench total objects: 6000 workingset size: 7.441 MiB (version: 4.1.0+dev) time: 2026-11-21 \
19:11:48
precreate process max:1.28s min:1.24s mean: 1.26s balance:96.6 stddev:0.0 rate:1564.6 iops/s \
dsets: 4 objects:2000 rate:3.123 dset/s rate:1561.4 obj/s tp:5.8 MiB/s op-max:2.0182e-02s (0 errs) \
create(5.5194e-04s, 5.6720e-04s, 6.1703e-04s, 6.3801e-04s, 4.2410e-03s, 8.2738e-03s, 2.0182e-02s)
benchmark process max:2.09s min:1.52s mean: 1.80s balance:72.6 stddev:0.4 rate:3831.3 iops/s \
objects:2000 rate:957.8 obj/s tp:7.1 MiB/s op-max:3.6387e-02s waiting_factor:0.50 (0 errs) \
read(3.8147e-06s, 5.0068e-06s, 5.0068e-06s, 5.9605e-06s, 7.1526e-06s, 1.1921e-05s, 1.2073e-02s)
cleanup process max:0.12s min:0.09s mean: 0.10s balance:73.2 stddev:0.0 rate:16694.1 iops/s \
objects:2000 dsets: 4 rate:16660.8 obj/s rate:33.322 dset/s op-max:3.0048e-02s (0 errs) \
delete(8.8215e-06s, 1.0014e-05s, 1.0967e-05s, 1.1921e-05s, 1.3113e-05s, 1.8120e-05s, 3.0048e-02s)
"""
_NUMBER = r"([0-9]+\.[0-9]{3})"
_MDTEST_ROW = re.compile(rf"^   ([A-Z][a-z]+ [a-z]+) +{_NUMBER} +{_NUMBER} +{_NUMBER} +{_NUMBER}$")
_RANK_ROW = re.compile(r"^   ([A-Z][a-z]+ [a-z]+)" + rf" +{_NUMBER}" * 7 + "$")
_TITLE = re.compile(r"^SUMMARY (rate|time) \(in (ops/sec|ms/op)\): \(of (\d+) iterations\)$")
_PHASE = re.compile(
    r"^(precreate|benchmark|cleanup) process max:([0-9.]+)s min:([0-9.]+)s mean: ([0-9.]+)s "
    r"balance:([0-9.]+) stddev:([0-9.]+) rate:([0-9.]+) iops/s (.*?) op-max:([0-9.e+-]+)s"
    r"(?: waiting_factor:([0-9.]+))? \((\d+) errs(?:!!!)?\)(.*)$"
)
_QUANTILES = re.compile(r" ([a-z_]+)\(((?:[0-9.]+e[+-]\d\ds(?:, )?){7})\)")


def mdtest_tables(text: str) -> dict[str, dict[str, tuple[float, ...]]]:
    """Rows of the tables `rate` and `time` by name: max, min, mean, deviation."""
    tables: dict[str, dict[str, tuple[float, ...]]] = {}
    rows: dict[str, tuple[float, ...]] = {}
    for line in text.splitlines():
        if title := _TITLE.match(line):
            rows = tables.setdefault(title[1], {})
        elif row := _RANK_ROW.match(line) or _MDTEST_ROW.match(line):
            rows[row[1]] = tuple(float(value) for value in row.groups()[1:])
    return tables


def workbench_phases(text: str) -> list[dict[str, Any]]:
    """The lines of the phases, with their numbers and quantiles."""
    phases = []
    for match in filter(None, (_PHASE.match(line) for line in text.splitlines())):
        quantiles = {
            name: [float(value.rstrip("s")) for value in values.split(", ")]
            for name, values in _QUANTILES.findall(match[12])
        }
        objects = re.search(r"objects:(\d+)", match[8])
        phases.append(
            {
                "name": match[1],
                "rate": float(match[7]),
                "objects": int(objects[1]) if objects else 0,
                "factor": float(match[10] or 0),
                "errors": int(match[11]),
                "quantiles": quantiles,
            }
        )
    return phases
