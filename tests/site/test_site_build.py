"""Building a site: what it says, what it keeps to itself, and that it is the same each time."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime, timedelta
from html.parser import HTMLParser
from pathlib import Path

import pytest
from site_factory import result, scaling_study, sessions, store_of

from venturi.model.error import UserError
from venturi.model.output import Better
from venturi.model.result import Measure, Result
from venturi.model.statistic import median
from venturi.report import quantity
from venturi.report.site import address
from venturi.site.build import SiteBuild, SiteRequest, build
from venturi.store.archive import results
from venturi.store.result import tag

WORSE_DAY = "2026-03-02"
ALPHA = ("alpha", "quick")


class Content(HTMLParser):
    """The elements of a page, its cells, its links and its whole text."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.rows: list[list[str]] = []
        self.text = ""
        self._open = False
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag == "tr":
            self.rows.append([])
        self._open = tag in ("td", "th") or (self._open and tag not in ("tr", "table"))
        if tag in ("td", "th"):
            self.rows[-1].append("")

    def handle_endtag(self, tag: str) -> None:
        self._open = self._open and tag not in ("td", "th")

    def handle_data(self, data: str) -> None:
        self.text += data
        if self._open:
            self.rows[-1][-1] += data.replace("\u00a0", " ")

    def row(self, *begins: str) -> list[str]:
        """The one row that begins with these cells."""
        found = [row for row in self.rows if tuple(row[: len(begins)]) == begins]
        assert len(found) == 1, found
        return found[0]


def made(place: Path, *sources: Path) -> SiteBuild:
    return build(SiteRequest(sources, place))


def content(place: Path, path: str) -> Content:
    return Content((place / path).read_text("utf-8"))


def pages(place: Path) -> dict[str, bytes]:
    """All files of a site but its own notes."""
    return {
        path.relative_to(place).as_posix(): path.read_bytes()
        for path in sorted(place.rglob("*"))
        if path.is_file() and ".venturi" not in path.parts
    }


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """A store with three machines, a regression, failed runs and a scaling study, and its site."""
    home = tmp_path_factory.mktemp("whole")
    failed = result(88, minute=30, level="INVALID", metrics={}, session="failed")
    own = [*sessions(), failed, *sessions(14, 1000, machine="beta"), *scaling_study()]
    own += sessions(10, 1000, name="checkpoint", machine="gamma")
    store = store_of(home / "store", own)
    made(home / "public", store)
    return store, home / "public"


def test_the_status_page_finds_a_regression_and_what_else_changed(
    whole: tuple[Path, Path],
) -> None:
    status = content(whole[1], "index.html")
    assert "2 series got worse, and nobody said why: on alpha." in status.text
    assert f"Since {WORSE_DAY}" in status.text
    assert "kernel: 6.1.0-42 → 6.1.0-43" in status.text
    quick = status.row("quick")
    assert "WORSE" in quick[1]
    assert f"since {WORSE_DAY}" in quick[1]
    assert "steady" in quick[2]
    assert quick[3] == "–"


def test_heads_of_the_status_lead_to_machines(whole: tuple[Path, Path]) -> None:
    text = (whole[1] / "index.html").read_text()
    for name in ("alpha", "beta", "gamma"):
        assert f'<th scope="col"><a href="machine/{name}.html">{name}</a></th>' in text


def test_the_status_page_says_what_is_late_and_what_failed(whole: tuple[Path, Path]) -> None:
    status = content(whole[1], "index.html")
    assert status.row("gamma", "checkpoint")[2] == "2026-01-10"
    failed = [run for run in results(whole[0]) if run.level == "INVALID"]
    assert any(failed[0].id in row for row in status.rows)
    page = content(whole[1], address.run(failed[0].id))
    assert "It is INVALID: no figure of it counts." in page.text


