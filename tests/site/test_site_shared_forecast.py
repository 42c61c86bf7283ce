"""Forecasts in a checkout of shared results, and in a store that took them, as typed."""

from __future__ import annotations

from pathlib import Path

from site_factory import store_of
from test_site_build import content, made, pages
from test_site_calibration import put_forecast, put_run, runs, typed

from predict.test_calibrate import around, kept_for, phase
from predict.test_share import checkout
from store.test_push import git
from venturi.report.site import address


def test_a_checkout_and_a_store_that_took_it_show_what_the_first_store_shows(
    tmp_path: Path,
) -> None:
    store, repository = store_of(tmp_path / "store", []), tmp_path / "results.git"
    git(tmp_path, "init", "-q", "--bare", str(repository))
    own = runs(3)
    put_forecast(store, kept_for(own[0], phase("restart", around(1.0))))
    for run in own:
        put_run(store, run)
    done = typed(store, "results", "push", str(repository))
    assert done.returncode == 0, done.stderr
    assert "3 added" in done.stderr
    assert "3 forecasts added beside the runs" in done.stderr
    place = checkout(repository, tmp_path / "checkout")
    (place / "forecasts" / "cut.json").write_text("{", "utf-8")
    other = tmp_path / "other"
    taken = typed(other, "results", "import", str(place))
    assert taken.returncode == 0, taken.stderr
    assert "3 new forecasts beside them" in taken.stderr
    assert taken.stderr.count("forecasts/cut.json") == 1
    made(tmp_path / "first", store)
    first = content(tmp_path / "first", address.CALIBRATION)
    row = first.row("checkpoint", "alpha", "xfs")
    assert row[3:5] == ["1", "3"]
    for source in (place, other):
        public = tmp_path / f"{source.name}-public"
        said = made(public, source).problems
        page = content(public, address.CALIBRATION)
        assert page.row("checkpoint", "alpha", "xfs") == row
        assert "1 forecast, 0 forecasts not tested yet" in page.text
        cut = "forecasts/cut.json: this is no shared forecast of this version"
        assert list(said) == ([cut] if source is place else [])
    both = tmp_path / "both"
    made(both, store, place, other)
    assert content(both, address.CALIBRATION).row("checkpoint", "alpha", "xfs") == row


def test_a_forecast_goes_from_the_page_with_its_run(tmp_path: Path) -> None:
    store, repository = store_of(tmp_path / "store", []), tmp_path / "results.git"
    git(tmp_path, "init", "-q", "--bare", str(repository))
    own = runs(2)
    put_forecast(store, kept_for(own[0], phase("restart", around(1.0))))
    for run in own:
        put_run(store, run)
    assert typed(store, "results", "push", str(repository)).returncode == 0
    place, public = checkout(repository, tmp_path / "checkout"), tmp_path / "public"
    made(public, place)
    assert content(public, address.CALIBRATION).row("checkpoint", "alpha", "xfs")[4] == "2"
    next((place / "results").rglob(f"{own[1].id}.json")).unlink()
    made(public, place)
    assert content(public, address.CALIBRATION).row("checkpoint", "alpha", "xfs")[4] == "1"
    made(tmp_path / "anew", place)
    assert pages(public) == pages(tmp_path / "anew")
