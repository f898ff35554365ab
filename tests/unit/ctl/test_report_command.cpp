// The command `report`: the file that is made, also redacted, and what it refuses.
#include <sys/stat.h>

#include <cstdio>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>

#include "agent/ctl/commands.hpp"
#include "tests/unit/catch.hpp"
#include "tests/unit/ctl/fake_agent.hpp"
#include "tests/unit/ctl/unpacked.hpp"
#include "tests/unit/text.hpp"
#include "tests/unit/tree.hpp"

using namespace pvrdma;
using namespace pvrdma::ctl;
using pvrdma::test::has;
using test::Tree;
using test::unpacked;

namespace {

struct Made {
  int code = 0;
  std::string out, err;
};

// Programs of its own, before those of the system, so that no other part of the system is asked.
struct System {
  Tree tree;
  fake::Directory directory;
  ReportOptions options;

  System() {
    for (const char* name :
         {"rdma", "ibv_devices", "ibv_devinfo", "lspci", "modinfo", "systemctl", "dmesg",
          "networkctl", "nmcli", "dpkg-query", "rpm", "pvrdma-agent", "journalctl"})
      tree.program(std::string{"/bin/"} + name, "exit 0");
    tree.program("/bin/ip", "echo 'inet 192.168.30.201/24 link/ether 00:50:56:8a:9f:c2'");
    tree.file("/etc/pvrdma-agent/pvrdma-agent.toml",
              "[[adapter]]\nmatch = { mac = \"00:50:56:8a:9f:c2\" }\n");
    tree.file("/proc/sys/kernel/hostname", "node7\n");
    tree.directory("/sys/class/infiniband/rocep19s0f1");
    options.root = tree.root();
    options.path = (tree / "/bin").string();
    options.output = directory / "out.tar.zst";
  }
  [[nodiscard]] Made run(bool json = false) const {
    fake::Screen screen;
    Settings settings = fake::settings(directory / "socket");
    settings.json = json;
    const int code = report(settings, screen.console, options);
    return {code, screen.out(), screen.err()};
  }
  [[nodiscard]] std::string archive() const {
    return read_file(options.output, std::size_t{64} << 20U).value();
  }
};

Json part(const Json& manifest, const std::string& name) {
  for (const Json& one : manifest["parts"])
    if (one["name"] == name) return one;
  return nullptr;
}

}  // namespace

TEST_CASE("a report is made, whatever fails in it") {
  System system;
  system.tree.program("/bin/rdma", "echo 'no nldev' >&2; exit 1");
  system.tree.program("/bin/ip", "echo 10.0.0.7");
  const Made made = system.run();
  CHECK(made.code == 0);
  CHECK(made.err.empty());
  CHECK(has(made.out, system.options.output + ": "));
  CHECK(has(made.out, "missing: "));
  CHECK(has(made.out, "rdma/contexts.txt (exit status 1: no nldev)"));
  CHECK(made.out.back() == '\n');
  struct stat status {};
  REQUIRE(::stat(system.options.output.c_str(), &status) == 0);
  CHECK((status.st_mode & 07777U) == 0600);
  const auto files = unpacked(system.archive());
  const Json manifest = Json::parse(files.at("manifest.json"));
  CHECK(part(manifest, "rdma/link.txt")["outcome"] == "failed");
  CHECK(files.at("rdma/link.txt") == "no nldev\n");
  CHECK(files.at("ip/address.txt") == "10.0.0.7\n");
  CHECK(has(files.at("files/etc/pvrdma-agent/pvrdma-agent.toml"), "00:50:56:8a:9f:c2"));
  CHECK(part(manifest, "sysfs/rocep19s0f1.txt").is_object());
  for (const Json& one : manifest["parts"])
    if (one["outcome"] == "good") CHECK(files.count(one["name"].get<std::string>()) == 1);
}

TEST_CASE("a program that hangs costs its time once") {
  System system;
  system.tree.program("/bin/rdma", "sleep 60");
  system.options.limit = std::chrono::seconds{30};
  const BootTime start = BootClock::now();
  const Made made = system.run(true);
  CHECK(made.code == 0);
  CHECK(BootClock::now() - start < std::chrono::seconds{31});
  const Json told = Json::parse(made.out);
  CHECK(told["file"] == system.options.output);
  CHECK(told["bytes"] == system.archive().size());
  CHECK(part(told, "rdma/dev.txt")["outcome"] == "timed-out");
  CHECK(part(told, "rdma/link.txt")["reason"] == "rdma has hung before");
  CHECK(part(told, "ip/address.txt")["outcome"] == "good");
}

TEST_CASE("with --redact nothing in the archive is an address or a name") {
  System system;
  system.options.redact = true;
  system.tree.program("/bin/journalctl",
                      "echo '2026-11-21T02:31:43+0000 node7 x: fe80::250:56ff:fe8a:9fc2'");
  system.tree.program("/bin/dmesg", "echo 'vmw_pvrdma of node7 /home/alice'");
  CHECK(system.run().code == 0);
  std::string folder;
  const auto files = unpacked(system.archive(), &folder);
  // A date, and no name of this host before it.
  CHECK(folder.size() == std::string{"pvrdma-agent-report-20261121-023143"}.size());
  CHECK(has(files.at("ip/address.txt"), "inet ipv4-"));
  CHECK(has(files.at("log/agent.txt"), " host-1 x: ipv6-"));
  CHECK(Json::parse(files.at("manifest.json"))["redacted"] == true);
  for (const auto& [name, content] : files)
    for (const char* original :
         {"192.168.30.201", "00:50:56:8a:9f:c2", "250:56ff", "node7", "alice"}) {
      INFO(name << " has " << original);
      CHECK_FALSE(has(content, original));
      CHECK_FALSE(has(folder + name, original));
    }
}

TEST_CASE("a report never takes the place of a file, and needs a place") {
  System system;
  const auto refused = [&](const std::string& output, const std::string& why) {
    system.options.output = output;
    const Made made = system.run();
    CHECK(made.code == 3);
    CHECK(made.out.empty());
    INFO(made.err);
    CHECK(has(made.err, why));
  };
  system.tree.file("/there", "old");
  refused((system.tree / "/there").string(),
          "creating " + (system.tree / "/there").string() + ": File exists");
  CHECK(system.tree.read("/there") == "old");
  system.tree.link("/link", "nowhere");
  refused((system.tree / "/link").string(), "File exists");
  refused((system.tree / "/none/file").string(), "No such file or directory");
}

TEST_CASE("a report can go to standard output, but not to a terminal") {
  System system;
  system.options.output = "-";
  const Made made = system.run();
  CHECK(made.code == 0);
  CHECK(unpacked(made.out).count("manifest.json") == 1);
  CHECK(has(made.err, "standard output: "));
  CHECK(system.run(true).code == 3);
  Settings settings = fake::settings(system.directory / "socket");
  fake::Screen screen;
  const Handle<std::FILE, std::fclose> terminal{std::fopen("/dev/ptmx", "r+")};
  REQUIRE(terminal);
  std::FILE* const out = std::exchange(screen.console.out, terminal.get());
  CHECK(report(settings, screen.console, system.options) == 3);
  screen.console.out = out;
  CHECK(has(screen.err(), "not written to a terminal"));
}