def test_the_status_page_says_from_when_on_each_subject_is_late(whole: tuple[Path, Path]) -> None:
    status = content(whole[1], "index.html")
    last = max(run.started for run in results(whole[0]) if (run.machine, run.name) == ALPHA)
    due = datetime.fromisoformat(last) + timedelta(days=3)
    row = status.row("alpha", "quick")
    assert row[4] == f"{due:%Y-%m-%d %H:%M}"
    assert len([row for row in status.rows if row[:2] == ["gamma", "checkpoint"]]) == 1, "late now"


def test_the_figures_on_pages_of_runs_are_those_of_the_records(whole: tuple[Path, Path]) -> None:
    shown = [run for run in results(whole[0]) if run.metrics][::29]
    assert len(shown) > 5
    for run in shown:
        page = content(whole[1], address.run(run.id))
        for name, measure in run.metrics.items():
            value = quantity.with_unit(median(measure.values), measure.unit)
            row = page.row(name, measure.condition or "–")
            assert row[2] == value
            assert row[4] == str(len(measure.values))


def test_the_page_of_a_workload_has_the_values_of_the_newest_sessions(
    whole: tuple[Path, Path],
) -> None:
    page = content(whole[1], "workload/quick.html")
    for machine in ("alpha", "beta"):
        runs = [
            r for r in results(whole[0]) if r.metrics and (r.name, r.machine) == ("quick", machine)
        ]
        for name in ("write", "restart"):
            newest = quantity.with_unit(
                median(runs[-1].metrics[name].values), runs[-1].metrics[name].unit
            )
            row = page.row(f"quick on {machine}, 4 ranks, transfer=1 MiB", name)
            assert row[2] == str(len({run.session for run in runs}))
            assert row[3] == newest


def test_the_best_configuration_of_a_study_is_named(whole: tuple[Path, Path]) -> None:
    runs = [run for run in results(whole[0]) if run.name == "scaling"]
    by_point: dict[tuple[int, str], list[float]] = {}
    for run in runs:
        key = (run.ranks, str(run.parameters["transfer"]))
        by_point.setdefault(key, []).extend(run.metrics["write"].values)
    (ranks, transfer), values = max(by_point.items(), key=lambda item: median(item[1]))
    row = content(whole[1], "workload/scaling.html").row("alpha", "sweep: write")
    assert row[3] == quantity.with_unit(median(values), "B/s")
    assert row[4] == f"{ranks} ranks, transfer {transfer}"
    assert row[5] == "18"


def test_every_link_leads_to_a_page(whole: tuple[Path, Path]) -> None:
    place = whole[1]
    count = 0
    for path in place.rglob("*.html"):
        for name, attributes in Content(path.read_text("utf-8")).tags:
            target = attributes.get("href")
            if target and name in ("a", "link") and not target.startswith("#"):
                count += 1
                file = path.parent / target.partition("#")[0]
                assert file.is_file(), f"{path}: {target}"
    assert count > 1000


def test_all_sessions_of_a_workload_are_a_parquet_file(whole: tuple[Path, Path]) -> None:
    from pyarrow import parquet

    rows = parquet.read_table(whole[1] / "data/scaling.parquet").to_pylist()
    runs = [run for run in results(whole[0]) if run.name == "scaling"]
    wanted = {}
    for run in runs:
        for name, measure in run.metrics.items():
            key = (name, run.ranks, run.parameters["transfer"], run.session)
            wanted.setdefault(key, []).extend(measure.values)
    found = {
        (row["metric"], row["ranks"], row["parameter.transfer"], row["session"]): row
        for row in rows
    }
    assert found.keys() == wanted.keys()
    for key, values in wanted.items():
        assert found[key]["value"] == median(values)
        assert found[key]["repetitions"] == len(values)
    assert 'href="../data/scaling.parquet"' in (whole[1] / "explore/scaling.html").read_text()


def test_where_parquet_cannot_be_written_the_page_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from venturi.site import page

    monkeypatch.setattr(page, "can_write_parquet", lambda: False)
    store, place = small(tmp_path)
    made(place, store)
    assert not list((place / "data").glob("*.parquet"))
    assert "neither PyArrow nor DuckDB is installed" in content(place, "explore/quick.html").text


