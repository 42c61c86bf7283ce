"""Firefox by WebDriver BiDi, the W3C's protocol, with the calls of Chromium's `Browser`."""

from __future__ import annotations

import base64
import json
import shutil
import subprocess
import time
from pathlib import Path
from typing import Any

PROGRAM = next((path for name in ("firefox-esr", "firefox") if (path := shutil.which(name))), None)
_SERVER = "WebDriverBiDiServer.json"
"""In the profile: where Firefox listens, once it does."""
_START_S = 60.0
_QUIET = (
    "app.update.enabled",
    "browser.newtabpage.enabled",
    "browser.safebrowsing.downloads.enabled",
    "browser.safebrowsing.malware.enabled",
    "browser.safebrowsing.phishing.enabled",
    "browser.shell.checkDefaultBrowser",
    "datareporting.policy.dataSubmissionEnabled",
    "extensions.update.enabled",
    "network.captive-portal-service.enabled",
    "network.connectivity-service.enabled",
    "network.prefetch-next",
    "toolkit.telemetry.enabled",
)
"""What Firefox does by itself, and a test has no use for."""
_KEYS = {"Tab": "\ue004", "Enter": "\ue007", "ArrowDown": "\ue015", " ": " "}
_EVENTS = ("log.entryAdded", "network.beforeRequestSent")


class Firefox:
    """One tab of Firefox."""

    def __init__(self, profile: Path) -> None:
        self._profile = profile
        self._dark = False
        self._start()

    def _start(self) -> None:
        """Begins a browser in a fresh profile, and its session."""
        from websocket import create_connection

        assert PROGRAM is not None
        shutil.rmtree(self._profile, ignore_errors=True)
        self._profile.mkdir(parents=True)
        lines = [f'user_pref("{name}", false);' for name in _QUIET]
        scheme = 0 if self._dark else 1
        lines.append(f'user_pref("layout.css.prefers-color-scheme.content-override", {scheme});')
        (self._profile / "user.js").write_text("\n".join(lines), "utf-8")
        options = ("--headless", "--no-remote", "--remote-debugging-port=0", "about:blank")
        self._process = subprocess.Popen(
            [PROGRAM, "--profile", str(self._profile), *options],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        port = self._port()
        self._socket = create_connection(
            f"ws://127.0.0.1:{port}/session", suppress_origin=True, timeout=_START_S
        )
        self._number = 0
        self._events: list[dict[str, Any]] = []
        self.call("session.new", capabilities={})
        self.call("session.subscribe", events=list(_EVENTS))
        # The first window of a browser without a screen never has the focus.
        self._tab = self.call("browsingContext.create", type="window")["context"]

    def _port(self) -> int:
        """Where the browser listens, once it says so."""
        end = time.monotonic() + _START_S
        while time.monotonic() < end:
            assert self._process.poll() is None, "Firefox ended"
            try:
                return int(json.loads((self._profile / _SERVER).read_text("utf-8"))["ws_port"])
            except (OSError, ValueError, KeyError):
                time.sleep(0.05)
        raise AssertionError("Firefox did not say where it listens")

    def close(self) -> None:
        """Ends the browser."""
        self._socket.close()
        self._process.terminate()
        self._process.wait()

    def call(self, method: str, **parameters: Any) -> dict[str, Any]:
        """One command, and what it returns."""
        self._number += 1
        message = {"id": self._number, "method": method, "params": parameters}
        self._socket.send(json.dumps(message))
        while True:
            answer: dict[str, Any] = json.loads(self._socket.recv())
            if answer.get("id") == self._number:
                assert answer["type"] == "success", f"{method}: {answer}"
                result: dict[str, Any] = answer["result"]
                return result
            self._events.append(answer)

    def open(self, address: str) -> None:
        """Opens a page, and waits until it is loaded."""
        self._events.clear()
        self.call("browsingContext.navigate", context=self._tab, url=address, wait="complete")

    def evaluate(self, script: str) -> Any:
        """The value of an expression on the page; policies of the page do not bind it."""
        found = self.call(
            "script.evaluate",
            expression=f"Promise.resolve({script}).then(found => JSON.stringify([found ?? null]))",
            target={"context": self._tab},
            awaitPromise=True,
        )
        assert found["type"] == "success", found
        return json.loads(found["result"]["value"])[0]

    def complaints(self) -> list[str]:
        """What the console says: errors, exceptions, what a policy refused."""
        self.evaluate("0")
        entries = [one["params"] for one in self._events if one.get("method") == _EVENTS[0]]
        return [str(one.get("text")) for one in entries]

    def requests(self) -> list[str]:
        """The addresses that the page asked for."""
        self.evaluate("0")
        return [
            one["params"]["request"]["url"]
            for one in self._events
            if one.get("method") == _EVENTS[1]
        ]

    def press(self, key: str) -> None:
        """One key."""
        actions = [{"type": kind, "value": _KEYS[key]} for kind in ("keyDown", "keyUp")]
        source = {"type": "key", "id": "keyboard", "actions": actions}
        self.call("input.performActions", context=self._tab, actions=[source])

    def look(self, width: int, dark: bool = False) -> None:
        """The width of the window, and the colour scheme, which takes another browser to change."""
        if dark is not self._dark:
            self.close()
            self._dark = dark
            self._start()
        self.call(
            "browsingContext.setViewport",
            context=self._tab,
            viewport={"width": width, "height": 900},
            devicePixelRatio=1.0,
        )

    def picture(self) -> bytes:
        """The page as a PNG, from top to bottom."""
        found = self.call("browsingContext.captureScreenshot", context=self._tab, origin="document")
        return base64.b64decode(found["data"])
