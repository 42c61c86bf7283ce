"""`venturi probe` as its user types it, and what Prometheus gets."""

from __future__ import annotations

import csv
import re
import shutil
import subprocess
import urllib.request
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from cli.conftest import Cli, cli, told  # noqa: F401
from probe.conftest import Place, SickStorage, hold
from probe.history import BEGIN_NS, put, samples_of
from venturi.cli.probe import command
from venturi.model.probe import ProbeKind
from venturi.probe.exporter import Exporter
from venturi.probe.metrics import families, metrics_text
from venturi.probe.place import ring_path
from venturi.probe.ring import is_held, read_header
from venturi.probe.status import status_of
from venturi.report.probe_text import sparkline

RULES = Path(__file__).parents[2] / "packaging" / "probe"


def call(*words: str) -> Result:
    return CliRunner().invoke(command, list(words))


def test_a_probe_runs_until_it_is_asked_to_end_and_leaves_what_it_lists(
    cli: Cli,  # noqa: F811
) -> None:
    running = cli.start("probe", "run", "--small", "--pool", "10", "--interval", "0.05",
                        str(cli.target))  # fmt: skip
    folder = cli.store / "probe" / "target"
    rings = [ring_path(folder, kind) for kind in ProbeKind]
    hold(lambda: all(ring.exists() for ring in rings))
    for ring in rings:
        hold(lambda ring=ring: read_header(ring).done > 20)  # type: ignore[misc]
    status = cli.json("probe", "status")
    assert [worker["state"] for worker in status["targets"][0]["workers"]] == ["running"] * 2
    again = cli("probe", "run", "--small", "--pool", "10", "--interval", "0.05", str(cli.target))
    assert again.returncode == 2
    assert "another probe works with this pool" in again.stderr
    assert cli("probe", "remove", "target").returncode == 2
    running.terminate()
    out, err = running.communicate(timeout=60)
    assert running.returncode == 0, err
    assert out == ""
    assert not any(is_held(ring) for ring in rings)
    assert len(list(cli.target.iterdir())) == 2
    scheduled = sum(read_header(ring).head for ring in rings)
    removed = cli("probe", "remove", "target")
    assert removed.returncode == 0, told(removed)
    assert list(cli.target.iterdir()) == []
    exported = cli("probe", "export", "target")
    rows = list(csv.DictReader(exported.stdout.splitlines()))
    assert len(rows) == scheduled
    assert {row["operation"] for row in rows} == {
        "md_stat", "md_read", "md_delete", "md_create", "data_write", "data_read",
    }  # fmt: skip


def test_once_measures_each_operation_and_prints_metrics(cli: Cli) -> None:  # noqa: F811
    done = cli("probe", "run", "--once", "--small", "--pool", "4", "--interval", "0.1",
               str(cli.target))  # fmt: skip
    assert done.returncode == 0, told(done)
    ages = re.findall(r"^venturi_probe_inflight_age_seconds\{.*\} 0$", done.stdout, re.M)
    assert len(ages) == 6
    assert 'venturi_probe_up{target="target"} 0' in done.stdout


def test_check_writes_nothing_and_counts_what_will_be(tmp_path: Path) -> None:
    target = tmp_path / "scratch"
    target.mkdir()
    store = tmp_path / "store"
    done = call("check", "--small", "--json", "--store", str(store), str(target))
    assert done.exit_code == 0, done.output
    cost = __import__("json").loads(done.output)["costs"][0]
    assert cost["operations_per_s"] == 6
    assert cost["written_bytes_per_day"] == 86_400 * (2**20 + 3901)
    assert cost["files"] == 1000 + 2 + 3
    assert cost["space_bytes"] == 64 * 2**20 + 1000 * 3901
    assert list(target.iterdir()) == []
    assert not store.exists()


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["check"], "say what to watch"),
        (["check", "--config", "x.yaml", "DIR"], "but not both"),
        (["check", "--small", "--config", "x.yaml"], "--small stands in the configuration"),
        (["check", "--interval", "2", "--config", "x.yaml"], "--interval stands in the"),
        (["check", ""], "is empty"),
        (["check", "DIR/missing"], "no such directory"),
        (["check", "--data", "5", "DIR"], "data"),
        (["check", "--data", "1 XB", "DIR"], "is no size"),
        (["check", "--data", "900000 TB", "DIR"], "only"),
        (["check", "--interval", "0", "DIR"], "interval_s"),
        (["run", "--listen", "nowhere", "--small", "DIR"], "no address"),
        (["status"], "no probe has run"),
        (["export", "x"], "no target is called x"),
    ],
)
def test_wrong_use_is_one_clear_error(tmp_path: Path, words: list[str], said: str) -> None:
    target = tmp_path / "scratch"
    target.mkdir()
    words = [word.replace("DIR", str(target)) for word in words]
    done = call(*words, "--store", str(tmp_path / "store"))
    assert said in str(getattr(done.exception, "message", done.exception))
    assert list(target.iterdir()) == []
    assert not (tmp_path / "store" / "probe").exists()


