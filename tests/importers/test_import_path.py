"""Other tools' output becomes runs that say where they come from; what is mixed is refused.

`real/` holds what fio 3.33, hyperfine 1.15, mdtest and md-workbench 4.1 wrote; the report of
ReFrame follows its schema (versions 3 and 4).
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from pathlib import Path

import pytest

from campaign.elbencho_output import COMMAND, MKDIRS, READ, WRITE, csv_text, json_text
from venturi.analyse.set_comparison import compared_sets
from venturi.importers.import_path import ImportRequest, import_path
from venturi.model.error import UserError
from venturi.model.output import Better
from venturi.model.result import Result, SourceKind
from venturi.store.archive import results, verify

HERE = Path(__file__).parent / "real"
FIELD = Path(__file__).parents[1] / "compat" / "real"


def taken(store: Path, path: Path, machine: str = "vm") -> list[Result]:
    """The runs of a file, which are new in the store the first time only."""
    count = import_path(store, path, ImportRequest(machine))
    found = results(store) if count else []
    assert count == len(found)
    assert import_path(store, path, ImportRequest(machine)) == 0
    digest = hashlib.sha256(path.read_bytes()).hexdigest()
    for one in found:
        assert (one.source.kind, one.source.sha256) == (SourceKind.IMPORT, digest)
        assert (store / "runs" / one.id / "source" / path.name).read_bytes() == path.read_bytes()
    assert all(faults == [] for _, faults in verify(store, []))
    return found


def test_ior(tmp_path: Path) -> None:
    [one] = taken(tmp_path / "a", FIELD / "ior_json_file.json")
    assert one.metrics["write"].values == [1515.1464, 2752.3937]
    assert (one.metrics["write"].unit, one.metrics["write"].better) == ("MiB/s", Better.HIGHER)
    assert (one.ranks, one.parameters["transferSize"], one.parameters["api"]) == (
        2,
        262144,
        "POSIX",
    )
    assert (one.started, one.source.version) == ("2026-11-21T19:11:27+00:00", "4.1.0+dev")
    assert "testFileName" not in one.parameters
    [text] = taken(tmp_path / "b", FIELD / "ior_text.out")
    assert text.metrics["write"].values == [1194.75, 830.95, 673.50]
    assert (text.ranks, text.parameters["transfer"]) == (2, 262144)
    with pytest.raises(UserError, match="several runs of ior"):
        import_path(tmp_path / "c", FIELD / "ior_script.out")


def test_other_options_are_another_key(tmp_path: Path) -> None:
    """Text of IOR names few settings; the words of its command line tell runs apart."""
    text = (FIELD / "ior_text.out").read_text()
    (tmp_path / "own.out").write_text(text.replace("-w -r", "-w -r -F"))
    (tmp_path / "moved.out").write_text(text.replace("/scratch/run/s/f", "/elsewhere/f"))
    for name in ("own.out", "moved.out"):
        import_path(tmp_path / name[:-4], tmp_path / name)
    import_path(tmp_path / "first", FIELD / "ior_text.out")
    [first], [own], [moved] = (results(tmp_path / name) for name in ("first", "own", "moved"))
    assert first.key == moved.key != own.key
    with pytest.raises(UserError, match="what it does is"):
        compared_sets([first], [own], ("a", "b"))


def test_metadata_benchmarks(tmp_path: Path) -> None:
    [one] = taken(tmp_path / "a", HERE / "mdtest_i3.out")
    assert one.metrics["file_create"].values == [9272.767]
    assert (one.ranks, one.started) == (2, "2026-11-21T19:11:33+00:00")
    [two] = taken(tmp_path / "b", HERE / "mdw.out")
    assert two.metrics["benchmark"].values == [3831.3, 2002.6]


def test_fio_and_hyperfine(tmp_path: Path) -> None:
    [one] = taken(tmp_path / "a", HERE / "fio.json")
    raw = json.loads((HERE / "fio.json").read_text())
    assert one.metrics["write"].values == [raw["jobs"][0]["write"]["bw_bytes"]]
    assert set(one.metrics) == {"write", "write_operations"}
    assert one.parameters["bs"] == "64k"
    small, large = taken(tmp_path / "b", HERE / "hyperfine.json")
    raw = json.loads((HERE / "hyperfine.json").read_text())
    assert [small.metrics["seconds"].values, large.metrics["seconds"].values] == [
        row["times"] for row in raw["results"]
    ]
    assert small.metrics["seconds"].better is Better.LOWER
    assert small.key != large.key


def test_reports_of_reframe(tmp_path: Path) -> None:
    case = {
        "name": "stream",
        "system": "daint:gpu",
        "environment": "gnu",
        "result": "success",
        "nodelist": ["n1", "n2"],
    }
    old = {
        "perfvars": [
            {
                "name": "copy",
                "value": 19.5,
                "unit": "GB/s",
                "reference": None,
                "thres_lower": None,
                "thres_upper": None,
            }
        ]
    }
    new = {
        "result": "fail",
        "fail_phase": "sanity",
        "fail_reason": "no output",
        "name": "stream 2",
        "perfvalues": {"daint:gpu:copy": [18.5, 0, None, None, "GB/s", "pass"]},
    }
    info = {"data_version": "3.1", "time_start": "2026-03-01T12:00:00+0100", "hostname": "login1"}
    path = tmp_path / "report.json"
    cases = [{**case, **old}, {**case, **new}]
    path.write_text(json.dumps({"session_info": info, "runs": [{"testcases": cases}]}))
    good, bad = sorted(taken(tmp_path / "a", path), key=lambda one: one.level)
    assert (good.metrics["copy"].values, good.nodes) == ([19.5], 2)
    assert good.started == "2026-03-01T11:00:00+00:00"
    assert (bad.level, bad.reasons) == ("INVALID", ["sanity failed: no output"])


def test_elbencho(tmp_path: Path) -> None:
    """A growing file: each command line is a run, a phase that comes again a repetition."""
    other = COMMAND.replace('"1m"', '"4m"')
    for form, ending in ((json_text, "json"), (csv_text, "csv")):
        path = tmp_path / f"e.{ending}"
        more = form(WRITE, command=other)
        more = more if ending == "json" else more.partition("\n")[2]
        path.write_text(form(MKDIRS, WRITE, READ, WRITE) + more)
        first, second = sorted(taken(tmp_path / ending, path), key=lambda one: -len(one.metrics))
        assert first.key != second.key
        unit = WRITE.bytes if ending == "json" else WRITE.bytes // 2**20
        assert first.metrics["write"].values == [unit, unit]
        assert second.metrics["write"].values == [unit]
        assert first.metrics["make_directories"].values == [1466]
        assert (first.ranks, first.nodes, first.parameters["block"]) == (16, 2, 1048576)
        assert (first.source.tool, first.source.version) == ("elbencho", "3.1-1")
        zone = {"json": "14:09:38", "csv": "16:09:38"}
        assert first.started == f"2026-05-22T{zone[ending]}+00:00"


@pytest.mark.parametrize("form", [json_text, csv_text])
def test_elbencho_that_is_cut_off(tmp_path: Path, form: Callable[..., str]) -> None:
    path = tmp_path / "e"
    path.write_text(form(WRITE, READ)[:-100])
    line = 2 if form is json_text else 3
    with pytest.raises(UserError, match=f"line {line}: not as elbencho writes it"):
        import_path(tmp_path / "a", path)
    assert not (tmp_path / "a").exists()


def test_what_is_damaged_or_unknown(tmp_path: Path) -> None:
    data = json.loads((FIELD / "ior_json_file.json").read_text())
    del data["tests"][0]["Results"][0]["bwMiB"]
    (tmp_path / "d.json").write_text(json.dumps(data))
    with pytest.raises(UserError, match=r"d\.json: not as its tool writes it: it has no 'bwMiB'"):
        import_path(tmp_path / "a", tmp_path / "d.json")
    (tmp_path / "c.json").write_text(json.dumps(data)[:-9])
    with pytest.raises(UserError, match=r"c\.json: JSON that is cut off or damaged: "):
        import_path(tmp_path / "a", tmp_path / "c.json")
    (tmp_path / "x.txt").write_text("hello")
    assert import_path(tmp_path / "a", tmp_path / "x.txt") is None
    assert not (tmp_path / "a").exists()


def test_json_that_is_nested_too_deeply(tmp_path: Path) -> None:
    deep = "[" * 100_000 + "]" * 100_000
    (tmp_path / "list.json").write_text(deep)
    assert import_path(tmp_path / "a", tmp_path / "list.json") is None
    (tmp_path / "map.json").write_text(f'{{"tests": {deep}}}')
    with pytest.raises(UserError, match=r"map\.json: JSON that is cut off or damaged: "):
        import_path(tmp_path / "a", tmp_path / "map.json")
    phase = f'{{"command": "elbencho -w", "operation": "WRITE", "config": {deep}}}'
    (tmp_path / "row.json").write_text(f"{phase}\n{phase}\n")
    with pytest.raises(UserError, match=r"row\.json: "):
        import_path(tmp_path / "a", tmp_path / "row.json")
    assert not (tmp_path / "a").exists()
