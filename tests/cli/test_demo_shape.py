"""The derive, run, report walk on some of the example logs."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from cli.conftest import Cli

LOGS = Path(__file__).parents[2] / "examples" / "darshan"


@pytest.mark.parametrize(
    "name",
    ["ior_shared_seg", "ior_small_4k", "ior_random_z", "miniapp", "h5slab", "mdtest_3901"],
)
def test_a_log_becomes_a_report(cli: Cli, tmp_path: Path, name: str) -> None:
    proxy, page = tmp_path / "proxy.yaml", tmp_path / "page.html"
    derived = cli("derive", str(LOGS / name / f"{name}.darshan"), "-o", str(proxy))
    assert derived.returncode == 0, derived.stderr
    words = ["--set", "interface=posix", "--repeat", "2"]
    record = cli.json("run", str(proxy), "-d", str(cli.target), *words)
    fidelity = record["fidelity"]
    assert fidelity["size_distance"] == 0
    moved = {row["what"]: row["error"] for row in fidelity["rows"] if "bytes" in row["what"]}
    assert set(moved.values()) <= {0.0, None}
    if name == "h5slab":
        assert record["substituted"][0]["wanted"] == "hdf5"
        assert record["verdict"]["level"] == "INDICATIVE"
    assert cli("report", "@last", "-o", str(page)).returncode == 0
    text = page.read_text("utf-8")
    assert not re.search(r"(src|href)=.?https?:", text)
    assert text.count("<svg") >= 4
    for form in ("md", "json", "csv"):
        assert cli("report", "@last", "--format", form).stdout


def test_an_interface_that_is_not_built_is_not_replaced_silently(cli: Cli, tmp_path: Path) -> None:
    proxy = tmp_path / "proxy.yaml"
    cli("derive", str(LOGS / "h5slab" / "h5slab.darshan"), "-o", str(proxy))
    proxy.write_text(proxy.read_text().replace("hdf5", "mpiio"))
    done = cli("run", str(proxy), "-d", str(cli.target))
    assert done.returncode == 2
    assert "mpiio" in done.stderr
    assert "--set interface=posix" in done.stderr


def test_derive_to_stdout_is_the_workload_alone(cli: Cli, tmp_path: Path) -> None:
    done = cli("derive", str(LOGS / "ior_small_4k" / "ior_small_4k.darshan"))
    (tmp_path / "w.yaml").write_text(done.stdout)
    assert cli("plan", str(tmp_path / "w.yaml")).returncode == 0
    data = cli.json("derive", str(LOGS / "ior_small_4k" / "ior_small_4k.darshan"))
    assert data["ior"].startswith("ior -a POSIX")
    assert {"id", "severity", "what", "evidence", "advice"} <= set(data["findings"][0])


@pytest.mark.parametrize("content", [b"", b"darshan", b"\x00" * 5000, b"# text\n"])
def test_what_is_no_log_is_one_sentence(cli: Cli, tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "broken.darshan"
    path.write_bytes(content)
    done = cli("derive", str(path))
    assert done.returncode == 2
    assert str(path.name) in done.stderr
    assert len(done.stderr.strip().splitlines()) <= 2
