# SPDX-License-Identifier: GPL-2.0-or-later
"""Keys of the configuration and their rules, from the complaints of --check-config about made-up files.

The files are made in a mount namespace.
"""

import re
import subprocess

from documented.pages import BOLD, EXAMPLE, Page, differ, read

# The mounts hide all other configuration. The agent looks below /etc first.
CHECK_CONFIG = """
for place in /etc/pvrdma-agent /usr/lib/pvrdma-agent; do
  [ ! -d $place ] || mount -t tmpfs -o mode=755 none $place || exit
done
mount -t tmpfs -o mode=755 none /run && mkdir /run/pvrdma-agent-config && cat >/run/pvrdma-agent-config/pvrdma-agent.toml || exit
exec "$1" --check-config
"""


def check_config(build, text):
    """The complaint of --check-config about a configuration; empty if it is good."""
    program = (build / "agent/daemon/pvrdma-agent").resolve()
    done = subprocess.run(["unshare", "--mount", "--map-root-user", "sh", "-c", CHECK_CONFIG, "sh", program],
                          input=text, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, check=False)
    return done.stderr if done.returncode else ""


def complaint(build, text):
    """The complaint about a configuration, without file and line."""
    said = re.match(r"/run/pvrdma-agent-config/pvrdma-agent.toml:\d+: (.*)", check_config(build, text))
    if not said:
        raise SystemExit(f"--check-config of {text!r} said {check_config(build, text)!r}")
    return said.group(1)


def keys(build, path="", wrap="@"):
    """{key: rule} of every key below `path`, whose content stands for the @ of `wrap`."""
    # No table has such a key, so the complaint lists the table's keys.
    dots = path + "." if path else ""
    allowed = re.search(r"unknown key \(allowed: ([^)]*)\)", complaint(build, wrap.replace("@", "made_up = 1")))
    found = {}
    for name in allowed.group(1).split(", "):
        key = dots + name
        # The other keys of an adapter need a match.
        before = "match = { mac = '00:50:56:8a:9f:c2' }, " if path == "adapter" and name != "match" else ""
        said, _, rule = complaint(build, wrap.replace("@", f"{before}{name} = 0.5")).partition(": ")
        if not said.startswith(f"{key} = "):
            raise SystemExit(f"--check-config of {key} said {said}: {rule}")
        if "must be a table" in rule or "must be written as [[" in rule:
            inner = f"{name} = [{{ @ }}]" if "[[" in rule else f"{name} = {{ @ }}"
            found.update(keys(build, key, wrap.replace("@", inner)))
            rule = ""
        found[key] = rule
    return found


def words_of(rule):
    """The words or limits that a rule allows, if it lists them."""
    listed = re.match(r"must be one of (.*)", rule)
    if listed:
        return listed.group(1).split(", ")
    limits = re.search(r"from (\w+) to (\w+)", rule)
    return [*re.findall(r'"(\w+)"', rule.split("such as")[0]), *(limits.groups() if limits else [])]


def check_keys(build):
    page = Page(build, "pvrdma-agent.toml.5")
    rules = keys(build)
    tables = {key for key in rules if "." not in key}
    sections = [name for name in page.sections if name.startswith("[")]
    yield from differ(page.name, "table", {name.strip("[]") for name in sections}, tables)
    yield from differ(page.name, "key", page.defined(*sections), set(rules) - tables)
    for page_of_keys in (page, Page(build, "pvrdma-agentctl.1")):
        named = {word for word in BOLD.findall(page_of_keys.text) if word.split(".")[0] in tables}
        yield from differ(page_of_keys.name, "key", named - set(rules), set())
    refusal = check_config(build, page.sections["EXAMPLES"].split("```")[1])
    if refusal:
        yield f"{page.name}: its example is not good: {refusal.strip()}"
    example = example_values()
    yield from differ(EXAMPLE.name, "key", set(example), set(rules) - tables)
    for line, body in page.definitions(*sections).items():
        key = BOLD.match(line).group(1)
        body = re.sub(r"\s+", " ", body)
        for word in words_of(rules.get(key, "")):
            if not re.search(rf"\b{re.escape(word)}\b", body):
                yield f"{page.name}: {key} does not say {word}, but the program: {rules[key]}"
        default = re.search(r"Default: \*(.*?)\*", body)
        if default and default.group(1) != example.get(key):
            yield f"{page.name}: {key} has default {default.group(1)}, in {EXAMPLE.name} {example.get(key)}"


def example_values():
    """{key: value as written} of the example, keys in comments too."""
    found, table = {}, ""
    for line in read(EXAMPLE).split("\n"):
        heading = re.fullmatch(r"#?\[+(\w+)\]+", line)
        pair = re.fullmatch(r"#?(\w+) = (.*?)( {2,}#.*)?", line)
        if heading:
            table = heading.group(1)
        elif pair:
            found[f"{table}.{pair.group(1)}"] = pair.group(2)
            for inner in re.findall(r"[{,r] (\w+) = ", line):  # "{ mac = …", "or pci = …"
                found[f"{table}.{pair.group(1)}.{inner}"] = ""
    return found
