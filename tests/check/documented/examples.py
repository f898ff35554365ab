# SPDX-License-Identifier: GPL-2.0-or-later
"""The command for govc that a page names finds the agent's variable among those of a VM."""

import json
import re
import subprocess

from documented.pages import TREE, read

PAGE = TREE / "packaging/man/pvrdma-agentctl-export.1.scd"
VARIABLES = {"svga.present": "TRUE", "guestinfo.pvrdma-agent.health": json.dumps({"state": "ready", "summary": "1 of 1"}), "numa": "1"}


def vm_of_govc(spell):
    """The part of `govc vm.info -e -json` that matters, with each key as this version of govc spells it."""
    variables = [{spell("key"): name, spell("value"): value} for name, value in VARIABLES.items()]
    return {spell("virtualMachines"): [{spell("name"): "vm1", spell("config"): {spell("extraConfig"): variables}}]}


def check_examples(_build):
    named = re.search(r"^\tgovc .*\| jq -r '(.*)'$", read(PAGE), re.MULTILINE)
    if not named:
        yield f"{PAGE.name}: no command for govc"
        return
    for version, spell in (("0.31", str), ("0.30", lambda name: name[0].upper() + name[1:])):
        done = subprocess.run(["jq", "-r", named.group(1)], input=json.dumps(vm_of_govc(spell)), stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True, check=False)
        if done.stdout != "ready\t1 of 1\n":
            yield f"{PAGE.name}: with govc {version} its filter prints {done.stdout.strip()!r}"
