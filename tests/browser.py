"""Chromium by its own protocol over a pipe: pages, keys, complaints, and what it loads."""

from __future__ import annotations

import base64
import json
import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

PROGRAM = next(
    (path for name in ("chromium", "google-chrome") if (path := shutil.which(name))), None
)
HEADLESS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--hide-scrollbars",
)
OPTIONS = (*HEADLESS, "--remote-debugging-pipe", "about:blank")
MOST_PX = 8000


class Browser:
    """One tab of a browser."""

    def __init__(self, profile: Path) -> None:
        theirs_in, self._out = os.pipe()
        self._in, theirs_out = os.pipe()
        wrapped = f'exec "$@" 3<&{theirs_in} 4>&{theirs_out}'
        self._process = subprocess.Popen(
            ["bash", "-c", wrapped, "bash", str(PROGRAM), f"--user-data-dir={profile}", *OPTIONS],
            pass_fds=(theirs_in, theirs_out),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        os.close(theirs_in)
        os.close(theirs_out)
        self._rest = b""
        self._number = 0
        self._events: list[dict[str, Any]] = []
        self._session = ""
        targets = self.call("Target.getTargets")["targetInfos"]
        page = next(one["targetId"] for one in targets if one["type"] == "page")
        found = self.call("Target.attachToTarget", targetId=page, flatten=True)
        self._session = found["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(f"{domain}.enable")

    def close(self) -> None:
        """Ends the browser."""
        os.close(self._out)
        os.close(self._in)
        self._process.terminate()
        self._process.wait()

    def call(self, method: str, **parameters: Any) -> dict[str, Any]:
        """One command, and what it returns."""
        self._number += 1
        message: dict[str, Any] = {"id": self._number, "method": method, "params": parameters}
        if self._session:
            message["sessionId"] = self._session
        os.write(self._out, json.dumps(message).encode() + b"\0")
        while True:
            answer = self._read()
            if answer.get("id") == self._number:
                assert "error" not in answer, f"{method}: {answer['error']}"
                result: dict[str, Any] = answer["result"]
                return result
            self._events.append(answer)

    def _read(self) -> dict[str, Any]:
        while b"\0" not in self._rest:
            data = os.read(self._in, 1 << 20)
            assert data, "the browser ended"
            self._rest += data
        text, _, self._rest = self._rest.partition(b"\0")
        found: dict[str, Any] = json.loads(text)
        return found

    def open(self, address: str) -> None:
        """Opens a page, and waits until it is loaded."""
        self._events.clear()
        self.call("Page.navigate", url=address)
        while not any(one.get("method") == "Page.loadEventFired" for one in self._events):
            self._events.append(self._read())

    def evaluate(self, script: str) -> Any:
        """The value of an expression on the page, of a promise what it gives; policies of the page
        do not bind it."""
        found = self.call(
            "Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True
        )
        assert "exceptionDetails" not in found, found
        return found["result"].get("value")

    def complaints(self) -> list[str]:
        """What the console says: errors, exceptions, what a policy refused."""
        self.evaluate("0")
        found = []
        for one in self._events:
            method, data = one.get("method"), one.get("params", {})
            if method == "Runtime.exceptionThrown":
                found.append(str(data["exceptionDetails"].get("text")))
            elif method == "Log.entryAdded":
                found.append(data["entry"]["text"])
            elif method == "Runtime.consoleAPICalled":
                found.append(str(data["args"]))
        return found

    def requests(self) -> list[str]:
        """The addresses that the page asked for."""
        self.evaluate("0")
        return [
            one["params"]["request"]["url"]
            for one in self._events
            if one.get("method") == "Network.requestWillBeSent"
        ]

    def press(self, key: str) -> None:
        """One key."""
        codes = {"Tab": 9, "Enter": 13, " ": 32, "ArrowDown": 40}
        texts = {"Enter": "\r", " ": " "}
        text = {"text": texts[key]} if key in texts else {}
        for kind in ("keyDown", "keyUp"):
            more = text if kind == "keyDown" else {}
            self.call(
                "Input.dispatchKeyEvent",
                type=kind,
                key=key,
                code="Space" if key == " " else key,
                windowsVirtualKeyCode=codes[key],
                **more,
            )

    def look(self, width: int, dark: bool = False) -> None:
        """The width of the window, and the colour scheme."""
        self.call(
            "Emulation.setDeviceMetricsOverride",
            width=width,
            height=900,
            deviceScaleFactor=1,
            mobile=False,
        )
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.call("Emulation.setEmulatedMedia", features=[scheme])

    def picture(self) -> bytes:
        """The page as a PNG, from top to bottom."""
        size = self.call("Page.getLayoutMetrics")["cssContentSize"]
        clip = {"x": 0, "y": 0, "width": size["width"], "scale": 1,
                "height": min(size["height"], MOST_PX)}  # fmt: skip
        found = self.call("Page.captureScreenshot", clip=clip, captureBeyondViewport=True)
        return base64.b64decode(found["data"])
