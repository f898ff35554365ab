# SPDX-License-Identifier: GPL-2.0-or-later
"""The guides: commands, options, paths and links exist, ports are opened, each page is short, and each block for a guest is run in one.

A block that opens with ```sh run SCENARIO is run by that scenario of the lab, which calls `follow_guide PAGE SCENARIO`.
"""

import re
import subprocess

import helptext
from documented.pages import TREE, differ, read

GUIDES = TREE / "packaging/guides"
ENTRANCES = [TREE / name for name in ("README.md", "packaging/README.md", "packaging/templates/README.md")]
SCENARIOS = TREE / "tests/lab/scenarios"
MESH = TREE / "packaging/examples/slurm-verify-mesh"
MOST_LINES = 120
BLOCK = re.compile(r"^```(\w*) ?(.*)\n((?:(?!```).*\n)*)```$", re.MULTILINE)
INLINE = re.compile(r"`([^`\n]+)`")
# A call of pvrdma-agentctl up to the end of the command, or of what quotes it.
CALL = re.compile(r"pvrdma-agentctl ((?:[^\s|;&)`'\"#>]+[ \t]*)+)")
UNIT = re.compile(r"\bpvrdma-[a-z-]+\.(?:service|socket|target)\b")
INSTALLED = "/usr/share/doc/pvrdma-agent/"


def blocks(text):
    """(language, words after it, content) of each block."""
    return BLOCK.findall(text)


def code(text):
    """The content of all blocks and of all quoted words."""
    return "\n".join([content for _, _, content in blocks(text)] + INLINE.findall(BLOCK.sub("", text)))


def wrong_calls(text, commands):
    """Complaints about calls of pvrdma-agentctl."""
    for call in CALL.findall(code(text).replace("\\\n", " ")):
        words = call.split()
        verbs = [word for word in words if word in commands and word]
        if not verbs:
            yield f"'pvrdma-agentctl {call.strip()}' has no command"
            continue
        known = commands[""].option_names() | commands[verbs[0]].option_names()
        for word in words:
            option = word.partition("=")[0].rstrip(".,")
            if option.startswith("-") and option not in ("-", "--") and option not in known:
                yield f"{verbs[0]} has no option {option}"


def anchors(text):
    """The names that sites give to the headings of a page."""
    return {re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-") for heading in re.findall(r"^#+ (.*)", text, re.MULTILINE)}


def dead_links(path, text):
    for name, anchor in re.findall(r"\]\(([^)#:]*)#?([^):]*)\)", text):
        target = path.parent / name if name else path
        if not target.exists():
            yield f"link to {name}, which does not exist"
        elif anchor and anchor not in anchors(read(target)):
            yield f"link to {name}, which has no heading #{anchor}"


def missing_files(text):
    """Complaints about files of the tree and of the package and about units that do not exist."""
    said = code(text)
    for name in re.findall(r"(?<![\w/.-])packaging/[\w./-]+", said):
        if not (TREE / name).exists():
            yield f"{name} does not exist"
    for name in re.findall(rf"{INSTALLED}([\w./-]+)", said):
        if not (TREE / "packaging" / re.sub("^examples/templates", "templates", name)).exists():
            yield f"{INSTALLED}{name} is not in the package"
    units = {re.sub(r"\.in$", "", unit.name) for unit in (TREE / "units").iterdir()}
    for name in sorted(set(UNIT.findall(said)) - units):
        yield f"unit {name} does not exist"


def wrong_shell(text):
    """Complaints of bash about blocks of shell commands."""
    for language, _, content in blocks(text):
        if language == "sh":
            done = subprocess.run(["bash", "-n"], input=content, stderr=subprocess.PIPE, text=True, check=False)
            if done.returncode:
                yield f"not shell: {done.stderr.strip()}"


def one_kernel_only(text):
    """Complaints about a block, or the text beside the blocks, after which Ubuntu's next kernel lacks the driver."""
    for part in [content for _, _, content in blocks(text)] + [BLOCK.sub("", text)]:
        if "linux-modules-extra-$(uname -r)" in part and "linux-image-generic" not in part:
            yield "linux-modules-extra-$(uname -r) is for one kernel, and nothing names linux-image-generic for the next"


def install_from_pipe(text):
    """Complaints about commands that fail on Ubuntu 26.04: install of uutils replaces no file by what it reads from a pipe."""
    for line in re.findall(r".*\binstall\b.* /dev/stdin\b.*", code(text)):
        yield f"install of Ubuntu 26.04 cannot read a pipe: {line}"


def cut_logs(text):
    """Complaints about `kubectl logs`, which prints only the last ten lines of pods that a label selects."""
    for line in re.findall(r"kubectl logs\b.* -l .*", text):
        if "--tail=-1" not in line:
            yield f"without --tail=-1 only ten lines are printed: {line}"


def closed_ports(text):
    """Complaints about a page that starts a mesh of machines, but leaves a default port of the mesh closed."""
    meeting = re.search(r"\$first:(\d+)", read(MESH)).group(1)
    pairs = re.search(r"int port = (\d+);", read(TREE / "agent/tools/verify/commands.hpp")).group(1)
    for port in (meeting, pairs) if "verify mesh" in text or MESH.name in text else ():
        if f"--add-port={port}/tcp" not in text:
            yield f"firewalld keeps port {port} of the mesh closed"


def check_guides(build):
    commands = helptext.agentctl(build)
    marked = set()
    for path in sorted(GUIDES.glob("*.md")):
        text = read(path)
        lines = text.count("\n")
        if lines > MOST_LINES:
            yield f"{path.name}: {lines} lines, more than {MOST_LINES}"
        for complaint in (*wrong_calls(text, commands), *missing_files(text), *wrong_shell(text), *one_kernel_only(text), *install_from_pipe(text),
                          *cut_logs(text), *closed_ports(text)):
            yield f"{path.name}: {complaint}"
        marked |= {(path.stem, words.removeprefix("run ")) for _, words, _ in blocks(text) if words}
    followed = {(page, name) for path in SCENARIOS.glob("*.sh")
                for page, name in re.findall(r"\bfollow_guide (\S+) (\S+(?: \d)?)(?= >|$)", read(path), re.MULTILINE)
                if name.split()[0] == path.stem}
    for path in (*GUIDES.glob("*.md"), *ENTRANCES):
        yield from (f"{path.relative_to(TREE)}: {complaint}" for complaint in dead_links(path, read(path)))
    page = TREE / "packaging/man/pvrdma-agentctl-verify.1.scd"
    yield from (f"{page.name}: {complaint}" for complaint in closed_ports(read(page)))
    for path in ENTRANCES:
        yield from (f"{path.relative_to(TREE)}: {complaint}" for complaint in one_kernel_only(read(path)))
    yield from differ("guides", "page and scenario of a run", {f"{a} {b}" for a, b in followed}, {f"{a} {b}" for a, b in marked})