def test_pages_hold_to_a_strict_policy(whole: tuple[Path, Path]) -> None:
    for path in whole[1].rglob("*.html"):
        text = path.read_text("utf-8")
        found = Content(text).tags
        policy = next(a["content"] for _, a in found if "http-equiv" in a)
        assert policy is not None
        assert policy.startswith("default-src 'none'; style-src 'self'")
        assert "unsafe" not in policy
        assert not [a for _, a in found if "style" in a or any(k.startswith("on") for k in a)]
        assert "http://" not in text
        assert "https://" not in text


def test_nothing_private_is_in_a_site(whole: tuple[Path, Path]) -> None:
    for path in whole[1].rglob("*"):
        if path.is_file():
            text = path.read_bytes().decode("utf-8", "replace")
            assert "login1" not in text
            assert "somebody" not in text
            assert str(whole[0]) not in text


def test_the_same_store_gives_the_same_bytes(whole: tuple[Path, Path], tmp_path: Path) -> None:
    made(tmp_path / "again", whole[0])
    assert pages(tmp_path / "again") == pages(whole[1])


def small(home: Path) -> tuple[Path, Path]:
    """A store with few runs, and where its site is to be."""
    own = [*sessions(7, 1000), *sessions(4, 1000, name="checkpoint", machine="beta")]
    return store_of(home / "store", own), home / "public"


def test_a_new_run_rebuilds_what_it_touches_and_gives_the_bytes_of_a_whole_build(
    tmp_path: Path,
) -> None:
    store, place = small(tmp_path)
    made(place, store)
    before = pages(place)
    store_of(store, [result(7)])
    done = made(place, store)
    assert done.read == 1
    after = pages(place)
    assert before["workload/checkpoint.html"] == after["workload/checkpoint.html"]
    assert before["workload/quick.html"] != after["workload/quick.html"]
    made(tmp_path / "whole", store)
    assert after == pages(tmp_path / "whole")


def test_nothing_new_writes_nothing(tmp_path: Path) -> None:
    store, place = small(tmp_path)
    made(place, store)
    done = made(place, store)
    assert (done.read, done.written, done.removed) == (0, 0, 0)


def test_a_run_that_is_gone_takes_its_page_along(tmp_path: Path) -> None:
    store, place = small(tmp_path)
    made(place, store)
    gone = results(store)[0]
    (store / "runs" / gone.id).rename(tmp_path / "gone")
    done = made(place, store)
    assert done.removed == 1
    assert not (place / address.run(gone.id)).exists()
    made(tmp_path / "whole", store)
    assert pages(place) == pages(tmp_path / "whole")


def test_a_tag_and_a_changed_file_are_seen(tmp_path: Path) -> None:
    store, place = small(tmp_path)
    made(place, store)
    first, second = results(store)[:2]
    tag(store, "golden", [first.id])
    path = store / "runs" / second.id / "result.json"
    path.write_text(path.read_text("utf-8").replace('"ranks": 4', '"ranks": 8'), "utf-8")
    assert made(place, store).read == 2
    assert "golden" in content(place, address.run(first.id)).text
    assert "INVALID" in content(place, address.run(second.id)).text


def test_a_page_that_somebody_removed_comes_back(tmp_path: Path) -> None:
    store, place = small(tmp_path)
    made(place, store)
    before = pages(place)
    for path in ("index.html", "workload/quick.html", address.run(results(store)[0].id)):
        (place / path).unlink()
    made(place, store)
    assert pages(place) == before


def test_an_empty_store_has_a_site_that_says_so(tmp_path: Path) -> None:
    (tmp_path / "store").mkdir()
    done = made(tmp_path / "public", tmp_path / "store")
    assert done.runs == 0
    assert "There is no run here yet." in content(tmp_path / "public", "index.html").text


def test_what_too_few_sessions_cannot_tell_is_not_said(tmp_path: Path) -> None:
    store, place = store_of(tmp_path / "store", [result(0)]), tmp_path / "public"
    made(place, store)
    text = content(place, "index.html").text
    assert "of 0 with enough sessions to tell" in text
    assert "nothing can be late" in text
    assert "changed its level" not in text


