# SPDX-License-Identifier: GPL-2.0-or-later
"""The looks at the page, one after the other: each begins and ends with the agent in state ready."""

import json
from contextlib import contextmanager

from .browser import CONTRAST
from .made_up import HEALTH, HOSTILE, REMOVED
from .page import LONG_S, SHOWN_S

ACKNOWLEDGE = "#findings button.root"
# Seconds until the page says that a hanging agent does not answer. The page asks every five seconds, except in the 2.5 s after an
# answer, and waits four seconds for the answer; the rest is for guest and browser.
HANGS_S = 15


def expect(condition, what):
    if not condition:
        raise AssertionError(what)


def ready(page):
    page.ready()
    adapter = page.health()["adapters"][0]
    for key in ("function", "netdev", "rdma_device", "mac"):
        page.says(adapter[key], "#adapters")
    page.says("None.", "#findings")
    page.says("Nothing is to be done now", "#plan")
    page.says("Observed", "#age")
    page.browser.picture("ready")


def rights(page):
    """Without administrative access nothing can be changed, also not by a script that enables a button."""
    page.ready()
    page.switch(on=False)
    page.says("turn on administrative access", "#rights")
    page.says("may not read the system's journal", "#boots")
    page.guest.run("remove_adapter 0")
    page.says("acknowledge", "#findings")
    for button in (ACKNOWLEDGE, "#reload"):
        expect(not page.browser.element(button).is_enabled(), f"{button} can be pressed without administrative access")
        page.browser.script("const one = document.querySelector(arguments[0]); one.disabled = false; one.click();"
                            "if (one.id) document.getElementById('confirmed').click();", button)
        page.says("Not done", "#outcome")
        page.browser.script("document.querySelector('#outcome button').click()")
    expect(page.health()["executor"]["reloads"] == 0, "it was reloaded without administrative access")
    page.says("acknowledge", "#findings")


def acknowledge(page):
    """Acknowledges the removal of the look before."""
    page.switch(on=True)
    page.wait(LONG_S, "it can be acknowledged", lambda: page.browser.element(ACKNOWLEDGE).is_enabled())
    page.browser.picture("removed")
    page.browser.element(ACKNOWLEDGE).click()
    page.verdict_is("ABSENT")
    page.says("Done at", "#outcome")
    page.guest.run("rescan_pci")
    page.ready()


def keyboard(page):
    """The keyboard alone reloads the driver, and the page shows the result."""
    page.ready()
    page.switch(on=True)
    page.wait(LONG_S, "the button works", lambda: page.browser.element("#reload").is_enabled())
    page.browser.script("document.activeElement.blur();")

    def focus():
        return page.browser.script("return document.activeElement.id || document.activeElement.value")

    def tab_to(name):
        for _ in range(20):
            if focus() == name:
                return
            page.browser.keys("TAB")
        raise AssertionError(f"the Tab key does not reach {name}")

    tab_to("reload")
    page.browser.keys("ENTER")
    page.wait(LONG_S, "the dialog", lambda: page.browser.element("#confirm").is_displayed())
    page.browser.picture("confirm")
    page.browser.keys("ESCAPE")
    expect(not page.browser.element("#confirm").is_displayed(), "Escape does not end the dialog")
    expect(focus() == "reload", "the focus is not where it was before the dialog")
    page.browser.keys("ENTER")
    tab_to("confirmed")
    page.browser.keys("ENTER")
    page.says("Done at", "#outcome")
    page.says("driver reloaded once", "#executor")
    page.ready()


def boots(page):
    page.switch(on=True)
    page.wait(LONG_S, "a boot", lambda: page.browser.element("#boots details"))
    shown = json.loads(page.guest.run("pvrdma-agentctl boots --json"))["boots"]
    expect(len(page.browser.script("return document.querySelectorAll('#boots details')")) == len(shown), "not each boot has its bar")
    step = next(one for one in shown[0]["steps"] if one["step"] == "ready")
    page.says(f"ready at {step['at_ms'] / 1000:.2f} s", "#boots")
    width = page.browser.script("return [...document.querySelectorAll('#boots details:first-of-type rect')]"
                                ".reduce((sum, one) => sum + one.width.baseVal.value, 0)")
    longest = max(one["at_ms"] for boot in shown for one in boot["steps"] if one["step"] == "ready")
    expect(abs(width - 1000 * step["at_ms"] / longest) < 1, f"the bar is {width} wide")
    page.browser.script("document.querySelector('#boots summary').focus();")
    page.browser.keys("ENTER")
    page.says("vmw_pvrdma live", "#boots table")
    page.browser.picture("boots")


@contextmanager
def while_so(page, begin, end):
    """Runs `begin` in the guest, then the block, and always runs `end`, which undoes it."""
    page.guest.run(begin)
    try:
        yield
    finally:
        page.guest.run(end)


