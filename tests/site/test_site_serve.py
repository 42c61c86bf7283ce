"""The preview of a site: to this host alone, and as new as the sources."""

from __future__ import annotations

import http.client
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from site_factory import result, sessions, store_of

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
