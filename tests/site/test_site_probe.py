"""Probes on a site: last night by the baseline, a page for each target, nothing private."""

from __future__ import annotations

import os
import re
from pathlib import Path

import numpy as np
import pytest
from site_factory import result, store_of
from test_site_build import content, made, pages

from probe.conftest import Place
from probe.history import BEGIN_NS, put, samples_of
from probe.test_plot import kept
from venturi.execute.host import user_name
from venturi.model.probe import ProbeKind
from venturi.probe.place import ring_path
from venturi.probe.rollup import DAY_NS, HOUR_NS
from venturi.probe.run_phase import mount_of

STEP_NS = 15 * 10**9
NIGHT_NS = BEGIN_NS + 2 * DAY_NS + 20 * HOUR_NS
"""Three days of samples end at midnight: four hours of the last night."""


@pytest.fixture
def probed(tmp_path: Path) -> Place:
    """A store with a run and a probe that had a slow hour in the night."""
    store = store_of(tmp_path / "store", [result(4)])
    target = tmp_path / "target"
    target.mkdir()
    place = Place(store, target, {"interval_s": 60.0, "kinds": ["metadata"], "ring_days": 7})
    samples = samples_of(0, 3 * 5760, BEGIN_NS, STEP_NS, 1e6)
    samples["response_ns"] = samples["service_ns"] = 10**6
    due = samples["scheduled_ns"]
    samples["response_ns"][due >= NIGHT_NS] = 2 * 10**6
    creates = samples["operation"] == 3
    samples["response_ns"][(due >= NIGHT_NS) & creates] = 4 * 10**6
    slow = (due >= NIGHT_NS + HOUR_NS) & (due < NIGHT_NS + 2 * HOUR_NS)
    samples["response_ns"][slow & creates] = 12 * 10**6
    put(place, samples)
    return place


def test_a_night_that_was_slow_is_on_the_status_and_on_the_machines_page(
    probed: Place, tmp_path: Path
) -> None:
    place = tmp_path / "public"
    made(place, probed.store)
    day = str(np.datetime64(NIGHT_NS // DAY_NS, "D"))
    cell = content(place, "index.html").row("probes")[1]
    assert re.match(r"t slow: md_create took (4\.0\d|3\.9\d) times its usual time", cell)
    assert f"in the night of {day}" in cell
    row = content(place, "machine/alpha.html").row("t", "md_create")
    assert row[2] == "slow"
    assert re.fullmatch(r"(4\.0|3\.9)\d ms", row[4])
    assert content(place, "machine/alpha.html").row("t", "md_stat")[2] == "busy"
    assert row[7].startswith("21:00 (1")
    name = next(path for path in pages(place) if path.startswith("probe/"))
    assert "Probe of t" in (place / name).read_text()
    assert f'href="{name}"' in (place / "index.html").read_text()
    assert 'href="../machine/alpha.html"' in (place / name).read_text()


def test_a_second_build_draws_a_probe_only_where_it_measured_more(
    probed: Place, tmp_path: Path
) -> None:
    place = tmp_path / "public"
    made(place, probed.store)
    before = pages(place)
    again = made(place, probed.store)
    assert again.written == 0
    assert pages(place) == before
    fresh = tmp_path / "fresh"
    made(fresh, probed.store)
    assert pages(fresh) == before
    ring = ring_path(probed.folder, ProbeKind.METADATA)
    times = ring.stat()
    put(probed, samples_of(3 * 5760, 400, BEGIN_NS + 3 * DAY_NS, STEP_NS, 1e6))
    os.utime(ring, ns=(times.st_atime_ns, times.st_mtime_ns))  # it is memory of a probe
    assert made(place, probed.store).written > 0
    changed = {path for path, data in pages(place).items() if before[path] != data}
    assert any(path.startswith("probe/") for path in changed)
    assert not any(path.startswith("run/") for path in changed)


def test_no_directory_is_shown_and_a_name_that_says_who_is_left_out(
    probed: Place, tmp_path: Path
) -> None:
    place = tmp_path / "public"
    made(place, probed.store)
    for path, data in pages(place).items():
        assert str(probed.directory).encode() not in data, path
    folder = probed.store / "probe"
    (folder / "t").rename(folder / user_name())
    text = (folder / user_name() / "target.json").read_text()
    (folder / user_name() / "target.json").write_text(
        text.replace('"name":"t"', f'"name":"{user_name()}"')
    )
    built = made(place, probed.store)
    assert any("private" in problem for problem in built.problems)
    assert not any(path.startswith("probe/") for path in pages(place))


def test_a_probe_s_page_names_only_runs_that_the_site_shows(probed: Place, tmp_path: Path) -> None:
    mount = mount_of(str(probed.directory))
    at_ns = BEGIN_NS + 2 * DAY_NS + 12 * HOUR_NS
    kept(probed, "run-shown", mount, at_ns)
    kept(probed, f"run {user_name()}", mount, at_ns)
    place = tmp_path / "public"
    built = made(place, probed.store)
    assert any("private" in problem for problem in built.problems)
    name = next(path for path in pages(place) if path.startswith("probe/"))
    text = (place / name).read_text()
    assert "run-shown" in text
    assert f"run {user_name()}" not in text


def test_a_probe_without_a_sample_is_named_as_a_problem(tmp_path: Path) -> None:
    store = store_of(tmp_path / "store", [result(4)])
    target = tmp_path / "target"
    target.mkdir()
    empty = Place(store, target, {"interval_s": 60.0, "kinds": ["metadata"], "ring_days": 7})
    empty.make(empty.target.kinds[0])
    built = made(tmp_path / "public", store)
    assert any("nothing was measured yet" in problem for problem in built.problems)


def test_a_night_without_a_measurement_is_said(probed: Place, tmp_path: Path) -> None:
    samples = samples_of(0, 240, BEGIN_NS + 10 * HOUR_NS, STEP_NS, 1e6)
    put(probed, samples)
    place = tmp_path / "public"
    made(place, probed.store)
    assert content(place, "machine/alpha.html").row("t")[2] == "nothing was measured"
    assert not [row for row in content(place, "index.html").rows if row[:1] == ["probes"]]


def test_days_on_which_a_probe_was_slow_are_on_the_time_line(probed: Place, tmp_path: Path) -> None:
    place = tmp_path / "public"
    made(place, probed.store)
    page = content(place, "machine/alpha.html")
    first = np.datetime64(BEGIN_NS // DAY_NS, "D")
    (drawn,) = (row for row in page.rows if row[0] == "probe t")
    assert drawn == ["probe t", "3", "–", str(first), str(first + 2), "0"]
    assert "Probes were slow on 0 days" in page.text
    creates = samples_of(3 * 5760, 5760, BEGIN_NS + 3 * DAY_NS, STEP_NS, 1e6)
    creates["response_ns"] = creates["service_ns"] = 10**6
    evening = creates["scheduled_ns"] >= BEGIN_NS + 3 * DAY_NS + 10 * HOUR_NS
    creates["response_ns"][evening & (creates["operation"] == 3)] = 5 * 10**6
    put(probed, creates)
    made(place, probed.store)
    page = content(place, "machine/alpha.html")
    slow = page.row(str(first + 3), "t")
    assert slow[2:4] == ["md_create", "slow"]
    assert re.fullmatch(r"(5\.0|4\.9)\d times", slow[4])
    assert slow[5] == "14"
    assert page.row("probe t")[1:] == ["4", "–", str(first), str(first + 3), "1"]
    assert f"t most on {first + 3}: md_create took" in page.text
