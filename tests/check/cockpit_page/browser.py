# SPDX-License-Identifier: GPL-2.0-or-later
"""Chromium without a window, from a Debian 12 of its own, driven by Selenium; and measurements in a page."""

import importlib
import os
import shutil
import sys
import tempfile
import time
from pathlib import Path

from labkit import debootstrap, paths
from labkit.cache import Cache, key_of

from .waits import waited

PACKAGES = ("chromium", "chromium-driver", "fonts-dejavu-core", "python3-selenium")
# Only the packages' files are unpacked: neither program needs a maintainer script. Both look up localhost and their user's
# folder.
OPTIONS = ("--variant=extract", "--hook-dir=/usr/share/mmdebstrap/hooks/merged-usr",
           "--extract-hook=cd \"$1\" && mkdir -p proc run && echo 127.0.0.1 localhost >etc/hosts && "
           "echo root:x:0:0::/tmp:/bin/sh >etc/passwd && "
           "rm -rf usr/share/doc usr/share/man usr/share/locale var/cache/apt/archives")
CHROMIUM = "/usr/lib/chromium/chromium"  # the one in /usr/bin is a script, and there is no shell
FLAGS = """--headless --no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking
--disable-component-update --disable-sync --user-data-dir=/tmp/profile --force-device-scale-factor=1""".split()
# The driver runs in the host's network, where Cockpit's port is, but sees no other files of the host.
DRIVER = """#!/bin/sh
exec bwrap --die-with-parent --unshare-pid --ro-bind {root} / --dev /dev --proc /proc --perms 1777 --tmpfs /tmp --tmpfs /run \\
  --clearenv --setenv PATH /usr/bin:/bin --setenv HOME /tmp --setenv LANG C.UTF-8 -- /usr/bin/chromedriver "$@" 2>{log}
"""

# The lowest contrast (WCAG 2.1) of any text with its background, and that text.
CONTRAST = r"""
const parse = text => text.match(/[\d.]+/g).map(Number);
const luminance = ([r, g, b]) => [r, g, b].map(c => c / 255).map(c => (c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4))
  .reduce((sum, c, i) => sum + c * [0.2126, 0.7152, 0.0722][i], 0);
const behind = element => {
  for (; element; element = element.parentElement) {
    const colour = parse(getComputedStyle(element).backgroundColor);
    if (colour.length === 3 || colour[3] === 1) return colour;
  }
  return [255, 255, 255];
};
let worst = [21, ""];
const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
while (walker.nextNode()) {
  const element = walker.currentNode.parentElement;
  if (!walker.currentNode.data.trim() || !element.checkVisibility()) continue;
  const [one, other] = [getComputedStyle(element).color, behind(element)].map(c => luminance(typeof c === "string" ? parse(c) : c));
  const ratio = (Math.max(one, other) + 0.05) / (Math.min(one, other) + 0.05);
  if (ratio < worst[0]) worst = [ratio, walker.currentNode.data.trim()];
}
return worst;
"""
# Records each change of the verdict with the time of this machine. The page counts as hidden, and a hidden page asks nothing, so
# each change comes from the agent unasked.
RECORD = """
Object.defineProperty(document, "hidden", {value: true, configurable: true});
const place = document.getElementById("verdict");
window.verdicts = [];
new MutationObserver(() => window.verdicts.push([Date.now() / 1000, place.textContent])).observe(
  place, {childList: true, characterData: true, subtree: true});
"""


def system():
    """The cache entry with root/: the browser and its driver."""
    def build(directory):
        debootstrap.say("unpacking a browser (once)")
        debootstrap.unpack("bookworm", PACKAGES, directory / "root", directory / "mmdebstrap.log", *OPTIONS)

    return Cache(paths.CACHE).entry("browser", key_of(PACKAGES, OPTIONS, Path(debootstrap.__file__)), build, keep=1)


class Browser:
    """At Cockpit's own front page, within a `with` block."""

    def __init__(self, entry, pictures):
        self._pictures = pictures
        self._work = tempfile.TemporaryDirectory()
        program = Path(self._work.name) / "chromedriver"
        shutil.rmtree(pictures, ignore_errors=True)
        os.makedirs(pictures)
        program.write_text(DRIVER.format(root=entry / "root", log=pictures / "browser.log"), encoding="utf-8")
        program.chmod(0o755)
        # Selenium is from the same Debian release as this machine's Python.
        sys.path.append(str(entry / "root/usr/lib/python3/dist-packages"))
        self._selenium = importlib.import_module("selenium.webdriver")
        options = self._selenium.ChromeOptions()
        options.binary_location = CHROMIUM
        for flag in FLAGS:
            options.add_argument(flag)
        options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
        self._service = importlib.import_module("selenium.webdriver.chrome.service").Service(str(program))
        self.driver = self._selenium.Chrome(service=self._service, options=options)

    def __enter__(self):
        return self

    def __exit__(self, *_error):
        self.driver.quit()
        self._work.cleanup()

    def size(self, width, height=900):
        self.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride",
                                    {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False})

    def script(self, text, *arguments):
        return self.driver.execute_script(text, *arguments)

    def element(self, selector):
        return self.driver.find_element("css selector", selector)

    def text(self, selector="body"):
        """The visible text. Selenium's own function for it takes a tenth of a second of a CPU."""
        return self.script("return document.querySelector(arguments[0]).innerText", selector)

    def keys(self, *names):
        """Presses keys by Selenium's names for them, or types text, at the element with the focus."""
        keys = importlib.import_module("selenium.webdriver.common.keys").Keys
        chain = self._selenium.ActionChains(self.driver)
        for name in names:
            chain.send_keys(getattr(keys, name, name))
        chain.perform()

    def waited(self):
        """Seconds for which the browser waited for this machine's CPUs, while other processes had them."""
        return waited(self._service.process.pid)

    def wait(self, seconds, what, condition, delayed):
        """Waits until condition() is true; returns its value. Seconds by which delayed() grows do not count."""
        errors = importlib.import_module("selenium.common.exceptions")
        end, before, pause = time.monotonic() + seconds, delayed(), 0.1
        while True:
            try:
                found = condition()
                if found:
                    return found
            except (errors.NoSuchElementException, errors.StaleElementReferenceException, errors.JavascriptException):
                pass
            now = time.monotonic()
            if now > end and now > end + delayed() - before:  # delayed() reads a hundred files
                raise AssertionError(f"not within {seconds} s: {what}; the page says:\n{self.text()}")
            time.sleep(pause)
            pause = min(1.0, pause * 1.5)

    def picture(self, name):
        """The page from its top."""
        self.script("window.scrollTo(0, 0)")
        self.driver.save_screenshot(str(self._pictures / f"{name}.png"))

    def complaints(self):
        """Lines that the browser has logged since the last call: errors, and lines about the content policy."""
        return [entry["message"] for entry in self.driver.get_log("browser")
                if entry["level"] == "SEVERE" or "Content Security Policy" in entry["message"]]
