"""A headless Chromium, driven over the DevTools protocol.

    with Browser() as browser:
        page = browser.open(path, width=1280, height=900)
        page.run("document.title")
        page.press("ArrowDown")
        page.picture(path)

The protocol goes over a pipe (--remote-debugging-pipe): the browser reads
messages from descriptor 3 and writes them to descriptor 4, each ends in a zero
byte.  So no port is opened and no library is needed.
"""

import base64
import json
import os
import pathlib
import select
import shutil
import subprocess
import tempfile
import time

PROGRAMS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")

KEYS = {
    "ArrowDown": (40, None),
    "ArrowUp": (38, None),
    "ArrowLeft": (37, None),
    "ArrowRight": (39, None),
    "Home": (36, None),
    "End": (35, None),
    "Escape": (27, None),
    "Tab": (9, None),
    "Enter": (13, "\r"),
    " ": (32, " "),
    "F6": (117, None),
    "F8": (119, None),
    "PageUp": (33, None),
    "PageDown": (34, None),
    "Delete": (46, None),
    "Backspace": (8, None),
}
# What the browser does itself with Ctrl and a key.
EDITING = {"c": "copy", "v": "paste", "x": "cut"}


def find_browser():
    """The path of a browser, or None."""
    named = os.environ.get("PARLANCE_BROWSER")
    return named or next(filter(None, map(shutil.which, PROGRAMS)), None)


class ProtocolError(Exception):
    pass


class Browser:
    def __init__(self, program=None):
        self.program = program or find_browser()
        self.folder = tempfile.TemporaryDirectory(prefix="parlance-browser-")
        commands_read, self.commands = os.pipe()
        self.answers, answers_write = os.pipe()
        self.log = open(pathlib.Path(self.folder.name) / "log", "w+b")

        def pipe_ends():
            # Through descriptors above 4, so that neither overwrites the other.
            read, write = os.dup(commands_read), os.dup(answers_write)
            while read < 5:
                read = os.dup(read)
            while write < 5:
                write = os.dup(write)
            os.dup2(read, 3)
            os.dup2(write, 4)

        self.process = subprocess.Popen(
            [
                self.program,
                "--headless=new",
                "--remote-debugging-pipe",
                "--no-sandbox",  # a container's root has none to give
                "--no-first-run",
                "--no-default-browser-check",
                "--disable-gpu",
                "--disable-dev-shm-usage",
                "--disable-extensions",
                "--disable-background-networking",
                "--disable-component-update",
                "--disable-sync",
                "--force-device-scale-factor=1",
                "--hide-scrollbars",
                f"--user-data-dir={self.folder.name}/profile",
                "about:blank",
            ],
            stdin=subprocess.DEVNULL,
            stdout=self.log,
            stderr=self.log,
            close_fds=False,
            preexec_fn=pipe_ends,
        )
        os.close(commands_read)
        os.close(answers_write)
        self.left = b""
        self.number = 0
        self.events = []

    def __enter__(self):
        return self

    def __exit__(self, *_):
        try:
            self.call("Browser.close", timeout=5)
            self.process.wait(10)
        except (ProtocolError, OSError, subprocess.TimeoutExpired):
            self.process.kill()
            self.process.wait()
        os.close(self.commands)
        os.close(self.answers)
        self.log.close()
        self.folder.cleanup()

    def _read(self, until):
        """The next message, or None at the time `until`."""
        while b"\0" not in self.left:
            wait = until - time.monotonic()
            if wait <= 0 or not select.select([self.answers], [], [], wait)[0]:
                return None
            data = os.read(self.answers, 1 << 20)
            if not data:
                self.log.seek(0)
                raise ProtocolError(f"the browser ended: {self.log.read()[-2000:]}")
            self.left += data
        message, _, self.left = self.left.partition(b"\0")
        return json.loads(message)

    def call(self, method, parameters=None, session=None, timeout=60):
        self.number += 1
        message = {"id": self.number, "method": method, "params": parameters or {}}
        if session:
            message["sessionId"] = session
        data = json.dumps(message).encode() + b"\0"
        while data:
            data = data[os.write(self.commands, data) :]
        until = time.monotonic() + timeout
        while True:
            answer = self._read(until)
            if answer is None:
                raise ProtocolError(f"{method}: no answer in {timeout} s")
            if "id" not in answer:
                self.events.append(answer)
            elif answer["id"] == self.number:
                if "error" in answer:
                    raise ProtocolError(f"{method}: {answer['error']}")
                return answer["result"]

    def wait_for(self, method, session, timeout=60):
        until = time.monotonic() + timeout
        while True:
            for event in self.events:
                if event["method"] == method and event.get("sessionId") == session:
                    self.events.remove(event)
                    return event["params"]
            event = self._read(until)
            if event is None:
                raise ProtocolError(f"no {method} in {timeout} s")
            self.events.append(event)

    def open(self, path, width=1280, height=900, dark=False, before=None):
        """Opens a file or an address in a page of its own; its log is collected."""
        target = self.call("Target.createTarget", {"url": "about:blank"})["targetId"]
        session = self.call(
            "Target.attachToTarget", {"targetId": target, "flatten": True}
        )["sessionId"]
        page = Page(self, session, target)
        for domain in ("Page", "Runtime", "Log", "Network"):
            page.call(f"{domain}.enable")
        # Counts the time of the page's own thread.
        page.call("Performance.enable", {"timeDomain": "threadTicks"})
        page.resize(width, height)
        page.prefer("dark" if dark else "light")
        if before is not None:  # a script that runs before those of the page
            page.call("Page.addScriptToEvaluateOnNewDocument", {"source": before})
        page.go(path)
        return page


