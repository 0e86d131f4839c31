"""A headless Chromium to look at pages with, driven over its debugging protocol; tests skip where there is none."""

from __future__ import annotations

import base64
import json
import shutil
import subprocess
import tempfile
import time
from pathlib import Path

import pytest

NAMES = ("chromium", "chromium-browser", "google-chrome", "chrome")


def executable() -> str:
    """Return the browser's path; skip the test, visibly, where there is none."""
    pytest.importorskip("websocket", reason="needs websocket-client to drive a browser")
    found = next((path for path in map(shutil.which, NAMES) if path), None)
    if found is None:
        pytest.skip(f"needs a browser: none of {', '.join(NAMES)} is installed")
    return found


class Browser:
    """One page at a time; what goes wrong in it is in `errors`, what it wants from elsewhere in `requests`."""

    def __init__(self) -> None:
        import websocket

        self.folder = Path(tempfile.mkdtemp(prefix="browser"))
        self.process = subprocess.Popen(
            [
                executable(), "--headless=new", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--no-first-run",
                "--disable-dev-shm-usage", "--disable-background-networking", "--remote-debugging-port=0",
                "--remote-allow-origins=*", f"--user-data-dir={self.folder}", "about:blank",
            ],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )  # fmt: skip
        port, _ = self._wait_for_port().split("\n")[:2]
        import urllib.request

        with urllib.request.urlopen(f"http://127.0.0.1:{port}/json") as answer:
            target = next(entry for entry in json.load(answer) if entry["type"] == "page")
        self.socket = websocket.create_connection(target["webSocketDebuggerUrl"], timeout=60)
        self.count = 0
        self.errors: list[str] = []
        self.requests: list[str] = []
        self.loaded = False
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(f"{domain}.enable")

    def _wait_for_port(self) -> str:
        for _ in range(300):
            path = self.folder / "DevToolsActivePort"
            if path.exists() and path.read_text().count("\n"):
                return path.read_text()
            time.sleep(0.1)
        raise AssertionError("the browser did not start")

    def call(self, method: str, **parameters: object) -> dict:
        """Send a command and return its answer; events that come before it are noted."""
        self.count += 1
        self.socket.send(json.dumps({"id": self.count, "method": method, "params": parameters}))
        while True:
            message = json.loads(self.socket.recv())
            if message.get("id") == self.count:
                assert "error" not in message, message
                return message["result"]
            self._note(message)

    def _note(self, message: dict) -> None:
        method, about = message.get("method"), message.get("params", {})
        if method == "Runtime.exceptionThrown":
            details = about["exceptionDetails"]
            self.errors.append(details.get("exception", {}).get("description") or details["text"])
        elif method == "Log.entryAdded" and about["entry"]["level"] == "error":
            self.errors.append(about["entry"]["text"])
        elif method == "Runtime.consoleAPICalled" and about["type"] in ("error", "warning"):
            self.errors.append(str(about["args"]))
        elif method == "Network.requestWillBeSent":
            self.requests.append(about["request"]["url"])
        elif method == "Page.loadEventFired":
            self.loaded = True

    def open(self, path: Path | str, width: int = 1280, height: int = 900, dark: bool = False) -> None:
        """Open a file, or an address, and wait until it is loaded."""
        scheme = [{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}]
        self.call("Emulation.setEmulatedMedia", features=scheme)
        size = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 600}
        self.call("Emulation.setDeviceMetricsOverride", **size)
        self.errors.clear()
        self.requests.clear()
        self.loaded = False
        self.call("Page.navigate", url=path if isinstance(path, str) else path.resolve().as_uri())
        while not self.loaded:
            self._note(json.loads(self.socket.recv()))

    def ask(self, expression: str) -> object:
        """Evaluate JavaScript in the page and return its value."""
        answer = self.call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        assert "exceptionDetails" not in answer, answer["exceptionDetails"]
        return answer["result"].get("value")

    def press(self, key: str) -> None:
        """Press a key, as a person does."""
        for kind in ("keyDown", "keyUp"):
            self.call("Input.dispatchKeyEvent", type=kind, key=key, text=key if kind == "keyDown" else "")

    def wait(self, expression: str, seconds: float = 60.0) -> object:
        """Wait until an expression is true in the page, and return its value."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            if value := self.ask(expression):
                return value
            time.sleep(0.05)
        raise AssertionError(f"never true: {expression}; {self.ask('document.body.innerText')}")

    def picture(self, path: Path, *, whole: bool = False) -> None:
        """Take a screenshot, of the whole page if asked."""
        shot = self.call("Page.captureScreenshot", captureBeyondViewport=whole)
        path.write_bytes(base64.b64decode(shot["data"]))

    def close(self) -> None:
        """End the browser and take its folder away."""
        self.socket.close()
        self.process.terminate()
        self.process.wait(timeout=30)
        shutil.rmtree(self.folder, ignore_errors=True)
