"""A browser for tests: the part of W3C WebDriver that they need, spoken to chromedriver, with Python's library only."""
import base64
import json
import os
import re
import shutil
import subprocess
import tempfile
import time
import urllib.error
import urllib.request

ELEMENT = "element-6066-11e4-a52e-4f735466cecf"
DEADLINE = 30.0  # Seconds for a condition.


def is_possible():
    """The reason why there is no browser, or None."""
    missing = [name for name in ("chromium", "chromedriver") if shutil.which(name) is None]
    return f"{' and '.join(missing)} not installed" if missing else None


class Browser:
    """One headless chromium with a fresh profile. Use it in `with`: the profile and both processes go with it."""

    def __init__(self, width=1280, height=900):
        self.scratch = tempfile.mkdtemp(prefix="troupe-view-")
        profile = os.path.join(self.scratch, "profile")
        self.session = None
        self.driver = subprocess.Popen(["chromedriver", "--port=0"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
                                       env={**os.environ, "TMPDIR": self.scratch})
        try:
            self.base = f"http://127.0.0.1:{self._port()}"
            flags = ["--headless=new", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
                     "--disable-background-networking", "--disable-component-update", "--disable-sync",
                     "--disable-dev-shm-usage", "--hide-scrollbars", f"--user-data-dir={profile}", f"--window-size={width},{height}"]
            made = self._ask("POST", "/session", {"capabilities": {"alwaysMatch": {
                "browserName": "chrome", "goog:chromeOptions": {"args": flags}, "goog:loggingPrefs": {"browser": "ALL"}}}})
            self.session = f"/session/{made['sessionId']}"
        except BaseException:
            self.close()
            raise

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def _port(self):
        deadline = time.monotonic() + DEADLINE
        for line in self.driver.stdout:
            found = re.search(r"started successfully on port (\d+)", line)
            if found:
                return int(found.group(1))
            if time.monotonic() > deadline:
                break
        raise RuntimeError("chromedriver does not start")

    def _ask(self, method, path, body=None):
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(self.base + path, data=data, method=method, headers={"Content-Type": "application/json"})
        try:
            with urllib.request.urlopen(request, timeout=90) as answer:
                return json.load(answer)["value"]
        except urllib.error.HTTPError as failure:
            raise RuntimeError(json.load(failure)["value"]["message"]) from None

    def _command(self, method, path, body=None):
        return self._ask(method, self.session + path, body)

    def close(self):
        if self.session:
            try:
                self._ask("DELETE", self.session)
            except Exception:  # The browser may be gone already.
                pass
            self.session = None
        self.driver.terminate()
        try:
            self.driver.wait(10)
        except subprocess.TimeoutExpired:
            self.driver.kill()
            self.driver.wait()
        self.driver.stdout.close()
        shutil.rmtree(self.scratch, ignore_errors=True)

    def open(self, url):
        self._command("POST", "/url", {"url": url})

    def run(self, script, *arguments):
        """The result of a function's body in the page; `arguments` are its arguments."""
        return self._command("POST", "/execute/sync", {"script": script, "args": list(arguments)})

    def resize(self, width, height):
        self._command("POST", "/goog/cdp/execute", {"cmd": "Emulation.setDeviceMetricsOverride", "params": {
            "width": width, "height": height, "deviceScaleFactor": 1, "mobile": False}})

    def prefer(self, scheme):
        self._command("POST", "/goog/cdp/execute", {"cmd": "Emulation.setEmulatedMedia", "params": {
            "features": [{"name": "prefers-color-scheme", "value": scheme}]}})

    def find(self, css):
        return self._command("POST", "/element", {"using": "css selector", "value": css})[ELEMENT]

    def click(self, css):
        """Clicks on the element where a user would. Elements of SVG get the event in the middle of their shape."""
        self._command("POST", f"/element/{self.find(css)}/click", {})

    def dispatch_click(self, css):
        self.run("document.querySelector(arguments[0]).dispatchEvent(new MouseEvent('click', {bubbles: true}))", css)

    def type(self, css, text):
        self._command("POST", f"/element/{self.find(css)}/value", {"text": text})

    def press(self, key):
        self._command("POST", "/actions", {"actions": [{"type": "key", "id": "keyboard", "actions": [
            {"type": "keyDown", "value": key}, {"type": "keyUp", "value": key}]}]})

    def text(self, css="body"):
        return self.run("return document.querySelector(arguments[0])?.textContent ?? ''", css)

    def texts(self, css):
        return self.run("return [...document.querySelectorAll(arguments[0])].map(each => each.textContent)", css)

    def screenshot(self, path):
        with open(path, "wb") as file:
            file.write(base64.b64decode(self._command("GET", "/screenshot")))

    def problems(self):
        """What the page has written to its console as errors, also violations of its policy."""
        return [entry["message"] for entry in self._command("POST", "/se/log", {"type": "browser"})
                if entry["level"] == "SEVERE"]

    def until(self, condition, what):
        """Waits until the condition returns something true, and returns that."""
        deadline = time.monotonic() + DEADLINE
        while True:
            result = condition()
            if result:
                return result
            if time.monotonic() > deadline:
                raise AssertionError(f"after {DEADLINE:.0f} s not yet: {what}; the page says: {self.text()[:2000]}")
            time.sleep(0.05)  # Between two looks at the condition.
