"""When the first picture of a site's pages stands, in a slow browser behind a slow line.

    python bench/site_paint.py SITE [--mbit 10] [--slower 4] [--latency 40] [--loads 3]

SITE is what `venturi site build` made. Its pages are served by HTTP, compressed as web servers do,
to a real Chromium whose protocol makes its processor so many times slower, its line so narrow, and
each request late by so many milliseconds. Nothing is in its cache. For a page of each kind, the
largest of its kind, it prints medians over the loads: when something was painted first, when the
first picture (an SVG of a figure) was painted, and how much came over the line until all had come.
A busy machine is slower than one that is that many times slower.
"""

from __future__ import annotations

import argparse
import gzip
import http.server
import os
import re
import statistics
import sys
import tempfile
import threading
import time
from functools import cache
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
sys.path[:0] = [str(ROOT / "src"), str(ROOT / "tests")]

from browser import Browser  # noqa: E402

KINDS = (
    "index.html",
    "run/*.html",
    "workload/*.html",
    "machine/*.html",
    "explore/*.html",
    "choose/*.html",
    "compare/*.html",
    "probe/*.html",
    "runs-*.html",
    "io500/full.html",
    "calibration.html",
)
_PACKED = {".html", ".css", ".js", ".json", ".svg", ".csv"}
_SCRIPT = re.compile(r'<script src="([^"]+)"')
_MANY = 50
"""Of so many pages of a kind the scripts are weighed, too."""
_LIMIT_S = 60.0
WATCH = """
(() => {
  window.firstPicture = null;
  const look = () => {
    if (window.firstPicture === null && document.querySelector('figure svg, svg.chart')) {
      window.firstPicture = 0;
      requestAnimationFrame(() => requestAnimationFrame(
        () => { window.firstPicture = performance.now(); }));
      return;
    }
    if (window.firstPicture === null) { requestAnimationFrame(look); }
  };
  requestAnimationFrame(look);
})();
"""
FIRST_PAINT = "(performance.getEntriesByName('first-contentful-paint')[0] || {}).startTime || null"
DONE = "document.readyState === 'complete' && window.firstPicture !== 0"


@cache
def packed(path: Path) -> bytes:
    """A file as it goes over the line."""
    data = path.read_bytes()
    return gzip.compress(data, 6) if path.suffix in _PACKED else data


def serve(site: Path) -> tuple[http.server.ThreadingHTTPServer, dict[str, int]]:
    """A server of the site, and how many bytes it sent of each path."""
    sent: dict[str, int] = {}

    class Handler(http.server.SimpleHTTPRequestHandler):
        """Static files, compressed."""

        def do_GET(self) -> None:
            path = (site / self.path.partition("?")[0].lstrip("/")).resolve()
            if not path.is_file() or site not in path.parents:
                self.send_error(404)
                return
            data = packed(path)
            self.send_response(200)
            self.send_header("Content-Type", self.guess_type(str(path)))
            self.send_header("Content-Length", str(len(data)))
            if path.suffix in _PACKED:
                self.send_header("Content-Encoding", "gzip")
            self.end_headers()
            self.wfile.write(data)
            sent[self.path] = len(data)

        def log_message(self, *parts: object) -> None:
            """Nothing."""

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server, sent


def weight(page: Path) -> int:
    """Bytes of a page and of its scripts."""
    text = page.read_text("utf-8")
    scripts = [page.parent / name for name in _SCRIPT.findall(text)]
    return len(text) + sum(one.stat().st_size for one in scripts if one.is_file())


def largest(site: Path) -> list[str]:
    """The largest page of each kind that the site has."""
    found = []
    for pattern in KINDS:
        pages = [one for one in site.glob(pattern) if one.is_file()]
        if pages:
            if len(pages) > _MANY:
                pages = sorted(pages, key=lambda one: one.stat().st_size)[-_MANY:]
            page = max(pages, key=lambda one: (weight(one), one.name))
            found.append(page.relative_to(site).as_posix())
    return found


def load(browser: Browser, address: str) -> dict[str, Any]:
    """One load: milliseconds of the first paint and of the first picture; None: there is none."""
    browser.open("about:blank")
    browser.call("Network.clearBrowserCache")
    browser.open(address)
    end_s = time.monotonic() + _LIMIT_S
    while not browser.evaluate(DONE) and time.monotonic() < end_s:
        time.sleep(0.05)
    time.sleep(0.2)
    return {
        "paint": browser.evaluate(FIRST_PAINT),
        "picture": browser.evaluate("window.firstPicture"),
    }


def median(values: list[float | None]) -> str:
    """In milliseconds; a dash for what never was."""
    there = [value for value in values if value is not None]
    return f"{statistics.median(there):6.0f}" if there else "     –"


def main() -> None:
    """Loads and prints."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("site", type=Path)
    parser.add_argument("--mbit", type=float, default=10.0)
    parser.add_argument("--slower", type=float, default=4.0)
    parser.add_argument("--latency", type=float, default=40.0, help="milliseconds")
    parser.add_argument("--loads", type=int, default=3)
    given = parser.parse_args()
    site = given.site.resolve()
    server, sent = serve(site)
    print(f"load {os.getloadavg()[0]:.1f} on {os.cpu_count()} processors; {given.mbit:g} Mbit/s, "
          f"{given.latency:g} ms, processor {given.slower:g} times slower")  # fmt: skip
    print(f"{'page':44} {'paint':>6} {'picture':>8} {'kB sent':>8}")
    with tempfile.TemporaryDirectory() as profile:
        browser = Browser(Path(profile))
        try:
            browser.look(1280)
            browser.call("Page.addScriptToEvaluateOnNewDocument", source=WATCH)
            browser.call("Emulation.setCPUThrottlingRate", rate=given.slower)
            speed = given.mbit * 125_000
            browser.call(
                "Network.emulateNetworkConditions",
                offline=False,
                latency=given.latency,
                downloadThroughput=speed,
                uploadThroughput=speed,
            )
            for page in largest(site):
                address = f"http://127.0.0.1:{server.server_port}/{page}"
                loads = []
                for _ in range(given.loads):
                    sent.clear()
                    loads.append(load(browser, address))
                paint = median([one["paint"] for one in loads])
                picture = median([one["picture"] for one in loads])
                print(f"{page[-44:]:44} {paint} {picture:>8} {sum(sent.values()) / 1000:8.0f}",
                      flush=True)  # fmt: skip
        finally:
            browser.close()
            server.shutdown()


if __name__ == "__main__":
    main()
