"""A preview of a site: this host alone can open it, and each page is as new as the sources."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import unquote, urlsplit

from venturi.model.error import UserError
from venturi.site.build import SiteBuild, SiteRequest, build
from venturi.site.output import STATE_FOLDER

LOOPBACK = "127.0.0.1"
_NAMES = frozenset({LOOPBACK, "localhost"})
_PAUSE_S = 1.0
"""Between two looks at the sources."""


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
        if self._is_allowed() and self._is_current():
            super().do_GET()

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
