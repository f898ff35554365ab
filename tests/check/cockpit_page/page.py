# SPDX-License-Identifier: GPL-2.0-or-later
"""Cockpit's page in the browser, with functions for the looks."""

import json
import re
from contextlib import contextmanager

from .browser import RECORD
from .waits import stolen

FRAME = "iframe[name='cockpit1:localhost/pvrdma']"
SHOWN_S = 2    # from an event until the page shows it
LONG_S = 60    # for slow steps of the agent or of Cockpit


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
        """Seconds for which guest or browser waited for this machine's CPUs, while other processes had them; no limit counts them."""
        return self.guest.waited() + self.browser.waited() + stolen()

    def wait(self, seconds, what, condition):
        return self.browser.wait(seconds, what, condition, self.delayed)

    def verdict_is(self, word, seconds=LONG_S):
        self.wait(seconds, f"the verdict {word}", lambda: self.browser.text("#verdict .badge") == word)

    def says(self, text, place="body", seconds=LONG_S):
        self.wait(seconds, f"{place} says: {text}", lambda: text in self.browser.text(place))

    @contextmanager
    def recorded(self):
        """Records each verdict while the block runs. The page counts as hidden then, and so asks nothing."""
        self.browser.script(RECORD)
        try:
            yield
        finally:
            self.browser.script("delete document.hidden")

    def verdict_since(self, moment, word):
        """Seconds from that moment until the page first had that verdict; with "", any verdict but ready."""
        def found():
            return [at for at, text in self.browser.script("return window.verdicts") if text.startswith(word) and not text.startswith("READY")]

        return self.wait(LONG_S, f"the verdict {word or 'that is not READY'}", found)[0] - moment

    def health(self):
        return json.loads(self.guest.run("pvrdma-agentctl --json health || true"))

    def ready(self):
        """Waits until the verdict is ready; what an action has said before must not contradict it."""
        self.verdict_is("READY")
        outcome = self.browser.text("#outcome")
        if re.search(r"\bnow\b|converging|absent|failed", outcome):
            raise AssertionError(f"the verdict is READY, but the page also says: {outcome}")

    def switch(self, on):
        """Turns administrative access on or off, in Cockpit's own bar; Cockpit then loads the page again."""
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
