"""Ceilings on the page of a machine: from machine files, without what says who or where."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from site_factory import result, sessions, store_of
from test_site_build import content, made, pages

from profile_factory import curve, data, machine
from venturi.model.machine import Bound, Mail, Notices
from venturi.model.notice import Event
from venturi.model.profile import FileSharing, Order, Volume
from venturi.model.result import digest_of
from venturi.report import quantity
from venturi.report.site import address
from venturi.site import machine_file
from venturi.site.machine_file import machine_files
from venturi.site.source import Source
from venturi.store.ceiling import ceilings


def put(store: Path, file: str = "m.yaml", **more: Any) -> Path:
    """A machine file whose write takes 1 µs and 1 ns a byte on each of up to 2 ranks."""
    made_up = machine(
        data("write", lambda size, ranks: 1e-6 + 1e-9 * size, "new"),
        curve("create", lambda size, ranks: 1e-4, sizes=(0, 4096)),
    )
    changes = {"name": "alpha", "bounds": [Bound(operation="write", bytes_per_second=3e9,
                                                 about="<b>two links</b>")]}  # fmt: skip
    path = store / "machines" / file
    path.parent.mkdir(exist_ok=True)
    path.write_text(made_up.model_copy(update=changes | more).to_json(), "utf-8")
    return path


def test_the_best_of_each_kind_and_known_bounds_are_shown(tmp_path: Path) -> None:
    store, place = store_of(tmp_path / "store", sessions(4, 1000)), tmp_path / "public"
    put(store)
    profile = machine(data("write", lambda size, ranks: 1e-6 + 1e-9 * size, "new")).profile
    assert profile is not None
    points = profile.curves[0].points
    best = max(one.bytes * one.ranks / one.seconds for one in points)
    made(place, store)
    page = content(place, address.machine("alpha"))
    assert page.row("write new sequential own")[1] == quantity.with_unit(best, "B/s")
    assert page.row("write, known bound")[5] == "<b>two links</b>"
    assert "creates/s" in page.row("create of items own")[1]
    assert "/data" not in page.text
    assert "/dev/x" not in page.text


def test_what_a_run_takes_as_its_ceiling_is_on_the_page_of_its_machine(tmp_path: Path) -> None:
    shared = {"order": Order.STRIDED, "place": FileSharing.SHARED}
    own = machine(
        data("read", lambda size, _: size / 2e9, "cold", sizes=[2**20]),
        data("read", lambda size, _: size / 3e9, "cold", sizes=[2**20], access=shared),
        data("write", lambda size, _: size / 3e9, "new", sizes=[2**20]),
        data("write", lambda size, _: size / 2e9, "new", sizes=[2**20], access=shared),
        data("read", lambda size, _: size / 9e10, "cached", access={"volume": Volume.SMALL}),
        curve("stat", lambda size, ranks: 0.0, sizes=[0]),
    )
    place = tmp_path / "machines" / "m.yaml"
    place.parent.mkdir()
    place.write_text(own.model_copy(update={"name": "alpha"}).to_json(), "utf-8")
    (tmp_path / "runs").mkdir()
    found, problems = machine_files([Source(tmp_path)], {})
    assert not problems
    shown = {one.what: one.value for one in found["0/m.yaml"].ceilings}
    assert list(shown) == [
        "read cold sequential own",
        "read cold strided shared",
        "write new sequential own",
    ]
    said = ceilings(own, Path("/data"), tmp_path, "h", 1)
    assert {one.bytes_per_second for one in said} <= set(shown.values())


def test_a_machine_file_called_by_its_host_is_that_of_local_runs(tmp_path: Path) -> None:
    own = [result(0, machine="local", facts={"host": "h"})]
    store, place = store_of(tmp_path / "store", own), tmp_path / "public"
    put(store, "other.yaml", name="h")
    made(place, store)
    page = content(place, address.machine(f"local-{digest_of('h')[:6]}"))
    assert "write new sequential own" in page.text
    assert [path.name for path in (place / "machine").iterdir()] == [
        Path(address.machine(f"local-{digest_of('h')[:6]}")).name
    ]


def test_a_file_is_read_again_only_where_it_changed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store, place = store_of(tmp_path / "store", sessions(4, 1000)), tmp_path / "public"
    path = put(store)
    made(place, store)
    read: list[Path] = []
    whole = machine_file.load_yaml

    def counted(path: Path, kind: Any) -> Any:
        read.append(path)
        return whole(path, kind)

    monkeypatch.setattr(machine_file, "load_yaml", counted)
    store_of(store, [result(4)])
    made(place, store)
    assert not read
    put(store, bounds=[])
    made(place, store)
    assert read == [path]
    assert "known bound" not in content(place, address.machine("alpha")).text
    made(tmp_path / "anew", store)
    assert pages(place) == pages(tmp_path / "anew")


@pytest.mark.parametrize(
    ("text", "why"),
    [("{", "m.yaml"), ("name: [1]\n", "m.yaml"), ('{"name": "/home/ana"}', "private")],
)
def test_a_file_that_is_none_is_said_and_the_site_is_built(
    tmp_path: Path, text: str, why: str
) -> None:
    store = store_of(tmp_path / "store", sessions(4, 1000))
    (store / "machines").mkdir()
    (store / "machines" / "m.yaml").write_text(text, "utf-8")
    done = made(tmp_path / "public", store)
    assert done.runs == 4
    assert any(why in said for said in done.problems), done.problems
    assert "Ceilings" not in content(tmp_path / "public", address.machine("alpha")).text


def test_health_is_on_the_time_line(tmp_path: Path) -> None:
    from venturi.model.health import HealthState
    from venturi.model.site import SiteHealth
    from venturi.report.figure import run_days
    from venturi.site.subject import group_of

    subject = group_of(sessions(6, 1000), ()).subject
    state = {0: HealthState.OK, 3: HealthState.FAIL}
    health = [
        SiteHealth(id=f"h{day}", machine="alpha", suite="quick", started=f"2026-01-{day + 1:02}",
                   state=state[day], noise=False, parts={})
        for day in state
    ]  # fmt: skip
    drawn = run_days.figure(run_days.MachineDays([subject], (), health))
    assert drawn is not None
    _, _, points, breaks, names = (layer["data"]["values"] for layer in drawn.spec["layer"])
    assert {"day": 0, "y": 1, "runs": 1} in points
    assert {"day": 3, "y": 1, "runs": 1} in points
    assert breaks == [{"day": 3, "y": 1}]
    assert {"y": 1, "name": "health"} in names


def test_who_is_told_is_said_without_addresses(tmp_path: Path) -> None:
    store = store_of(tmp_path / "store", [*sessions(4, 1000), *sessions(4, 1000, machine="beta")])
    mail = Mail(to=["someone@example.org", "other@example.org"], server="mail.example.org:25")
    notices = Notices(mail=mail, webhook="https://chat.example.org/x", on=[Event.FAILED])
    put(store, "a.yaml", name="alpha", notices=notices)
    put(store, "b.yaml", name="beta", bounds=[Bound(operation="write", bytes_per_second=1e9)])
    place = tmp_path / "public"
    made(place, store)
    page = content(place, "index.html")
    assert page.row("alpha", "mail to 2 addresses and a webhook")[2] == "failed"
    assert page.row("beta", "nobody: its machine file has no notices")[2] == "–"
    for path, text in pages(place).items():
        assert b"example.org" not in text, path
    (store / "machines" / "b.yaml").unlink()
    made(place, store)
    assert content(place, "index.html").row("beta", "not known: no machine file of it is here")
