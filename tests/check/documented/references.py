# SPDX-License-Identifier: GPL-2.0-or-later
"""References in pages, units, the example and the README."""

import re

import helptext
from documented.pages import EXAMPLE, TREE, differ, read

SOS = TREE / "packaging/sos/pvrdma_agent.py"


def collected_services():
    """The services whose status and journal the plugin of sos collects."""
    found = re.search(r'f"pvrdma-agent\{part\}\.service"\s+for part in \(([^)]*)\)', read(SOS))
    return {f"pvrdma-agent{part}.service" for part in re.findall(r'"([^"]*)"', found.group(1))}


def check_references(build):
    """Each page and command of this package that is referred to exists, each unit names its page, and sos collects each service."""
    commands = set(helptext.agentctl(build)) - {""}
    ours = {re.sub(r"\.(\d)\.scd$", r"(\1)", path.name) for path in (TREE / "packaging/man").glob("*.scd")}
    places = [*(TREE / "packaging/man").glob("*.scd"), *(TREE / "units").glob("pvrdma-agent*"), EXAMPLE,
              TREE / "README.md", *(TREE / "packaging/guides").glob("*.md")]
    for path in places:
        named = {f"{name}({section})" for name, section in re.findall(r"([\w.-]*pvrdma[\w.-]*)\*?\((\d)\)", read(path))}
        yield from differ(path.name, "page", named - ours, set())
        called = set(re.findall(r"pvrdma-agentctl ([a-z]+)", read(path)))
        yield from differ(path.name, "command", called - commands, set())
        if ".service" in path.name or ".socket" in path.name:
            if not re.search(r"^Documentation=man:", read(path), re.MULTILINE):
                yield f"{path.name}: has no Documentation=man:"
    services = {path.name.removesuffix(".in") for path in (TREE / "units").glob("*.service*")}
    yield from differ(SOS.name, "service", collected_services(), services)
