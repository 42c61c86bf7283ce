"""The HTML page: whole, offline, escaped, small and complete."""

from __future__ import annotations

import re
import time
from html.parser import HTMLParser
from typing import Any

import pytest
from record_factory import SHAPES, Shape, invalid, record, substituted, workload

from venturi.model.record import Level, Record, Verdict
from venturi.report.html import render_html
from venturi.report.phase import phases
from venturi.report.quantity import Units

VOID = {"meta", "br", "hr", "img", "link", "input", "wbr"}
NAME = "<script>alert(1)</script>"


class Outline(HTMLParser):
    """Checks that tags nest, and gathers ids, links, cells and whatever could reach out."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.ids: list[str] = []
        self.links: list[str] = []
        self.outward: list[str] = []
        self.cells: list[str] = []
        self.tags: set[str] = set()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        if tag not in VOID:
            self.open.append(tag)
        if tag == "td":
            self.cells.append("")
        for name, value in attrs:
            if name == "id":
                self.ids.append(value or "")
            elif name == "href":
                self.links.append(value or "")
            elif name in ("src", "srcset", "data", "action") or name.startswith("on"):
                self.outward.append(f"{tag} {name}={value}")

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)
        if tag not in VOID:
            self.handle_endtag(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open, f"</{tag}> closes nothing"
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if "td" in self.open:
            self.cells[-1] += data


def outline(text: str) -> Outline:
    """The parsed page; asserts that it is well formed and reaches nowhere."""
    parsed = Outline()
    parsed.feed(text)
    parsed.close()
    assert not parsed.open, f"never closed: {parsed.open}"
    assert len(parsed.ids) == len(set(parsed.ids))
    assert all(link.startswith("#") and link[1:] in parsed.ids for link in parsed.links)
    assert not parsed.outward
    assert not parsed.tags & {"script", "link", "iframe", "object", "embed", "img", "base"}
    assert not re.search(r"https?:|@import|url\((?!#)|//[a-z]+\.", text)
    assert "NaN" not in text
    return parsed


def cells(text: str) -> list[str]:
    """The text of all table cells, with plain spaces."""
    return [cell.replace("\u00a0", " ") for cell in outline(text).cells]


@pytest.mark.parametrize("units", list(Units))
def test_every_repetition_stands_in_the_tables(units: Units) -> None:
    made = record()
    shown = cells(render_html([made], units))
    for phase in phases(made):
        for value in phase.rates:
            assert phase.text(value, units) in shown


def test_several_records_begin_with_their_comparison() -> None:
    started = time.process_time()
    text = render_html([record(), substituted(), invalid()])
    assert time.process_time() - started < 10
    assert len(text.encode()) < 2_000_000
    parsed = outline(text)
    assert text.count('<article class="card">') == 3
    assert {"run-1", "run-2", "run-3"} <= set(parsed.ids)
    assert text.index('class="card"') < text.index('id="run-1"')
    assert text.count("<svg") == text.count("</svg>") >= 15


def test_the_verdict_its_reasons_and_the_failure_are_said() -> None:
    text = render_html([invalid()])
    outline(text)
    for words in (
        "INVALID",
        "1 read failed its verification.",
        "2 of 6 repetitions",
        "verification failed in restart, rank 1",
        "byte 4096 holds a block of generation 3",
        "venturi results rm r7k2m4q8 --files",
    ):
        assert words in text


def test_a_substitution_is_said_beside_the_figures() -> None:
    text = render_html([substituted()])
    service = text[text.index('id="run-1-service"') :]
    sentence = "stream1 should go through mpiio; here it went through posix"
    assert sentence in service[: service.index("<figure")]


def test_the_log_and_what_it_cannot_show() -> None:
    text = render_html([record()])
    for words in (
        "ior -a POSIX -w -r -t 1m -b 96m -s 1 -e",
        "Requests do not begin on file system blocks",
        '<td class="unknown">unknown</td>',
        "checkpoint_id4711.darshan",
    ):
        assert words in text


def test_both_directions_of_a_stream_share_a_row() -> None:
    data = workload()
    data["origin"]["confidence"] = [
        {"stream": "s1", "field": f"{way}.transfer", "value": size, "confidence": 1.0, "rule": "x"}
        for way, size in (("write", "1 MiB"), ("read", "64 KiB"))
    ]
    assert "write: 1 MiB; read: 64 KiB" in cells(render_html([record(workload=data)]))


def hostile() -> Record:
    """A record whose every free text tries to be markup."""
    shapes = (Shape(NAME, "write", 4, 4096, 1e8),)
    made = record(name=NAME, shapes=shapes, about=NAME, warnings=[NAME], parameters={NAME: NAME})
    data: dict[str, Any] = workload()
    data["origin"]["findings"][0]["what"] = NAME
    data["origin"]["source"] = NAME
    data["program"]["application"][0]["phase"] = NAME
    here = made.environment.model_copy(update={"directory": NAME, "host": NAME})
    verdict = Verdict(level=Level.INDICATIVE, reasons=[NAME, '" onload="x'])
    return made.model_copy(update={"workload": data, "environment": here, "verdict": verdict})


def test_hostile_names_stay_text() -> None:
    text = render_html([hostile(), hostile()])
    outline(text)
    assert NAME not in text
    assert "&lt;script&gt;" in text


@pytest.mark.parametrize(
    "made",
    [
        pytest.param(record(shapes=SHAPES[:1], repetitions=1), id="one phase, once"),
        pytest.param(record(shapes=(), repetitions=0), id="no phase"),
        pytest.param(
            record(shapes=(Shape("rest", "write", 0, 0, 1.0, names=()),)), id="no operation"
        ),
        pytest.param(record(ranks=1), id="one rank"),
        pytest.param(record(workload={}, fidelity=None), id="no workload"),
        pytest.param(record(workload={"origin": {"x": [None]}}), id="unreadable origin"),
        pytest.param(record(workload=workload(with_origin=False), fidelity=None), id="no origin"),
    ],
)
def test_sparse_records_have_a_page(made: Record) -> None:
    outline(render_html([made]))


def test_a_phase_of_no_time_has_a_page() -> None:
    made = record(shapes=SHAPES[:1])
    flat = made.phases[0].seconds.model_copy(
        update=dict.fromkeys(("open", "transfer", "total"), 0.0)
    )
    rows = [
        row.model_copy(update={"seconds": flat, "bytes_per_second": 0.0}) for row in made.phases
    ]
    outline(render_html([made.model_copy(update={"phases": rows})]))


def test_a_thousand_ranks_fit_into_the_page() -> None:
    shapes = (Shape("dump", "write", 4, 1 << 20, 4e8), Shape("load", "read", 4, 1 << 20, 9e8))
    text = render_html([record(shapes=shapes, ranks=1000, repetitions=2)])
    outline(text)
    assert len(text.encode()) < 2_000_000


def test_the_page_is_the_same_each_time() -> None:
    assert render_html([record()]) == render_html([record()])


def test_many_phases_and_iterations_stay_small_and_quick() -> None:
    made = record(shapes=SHAPES[:2], repetitions=2, ranks=2)
    many = [
        row.model_copy(update={"path": f"stream {i}/{row.path}", "iteration": {"dump": turn}})
        for i in range(30)
        for turn in range(20)
        for row in made.phases
    ]
    started = time.process_time()
    text = render_html([made.model_copy(update={"phases": many})] * 3)
    assert time.process_time() - started < 10
    assert len(text.encode()) < 2_000_000
    outline(text)