class Page:
    def __init__(self, browser, session, target):
        self.browser = browser
        self.session = session
        self.target = target
        self.opening = None  # seconds until the first screen was painted

    def call(self, method, parameters=None, timeout=60):
        return self.browser.call(method, parameters, self.session, timeout)

    def close(self):
        self.browser.call("Target.closeTarget", {"targetId": self.target})

    def resize(self, width, height):
        self.call(
            "Emulation.setDeviceMetricsOverride",
            {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False},
        )

    def prefer(self, scheme):
        self.call(
            "Emulation.setEmulatedMedia",
            {"features": [{"name": "prefers-color-scheme", "value": scheme}]},
        )

    def go(self, place):
        """Opens a file, or an address."""
        began = time.monotonic()
        if "://" not in str(place):
            place = pathlib.Path(place).resolve().as_uri()
        self.call("Page.navigate", {"url": str(place)})
        self.browser.wait_for("Page.loadEventFired", self.session)
        self.frames()
        self.opening = time.monotonic() - began

    def busy(self):
        """Seconds that the page has been busy: without waiting for the machine."""
        metrics = self.call("Performance.getMetrics")["metrics"]
        return next(m["value"] for m in metrics if m["name"] == "TaskDuration")

    def run(self, expression, timeout=60):
        """The value of a JavaScript expression, or of its promise."""
        answer = self.call(
            "Runtime.evaluate",
            {"expression": expression, "returnByValue": True, "awaitPromise": True},
            timeout,
        )
        if "exceptionDetails" in answer:
            raise ProtocolError(f"{expression}: {answer['exceptionDetails']}")
        return answer["result"].get("value")

    def frames(self, count=2):
        """Waits until the page has been painted `count` times."""
        self.run(
            "new Promise(done => { let n = %d; const next = () => n-- > 0 ?"
            " requestAnimationFrame(next) : done(); next(); })" % count
        )

    def press(self, key, shift=False, ctrl=False):
        """A key, by its name or its character."""
        code = ord(key.upper()) if key.isalnum() and len(key) == 1 else 0
        code, text = KEYS.get(key, (code, None if ctrl else key))
        event = {
            "key": key,
            "code": key if key in KEYS else f"Key{key.upper()}" if key.isalpha() else "",
            "windowsVirtualKeyCode": code,
            "modifiers": 8 * shift + 2 * ctrl,
        }
        if text is not None:
            event["text"] = text
        if ctrl and key in EDITING:
            event["commands"] = [EDITING[key]]
        self.call("Input.dispatchKeyEvent", {"type": "keyDown", **event})
        event.pop("text", None)
        event.pop("commands", None)
        self.call("Input.dispatchKeyEvent", {"type": "keyUp", **event})

    def focused(self):
        """The role, the name and the value of what has the keyboard, as a screen
        reader has them."""
        found = self.call(
            "Runtime.evaluate",
            {
                "expression": "(() => { let e = document.activeElement;"
                " while (e.shadowRoot?.activeElement) e = e.shadowRoot.activeElement;"
                " return e; })()"
            },
        )["result"]
        (node,) = self.call(
            "Accessibility.getPartialAXTree",
            {"objectId": found["objectId"], "fetchRelatives": False},
        )["nodes"]
        return [node.get(one, {}).get("value") for one in ("role", "name", "value")]

    def type(self, text):
        self.call("Input.insertText", {"text": text})

    def click(self, selector):
        x, y = self.run(
            "(() => { const e = document.querySelector(%s);"
            " e.scrollIntoView({block: 'nearest'});"
            " const b = e.getBoundingClientRect();"
            " return [b.left + Math.min(b.width / 2, 40), b.top + b.height / 2];"
            "})()" % json.dumps(selector)
        )
        for kind in ("mousePressed", "mouseReleased"):
            self.call(
                "Input.dispatchMouseEvent",
                {"type": kind, "x": x, "y": y, "button": "left", "clickCount": 1},
            )

    def workers(self):
        """Its dedicated workers, each as a page."""
        self.call(
            "Target.setAutoAttach",
            {"autoAttach": True, "waitForDebuggerOnStart": False, "flatten": True},
        )
        for event in self.browser.events:
            if event["method"] == "Target.attachedToTarget":
                found = event["params"]
                if event.get("sessionId") == self.session:
                    yield Page(
                        self.browser, found["sessionId"], found["targetInfo"]["targetId"]
                    )

    def frames_inside(self):
        """The frames of other origins, each as a page."""
        targets = self.browser.call("Target.getTargets", {"filter": [{}]})
        for target in targets["targetInfos"]:
            if target["type"] != "iframe":
                continue
            found = self.browser.call(
                "Target.attachToTarget",
                {"targetId": target["targetId"], "flatten": True},
            )
            yield Page(self.browser, found["sessionId"], target["targetId"])

    def picture(self, path, whole=False):
        parameters = {"format": "png"}
        if whole:
            size = self.call("Page.getLayoutMetrics")["cssContentSize"]
            parameters["captureBeyondViewport"] = True
            parameters["clip"] = {
                "x": 0,
                "y": 0,
                "width": size["width"],
                "height": min(size["height"], 6000),
                "scale": 1,
            }
        data = self.call("Page.captureScreenshot", parameters)["data"]
        path = pathlib.Path(path)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(base64.b64decode(data))

    def complaints(self):
        """What the page logged, threw or tried to load."""
        self.frames()
        found = []
        for event in self.browser.events:
            if event.get("sessionId") != self.session:
                continue
            if event["method"] == "Runtime.exceptionThrown":
                found.append(str(event["params"]["exceptionDetails"]))
            elif event["method"] == "Log.entryAdded":
                found.append(event["params"]["entry"]["text"])
            elif event["method"] == "Runtime.consoleAPICalled":
                found.append(str(event["params"]["args"]))
            elif event["method"] == "Network.requestWillBeSent":
                url = event["params"]["request"]["url"]
                if not url.startswith(("file:", "about:")):
                    found.append(f"requested {url}")
        return found
