"""The documentation's site: complete, without a broken link, and at home on a disk."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path

import pytest

from browser import Browser

ROOT = Path(__file__).parents[2]
_LOADING = {"script": "src", "img": "src", "iframe": "src", "source": "src", "link": "href"}
_STYLE_LOADS = re.compile(r"url\(\s*['\"]?(https?:)?//|@import")


def build(project: Path, output: Path) -> subprocess.CompletedProcess[str]:
    """Build the site of a project's folder as `make docs` does."""
    command = [sys.executable, "-m", "mkdocs", "build", "--strict"]
    command += ["--config-file", str(project / "mkdocs.yml"), "--site-dir", str(output)]
    environment = {**os.environ, "NO_MKDOCS_2_WARNING": "1"}
    return subprocess.run(command, capture_output=True, text=True, env=environment, check=False)


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The site."""
    output = tmp_path_factory.mktemp("docs") / "site"
    done = build(ROOT, output)
    assert done.returncode == 0, done.stderr
    return output


class Loaded(HTMLParser):
    """The addresses that a page loads by itself."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.addresses: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        address = dict(attrs).get(_LOADING.get(tag, ""))
        if address:
            self.addresses.append(address)


def test_every_text_of_docs_is_a_page(pages: Path) -> None:
    texts = [path.relative_to(ROOT / "docs") for path in (ROOT / "docs").rglob("*.md")]
    assert len(texts) > 40
    assert not [text for text in texts if not (pages / text.with_suffix(".html")).is_file()]


def test_files_beside_docs_are_there(pages: Path) -> None:
    assert 'href="../workload.html"' in (pages / "project/ARCHITECTURE.html").read_text("utf-8")
    assert 'href="../project/schema/plan.schema.json"' in (pages / "reference/plan.html").read_text(
        "utf-8"
    )
    assert (pages / "project/schema/plan.schema.json").is_file()


def test_nothing_is_loaded_from_elsewhere(pages: Path) -> None:
    loaded = {
        address
        for page in pages.rglob("*.html")
        for address in Loaded(page.read_text("utf-8")).addresses
    }
    assert any(address.endswith(".css") for address in loaded)
    assert not {address for address in loaded if re.match(r"\w+:|//", address)}
    assert not [
        path for path in pages.rglob("*.css") if _STYLE_LOADS.search(path.read_text("utf-8"))
    ]


@pytest.mark.parametrize(
    ("page", "text", "complaint"),
    [
        ("docs/site.md", "\n[x](nowhere.md)\n", "nowhere.md"),
        ("docs/site.md", "\n[x](verdict.md#no-such-part)\n", "no-such-part"),
        ("docs/site.md", "\n[x](../NOTHING.md)\n", "NOTHING.md"),
        ("ARCHITECTURE.md", "\n[x](docs/nowhere.md)\n", "nowhere.md"),
        ("docs/alone.md", "# A page without a place\n", "alone.md"),
    ],
)
def test_what_is_broken_fails_the_build(
    tmp_path: Path, page: str, text: str, complaint: str
) -> None:
    shutil.copytree(ROOT / "docs", tmp_path / "docs")
    for name in ("schema", "examples/application", "packaging/probe", "packaging/docs"):
        shutil.copytree(ROOT / name, tmp_path / name)
    for name in ("mkdocs.yml", "ARCHITECTURE.md", "CONTRIBUTING.md", "CHANGELOG.md"):
        shutil.copy(ROOT / name, tmp_path / name)
    with (tmp_path / page).open("a", encoding="utf-8") as file:
        file.write(text)
    done = build(tmp_path, tmp_path / "site")
    assert done.returncode != 0
    assert complaint in done.stderr


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    found = Browser(tmp_path_factory.mktemp("profile"))
    yield found
    found.close()


@pytest.mark.needs("browser")
def test_search_works_from_disk(pages: Path, browser: Browser) -> None:
    browser.open(f"{pages.as_uri()}/index.html?q=stonewall")
    found = "[...document.querySelectorAll('.md-search-result__link')].map(a => a.href).join(' ')"
    end = time.monotonic() + 60
    while "glossary.html" not in browser.evaluate(found):
        assert time.monotonic() < end, browser.complaints()
        time.sleep(0.05)
    assert not [url for url in browser.requests() if not url.startswith(("file:", "data:"))]


@pytest.mark.needs("browser")
@pytest.mark.parametrize("width", [400, 1280])
@pytest.mark.parametrize("page", ["index", "tutorial/slow-job", "reference/plan", "compare"])
def test_pages_are_no_wider_than_the_window(
    pages: Path, browser: Browser, page: str, width: int
) -> None:
    browser.look(width)
    browser.open((pages / f"{page}.html").as_uri())
    assert browser.evaluate("document.documentElement.scrollWidth") <= width
    assert browser.complaints() == []
