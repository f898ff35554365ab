#include "agent/ctl/report/parts.hpp"

#include "agent/base/text.hpp"
#include "agent/ctl/report/kernel_lines.hpp"

namespace pvrdma::ctl::bundle {

namespace {

using Words = std::vector<std::string>;

// Words between single blanks, as they are: no shell reads them.
Words split(std::string_view line) {
  Words words;
  while (!line.empty()) words.emplace_back(cut(line, ' '));
  return words;
}

struct Row {
  const char* name;
  const char* line;  // of a command
  int good_status = 0;
  bool optional = false;
};
constexpr bool kOptional = true;

// Commands of pvrdma-agentctl itself. Up to 2 its exit status is a verdict; 3 may also mean that
// not all could be read.
constexpr int kVerdict = 2;
constexpr Row kOwn[]{
    {"agent/health.json", "health --json", kVerdict},
    {"agent/status.txt", "status", kVerdict},
    {"agent/plan.json", "plan --json", kVerdict},
    {"agent/doctor.json", "doctor --json", kVerdict},
    {"agent/boots.json", "boots --json"},
    {"agent/next-boot.json", "doctor --next-boot --json", kVerdict + 1},
    {"agent/migrate.json", "migrate --json", kVerdict},
};

constexpr Row kSystem[]{
    {"agent/check-config.txt", "pvrdma-agent --check-config"},
    {"system/units.txt", "systemctl --no-pager --full status pvrdma*", 3},  // one is not active
    {"system/failed-units.txt", "systemctl --no-pager --failed"},
    {"system/jobs.txt", "systemctl --no-pager list-jobs"},
    {"system/kernel.txt", "uname -a"},
    {"system/command-line.txt", "cat /proc/cmdline"},
    {"system/memory.txt", "cat /proc/meminfo"},
    {"system/limits.txt", "cat /proc/self/limits"},
    {"system/virtualization.txt", "systemd-detect-virt", 1},  // there is none
    {"system/packages-dpkg.txt", "dpkg-query --list *pvrdma* *rdma* *ibverbs* *mlnx* *ofed*", 0,
     kOptional},
    {"system/packages-rpm.txt", "rpm -qa *pvrdma* *rdma* *ibverbs* *mlnx* *ofed*", 0, kOptional},
    {"modules/loaded.txt", "cat /proc/modules"},
    {"modules/vmw_pvrdma.txt", "modinfo vmw_pvrdma"},
    {"modules/vmxnet3.txt", "modinfo vmxnet3"},
    {"modules/ib_core.txt", "modinfo ib_core"},
    {"modules/ib_uverbs.txt", "modinfo ib_uverbs"},
    {"modules/rdma_cm.txt", "modinfo rdma_cm"},
    {"modules/rdma_ucm.txt", "modinfo rdma_ucm"},
    {"ip/link.txt", "ip -d -s link"},
    {"ip/address.txt", "ip address"},
    {"ip/rule.txt", "ip rule"},
    {"ip/route.txt", "ip route show table all"},
    {"ip/route6.txt", "ip -6 route show table all"},
    {"ip/neighbour.txt", "ip neighbour"},
    {"ip/networkctl.txt", "networkctl --no-pager --all", 0, kOptional},
    {"ip/nmcli.txt", "nmcli device", 0, kOptional},
    {"pci/all.txt", "lspci -Dnnk"},
    {"pci/rdma.txt", "lspci -Dnnvvv -d 15ad:0820"},
    {"pci/vmxnet3.txt", "lspci -Dnnvvv -d 15ad:07b0"},
    {"dev/infiniband.txt", "ls -lR /dev/infiniband"},
    // Last what asks the driver, and may hang with it.
    {"rdma/dev.txt", "rdma -d dev"},
    {"rdma/link.txt", "rdma -d link"},
    {"rdma/system.txt", "rdma system"},
    {"rdma/resources.txt", "rdma resource show"},
    {"rdma/contexts.txt", "rdma resource show ctx"},
    {"ibv/devices.txt", "ibv_devices"},
    {"ibv/devinfo.txt", "ibv_devinfo -v"},
};

constexpr const char* kJournal =
    "journalctl --boot --no-pager --output short-iso --lines 20000 --unit pvrdma-agent.service "
    "--unit pvrdma-agent-executor.service --unit pvrdma-agent-executor.socket "
    "--unit pvrdma-agent-guestinfo.service --unit pvrdma-agent-wait-online.service "
    "--unit pvrdma-online.target";
constexpr const char* kKernelJournal = "journalctl --boot --no-pager --output short-iso --dmesg";
constexpr std::size_t kLogBytes = 8 * kKiB * kKiB;
constexpr Milliseconds kLogLimit = std::chrono::seconds{20};

Part part_of(const Row& row, const Words& before = {}) {
  Words words = split(row.line);
  words.insert(words.begin(), before.begin(), before.end());
  Part part{row.name, Command{std::move(words), row.good_status, {}}};
  part.optional = row.optional;
  return part;
}

Files configuration() {
  return {{"/etc/os-release", "/etc/pvrdma-agent/pvrdma-agent.toml",
           "/etc/pvrdma-agent/pvrdma-agent.toml.d", "/run/pvrdma-agent/pvrdma-agent.toml",
           "/run/pvrdma-agent/pvrdma-agent.toml.d", "/usr/lib/pvrdma-agent/pvrdma-agent.toml",
           "/usr/lib/pvrdma-agent/pvrdma-agent.toml.d", "/run/pvrdma-agent-guestinfo/config.toml",
           "/run/pvrdma-agent-guestinfo/error", "/run/pvrdma-agent-executor/ledger.json",
           "/etc/rc.local", "/etc/rc.d/rc.local", "/etc/modules", "/etc/modules-load.d",
           "/etc/modprobe.d", "/usr/lib/modprobe.d/pvrdma-agent.conf"},
          {".toml", ".conf"}};
}

}  // namespace

std::vector<Part> parts(const std::string& self, const std::string& socket, const Words& devices) {
  std::vector<Part> table;
  for (const Row& row : kOwn) table.push_back(part_of(row, {self, "--socket", socket}));
  table.push_back({"files", configuration()});
  table.push_back({"log/agent.txt", Command{split(kJournal), 0, {}}, kLogBytes, kLogLimit});
  table.push_back(
      {"log/kernel.txt", Command{split(kKernelJournal), 0, rdma_lines}, kLogBytes, kLogLimit});
  table.push_back({"log/dmesg.txt", Command{{"dmesg"}, 0, rdma_lines}, kLogBytes, kLogLimit});
  for (const Row& row : kSystem) table.push_back(part_of(row));
  // What the driver says without libibverbs; 2: not every entry of the table of GIDs can be read.
  for (const std::string& device : devices)
    table.push_back(
        {"sysfs/" + device + ".txt", Command{{"grep", "-rsH", "--devices=skip", ".",
                                              "/sys/class/infiniband/" + device + "/ports"},
                                             2,
                                             {}}});
  return table;
}

}  // namespace pvrdma::ctl::bundle