def test_a_damaged_run_is_left_out_and_counted(tmp_path: Path) -> None:
    store, place = small(tmp_path)
    damaged = results(store)[0]
    (store / "runs" / damaged.id / "result.json").write_text('{"schema": "venturi.result/1"')
    done = made(place, store)
    assert done.runs == 10
    assert len(done.problems) == 1
    assert damaged.id in done.problems[0]
    assert "Not shown, because it is damaged: 1 run." in content(place, "index.html").text


def test_a_run_whose_name_is_private_is_left_out_and_counted(tmp_path: Path) -> None:
    store, place = small(tmp_path)
    store_of(store, [result(20, name="login1.alpha.example")])
    done = made(place, store)
    assert done.runs == 11
    assert "names a host, user or path" in content(place, "index.html").text
    assert not [text for text in pages(place).values() if b"login1" in text]


def checkout_of(place: Path, own: list[Result]) -> Path:
    """A checkout of a repository with these results."""
    for one in own:
        file = place / "results" / f"{one.id}.json"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(one.to_json(indent=1), "utf-8")
    return place


def test_stores_and_checkouts_are_joined_and_a_run_in_both_counts_once(tmp_path: Path) -> None:
    store, place = small(tmp_path)
    shared = results(store)[0]
    own = [shared, *sessions(3, 1000, name="gridded", machine="delta")]
    done = made(place, store, checkout_of(tmp_path / "checkout", own))
    assert done.runs == 14
    assert not done.problems
    assert (place / "machine/delta.html").is_file()
    assert made(place, store, tmp_path / "checkout").written == 0


HOSTILE = '<script>alert("x")</script><img src=x onerror=alert(1)>'


def test_nothing_in_a_name_becomes_markup(tmp_path: Path) -> None:
    own = [
        one.model_copy(
            update={
                "id": f"{one.id[:-2]}{index:02}<b>'\"&",
                "parameters": {"<i>": HOSTILE, "../../x": "</svg></style>"},
                "tags": [HOSTILE],
                "step": "</table><h1>",
                "facts": {"kernel": f"{HOSTILE}{index // 4}"},
                "metrics": {
                    f"write{HOSTILE}": Measure(
                        unit="<u>/s", better=Better.HIGHER, values=[index + 1.0, 2.0]
                    )
                },
            }
        )
        for index, one in enumerate(
            sessions(8, 4, name=f"../..{HOSTILE}", machine=f"{HOSTILE}</title>")
        )
    ]
    place = tmp_path / "public"
    done = made(place, checkout_of_named(tmp_path / "checkout", own))
    assert done.runs == 8
    assert {path.name for path in tmp_path.iterdir()} == {"public", "checkout"}
    seen = 0
    for path in place.rglob("*.html"):
        text = path.read_text("utf-8")
        seen += "&lt;script&gt;" in text
        for name, attributes in Content(text).tags:
            assert name not in ("img", "b", "i", "u")
            assert not any(key.startswith("on") for key in attributes)
            if name == "script":
                own = r"(\.\./)?((site|status|explore|choose)\.js|(data|runs)/[a-z0-9_.-]+\.js)"
                assert re.fullmatch(own, str(attributes["src"]))
    assert seen > 10


def checkout_of_named(place: Path, own: list[Result]) -> Path:
    """As `checkout_of`; the files are numbered."""
    (place / "results").mkdir(parents=True)
    for number, one in enumerate(own):
        text = one.to_json(indent=1)
        (place / "results" / f"{number}.json").write_text(text, "utf-8")
    return place


