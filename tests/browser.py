"""A headless browser, driven by the WebDriver protocol without a client library."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import time
import urllib.error
import urllib.request
from pathlib import Path
from typing import TYPE_CHECKING, Any

from streamtable.devbroker.broker import free_port

if TYPE_CHECKING:
    from collections.abc import Callable

_INSTALLER = Path(__file__).parents[1] / "tools" / "install-chromium.sh"
_STARTS_WITHIN = 60


class Browser:
    """A browser with an empty profile.

    Args:
        folder: empty; holds the profile.
    """

    def __init__(self, folder: Path) -> None:
        subprocess.run(["sh", str(_INSTALLER)], check=True)
        self._folder = folder
        self._url = f"http://127.0.0.1:{free_port()}"
        self._session = ""

    def __enter__(self) -> Browser:
        driver = shutil.which("chromedriver")
        assert driver is not None
        self._driver = subprocess.Popen(
            [driver, f"--port={self._url.rpartition(':')[2]}"],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            env={**os.environ, "HOME": str(self._folder)},
        )
        self.until(self._ready)
        arguments = [
            *("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"),
            *("--window-size=1600,1200", f"--user-data-dir={self._folder / 'profile'}"),
        ]
        wanted = {
            "browserName": "chrome",
            "goog:chromeOptions": {"args": arguments, "binary": _binary()},
            "goog:loggingPrefs": {"browser": "ALL"},
        }
        made = self._ask("POST", "/session", {"capabilities": {"alwaysMatch": wanted}})
        self._session = f"/session/{made['sessionId']}"
        return self

    def __exit__(self, *_: object) -> None:
        try:
            if self._session:
                self._ask("DELETE", self._session)
        finally:
            self._driver.terminate()
            self._driver.wait()

    def open(self, url: str) -> None:
        """Load a page."""
        self._ask("POST", f"{self._session}/url", {"url": url})

    def run(self, script: str) -> Any:
        """Run a script in the page and return its result."""
        body = {"script": script, "args": []}
        return self._ask("POST", f"{self._session}/execute/sync", body)

    def text(self, selector: str = "body") -> str:
        """Return the text of an element as the screen shows it."""
        return str(self.run(f"return document.querySelector({json.dumps(selector)}).innerText"))

    def complaints(self) -> list[str]:
        """Return the messages of the browser's log, such as script errors and refused requests."""
        found = self._ask("POST", f"{self._session}/se/log", {"type": "browser"})
        return [str(line["message"]) for line in found]

    def until(self, holds: Callable[[], Any], seconds: float = _STARTS_WITHIN) -> Any:
        """Wait until `holds` returns a true value, and return the value; fail after `seconds`."""
        deadline = time.monotonic() + seconds
        while True:
            found = holds()
            if found:
                return found
            assert time.monotonic() < deadline, self.text() if self._session else "no driver"
            time.sleep(0.2)

    def _ready(self) -> bool:
        try:
            return bool(self._ask("GET", "/status")["ready"])
        except urllib.error.URLError:
            return False

    def _ask(self, method: str, path: str, body: object = None) -> Any:
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(  # noqa: S310 - our own
            self._url + path, data, method=method
        )
        request.add_header("Content-Type", "application/json")
        try:
            with urllib.request.urlopen(request, timeout=120) as answer:  # noqa: S310
                return json.load(answer)["value"]
        except urllib.error.HTTPError as error:
            raise AssertionError(error.read().decode()) from None


def _binary() -> str:
    names = ("chromium", "google-chrome", "chrome")
    found = next((path for name in names if (path := shutil.which(name))), None)
    assert found is not None
    return found
