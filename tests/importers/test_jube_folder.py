"""Folders of JUBE become runs; they follow what JUBE 2.7 writes, element by element."""

from __future__ import annotations

from pathlib import Path

import pytest

from venturi.importers.import_path import ImportRequest, import_path
from venturi.model.error import UserError
from venturi.model.result import Result
from venturi.store.archive import results

CONFIGURATION = """<?xml version="1.0" encoding="UTF-8"?>
<jube version="2.7">
  <benchmark name="stream" outpath=".." file_path_ref="../..">
    <patternset name="found" init_with="">
      <pattern mode="pattern" name="triad" type="float" unit="MB/s">Triad: +$jube_pat_fp</pattern>
      <pattern mode="pattern" name="note" type="string">Note: $jube_pat_wrd</pattern>
    </patternset>
  </benchmark>
</jube>
"""
PACKAGES = """<?xml version="1.0" encoding="UTF-8"?>
<workpackages>
  <workpackage id="0">
    <step cycle="0" iteration="0">compile</step>
    <parameterset><parameter mode="text" name="flags" separator="," type="string">
      <value>-O2,-O3</value><selection idx="1">-O3</selection></parameter></parameterset>
  </workpackage>
  <workpackage id="1">
    <step cycle="0" iteration="0">execute</step>
    <parameterset>
      <parameter mode="text" name="nodes" separator="," type="int"><value>2</value></parameter>
      <parameter mode="text" name="taskspernode" type="int"><value>4</value></parameter>
      <parameter mode="python" name="size" type="int">
        <value>$nodes * 500</value><selection>1000</selection></parameter>
    </parameterset>
    <parents>0</parents>
  </workpackage>
  <workpackage id="2">
    <step cycle="0" iteration="0">execute</step>
    <parents>0</parents>
  </workpackage>
</workpackages>
"""
ANALYSIS = """<?xml version="1.0" encoding="UTF-8"?>
<analyse>
  <analyser name="analyse">
    <step name="execute">
      <workpackage id="1">
        <pattern name="triad" type="float">15000.5</pattern>
        <pattern name="triad_cnt" type="int">3</pattern>
        <pattern name="triad_first" type="float">15000.5</pattern>
        <pattern name="triad_avg" type="float">14000.0</pattern>
        <pattern name="note" type="string">fine</pattern>
      </workpackage>
      <workpackage id="2"/>
    </step>
  </analyser>
</analyse>
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A benchmark that ran once: one package is done, one failed."""
    run = tmp_path / "bench_run" / "000000"
    for name, mark in (("000001_execute", "done"), ("000002_execute", "error")):
        (run / name / "work").mkdir(parents=True)
        (run / name / mark).write_text("")
    for name, text in (
        ("configuration.xml", CONFIGURATION),
        ("workpackages.xml", PACKAGES),
        ("analyse.xml", ANALYSIS),
        ("timestamps", "start: 2026-01-02 03:04:05\nchange: 2026-01-02 03:05:00\n"),
    ):
        (run / name).write_text(text)
    return run


def taken(store: Path, path: Path) -> list[Result]:
    assert import_path(store, path, ImportRequest("there")) == 2
    assert import_path(store, path, ImportRequest("there")) == 0
    return sorted(results(store), key=lambda one: one.level)


@pytest.mark.parametrize("above", [False, True])
def test_packages_of_work_are_runs(folder: Path, tmp_path: Path, above: bool) -> None:
    done, failed = taken(tmp_path / "store", folder.parent if above else folder)
    assert (done.name, done.started) == ("stream-execute", "2026-01-02T03:04:05+00:00")
    assert (done.nodes, done.ranks) == (2, 8)
    assert done.parameters == {"flags": "-O3", "nodes": 2, "taskspernode": 4, "size": 1000}
    assert {n: (m.unit, m.values) for n, m in done.metrics.items()} == {
        "triad": ("MB/s", [15000.5])
    }
    assert done.facts == {"of several matches the first": "triad (3)"}
    assert (failed.level, failed.reasons) == ("INVALID", ["JUBE marked it as failed"])
    assert failed.metrics == {}


def test_a_run_that_was_not_analysed_is_refused(folder: Path, tmp_path: Path) -> None:
    (folder / "analyse.xml").unlink()
    with pytest.raises(UserError, match="was not analysed"):
        import_path(tmp_path / "store", folder)
    assert not (tmp_path / "store").exists()


def test_files_cut_in_half_are_refused(folder: Path, tmp_path: Path) -> None:
    (folder / "workpackages.xml").write_text(PACKAGES[: len(PACKAGES) // 2])
    with pytest.raises(UserError, match=r"workpackages.xml:\d+: not valid XML"):
        import_path(tmp_path / "store", folder)
