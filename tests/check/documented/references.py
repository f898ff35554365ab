# SPDX-License-Identifier: GPL-2.0-or-later
"""References in pages, units, the example and the README."""

import re

import helptext
from documented.pages import EXAMPLE, TREE, differ, read


def check_references(build):
    """Each page and command of this package that is referred to exists, and each unit names its page."""
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
