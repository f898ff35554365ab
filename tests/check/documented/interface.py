# SPDX-License-Identifier: GPL-2.0-or-later
"""Methods, errors, types and fields of io.pvrdma.Agent, by its interface file."""

import re

from documented.pages import TREE, Page, differ, read


def check_interface(build):
    page = Page(build, "io.pvrdma.Agent.7")
    interface = re.sub(r"#.*", "", read(TREE / "agent/varlink/io.pvrdma.Agent.varlink"))
    for section, keyword in (("METHODS", "method"), ("ERRORS", "error")):
        declared = {name + rest for name, rest in re.findall(rf"^{keyword} (\w+) ?(.*)", interface, re.MULTILINE)}
        documented = {line.replace("*", "") for line in page.definitions(section)}
        yield from differ(page.name, keyword, documented, declared)
    declared = {}
    for name, fields in re.findall(r"^type (\w+) \((.*?)\)\n\n", interface, re.MULTILINE | re.DOTALL):
        while "(" in fields:  # a field that is an object or a choice of words
            fields = re.sub(r"\([^()]*\)", "", fields)
        declared[name] = set(re.findall(r"(\w+):", fields))
    documented = {}
    for line in page.definitions("TYPES"):
        name, fields = re.fullmatch(r"\*(\w+)\*\((.*)\)", line).groups()
        documented[name] = set(fields.split(", "))
    yield from differ(page.name, "type", set(documented), set(declared))
    for name, fields in declared.items():
        yield from differ(page.name, f"field of {name}:", documented.get(name, set()), fields)
    states = re.search(r"type Health \(.*?state: \(([^)]*)\)", interface, re.DOTALL).group(1)
    page = Page(build, "pvrdma-agentctl.1")
    yield from differ(page.name, "state", page.defined("STATES"), set(states.split(", ")))
