// SPDX-License-Identifier: GPL-2.0-or-later
// `doctor --host-output`: the sources of the text, its form on the screen, and a limit.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <nlohmann/json.hpp>

#include "agent/base/handle.hpp"
#include "agent/tools/doctor/host_output/command.hpp"
#include "tests/unit/catch.hpp"
#include "tests/unit/ctl/fake_agent.hpp"
#include "tests/unit/places.hpp"
#include "tests/unit/probes/tree.hpp"
#include "tests/unit/tools/doctor/pasted.hpp"
#include "tests/unit/tree.hpp"

using namespace pvrdma;
using doctor::judge_host_output;
using test::fixture;
using test::kGuest;

namespace {

int run(const std::string& path, std::string* out = nullptr, bool json = false,
        const test::Tree& tree = {}) {
  fake::Screen screen;
  ctl::Settings settings = fake::settings("/nowhere");
  settings.json = json;
  ctl::DoctorOptions options;
  options.host_output = path;
  options.root = tree.root();
  const int code = ctl::doctor(settings, screen.console, options);
  if (out != nullptr) *out = screen.out() + screen.err();
  return code;
}

}  // namespace

TEST_CASE("from a file, on the screen and as JSON") {
  std::string out;
  const std::string folder = std::string{places::fixtures} + "/host-output/";
  CHECK(run(folder + "good.txt", &out) == 0);
  CHECK(out.starts_with("GOOD  nothing is to be changed on the ESXi host\n"));
  CHECK(run(folder + "trouble.txt", &out) == 1);
  CHECK(out.starts_with("CHANGE  on the ESXi host: 6 things\n"));
  CHECK(out.find("ESXi shell: esxcli network firewall ruleset set -e true -r pvrdma\n") !=
        std::string::npos);
  CHECK(run(folder + "trouble.txt", &out, true) == 1);
  const auto json = nlohmann::json::parse(out);
  CHECK(json["remarks"][2]["severity"] == "change");
  CHECK(json["remarks"][2]["part"] == "vmknic");
  CHECK(json["remarks"][2]["line"] == 22);
  CHECK(json["unknown"][0]["begins"] == "Hello,");
  const auto with_guest = ctl::host_output_json({}, kGuest);
  CHECK(with_guest["interfaces"][1]["mtu_bytes"] == 9000);
}

TEST_CASE("whether the first NIC is an adapter tells which ports may be an adapter's") {
  const test::Tree tree;
  tree.file("/sys/class/dmi/id/product_uuid", kGuest.uuid + "\n");
  tree.file("/lists", test::replaced(test::replaced(fixture("lists.txt"), "renamed node.eth1",
                                                    "renamed node.eth0"),
                                     "Client: vmnic0", "Client: renamed node.eth1"));
  const auto judged = [&](const char* name) {
    std::string out;
    run(tree / "/lists", &out, true, tree);
    const auto json = nlohmann::json::parse(out);
    for (const auto& one : json["remarks"])
      if (one["says"].get<std::string>().starts_with(name))
        return one["severity"].get<std::string>();
    return std::string{};
  };
  test::pci_function(tree, "0000:03:00.0", "15AD", "07B0", "vmxnet3");
  test::bound_adapter(tree, "13:00", "ens224f0", "rocep19s0f1", "uverbs0");
  CHECK(judged("Office") == "change");  // eth1 is the adapter, and Office has two uplinks
  CHECK(judged("Fabric") == "info");
  tree.remove("/sys/bus/pci/devices/0000:03:00.0");
  CHECK(judged("Office") == "unknown");
  CHECK(judged("Fabric") == "unknown");
  // The only port is the regular NIC's.
  test::pci_function(tree, "0000:03:00.0", "15AD", "07B0", "vmxnet3");
  tree.file("/lists", test::replaced(fixture("lists.txt"), "node.eth1", "node.eth0"));
  CHECK(judged("Fabric") == "unknown");
}

TEST_CASE("from standard input") {
  const Fd before{::dup(STDIN_FILENO)};
  const Fd pasted{
      ::open((std::string{places::fixtures} + "/host-output/good.txt").c_str(), O_RDONLY)};
  REQUIRE(::dup2(pasted.get(), STDIN_FILENO) == STDIN_FILENO);
  CHECK(run("-") == 0);
  REQUIRE(::dup2(before.get(), STDIN_FILENO) == STDIN_FILENO);
}

TEST_CASE("a source that cannot be read is an error, without a wait") {
  const test::Tree tree;
  std::string out;
  CHECK(run(tree.root() / "/none", &out) == 3);
  CHECK(out.find("No such file or directory") != std::string::npos);
  CHECK(run(std::string{places::fixtures}, &out) == 3);
  CHECK(out.find("Is a directory") != std::string::npos);
  const std::string fifo = tree.root() / "/fifo";
  REQUIRE(::mkfifo(fifo.c_str(), 0600) == 0);
  CHECK(run(fifo, &out) == 3);
  CHECK(out.find("use - for a pipe") != std::string::npos);
  tree.file("/large", std::string((1U << 20U) + 1, 'x'));
  CHECK(run(tree.root() / "/large", &out, true) == 3);
  CHECK(nlohmann::json::parse(out)["error"]["message"].get<std::string>().ends_with(
      "at most 1 MiB is read"));
}

TEST_CASE("at most 100 hosts are told apart") {
  std::string hosts;
  for (unsigned number = 0; number < 110; ++number)
    hosts +=
        "[root@h" + std::to_string(number) + ":~]\nName  Enabled\n----  -------\npvrdma  true\n";
  CHECK(judge_host_output(hosts, kGuest).hosts.size() == 100);
}
