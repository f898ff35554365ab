# SPDX-License-Identifier: GPL-2.0-or-later
"""Pages and other files of the tree, as the checks of documentation read them."""

import re
import subprocess
from pathlib import Path

import helptext

TREE = Path(__file__).resolve().parents[3]
EXAMPLE = TREE / "packaging/examples/pvrdma-agent.toml"
BOLD = re.compile(r"\*([^*]+)\*")


def read(path):
    return path.read_text(encoding="utf-8")


def catalogue_pages(build, form, text=""):
    """A page or a catalog as the build makes it, with the texts of findings filled in."""
    return subprocess.run([build.resolve() / "agent/model/catalogue-pages", form], input=text, stdout=subprocess.PIPE,
                          text=True, check=True).stdout


def catalogue(build):
    """{id: MESSAGE_ID} of the catalogue; the MESSAGE_ID is empty for a finding that is never logged."""
    return dict(line.split(" ") for line in catalogue_pages(build, "ids").splitlines())


def sources(folder="agent"):
    return [read(path) for path in sorted((TREE / folder).rglob("*.cpp"))]


class Page:
    """A page in scdoc's format: sections, and in them definitions, a bold line above indented text."""

    def __init__(self, build, name):
        self.name = name
        self.text = read(TREE / "packaging/man" / f"{name}.scd")
        if "@FINDINGS" in self.text:
            self.text = catalogue_pages(build, "man", self.text)
        parts = re.split(r"^# (.+)\n", self.text, flags=re.MULTILINE)
        self.sections = dict(zip(parts[1::2], parts[2::2]))

    def definitions(self, *sections):
        """{bold line: the indented text below it} of the named sections."""
        found = {}
        for section in sections:
            lines = self.sections[section].split("\n")
            for number, line in enumerate(lines):
                body = []
                for below in lines[number + 1:]:
                    if below and not below.startswith("\t"):
                        break
                    body.append(below)
                if line.startswith("*") and "".join(body):
                    found[line] = "\n".join(body)
        return found

    def defined(self, *sections):
        """The first bold word of each definition."""
        return {BOLD.match(line).group(1) for line in self.definitions(*sections)}

    def bold_options(self):
        return {bold for bold in BOLD.findall(self.text) if helptext.NAME.fullmatch(bold)}


def differ(where, what, documented, existing):
    """Complaints where two sets differ."""
    for name in sorted(existing - documented):
        yield f"{where}: {what} {name} is missing"
    for name in sorted(documented - existing):
        yield f"{where}: {what} {name} does not exist"
