# SPDX-License-Identifier: GPL-2.0-or-later
# A plugin of `sos report` for pvrdma-agent. `sos clean` masks the addresses and names in the collected data.

from sos.report.plugins import DebianPlugin, Plugin, RedHatPlugin, UbuntuPlugin


class PvrdmaAgent(Plugin, RedHatPlugin, DebianPlugin, UbuntuPlugin):

    short_desc = "Boot agent for VMware PVRDMA adapters"

    plugin_name = "pvrdma_agent"
    profiles = ("hardware", "network")
    packages = ("pvrdma-agent",)

    units = [f"pvrdma-agent{part}.service"
             for part in ("", "-cdi", "-executor", "-guestinfo", "-metrics", "-nfd", "-report", "-vsphere", "-wait-online")]

    def setup(self):
        self.add_copy_spec([
            "/etc/pvrdma-agent",
            "/etc/systemd/system/pvrdma-agent*",
            "/run/pvrdma-agent-config",
            "/run/pvrdma-agent-executor/ledger.json",
            "/run/pvrdma-agent-guestinfo",
            "/run/pvrdma-agent.initramfs",
            "/usr/lib/modprobe.d/pvrdma-agent.conf",
            "/usr/lib/pvrdma-agent",
        ])
        self.add_cmd_output([
            "pvrdma-agentctl report",
            "pvrdma-agentctl health --json",
            "pvrdma-agentctl boots",
        ])
        self.add_service_status(self.units)
        self.add_journal(units=self.units)
