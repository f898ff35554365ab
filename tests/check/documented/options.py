# SPDX-License-Identifier: GPL-2.0-or-later
"""Compares the options and commands of --help with those of the pages."""

import re

import helptext
from documented.pages import BOLD, Page, differ


def check_options(build):
    page = Page(build, "pvrdma-agentctl.1")
    commands = helptext.agentctl(build)
    yield from differ(page.name, "command", page.defined("COMMANDS"), set(commands) - {""})
    existing = {"": commands[""].option_names()}
    documented = {"": set()}
    for line in page.definitions("OPTIONS"):
        documented[""].update(helptext.NAME.findall(" ".join(BOLD.findall(line))))
    for line, body in page.definitions("COMMANDS").items():
        name = BOLD.match(line).group(1)
        command = commands.get(name, helptext.Command(name))
        own = "\n".join(re.findall(r"^\t\*-.*", body, re.MULTILINE))
        documented[name] = set(helptext.NAME.findall(" ".join(BOLD.findall(own))))
        existing[name] = command.option_names() - existing[""]
        yield from differ(page.name, f"argument of {name}:", set(re.findall(r"_([A-Z]+)_", line)), command.positionals)
        for option, words in command.values.items():
            yield from differ(page.name, f"{name} {option}:", set(BOLD.findall(body)) & words, words)
    for name, options in existing.items():
        yield from differ(page.name, f"option of {name or 'all commands'}:", documented.get(name, set()), options)
    yield from differ(page.name, "option", page.bold_options(), set().union(*existing.values()))
    listed = {word for word in BOLD.findall(page.sections["SYNOPSIS"]) if not word.startswith("-")}
    yield from differ(page.name, "SYNOPSIS: command", listed - {"pvrdma-agentctl"}, set(commands) - {""})
    # The daemon's help names its options; the executor has some of them, and no page of its own.
    page = Page(build, "pvrdma-agent.8")
    options = helptext.long_options(helptext.text_of(build / "agent/daemon/pvrdma-agent"))
    yield from differ(page.name, "option", page.defined("OPTIONS"), options)
    executor = helptext.long_options(helptext.text_of(build / "agent/executor/pvrdma-agent-executor"))
    yield from differ(page.name, "option", page.bold_options(), options | executor)
    said = page.sections["OPTIONS"].rsplit("*pvrdma-agent-executor*", 1)[-1]
    named = {bold for bold in BOLD.findall(said) if helptext.NAME.fullmatch(bold)}
    yield from differ(page.name, "option of the executor:", named, executor)
