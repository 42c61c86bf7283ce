"""A preview of a site: this host alone can open it, and each page is as new as the sources.

An open page asks this server, and nobody else, whether it is still the same, and loads itself again
where it is not. Only what is served has the script for that: the site's files stay as they are.
"""

from __future__ import annotations

import hashlib
import re
import threading
import time
from collections.abc import Callable
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import unquote, urlsplit

from venturi.model.error import UserError
from venturi.report.html import live_script
from venturi.site.build import SiteBuild, SiteRequest, build
from venturi.site.output import STATE_FOLDER

LOOPBACK = "127.0.0.1"
_NAMES = frozenset({LOOPBACK, "localhost"})
_PAUSE_S = 1.0
"""Between two looks at the sources."""
_LIVE = "/-/live.js"
"""The script of open pages; no page of a site has such an address."""
_VERSION = "/-/version/"
"""Before the address of a page: what is another text once the page, or its data, changed."""
_SCRIPT = re.compile(r'<script src="([^"]+)"')
_POLICY = re.compile(r"(default-src 'none'; style-src 'self')(; script-src 'self')?")
_OF_LIVE = r"\1; script-src 'self'; connect-src 'self'"


class SitePreview:
    """A server of one site on the loopback interface."""

    def __init__(
        self,
        request: SiteRequest,
        port: int,
        told: Callable[[SiteBuild], None],
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """Builds the site; port 0 is any free one. UserError as `build`, or for a port in use."""
        self._request = request
        self._told = told
        self._clock = clock
        self._lock = threading.Lock()
        self._refresh()
        handler = partial(_PageHandler, self)
        try:
            self._server = ThreadingHTTPServer((LOOPBACK, port), handler)
        except OSError as error:
            raise UserError(
                f"port {port}: {error.strerror}", "choose another with --port, or 0 for any"
            ) from None
        self._server.daemon_threads = True

    @property
    def port(self) -> int:
        """The port that it listens on."""
        return int(self._server.server_address[1])

    @property
    def place(self) -> Path:
        """The folder of the site."""
        return self._request.place

    def refresh(self) -> str:
        """Brings the site up to date unless it was looked at just now; what went wrong."""
        with self._lock:
            if self._clock() < self._next:
                return ""
            try:
                self._refresh()
            except UserError as error:
                return error.message
        return ""

    def _refresh(self) -> None:
        made = build(self._request)
        if made.written or made.removed:
            self._told(made)
        self._next = self._clock() + _PAUSE_S

    def version(self, path: str) -> str:
        """A digest of a page and of the scripts that it loads; empty: there is no such page."""
        root = self.place.resolve()
        page = (root / path.lstrip("/")).resolve()
        page = page / "index.html" if page.is_dir() else page
        if not page.is_relative_to(root) or page.suffix != ".html":
            return ""
        try:
            data = page.read_bytes()
        except OSError:
            return ""
        digest = hashlib.sha256(data)
        for address in _SCRIPT.findall(data.decode("utf-8", "replace")):
            own = (page.parent / address).resolve()
            if own.is_relative_to(root) and own.is_file():
                digest.update(own.read_bytes())
        return digest.hexdigest()

    def run(self) -> None:
        """Serves until it is interrupted."""
        try:
            self._server.serve_forever()
        finally:
            self._server.server_close()

    def stop(self) -> None:
        """Ends `run` of another thread."""
        self._server.shutdown()


class _PageHandler(SimpleHTTPRequestHandler):
    """Pages of the site's folder, and nothing else."""

    def __init__(self, preview: SitePreview, *parts: object) -> None:
        self._preview = preview
        super().__init__(*parts, directory=str(preview.place))  # type: ignore[arg-type]

    def do_GET(self) -> None:
        if not self._is_allowed():
            return
        path = unquote(urlsplit(self.path).path)
        if path == _LIVE:
            self._send(live_script().encode(), "text/javascript")
        elif path.startswith(_VERSION):
            self._send_version(path.removeprefix(_VERSION))
        elif self._is_current() and not self._sent_page(path):
            super().do_GET()

    def _send_version(self, path: str) -> None:
        """What the page is now, or why the sources cannot be read."""
        if why := self._preview.refresh():
            self._send(why.encode("utf-8", "replace"), "text/plain", 503)
        elif version := self._preview.version(path):
            self._send(version.encode(), "text/plain")
        else:
            self.send_error(404)

    def _sent_page(self, path: str) -> bool:
        """Sends a page with the script that keeps it as new as the sources; False for no page."""
        file = Path(self.translate_path(path))
        file = file / "index.html" if path.endswith("/") else file
        version = self._preview.version(path)
        if not version:
            return False
        try:
            text = file.read_text("utf-8")
        except OSError:
            return False
        script = f'<script src="{_LIVE}?{version}" defer></script>\n</head>'
        live = _POLICY.sub(_OF_LIVE, text, count=1).replace("</head>", script, 1)
        self._send(live.encode(), "text/html")
        return True

    def _send(self, data: bytes, kind: str, status: int = 200) -> None:
        self.send_response(status)
        self.send_header("Content-Type", f"{kind}; charset=utf-8")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def do_HEAD(self) -> None:
        if self._is_allowed():
            super().do_HEAD()

    def _is_allowed(self) -> bool:
        """Only by a name of this host, so that no page elsewhere reads it under its own name."""
        host = (self.headers.get("Host") or "").rpartition(":")[0]
        path = unquote(urlsplit(self.path).path)
        if host in _NAMES and STATE_FOLDER not in path.split("/"):
            return True
        self.send_error(404)
        return False

    def _is_current(self) -> bool:
        path = urlsplit(self.path).path
        if path.endswith((".html", "/")) and (why := self._preview.refresh()):
            self.send_error(500, explain=why)
            return False
        return True

    def end_headers(self) -> None:
        self.send_header("Cache-Control", "no-store")
        self.send_header("X-Content-Type-Options", "nosniff")
        super().end_headers()

    def list_directory(self, path: object) -> None:
        del path
        self.send_error(404)

    def log_message(self, *parts: object) -> None:
        """Requests are nobody's news."""