def test_a_configuration_names_targets_and_a_wrong_key_its_line(tmp_path: Path) -> None:
    target = tmp_path / "scratch"
    target.mkdir()
    config = tmp_path / "probe.yaml"
    text = f"schema: venturi.probe/1\ntargets:\n  - name: s\n    directory: {target}\n"
    config.write_text(text + "    data: 1 MiB\n    pool_files: 5\n")
    done = call("check", "--config", str(config), "--store", str(tmp_path / "store"))
    assert done.exit_code == 0, done.output
    config.write_text(text + "    pool_fils: 5\n")
    done = call("check", "--config", str(config), "--store", str(tmp_path / "store"))
    assert f"{config}:5" in str(getattr(done.exception, "message", ""))


def test_the_exporter_counts_each_sample_once(place: Place) -> None:
    place.settings |= {"interval_s": 60.0, "kinds": ["metadata"]}
    put(place, samples_of(0, 8, BEGIN_NS, 10**9, 1e6))
    exporter = Exporter("127.0.0.1:0", [place.folder])
    exporter.start()
    put(place, samples_of(8, 40, BEGIN_NS + 8 * 10**9, 10**9, 1e6))
    address = f"http://127.0.0.1:{exporter.port}/metrics"
    try:
        for _ in range(2):
            with urllib.request.urlopen(address) as answer:
                text = answer.read().decode()
        assert 'venturi_probe_ticks_total{target="t",op="md_stat"} 10' in text
        name = "venturi_probe_operation_duration_seconds_bucket"
        assert f'{name}{{target="t",op="md_stat",le="+Inf"}} 10' in text
        with pytest.raises(urllib.error.HTTPError):
            urllib.request.urlopen(address.replace("metrics", "other"))
    finally:
        exporter.close()


@pytest.mark.needs("root")
def test_the_exporter_answers_while_the_target_hangs(tmp_path: Path, sick: SickStorage) -> None:
    place = Place(tmp_path / "store", sick.mount, {"kinds": ["metadata"]})
    place.start(ProbeKind.METADATA)
    hold(lambda: place.header(ProbeKind.METADATA).state == "running")
    exporter = Exporter("127.0.0.1:0", [place.folder])
    exporter.start()
    sick.say({"operation": "unlink", "hang": True})
    try:
        hold(lambda: place.header(ProbeKind.METADATA).in_flight_s() > 0.3)
        with urllib.request.urlopen(f"http://127.0.0.1:{exporter.port}/metrics") as answer:
            text = answer.read().decode()
        found = re.search(r'inflight_age_seconds\{target="t",op="md_delete"\} (\S+)', text)
        assert found is not None
        assert float(found[1]) > 0.3
    finally:
        sick.say()
        exporter.close()
        place.end()


@pytest.mark.needs("promtool")
def test_prometheus_takes_the_metrics_and_the_alerts_fire(place: Place, tmp_path: Path) -> None:
    place.settings |= {"interval_s": 60.0, "kinds": ["metadata"]}
    put(place, samples_of(0, 8, BEGIN_NS, 10**9, 1e6))
    exporter = Exporter("127.0.0.1:0", [place.folder])
    exporter.start()
    put(place, samples_of(8, 40, BEGIN_NS + 8 * 10**9, 10**9, 1e6))
    text = exporter.text(False)
    exporter.close()
    done = subprocess.run(
        ["promtool", "check", "metrics"], input=text, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    shutil.copy(RULES / "rules.yml", tmp_path)
    alerts = shutil.copy(Path(__file__).with_name("alerts.yml"), tmp_path)
    done = subprocess.run(
        ["promtool", "test", "rules", str(alerts)], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    used = set(re.findall(r"venturi_probe_[a-z_]+", (RULES / "rules.yml").read_text()))
    known = {f"{name}{end}" for name in families() for end in ("", "_sum", "_count", "_bucket")}
    assert {name for name in used if not name.endswith("duration_seconds")} <= known


def test_open_metrics_end_and_name_counters_without_their_suffix(place: Place) -> None:
    place.settings |= {"interval_s": 60.0, "kinds": ["metadata"]}
    put(place, samples_of(0, 8, BEGIN_NS, 10**9, 1e6))
    text = metrics_text(status_of([place.folder]), {}, is_open_metrics=True)
    assert text.endswith("# EOF\n")
    assert "# TYPE venturi_probe_build info" in text


def test_the_sparkline_shows_factors_and_gaps() -> None:
    assert sparkline([1.0, None, 100.0, 10.0]) == "▁ █▅"
    assert sparkline([1.0, 1.0]) == "▁▁"
    assert sparkline([None]) == ""
