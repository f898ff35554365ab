# SPDX-License-Identifier: GPL-2.0-or-later
"""Messages in the journal with their fields, and findings, by the sources."""

import re
import subprocess
import tempfile
from pathlib import Path

from documented.pages import TREE, Page, catalogue, catalogue_pages, differ, read, sources

CATALOG = TREE / "units/pvrdma-agent.catalog"
MESSAGES = [TREE / "agent/model/messages.hpp", TREE / "agent/base/journal.hpp"]


def message_fields():
    """{MESSAGE_ID: (the fields that every message with it has, the fields that any such message has)}"""
    ids = dict(re.findall(r"(k\w+) = \"([0-9a-f]{32})\"", "".join(map(read, MESSAGES))))
    found = {}
    for text in sources():
        for call in re.findall(r"(?:log::event|send_own)\((.*?)\);\n", text, re.DOTALL):
            fields = set(re.findall(r'"(PVRDMA_\w+)"', call))
            for name in re.findall(r"messages::(k\w+)", call):
                always, ever = found.get(ids[name], (fields, set()))
                found[ids[name]] = (always & fields, ever | fields)
    unused = set(ids.values()) - set(found)
    if unused:
        raise SystemExit(f"no message is logged with {', '.join(sorted(unused))}")
    return found


def compiled_catalog(build):
    """The ids in the catalog as journalctl compiles it."""
    with tempfile.TemporaryDirectory() as root:
        for place in ("usr/lib/systemd/catalog", "var/lib/systemd/catalog"):
            Path(root, place).mkdir(parents=True)
        Path(root, "usr/lib/systemd/catalog", CATALOG.name).write_text(catalogue_pages(build, "journal", read(CATALOG)),
                                                                         encoding="utf-8")
        said = subprocess.run(["journalctl", f"--root={root}", "--update-catalog"], stderr=subprocess.PIPE, text=True,
                              check=True).stderr
        if said:
            raise SystemExit(f"{CATALOG.name}: {said}")
        listed = subprocess.run(["journalctl", f"--root={root}", "--list-catalog"], stdout=subprocess.PIPE, text=True,
                                check=True).stdout
    return {line.split()[0] for line in listed.splitlines()}


def check_messages(build):
    fields = message_fields()
    page = Page(build, "pvrdma-agent.8")
    journal = {line.strip("*"): body for line, body in page.definitions("JOURNAL").items()}
    yield from differ(page.name, "MESSAGE_ID", set(journal), set(fields))
    yield from differ(page.name, "MESSAGE_ID", set(re.findall(r"\b[0-9a-f]{32}\b", page.text)), set(fields))
    found = {message_id for message_id in catalogue(build).values() if message_id}
    yield from differ(CATALOG.name, "MESSAGE_ID", compiled_catalog(build), set(fields) | found)
    for name in ("PVRDMA_FINDING", "PVRDMA_ADAPTER"):
        if name not in re.split(r"\n\*[0-9a-f]{32}", page.sections["JOURNAL"])[0]:
            yield f"{page.name}: field {name} of findings is missing"
    for name, body in journal.items():
        yield from differ(page.name, f"field of {name}:", set(re.findall(r"PVRDMA_\w+", body)),
                          fields.get(name, (set(), set()))[1])
    for name, entry in re.findall(r"^-- (\w+)\n(.*?)(?=^-- |\Z)", catalogue_pages(build, "journal", read(CATALOG)),
                                  re.MULTILINE | re.DOTALL):
        header, _, text = entry.partition("\n\n")
        if not {"Subject", "Defined-By", "Documentation"} <= set(re.findall(r"^([\w-]+): \S", header, re.MULTILINE)):
            yield f"{CATALOG.name}: {name} lacks a header"
        if len(text.split()) < 10:
            yield f"{CATALOG.name}: {name} explains nothing"
        for word in sorted(set(re.findall(r"@(\w+)@", entry)) - fields.get(name, (set(), set()))[0]):
            yield f"{CATALOG.name}: {name} uses {word}, which not every such message has"


def check_findings(build):
    """Each finding that the program makes is in the catalogue, each of the catalogue is made, and a test provokes each."""
    ids = set(catalogue(build))
    text = "".join(sources())
    made = set(re.findall(r"(?:about\(\s*adapter|overall\(|make_finding\(|add\(findings|\bfind\(|no_answer\(|not_ours\(adapter),?\s*FindingId::(\w+)", text))
    enumerators = {name: name.title().replace("-", "") for name in ids}
    yield from differ("agent/model/catalogue*.cpp", "finding", set(enumerators.values()), made)
    tests = [read(path) for folder in ("unit", "lab/scenarios") for path in (TREE / "tests" / folder).rglob("*.*")
             if path.is_file() and path.stem != "test_catalogue"]
    provoked = {word for text in tests for word in re.findall(r'(?<=[" ])[a-z0-9-]+(?=[" \n])|FindingId::\w+', text)}
    for name in sorted(ids):
        if not provoked & {name, f"FindingId::{enumerators[name]}"}:
            yield f"finding {name}: no test provokes it"
