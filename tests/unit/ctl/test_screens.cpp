// SPDX-License-Identifier: GPL-2.0-or-later
// Exact screens: the text that an administrator reads is part of the product.
#include <string>

#include "tests/unit/catch.hpp"
#include "tests/unit/ctl/samples.hpp"

using samples::Json;
using samples::kPlain;
using samples::render_health;
using samples::render_status;

namespace {

struct Screen {
  std::string name;
  Json health;
  std::string expected;
};

std::vector<Screen> screens() {
  return {
      {"ready", samples::ready(), R"(READY  1 of 1 adapters ready
       since 2026-11-21 02:31:43 UTC (3 min ago), observed 12 ms ago

0000:13:00.1  ready
  RDMA device  rocep19s0f1, also known as vmw_pvrdma0
  Port         ACTIVE, physical LINK_UP, RDMA MTU 1024 (usual with jumbo frames)
  Interface    ens224f0, link up with carrier, 00:50:56:8a:9f:c2, MTU 9000
  Addresses    192.168.30.201/24, fe80::250:56ff:fe8a:9fc2/64
  GIDs         index 0, fe80::250:56ff:fe8a:9fc2, RoCE v2
               index 1, ::ffff:192.168.30.201, RoCE v2 (for applications)
  Managed by   pvrdma-agent
  Changes      3 of the port state, last 2026-11-21 02:31:43 UTC (3 min ago)
)"},
      {"converging", samples::converging(), R"(CONVERGING  0 of 1 adapters ready
            since 2026-11-21 02:31:43 UTC (3 min ago), observed 12 ms ago

Doing now: bring up the link of adapter 0000:13:00.1 (for 40 ms)

0000:13:00.1  converging
  RDMA device  rocep19s0f1, also known as vmw_pvrdma0
  Port         DOWN (no RDMA traffic), physical DISABLED
  Interface    ens224f0, link down, 00:50:56:8a:9f:c2, MTU 9000
  Addresses    none
  Managed by   pvrdma-agent
)"},
      {"degraded", samples::degraded(), R"(DEGRADED  1 of 1 adapters ready
          since 2026-11-21 02:31:43 UTC (3 min ago), observed 12 ms ago

WARNING  driver-in-use: vmw_pvrdma ought to be reloaded (ib_umad was loaded
         after it), but is held.
         Held by:
           PID 812 ibv_asyncwatch (rocep19s0f1)
           PID 813 \x1b[2J\u202eevil (rocep19s0f1)
           PID 814 (its name could not be read)
         To do: Nothing is unloaded while a process holds an adapter.

0000:13:00.1  ready
  RDMA device  rocep19s0f1, also known as vmw_pvrdma0
  Port         ACTIVE, physical LINK_UP, RDMA MTU 1024 (usual with jumbo frames)
  Interface    ens224f0, link up with carrier, 00:50:56:8a:9f:c2, MTU 9000
  Addresses    192.168.30.201/24, fe80::250:56ff:fe8a:9fc2/64
  GIDs         index 0, fe80::250:56ff:fe8a:9fc2, RoCE v2
               index 1, ::ffff:192.168.30.201, RoCE v2 (for applications)
  Managed by   pvrdma-agent
  Changes      3 of the port state, last 2026-11-21 02:31:43 UTC (3 min ago)

NOTE     module-not-shipped: The kernel 6.1.0-18 does not ship mlx4_ib.

Since boot: driver reloaded 2x
)"},
      {"failed", samples::failed(), R"(FAILED  1 of 2 adapters ready
        since 2026-11-21 02:31:43 UTC (3 min ago), observed 1 min 35 s ago - an
        old look, the agent may be stuck

ERROR    port-down: The port is DOWN though its link is up: the host holds it
         down.
         Adapter: 0000:1b:00.1 (ens256f0)
         To do (vSphere administrator): On the ESXi host check that
         Net.PVRDMAVmknic is set (esxcli system settings advanced set -o
         /Net/PVRDMAVmknic -s vmk0).

0000:1b:00.1  failed
  Driver       none: vmw_pvrdma is not bound to it
  RDMA device  none: the driver has not registered one
  Interface    ens256f0, link up but no carrier (no signal from the switch),
               00:50:56:8a:9f:c3, MTU 1500
  Addresses    none
  Managed by   no program (pvrdma-agent only observes this link)
  Unreadable   net_driver: reading /sys/bus/pci/x: Permission denied

0000:13:00.1  ready
  RDMA device  rocep19s0f1, also known as vmw_pvrdma0
  Port         ACTIVE, physical LINK_UP, RDMA MTU 1024 (usual with jumbo frames)
  Interface    ens224f0, link up with carrier, 00:50:56:8a:9f:c2, MTU 9000
  Addresses    192.168.30.201/24, fe80::250:56ff:fe8a:9fc2/64
  GIDs         index 0, fe80::250:56ff:fe8a:9fc2, RoCE v2
               index 1, ::ffff:192.168.30.201, RoCE v2 (for applications)
  Managed by   pvrdma-agent
  Changes      3 of the port state, last 2026-11-21 02:31:43 UTC (3 min ago)
)"},
      {"stuck", samples::stuck(), R"(CONVERGING  0 of 0 adapters ready
            since 2026-11-21 02:31:43 UTC (3 min ago), observed 12 ms ago

STUCK  load module mlx4_ib: no answer for 45 s, and the call cannot be
       cancelled. See: journalctl -b -u pvrdma-agent-executor, and dmesg
)"},
      {"absent", samples::absent(), R"(ABSENT  no PVRDMA adapter
        since 2026-11-21 02:31:43 UTC (3 min ago), observed 12 ms ago

If there should be one, require it by readiness.adapters; `pvrdma-agentctl
doctor` says why there is none.
)"},
      {"unknown", samples::unknown(), R"(UNKNOWN  no look has finished yet
         since 2026-11-21 02:31:43 UTC (3 min ago), the adapters have not been
         looked at yet
)"},
  };
}

}  // namespace

TEST_CASE("health: each kind of screen, to the letter") {
  for (const Screen& screen : screens()) {
    INFO(screen.name);
    CHECK(render_health(screen.health, kPlain) == screen.expected);
  }
}

TEST_CASE("health: RoCE v1 alone is explained, and an RDMA MTU next to a larger MTU of the link") {
  Json health = samples::ready();
  Json& adapter = health["adapters"][0];
  const auto says = [&](const char* words) {
    return render_health(health, kPlain).find(words) != std::string::npos;
  };
  CHECK_FALSE(says("Device Protocol"));
  adapter["gids"][0]["type"] = "IB/RoCE v1";
  CHECK_FALSE(says("Device Protocol"));
  adapter["gids"][1]["type"] = "IB/RoCE v1";
  CHECK(says("RoCE v1 only: see the adapter's \"Device Protocol\" in vSphere"));
  CHECK(says("usual with"));
  adapter["mtu"] = 1500;
  CHECK_FALSE(says("usual with"));
}

TEST_CASE("health: a link in a bond is managed by that") {
  Json health = samples::ready();
  health["adapters"][0]["managed_by"] = "master";
  CHECK(render_health(health, kPlain).find("Managed by   its bond, bridge or team\n") !=
        std::string::npos);
}

TEST_CASE("status: a line for each adapter, and unknown parts are reported") {
  CHECK(render_status(samples::failed(), kPlain) ==
        R"(FUNCTION      STATE   RDMA-DEVICE  PORT    NETDEV    LINK        MTU   ADDRESSES
0000:13:00.1  ready   rocep19s0f1  ACTIVE  ens224f0  up          9000  192.168.30.201/24, fe80::250:56ff:fe8a:9fc2/64
0000:1b:00.1  failed  -            -       ens256f0  no carrier  1500  -
)");
  CHECK(render_status(samples::absent(), kPlain) == "no PVRDMA adapter\n");
  CHECK(render_status(samples::unknown(), kPlain) == "unknown: no look has finished yet\n");

  Json unreadable = samples::converging();
  Json& adapter = unreadable["adapters"][0];
  adapter["link_up"] = true;
  adapter["port"]["state"] = nullptr;
  adapter["unreadable"] = {"port.state: reading state: Input/output error"};
  CHECK(render_status(unreadable, kPlain) ==
        R"(FUNCTION      STATE       RDMA-DEVICE  PORT  NETDEV    LINK           MTU   ADDRESSES
0000:13:00.1  converging  rocep19s0f1  ?     ens224f0  up, carrier ?  9000  -
)");
  adapter = samples::broken_adapter();
  adapter["rdma_device"] = nullptr;
  adapter["unreadable"] = {"rdma_device: reading /sys/class/infiniband: Permission denied"};
  CHECK(render_status(unreadable, kPlain) ==
        R"(FUNCTION      STATE   RDMA-DEVICE  PORT  NETDEV    LINK        MTU   ADDRESSES
0000:1b:00.1  failed  ?            ?     ens256f0  no carrier  1500  -
)");
}
