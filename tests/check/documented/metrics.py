# SPDX-License-Identifier: GPL-2.0-or-later
"""Compares the metrics that the program writes with those of their page."""

import helptext
from documented.pages import BOLD, Page, differ


def check_metrics(build):
    page = Page(build, "pvrdma-agentctl-metrics.1")
    documented = {name for line in page.definitions("METRICS") for name in BOLD.findall(line)}
    yield from differ(page.name, "metric", documented, helptext.metrics(build))
    commands = helptext.agentctl(build)
    documented = {name for line in page.definitions("OPTIONS") for name in BOLD.findall(line)}
    own = commands["metrics"].option_names() - commands[""].option_names()
    yield from differ(page.name, "option", documented - {"--json"}, own)
