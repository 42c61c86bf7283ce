"""`make demo`: the page's figures are those of the documents, and nothing is left elsewhere."""

from __future__ import annotations

import json
import re
import subprocess
from html import unescape
from pathlib import Path
from typing import Any

from venturi.report import quantity

ROOT = Path(__file__).parents[2]


def document(path: Path) -> Any:
    return json.loads(path.read_text("utf-8"))


def test_the_demo_ends_with_a_page_that_says_what_was_measured(tmp_path: Path) -> None:
    out = tmp_path / "demo"
    line = [ROOT / "packaging" / "demo", out]
    done = subprocess.run(line, capture_output=True, text=True, timeout=1800, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    assert done.stdout.splitlines()[-1].endswith(str(out / "index.html"))
    assert max(len(text) for text in done.stdout.splitlines() if "/" not in text) <= 80
    text = unescape((out / "index.html").read_text("utf-8")).replace("\u00a0", " ")
    titles = re.findall(r'<h2><a href="#part-\d">(.*?)</a>', text)
    assert titles[0] == "What does append_rows do to storage?"
    assert "append_rows.py" in text
    predictions = [document(path) for path in sorted(out.glob("*.prediction/prediction.json"))]
    for found in predictions:
        for side in ("application", "proxy"):
            assert quantity.seconds(found[side]["seconds"]) in text
    elsewhere = Path(predictions[0]["place"]["directory"])
    assert elsewhere.name.startswith("venturi-demo-")
    assert not elsewhere.exists()
    tuning = document(out / "append_rows.tune" / "tuning.json")
    assert tuning["headline"] in text
    assert tuning["causes"][0]["finding"] == "sync-each-write"
    assert tuning["causes"][0]["evidence"] in text
    records = [document(path) for path in sorted(out.glob("store/runs/*/record.json"))]
    names = [record["name"] for record in records]
    assert names == ["append-rows", "quick", "io500", "health-quick"]
    assert all(record["verdict"]["level"] in text for record in records[:3])
    assert quantity.number(records[2]["metrics"]["score"]["median"]) in text
    rates = records[1]["metrics"]["sequential-write"]
    assert quantity.rate(rates["median"]) in text
    for name in re.findall(r'<a href="([^"#]+)"', text):
        assert (out / name).is_file()
    assert (out / "health.html").is_file()
    site = out / "site"
    status = (site / "index.html").read_text("utf-8")
    sample, probe = sorted(
        (site / "probe").glob("*.html"), key=lambda path: "made-up" not in path.name
    )
    assert "made-up-sample" in sample.read_text("utf-8")
    assert "made-up-sample" not in probe.read_text("utf-8")
    machines = sorted((site / "machine").glob("*.html"), key=lambda path: "made-up" in path.name)
    machine = machines[0].read_text("utf-8")
    assert f"probe/{probe.name}" in status + machine
    assert "memory" in machine
    assert {path.name for path in (out / "store/probe").iterdir()} == {"demo"}
    page = unescape(probe.read_text("utf-8"))
    assert "md_create" in page
    assert "io500" in page, "the run beside the probe is on its page"
    left = {path.name for path in out.iterdir()}
    assert not {"scratch", ".elsewhere"} & left
    assert not [name for name in left if name.startswith("venturi-")]


def test_a_folder_with_files_of_others_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "store").mkdir()
    (tmp_path / "store" / "mine").write_text("mine")
    line = [ROOT / "packaging" / "demo", tmp_path]
    done = subprocess.run(line, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 2
    assert "holds files that no demo made" in done.stderr
    assert [path.name for path in tmp_path.rglob("*")] == ["store", "mine"]
