# SPDX-License-Identifier: GPL-2.0-or-later
"""Cockpit's page in the browser, as a test asks about it."""

import json
from contextlib import contextmanager

from .browser import RECORD
from .waits import stolen

FRAME = "iframe[name='cockpit1:localhost/pvrdma']"
SHOWN_S = 2    # from what happens until the page tells of it
LONG_S = 60    # for what the agent, or Cockpit, takes its time


class Page:
    def __init__(self, guest, seen):
        self.guest, self.browser = guest, seen
        self.browser.size(1280)
        self.open()

    def open(self):
        """The page, in Cockpit's own frame."""
        self.browser.driver.switch_to.default_content()
        self.browser.driver.get(f"http://127.0.0.1:{self.guest.port}/pvrdma")
        self.enter()

    def enter(self):
        def entered():
            self.browser.driver.switch_to.default_content()
            self.browser.driver.switch_to.frame(self.browser.element(FRAME))
            return self.browser.element("#verdict .badge")

        self.wait(LONG_S, "the page in Cockpit", entered)

    def delayed(self):
        """Seconds for which guest or browser could have run, had others not had this machine's CPUs: no part of any limit."""
        return self.guest.waited() + self.browser.waited() + stolen()

    def wait(self, seconds, what, condition):
        return self.browser.wait(seconds, what, condition, self.delayed)

    def verdict_is(self, word, seconds=LONG_S):
        self.wait(seconds, f"the verdict {word}", lambda: self.browser.text("#verdict .badge") == word)

    def says(self, text, place="body", seconds=LONG_S):
        self.wait(seconds, f"{place} says: {text}", lambda: text in self.browser.text(place))

    @contextmanager
    def recorded(self):
        """While the block runs, each verdict is written down, and the page, which nobody sees then, asks nothing."""
        self.browser.script(RECORD)
        try:
            yield
        finally:
            self.browser.script("delete document.hidden")

    def verdict_since(self, moment, word):
        """How many seconds after that moment the page first had that verdict, or any but ready."""
        def found():
            return [at for at, text in self.browser.script("return window.verdicts") if text.startswith(word) and not text.startswith("READY")]

        return self.wait(LONG_S, f"the verdict {word or 'that is not READY'}", found)[0] - moment

    def health(self):
        return json.loads(self.guest.run("health || true"))

    def ready(self):
        self.verdict_is("READY")

    def switch(self, on):
        """Cockpit's own switch, in its own bar; what follows it is another page."""
        before, after, confirm = (("Limited access", "Administrative access", "Close") if on else
                                  ("Administrative access", "Limited access", "Limit access"))
        self.browser.driver.switch_to.default_content()

        def button(text):
            return self.browser.script("return [...document.querySelectorAll('button')].find(one => one.innerText.includes(arguments[0]))", text)

        self.wait(LONG_S, "Cockpit's switch", lambda: button(before) or button(after))
        if not button(after):
            button(before).click()
            self.wait(LONG_S, confirm, lambda: button(confirm)).click()
            self.wait(LONG_S, after, lambda: button(after))
        self.enter()
