"""The preview of a site: to this host alone, and as new as the sources."""

from __future__ import annotations

import http.client
import re
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from site_factory import result, sessions, store_of

from browser import Browser
from cli.conftest import wait_for
from venturi.model.error import UserError
from venturi.site.build import SiteBuild, SiteRequest
from venturi.site.serve import SitePreview


class Clock:
    """A time that passes when it is told to."""

    now_s = 0.0

    def __call__(self) -> float:
        return self.now_s


@pytest.fixture
def served(tmp_path: Path) -> Iterator[tuple[SitePreview, Path, Clock]]:
    store = store_of(tmp_path / "store", sessions(3, 1000))
    clock = Clock()
    request = SiteRequest((store,), tmp_path / "public")
    preview = SitePreview(request, 0, lambda made: None, clock)
    thread = threading.Thread(target=preview.run)
    thread.start()
    yield preview, store, clock
    preview.stop()
    thread.join()


def get(port: int, path: str, host: str = "localhost") -> tuple[int, str]:
    connection = http.client.HTTPConnection("127.0.0.1", port)
    connection.request("GET", path, headers={"Host": f"{host}:{port}"})
    answer = connection.getresponse()
    text = answer.read().decode("utf-8")
    connection.close()
    return answer.status, text


def test_a_page_is_as_new_as_the_store(served: tuple[SitePreview, Path, Clock]) -> None:
    preview, store, clock = served
    assert "checkpoint" not in get(preview.port, "/")[1]
    store_of(store, [result(3, name="checkpoint")])
    clock.now_s += 10
    status, text = get(preview.port, "/index.html")
    assert status == 200
    assert "checkpoint" in text


def test_sources_are_not_read_for_each_request(served: tuple[SitePreview, Path, Clock]) -> None:
    preview, store, _ = served
    store_of(store, [result(3, name="checkpoint")])
    assert "checkpoint" not in get(preview.port, "/index.html")[1]


@pytest.mark.parametrize(
    "path",
    ["/.venturi/state.json", "/%2eventuri/state.json", "/run/", "/../store/index.json", "/x"],
)
def test_only_pages_are_served(served: tuple[SitePreview, Path, Clock], path: str) -> None:
    assert get(served[0].port, path)[0] == 404


def test_another_name_of_this_host_is_refused(served: tuple[SitePreview, Path, Clock]) -> None:
    assert get(served[0].port, "/index.html", "rebound.example")[0] == 404
    assert get(served[0].port, "/index.html", "127.0.0.1")[0] == 200


def test_a_store_that_went_away_is_said(served: tuple[SitePreview, Path, Clock]) -> None:
    preview, store, clock = served
    store.rename(store.with_name("elsewhere"))
    clock.now_s += 10
    status, text = get(preview.port, "/index.html")
    assert status == 500
    assert "there is no such directory" in text


def test_a_port_in_use_is_refused(served: tuple[SitePreview, Path, Clock], tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()

    def told(made: SiteBuild) -> None:
        del made

    request = SiteRequest((tmp_path / "empty",), tmp_path / "other")
    with pytest.raises(UserError, match=f"port {served[0].port}: "):
        SitePreview(request, served[0].port, told)


POLICY = "default-src 'none'; style-src 'self'; script-src 'self'; connect-src 'self'; "


def test_an_open_page_is_told_when_it_changed(served: tuple[SitePreview, Path, Clock]) -> None:
    preview, store, clock = served
    for path in ("/", "/machine/alpha.html"):
        status, text = get(preview.port, path)
        (version,) = re.findall(r'<script src="/-/live.js\?([0-9a-f]{64})" defer>', text)
        assert status == 200
        assert text.count("Content-Security-Policy") == 1
        assert f'content="{POLICY}base-uri' in text
        assert get(preview.port, f"/-/version{path}") == (200, version)
    before = get(preview.port, "/-/version/machine/alpha.html")[1]
    other = get(preview.port, "/-/version/io500/index.html")[1]
    store_of(store, [result(3)])
    clock.now_s += 10
    assert get(preview.port, "/-/version/machine/alpha.html")[1] != before
    assert get(preview.port, "/-/version/io500/index.html")[1] == other
    assert get(preview.port, "/-/live.js?x")[0] == 200


def test_a_page_whose_data_changed_is_another_one(
    served: tuple[SitePreview, Path, Clock],
) -> None:
    preview, _, _ = served
    (page,) = (preview.place / "explore").iterdir()
    before = preview.version(f"/explore/{page.name}")
    data = next((preview.place / "data").glob("*.js"))
    data.write_text(data.read_text() + ";")
    assert preview.version(f"/explore/{page.name}") != before


def test_files_of_the_site_are_as_they_are_built(served: tuple[SitePreview, Path, Clock]) -> None:
    preview, _, _ = served
    get(preview.port, "/index.html")
    for path in preview.place.rglob("*.html"):
        assert "live.js" not in path.read_text()
        assert "connect-src" not in path.read_text()


@pytest.mark.parametrize("path", ["/../store/index.json", "/.venturi/x.html", "/gone.html", "/x"])
def test_of_what_is_no_page_there_is_no_version(
    served: tuple[SitePreview, Path, Clock], path: str
) -> None:
    assert get(served[0].port, f"/-/version{path}")[0] == 404


def test_an_open_page_is_told_why_sources_cannot_be_read(
    served: tuple[SitePreview, Path, Clock],
) -> None:
    preview, store, clock = served
    store.rename(store.with_name("elsewhere"))
    clock.now_s += 10
    status, text = get(preview.port, "/-/version/index.html")
    assert status == 503
    assert "there is no such directory" in text


def rows(browser: Browser) -> int:
    """Sessions in the table; 0 while the page is loaded."""
    try:
        return int(browser.evaluate("document.querySelectorAll('#explore tbody tr').length"))
    except AssertionError:
        return 0


@pytest.mark.needs("browser")
def test_an_open_page_loads_itself_again_with_what_was_chosen(
    served: tuple[SitePreview, Path, Clock], tmp_path: Path
) -> None:
    preview, store, clock = served
    browser = Browser(tmp_path / "profile")
    try:
        browser.look(1280)
        chosen = "explore/quick.html#metric=restart+%28cold%29"
        browser.open(f"http://localhost:{preview.port}/{chosen}")
        assert rows(browser) == 3
        store_of(store, [result(3)])
        clock.now_s += 10
        wait_for(lambda: rows(browser) == 4)
        metric = browser.evaluate("document.querySelector('[name=metric]').value")
        assert metric == "restart (cold)"
        assert browser.complaints() == []
        origin = f"http://localhost:{preview.port}/"
        assert all(one.startswith((origin, "data:")) for one in browser.requests())
    finally:
        browser.close()