def shows_errors(page):
    """Whether the page shows the agent's present errors. The agent may reload the driver meanwhile, which ends a finding, and find
    the error again."""
    found = [one for one in page.health()["findings"] if one["severity"] == "error"]
    shown = page.browser.text("#findings")
    return found and all(one["summary"] in shown and one["remedy"] in shown for one in found)


def port_down(page):
    page.ready()
    with while_so(page, "host port 0 DOWN", "host port 0 ACTIVE"):
        page.verdict_is("FAILED")
        page.wait(LONG_S, "each error that the agent has found", lambda: shows_errors(page))
        page.browser.picture("port-down")
    page.ready()


def shows_at_once(page, what, command, word):
    """Checks that the page shows the effect of the command unasked, within SHOWN_S; time for which guest and browser waited for
    CPUs does not count."""
    with page.recorded():
        delayed = page.delayed()
        took = page.verdict_since(page.guest.moment(command), word)
        expect(took <= SHOWN_S + page.delayed() - delayed, f"{what} shows after {took:.1f} s")
    print(f"{what} shows after {took:.2f} s")


def standing_still(page, unit, before="true"):
    """Stops the unit's process by SIGSTOP while the block runs, and always lets it go on afterwards."""
    kill = "systemctl kill --kill-whom=main --signal"
    return while_so(page, f"{before} && {kill}=STOP {unit}", f"{kill}=CONT {unit}")


def unload(page):
    """The page shows an unload at once. While the executor hangs the driver is not loaded again, and the plan shows the action.
    The executor is restarted first, as an idle one could exit before it is stopped."""
    page.ready()
    executor = "pvrdma-agent-executor.service"
    with standing_still(page, executor, f"systemctl restart {executor}"):
        shows_at_once(page, "an unload", "modprobe -r vmw_pvrdma", "")
        page.verdict_is("CONVERGING")
        page.says("because vmw_pvrdma is not loaded", "#plan")
        page.says("none: vmw_pvrdma is not bound to it", "#adapters")
        page.says("At work: LoadModule vmw_pvrdma", "#executor")
        page.browser.picture("unloaded")
    page.ready()


def killed(page):
    page.ready()
    shows_at_once(page, "a killed agent", "systemctl kill --kill-whom=main --signal=KILL pvrdma-agent.service", "STALE")
    page.ready()
    expect(not page.browser.element("#stale").is_displayed(), "the page says that the agent is gone although it is back")


def stopped(page):
    page.ready()
    page.guest.run("systemctl stop pvrdma-agent.service")
    page.verdict_is("STALE", SHOWN_S)
    page.says("The agent does not run", "#stale")
    page.says("Last known: ready", "#verdict")
    page.wait(LONG_S, "its age grows", lambda: int(page.browser.text("#age").split()[1]) >= 4)
    page.says("0000:00:10.1", "#adapters")
    page.browser.picture("stale")
    page.guest.run("systemctl start pvrdma-agent.service")
    page.ready()


def hangs(page):
    page.ready()
    with standing_still(page, "pvrdma-agent.service"):
        page.verdict_is("STALE", HANGS_S)
        page.says("The agent does not answer", "#stale")
    page.ready()


def made_up(page):
    """A false agent sends long and hostile texts; they fit in every width and in both styles."""
    page.ready()
    page.guest.shell("start_made_up_agent", json.dumps(HEALTH))
    page.verdict_is("DEGRADED")
    for text in (*HOSTILE, "its bond, bridge or team"):
        page.says(text)
    expect(page.browser.script("return document.querySelectorAll('main img, main script, main b, main a').length") == 0,
           "text has become an element")
    acknowledged = page.browser.script("return [...document.querySelectorAll(arguments[0])].map(one => one.dataset.key)", ACKNOWLEDGE)
    expect(acknowledged == [f"acknowledge {function}" for function in REMOVED], f"the buttons acknowledge {acknowledged}")
    for style in ("light", "dark"):
        page.browser.script("localStorage.setItem('shell:style', arguments[0]);"
                            "window.dispatchEvent(new CustomEvent('cockpit-style', {detail: {style: arguments[0]}}));", style)
        for width in (360, 768, 1600):
            page.browser.size(width, 2400)
            wide, inner = page.browser.script("return [document.documentElement.scrollWidth, innerWidth]")
            expect(wide <= inner <= width, f"at {width} px the page is {wide} of {inner} wide")
            page.browser.picture(f"made-up-{style}-{width}")
        contrast, text = page.browser.script(CONTRAST)
        expect(contrast >= 4.5, f"{style}: a contrast of {contrast:.2f}: {text}")
        print(f"{style}: no contrast below {contrast:.1f}")
    page.browser.size(1280)
    page.guest.run("stop_made_up_agent")
    page.ready()


LOOKS = {"ready": ready, "without administrative access": rights, "acknowledge": acknowledge, "by keyboard": keyboard, "boots": boots,
         "port down": port_down, "unload": unload, "agent killed": killed, "agent stopped": stopped, "agent hangs": hangs,
         "widths, styles, hostile texts": made_up}