def test_what_people_know_of_a_change_is_said_and_nothing_is_worse_then(tmp_path: Path) -> None:
    store = store_of(tmp_path / "store", sessions(24, 12))
    place = tmp_path / "public"
    made(place, store)
    assert "got worse" in content(place, "index.html").text
    text = "changes: 1\nknown:\n  - {at: '2026-01-13', about: new <firmware>, machine: alpha}\n"
    (store / "known-changes.yaml").write_text(text, "utf-8")
    made(place, store)
    assert "Nothing got worse" in content(place, "index.html").text
    assert "new <firmware>" in content(place, "machine/alpha.html").text
    made(tmp_path / "whole", store)
    assert pages(place) == pages(tmp_path / "whole")


@pytest.mark.parametrize("name", ["notes.txt", "index.html"])
def test_a_folder_with_files_of_others_is_refused_and_stays(tmp_path: Path, name: str) -> None:
    store, place = small(tmp_path)
    place.mkdir()
    (place / name).write_text("mine")
    with pytest.raises(UserError, match="it is not empty"):
        made(place, store)
    assert [path.name for path in place.iterdir()] == [name]
    assert (place / name).read_text() == "mine"


def test_a_file_of_others_in_a_site_is_neither_replaced_nor_removed(tmp_path: Path) -> None:
    store, place = small(tmp_path)
    made(place, store)
    (place / "notes.txt").write_text("mine")
    (place / "workload" / "third.html").write_text("mine")
    made(place, store)
    store_of(store, [result(0, name="third")])
    with pytest.raises(UserError, match="no site wrote this file"):
        made(place, store)
    assert (place / "workload" / "third.html").read_text() == "mine"
    assert (place / "notes.txt").read_text() == "mine"


def test_a_build_that_was_killed_is_taken_up(tmp_path: Path) -> None:
    store, place = small(tmp_path)
    made(place, store)
    before = pages(place)
    state = json.loads((place / ".venturi" / "state.json").read_text("utf-8"))
    (place / ".venturi" / "begun.txt").write_text("\n".join(state["files"]) + "\n")
    (place / ".venturi" / "state.json").write_text('{"schema":')
    made(place, store)
    assert pages(place) == before


@pytest.mark.parametrize("kind", ["missing", "file", "other"])
def test_what_is_no_source_is_refused_before_anything_is_written(tmp_path: Path, kind: str) -> None:
    path = tmp_path / "source"
    if kind == "file":
        path.write_text("x")
    if kind == "other":
        (path / "music").mkdir(parents=True)
    with pytest.raises(UserError):
        made(tmp_path / "public", path)
    assert not (tmp_path / "public").exists()


def test_titles_and_units_are_as_asked(tmp_path: Path) -> None:
    store, place = small(tmp_path)
    request = SiteRequest((store,), place, "Three <groups>", quantity.Units.SI)
    build(request)
    page = content(place, "index.html")
    assert "Three <groups>" in page.text
    assert "GB/s" in page.text
    build(replace(request, units=quantity.Units.IEC))
    assert "GiB/s" in content(place, "index.html").text


def names() -> Iterator[str]:
    yield from ("a", "A", "a b", "a-b", "a/b", "", "..", "ä", "x" * 300, "x" * 301, "con.", "-")


def test_addresses_are_plain_and_no_two_names_have_one() -> None:
    found = [address.plain(name) for name in names()]
    assert len({one.casefold() for one in found}) == len(found)
    for one in found:
        assert one[0].isascii()
        assert one.strip(".-/") == one
        assert "/" not in one


def test_runs_of_one_workload_may_have_other_parameters_each(tmp_path: Path) -> None:
    """A workload that got a parameter since its first runs has a page all the same."""
    odd = [
        result(40 + n, "scaling", ranks=n, step="sweep", parameters={"stripes": n, "align": "yes"})
        for n in (4, 8)
    ]
    bare = result(44, "scaling", step="sweep", parameters={})
    made(tmp_path / "public", store_of(tmp_path / "store", [*scaling_study(), *odd, bare]))
    page = content(tmp_path / "public", "workload/scaling.html")
    shown = [row[:4] for row in page.rows]
    points = [["–", "–", "–", "4"], ["–", "4", "yes", "4"], ["–", "8", "yes", "8"]]
    assert [shown.count(point) for point in points] == [2, 2, 2], "of write and of restart"
