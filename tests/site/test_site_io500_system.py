"""Pages of IO500's systems: what is known and nothing else, whatever names and values hold."""

from __future__ import annotations

import csv
import io
import random
from pathlib import Path

import pytest
from site_factory import result, store_of
from test_site_build import Content, content, made
from test_site_io500 import repeated

from venturi.compat.io500.submitted import QUESTIONS
from venturi.model.published import Flag, Io500Phase, Io500Result, SubmittedFile
from venturi.report.site import address
from venturi.report.site.io500 import owner_of
from venturi.store.published import save


def site_of(home: Path, results: list[Io500Result]) -> Path:
    store = store_of(home / "store", [result(0)])
    for one in results:
        save(store, one)
    made(home / "public", store)
    return home / "public"


def described() -> Io500Result:
    """As the submission of SCC says itself."""
    return repeated("SCC", [12.55], nodes=10, procs=80)[0].model_copy(
        update={
            "storage_vendor": "Megware",
            "release": "SC21",
            "reproducibility": "Limited",
            "configuration": {
                "filesystem_name": "BeeGFS",
                "client_nodes": "10",
                "client_operating_system": "scientific",
                "client_kernel_version": "3.10.0-1160.24.1.el7.x86_64",
                "md_nodes": "2",
                "md_storage_devices": "2",
                "ds_nodes": "2",
                "ds_storage_devices": "8",
            },
            "questionnaire": {"caching": "No client caches."},
            "phases": [Io500Phase(name="find", value=597.2, unit="kIOPS")],
            "flags": [Flag(id="unconfirmed", what="nothing stands beside the summary")],
            "files": [SubmittedFile(name="result.txt", bytes=2048, sha256="ab" * 32)],
        }
    )


def test_a_system_has_its_configuration_its_answers_and_its_files(tmp_path: Path) -> None:
    one = described()
    page = content(site_of(tmp_path, [one]), address.system(owner_of(one)))
    assert page.row("Property") == ["Property", "Clients", "Metadata servers", "Data servers"]
    assert page.row("Nodes") == ["Nodes", "10", "2", "2"]
    assert page.row("Storage devices") == ["Storage devices", "–", "2", "8"]
    assert page.row("Kernel version")[1:] == ["3.10.0-1160.24.1.el7.x86_64", "–", "–"]
    assert not [row for row in page.rows if row[0] in ("Memory", "Network")]
    assert page.row("result.txt") == ["result.txt", "Result of 2024", "2 KiB", "ab" * 32]
    for word in ("Megware", "No client caches.", "Limited", "SC21"):
        assert word in page.text


def test_what_nobody_says_has_no_section(tmp_path: Path) -> None:
    one = repeated("Bare", [1.0])[0]
    page = content(site_of(tmp_path, [one]), address.system(owner_of(one)))
    for title in ("Configuration", "Reproducibility", "Files", "Storage vendor"):
        assert title not in page.text


def test_each_configuration_names_the_results_that_it_is_of(tmp_path: Path) -> None:
    first, second, third = repeated("Grown", [1.0, 2.0, 3.0])
    results = [
        first.model_copy(update={"year": 2022, "configuration": {"md_nodes": "2"}}),
        second.model_copy(update={"year": 2023, "configuration": {"md_nodes": "2"}}),
        third.model_copy(update={"year": 2024, "configuration": {"md_nodes": "4"}}),
    ]
    page = content(site_of(tmp_path, results), address.system(owner_of(first)))
    assert "Configuration: Result of 2024" in page.text
    assert "As the submission says: Result of 2023, Result of 2022." in page.text
    assert [row[1] for row in page.rows if row[0] == "Nodes"] == ["4", "2"]


PIECES = (
    "<script>document.title='ran'</script>",
    "<img src=x onerror=alert(1)>",
    "</td></table><h1>",
    "</title></style>",
    '" onmouseover="alert(1)',
    "javascript:alert(1)",
    '=HYPERLINK("http://x")',
    "+1-1",
    "@SUM(A1)",
    "-2+3",
    "\t=1+1",
    "＝1+1",
    "\u202eright to left\u202c",
    "\u05e9\u05dc\u05d5\u05dd",
    "\u2066x",
    "\x00\x07\x1b[31m",
    "../../etc/passwd",
    "{{ 7*7 }}",
    "&amp;&lt;",
    "x" * 3000,
    "word " * 500,
    "\n\r",
)


def hostile(chance: random.Random, number: int) -> Io500Result:
    """A result with such things in every text that it has."""

    def text() -> str:
        return "".join(chance.choices(PIECES, k=chance.randint(1, 3)))

    names = ("md_nodes", "ds_network", "client_kernel_version", "filesystem_name", text())
    one = repeated(f"{text()}{number}", [chance.uniform(1, 9)])[0]
    return one.model_copy(
        update={
            "key": f"hostile-{number}",
            "institution": text(),
            "filesystem": text(),
            "classification": chance.choice(("production", "research", text())),
            "storage_vendor": text(),
            "release": text(),
            "reproducibility": text(),
            "version": text(),
            "configuration": {name: text() for name in names},
            "questionnaire": {name: text() for name in QUESTIONS[:4]},
            "files": [SubmittedFile(name=text(), bytes=1, sha256=text())],
            "flags": [Flag(id=text(), what=text())],
            "phases": [Io500Phase(name=text(), value=1.0, unit="kIOPS")],
        }
    )


@pytest.fixture(scope="module")
def wild(tmp_path_factory: pytest.TempPathFactory) -> Path:
    chance = random.Random(24)
    home = tmp_path_factory.mktemp("wild")
    return site_of(home, [hostile(chance, number) for number in range(25)])


def io500_pages(place: Path) -> list[Path]:
    return sorted((place / "io500").glob("*.html"))


def test_nothing_in_a_submission_becomes_markup(wild: Path, tmp_path: Path) -> None:
    plain = site_of(tmp_path, [described()])
    known = {
        name for path in io500_pages(plain) for name, _ in Content(path.read_text("utf-8")).tags
    }
    assert len(io500_pages(wild)) == 25 + 7
    for path in io500_pages(wild):
        text = path.read_text("utf-8")
        for name, attributes in Content(text).tags:
            assert name in known, path
            assert not any(key.startswith("on") for key in attributes), path
            assert not str(attributes.get("href", "")).startswith("javascript"), path
        assert text.count("<h1") == text.count("</title>") == 1, path
        assert not set(text) & set("\x00\x07\x1b\u202e\u2066"), path


def test_no_cell_of_a_download_is_a_formula(wild: Path) -> None:
    tables = sorted((wild / "io500").glob("*.csv"))
    assert len(tables) == 7
    cells = 0
    for path in tables:
        with path.open(encoding="utf-8", newline="") as file:
            for row in csv.reader(file):
                cells += len(row)
                for cell in row:
                    assert not cell.lstrip(" ").startswith(("=", "+", "-", "@", "\t", "\r", "＝"))
    assert cells > 1000


def test_a_download_keeps_its_rows(wild: Path) -> None:
    text = (wild / "io500/historical.csv").read_text("utf-8")
    rows = list(csv.DictReader(io.StringIO(text, newline="")))
    assert sorted(row["key"] for row in rows) == sorted(f"hostile-{n}" for n in range(25))


def test_a_page_shows_no_more_than_it_may_of_a_long_value(tmp_path: Path) -> None:
    one = described().model_copy(update={"configuration": {"md_network": "y" * 100_000}})
    place = site_of(tmp_path, [one])
    page = content(place, address.system(owner_of(one)))
    assert page.row("Network") == ["Network", f"{'y' * 500}…"]
