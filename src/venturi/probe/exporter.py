"""An exporter for Prometheus: answers from the rings, so also while every target hangs."""

from __future__ import annotations

import threading
import time
from collections.abc import Sequence
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from venturi.model.error import UserError
from venturi.probe.metrics import TargetTotals, metrics_text
from venturi.probe.place import ring_path, target_of
from venturi.probe.ring import SAMPLE, read_samples
from venturi.probe.status import status_of

_OPEN_METRICS = "application/openmetrics-text"
_TYPES = {
    False: "text/plain; version=0.0.4; charset=utf-8",
    True: f"{_OPEN_METRICS}; version=1.0.0; charset=utf-8",
}
_LIMIT_S = 10


class Exporter:
    """Serves `/metrics`. Counters begin at the moment of the start, as Prometheus expects."""

    def __init__(self, address: str, folders: Sequence[Path]) -> None:
        """Take the address. Raises UserError where that is impossible."""
        host, _, port = address.rpartition(":")
        if not host or not port.isdecimal() or int(port) > 65_535:
            raise UserError(f"--listen {address}: this is no address", "write HOST:PORT")
        self._folders = folders
        self._totals: dict[str, TargetTotals] = {}
        self._next: dict[Path, int] = {}
        self._lock = threading.Lock()
        try:
            self._server = ThreadingHTTPServer((host.strip("[]"), int(port)), _handler_of(self))
        except OSError as error:
            raise UserError(
                f"--listen {address}: {error.strerror}", "choose another port"
            ) from None
        self._server.daemon_threads = True
        self._thread = threading.Thread(target=self._server.serve_forever, daemon=True)
        self.port = int(self._server.server_address[1])

    def start(self) -> None:
        """Begin to answer; samples from now on count."""
        for folder in self._folders:
            self._totals[folder.name] = TargetTotals()
            for kind in target_of(folder).kinds:
                path = ring_path(folder, kind)
                self._next[path] = read_samples(path, 2**63)[0].head
        self._thread.start()

    def close(self) -> None:
        """End, if it was started, and free the address."""
        if self._thread.is_alive():
            self._server.shutdown()
        self._server.server_close()

    def text(self, is_open_metrics: bool) -> str:
        """Return the metrics of this moment."""
        with self._lock:
            self._count()
            return metrics_text(
                status_of(self._folders, clock=time.time_ns), self._totals, is_open_metrics
            )

    def _count(self) -> None:
        for path, begin in self._next.items():
            _, first, data = read_samples(path, begin)
            self._totals[path.parent.name].add(data)
            self._next[path] = first + len(data) // SAMPLE.size


def _handler_of(exporter: Exporter) -> type[BaseHTTPRequestHandler]:
    class _Handler(BaseHTTPRequestHandler):
        timeout = _LIMIT_S

        def do_GET(self) -> None:
            if self.path.split("?")[0] != "/metrics":
                self.send_error(404, "metrics are at /metrics")
                return
            is_open = _OPEN_METRICS in self.headers.get("Accept", "")
            body = exporter.text(is_open).encode()
            self.send_response(200)
            self.send_header("Content-Type", _TYPES[is_open])
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: object) -> None:
            """Say nothing: a line for each scrape would fill the journal."""

    return _Handler
