"""The dashboard: every query of every panel returns rows where a real probe is scraped."""

from __future__ import annotations

import json
import re
import socket
import subprocess
import time
import urllib.parse
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from cli.conftest import Cli, cli  # noqa: F401
from probe.conftest import Place, hold
from probe.history import put, samples_of
from venturi.model.probe import ProbeKind
from venturi.probe.metrics import families
from venturi.probe.place import ring_path
from venturi.probe.ring import read_header
from venturi.probe.rollup import HOUR_NS

BOARD = Path(__file__).parents[2] / "packaging" / "probe" / "grafana.json"
STEP_NS = 60 * 10**9


def board() -> dict[str, Any]:
    found: dict[str, Any] = json.loads(BOARD.read_text())
    return found


def panels() -> list[dict[str, Any]]:
    return [panel for panel in board()["panels"] if panel["type"] != "row"]


def queries() -> list[tuple[str, str]]:
    """Title and expression of each query, with what Grafana puts in place of its variables."""
    return [
        (
            panel["title"],
            target["expr"]
            .replace("$target", ".*")
            .replace("$op", ".*")
            .replace("$__rate_interval", "1m"),
        )
        for panel in panels()
        for target in panel["targets"]
    ]


def test_each_panel_has_a_place_of_its_own_a_query_and_a_unit() -> None:
    whole = board()["panels"]
    assert len({panel["id"] for panel in whole}) == len(whole)
    taken: set[tuple[int, int]] = set()
    for panel in whole:
        place = panel["gridPos"]
        assert place["x"] + place["w"] <= 24
        cells = {
            (place["x"] + x, place["y"] + y) for x in range(place["w"]) for y in range(place["h"])
        }
        assert not cells & taken, panel["title"]
        taken |= cells
    for panel in panels():
        assert panel["targets"]
        assert panel["description"].endswith(".")
        assert panel["fieldConfig"]["defaults"]["unit"]
        sources = [panel["datasource"], *(one["datasource"] for one in panel["targets"])]
        assert all(one == {"type": "prometheus", "uid": "${datasource}"} for one in sources)


def test_queries_name_only_what_the_exporter_has() -> None:
    ends = ("", "_bucket", "_sum", "_count")
    known = {f"{name}{end}" for name in families() for end in ends}
    texts = [text for _, text in queries()]
    texts += [one["definition"] for one in board()["templating"]["list"] if "definition" in one]
    used = {name for text in texts for name in re.findall(r"venturi_probe_\w+", text)}
    assert used <= known, used - known
    assert len(used) > 10


def _free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return int(one.getsockname()[1])


class Prometheus:
    """A real one that scrapes an address each second."""

    def __init__(self, folder: Path, exporter: int) -> None:
        self.port = _free_port()
        config = folder / "prometheus.yml"
        config.write_text(
            "global: {scrape_interval: 1s}\n"
            "scrape_configs:\n  - job_name: probe\n    static_configs:\n"
            f"      - targets: ['127.0.0.1:{exporter}']\n"
        )
        self._log = (folder / "log").open("w")
        self._process = subprocess.Popen(
            [
                "prometheus",
                f"--config.file={config}",
                f"--storage.tsdb.path={folder / 'data'}",
                f"--web.listen-address=127.0.0.1:{self.port}",
            ],
            stdout=self._log,
            stderr=self._log,
        )

    def rows(self, expression: str) -> list[dict[str, Any]]:
        """What a query returns now; nothing while Prometheus is not there yet."""
        address = f"http://127.0.0.1:{self.port}/api/v1/query?"
        try:
            with urllib.request.urlopen(
                address + urllib.parse.urlencode({"query": expression})
            ) as answer:
                found = json.loads(answer.read())
        except urllib.error.HTTPError as error:
            if error.code == 503:
                return []
            raise AssertionError(f"{expression}: {error.read().decode()}") from None
        except urllib.error.URLError:
            return []
        rows: list[dict[str, Any]] = found["data"]["result"]
        return rows

    def close(self) -> None:
        self._process.terminate()
        self._process.wait(60)
        self._log.close()


@pytest.fixture
def scraped(cli: Cli, tmp_path: Path) -> Iterator[Prometheus]:  # noqa: F811
    """A probe with a day behind it, so that its baseline is known, and what scrapes it."""
    place = Place(cli.store, cli.target, {"interval_s": 0.2, "pool_files": 50})
    for kind in ProbeKind:
        place.make(kind)
    past = samples_of(0, 26 * 60, time.time_ns() - 26 * HOUR_NS, STEP_NS, 1e6)
    put(place, past)
    config = tmp_path / "probe.yaml"
    config.write_text(
        json.dumps({"schema": "venturi.probe/1", "targets": [place.target.to_data()]})
    )
    port = _free_port()
    probe = cli.start("probe", "run", "--config", str(config), "--listen", f"127.0.0.1:{port}")

    def is_measuring() -> bool:
        assert probe.poll() is None, probe.communicate()[1]
        return read_header(ring_path(place.folder, ProbeKind.DATA)).done > 5

    hold(is_measuring)
    prometheus = Prometheus(tmp_path, port)
    try:
        yield prometheus
    finally:
        prometheus.close()
        probe.terminate()
        probe.communicate(timeout=60)


@pytest.mark.needs("promtool")
def test_every_query_returns_rows_from_a_real_prometheus(scraped: Prometheus) -> None:
    asked = queries()
    assert len(asked) >= len(panels())
    hold(lambda: scraped.rows("venturi_probe_up == 1"))
    for title, expression in asked:
        rows = hold(
            lambda expression=expression: [  # type: ignore[misc]
                row for row in scraped.rows(expression) if row["value"][1] != "NaN"
            ]
        )
        assert rows, title
    names = {row["metric"]["target"] for row in scraped.rows("venturi_probe_up")}
    assert names == {"t"}
