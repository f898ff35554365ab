# SPDX-License-Identifier: GPL-2.0-or-later
"""The help texts and metrics of the built programs, for the checks of pages, completions and metrics."""

import json
import os
import re
import subprocess
from dataclasses import dataclass, field
from pathlib import Path

OPTION = re.compile(r"^  (-\S+)", re.MULTILINE)  # "  -h,--help", as CLI11 writes it
VALUES = re.compile(r"^  (-\S+) [A-Z]+:\{([^}]*)\}", re.MULTILINE)  # "  --for STATE:{ready,settled}=ready"
NAME = re.compile(r"--?[A-Za-z0-9][A-Za-z0-9-]*")


@dataclass
class Command:
    """A command; the options before the command have the name ""."""

    name: str
    options: list = field(default_factory=list)  # of sets: the names of one option
    values: dict = field(default_factory=dict)  # name of an option: the words it takes
    positionals: set = field(default_factory=set)

    def option_names(self):
        return set().union(*self.options)


def text_of(*command):
    """The output of a program's --help. If $HELP_TEXTS names a folder, the output is kept there and asked for only once."""
    folder = os.environ.get("HELP_TEXTS")
    kept = Path(folder, "-".join(Path(word).name for word in command)) if folder else None
    if kept and kept.exists():
        return kept.read_text(encoding="utf-8")
    said = subprocess.run([*command, "--help"], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True,
                          check=True).stdout
    if kept:
        kept.write_text(said, encoding="utf-8")
    return said


def first_words(text, heading):
    """The first word of each line of a section."""
    section = re.search(rf"^{heading}:\n((?:  .*\n)+)", text, re.MULTILINE)
    return set(re.findall(r"^  (\w\S*)", section.group(1), re.MULTILINE)) if section else set()


def command_of(name, text):
    command = Command(name, [set(NAME.findall(names)) for names in OPTION.findall(text)])
    for option, words in VALUES.findall(text):
        command.values[option] = set(words.split(","))
    command.positionals = first_words(text, "Positionals")
    return command


def agentctl(build):
    """pvrdma-agentctl as {name: Command}; "" has the options that all commands take."""
    program = build / "agent/tools/pvrdma-agentctl"
    text = text_of(program)
    commands = {"": command_of("", text)}
    for name in first_words(text, "Subcommands"):
        commands[name] = command_of(name, text_of(program, name))
    if len(commands) < 2 or not commands[""].options:
        raise SystemExit(f"{program}: its --help is not understood")
    return commands


def metrics(build):
    """The names of all metrics, whether an agent answers or not."""
    said = subprocess.run([build / "agent/tools/pvrdma-agentctl", "--json", "--socket", "/dev/null/none", "metrics"],
                          stdout=subprocess.PIPE, check=True).stdout
    return {family["name"] for family in json.loads(said)["metrics"]}


def long_options(text):
    """The options that a help text names anywhere."""
    return set(re.findall(r"(?<![\w-])--[a-z][a-z-]+", text))
