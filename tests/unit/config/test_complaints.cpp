// SPDX-License-Identifier: GPL-2.0-or-later
// Every complaint about a bad file, word for word.
#include "tests/unit/catch.hpp"
#include "tests/unit/config/config_tree.hpp"

using pvrdma::test::ConfigTree;
using pvrdma::test::kMain;

namespace {

struct Case {
  const char* text;
  const char* line;  // the text after "FILE:"; "": the file is good
};

void check(const Case& bad) {
  CAPTURE(bad.text);
  ConfigTree tree;
  tree.file(kMain, bad.text);
  const std::string line = bad.line;
  CHECK(tree.complaint() == (line.empty() ? "" : std::string{kMain} + ":" + line));
}

}  // namespace

TEST_CASE("keys") {
  for (
      const Case& bad : {
          Case{
              "[modules]\nrelaod = \"auto\"",
              R"(2: modules.relaod = "auto": unknown key, did you mean "reload"? (allowed: before, required, reload))"},
          Case{
              "\n[module]\nreload = \"auto\"",
              R"(2: module = {…}: unknown key, did you mean "modules"? (allowed: modules, readiness, guestinfo, adapter))"},
          Case{"[colours]",
               "1: colours = {…}: unknown key (allowed: modules, readiness, guestinfo, adapter)"},
          Case{"modules = 1", "1: modules = 1: must be a table with before, required, reload"},
          Case{"readiness = []",
               "1: readiness = []: must be a table with adapters, timeout, forget_removed"},
          Case{"[adapter]\nmtu = 9000", "1: adapter = {…}: must be written as [[adapter]]"},
          Case{"adapter = [1]",
               "1: adapter = 1: must be a table with match, manage, mtu, addresses, gid_type"},
          Case{
              "[[adapter]]\nmatch = {netdev = \"a\"}\nmtus = 9000",
              R"(3: adapter.mtus = 9000: unknown key, did you mean "mtu"? (allowed: match, manage, mtu, addresses, gid_type))"},
          Case{"adapter = []", ""},
          Case{"", ""},
          Case{"\n \n", ""},
          Case{"# nothing\r\n", ""},
          Case{"\xef\xbb\xbf[modules]\r\n", ""},
      })
    check(bad);
}

TEST_CASE("modules") {
  for (
      const Case& bad : {
          Case{"[modules]\n\nreload = \"sometimes\"",
               R"(3: modules.reload = "sometimes": must be one of auto, always, never)"},
          Case{"[modules]\nreload = true",
               "2: modules.reload = true: must be one of auto, always, never"},
          Case{"[modules]\nreload = 1979-05-27",
               "2: modules.reload = a date or time: must be one of auto, always, never"},
          Case{"[modules]\nbefore = \"rdma_cm\"",
               R"(2: modules.before = "rdma_cm": must be a list of module names)"},
          Case{
              "[modules]\nbefore = [\"rdma_cm\",\n\"../evil\"]",
              R"(3: modules.before = "../evil": must be a module's name: 1 to 55 letters, digits, "_" and "-")"},
          Case{
              "[modules]\nbefore = [1]",
              R"(2: modules.before = 1: must be a module's name: 1 to 55 letters, digits, "_" and "-")"},
          Case{
              "[modules]\nbefore = [\"rdma_cm\", \"vmw-pvrdma\"]",
              R"(2: modules.before = "vmw-pvrdma": must be a module other than vmw_pvrdma, which is always the last)"},
          Case{"[modules]\nbefore = [\"rdma_cm\", \"rdma-cm\"]",
               R"(2: modules.before = "rdma-cm": must be listed only once)"},
          Case{"[modules]\nbefore = [\"a\", \"b\"]\nrequired = [\"a\", \"c\"]",
               R"(3: modules.required = "c": must be one of modules.before (a, b))"},
          Case{"[modules]\nbefore = []\nrequired = []", ""},
      })
    check(bad);
}

TEST_CASE("readiness") {
  for (
      const Case& bad : {
          Case{"[readiness]\nadapters = \"some\"",
               R"(2: readiness.adapters = "some": must be "all" or a number from 0 to 10)"},
          Case{"[readiness]\nadapters = 11",
               R"(2: readiness.adapters = 11: must be "all" or a number from 0 to 10)"},
          Case{"[readiness]\nadapters = -1",
               R"(2: readiness.adapters = -1: must be "all" or a number from 0 to 10)"},
          Case{"[readiness]\nadapters = 1.5",
               R"(2: readiness.adapters = 1.500000: must be "all" or a number from 0 to 10)"},
          Case{"[readiness]\nadapters = 0", ""},
          Case{
              "[readiness]\ntimeout = 90",
              R"(2: readiness.timeout = 90: must be a time from 1s to 1h, such as "90s", "2min" or "1500ms")"},
          Case{
              "[readiness]\ntimeout = \"2h\"",
              R"(2: readiness.timeout = "2h": must be a time from 1s to 1h, such as "90s", "2min" or "1500ms")"},
          Case{
              "[readiness]\ntimeout = \"soon\\nish\"",
              R"(2: readiness.timeout = "soon\nish": must be a time from 1s to 1h, such as "90s", "2min" or "1500ms")"},
          Case{
              "[readiness]\nforget_removed = \"-1s\"",
              R"(2: readiness.forget_removed = "-1s": must be a time from 0s to 8784h, such as "30min" or "1h")"},
          Case{"[readiness]\nforget_removed = \"0s\"", ""},
      })
    check(bad);
}

TEST_CASE("adapters") {
  for (
      const Case& bad : {
          Case{"[[adapter]]\nmatch = {}",
               "2: adapter.match = {…}: must hold exactly one of mac, pci, netdev"},
          Case{"[[adapter]]\nmatch = {netdev = \"a\", pci = \"0000:13:00.1\"}",
               "2: adapter.match = {…}: must hold exactly one of mac, pci, netdev"},
          Case{
              "[[adapter]]\nmatch = {mak = \"a\"}",
              R"(2: adapter.match.mak = "a": unknown key, did you mean "mac"? (allowed: mac, pci, netdev))"},
          Case{
              "[[adapter]]\nmatch = {mac = \"00:50:56\"}",
              R"(2: adapter.match.mac = "00:50:56": must be a MAC address, such as "00:50:56:8a:9f:c2")"},
          Case{"[[adapter]]\nmatch = {pci = 13}",
               R"(2: adapter.match.pci = 13: must be a PCI address, such as "0000:13:00.1")"},
          Case{
              "[[adapter]]\nmatch = {netdev = \"a/b\"}",
              R"(2: adapter.match.netdev = "a/b": must be a network interface's name, such as "ens224f0")"},
          Case{
              "[[adapter]]\nmatch = {mac = \"00:50:56:8a:9f:c2\"}\n[[adapter]]\nmatch = {mac = "
              "\"00:50:56:8A:9F:C2\"}",
              R"(4: adapter.match.mac = "00:50:56:8A:9F:C2": must not name the same adapter as /etc/pvrdma-agent/pvrdma-agent.toml:2)"},
          Case{"[[adapter]]\nmatch = {netdev = \"a\"}\ngid_type = \"RoCE\"",
               R"(3: adapter.gid_type = "RoCE": must be one of best, RoCE v1, RoCE v2)"},
          Case{"[[adapter]]\nmatch = {netdev = \"a\"}\nmanage = \"us\"",
               R"(3: adapter.manage = "us": must be one of auto, agent, observe)"},
          Case{"[[adapter]]\nmatch = {netdev = \"a\"}\nmtu = 67",
               "3: adapter.mtu = 67: must be a number from 68 to 9000"},
          Case{"[[adapter]]\nmatch = {netdev = \"a\"}\nmtu = 9001",
               "3: adapter.mtu = 9001: must be a number from 68 to 9000"},
          Case{
              "[[adapter]]\nmatch = {netdev = \"a\"}\nmtu = 1279\naddresses = [\"fd00::1/64\"]",
              R"(3: adapter.mtu = 1279: must be at least 1280 for the IPv6 address "fd00::1/64" of /etc/pvrdma-agent/pvrdma-agent.toml:4)"},
      })
    check(bad);
}

TEST_CASE("an [[adapter]] without match") {
  for (
      const Case& bad : {
          Case{"[[adapter]]\nmtu = 9000\nmanage = \"agent\"\ngid_type = \"RoCE v1\"", ""},
          Case{"[[adapter]]\nmtu = 9001",
               "2: adapter.mtu = 9001: must be a number from 68 to 9000"},
          Case{
              "[[adapter]]\nmtu = 9000\naddresses = [\"10.0.0.1/24\"]",
              "3: adapter.addresses = […]: needs match = { … } beside it, with exactly one of mac, "
              "pci, netdev; without match, for every adapter, only mtu, manage and gid_type are "
              "allowed"},
          Case{
              "[[adapter]]\nmtu = 9000\n[[adapter]]\nmatch = {netdev = \"a\"}\n[[adapter]]\nmanage "
              "= \"agent\"",
              "5: adapter = {…}: must be the only [[adapter]] without match of this file; another "
              "is at /etc/pvrdma-agent/pvrdma-agent.toml:1"},
          Case{
              "[[adapter]]\nmtu = 1279\n[[adapter]]\nmatch = {netdev = \"a\"}\naddresses = "
              "[\"fd00::1/64\"]",
              R"(2: adapter.mtu = 1279: must be at least 1280 for the IPv6 address "fd00::1/64" of /etc/pvrdma-agent/pvrdma-agent.toml:5)"},
      })
    check(bad);
}

TEST_CASE("addresses") {
  const std::pair<const char*, const char*> cases[] = {
      {"1", "1: must be an address in quotes"},
      {"\"10.0.0.1\"",
       R"("10.0.0.1": must be an IPv4 or IPv6 address with its prefix length, such as "192.168.30.201/24")"},
      {"\"10.0.0.1/33\"", R"("10.0.0.1/33": must have a prefix length from 1 to 32)"},
      {"\"fd00::1/0\"", R"("fd00::1/0": must have a prefix length from 1 to 128)"},
      {"\"10.0.0.0/24\"", R"("10.0.0.0/24": must be a host's address, not that of the network)"},
      {"\"10.0.0.255/24\"",
       R"("10.0.0.255/24": must be a host's address, not the broadcast address)"},
      {"\"0.0.0.0/8\"", R"("0.0.0.0/8": must not be of 0.0.0.0/8, which is no host's address)"},
      {"\"127.0.0.1/8\"", R"("127.0.0.1/8": must not be a loopback address)"},
      {"\"224.0.0.1/24\"", R"("224.0.0.1/24": must not be a multicast address)"},
      {"\"255.255.255.255/32\"", R"("255.255.255.255/32": must not be a broadcast address)"},
      {"\"::/64\"", R"("::/64": must not be the unspecified address)"},
      {"\"::1/128\"", R"("::1/128": must not be a loopback address)"},
      {"\"ff02::1/64\"", R"("ff02::1/64": must not be a multicast address)"},
      {"\"::ffff:10.0.0.1/120\"",
       R"("::ffff:10.0.0.1/120": must not be an IPv4 address written as IPv6)"},
      {"\"10.0.0.1/24\", \"10.0.0.1/16\"", R"("10.0.0.1/16": must be listed only once)"},
  };
  for (const auto& [list, complaint] : cases) {
    const std::string text =
        "[[adapter]]\nmatch = {netdev = \"a\"}\naddresses = [" + std::string{list} + "]";
    const std::string line = "3: adapter.addresses = " + std::string{complaint};
    check({text.c_str(), line.c_str()});
  }
  check({"[[adapter]]\nmatch = {netdev = \"a\"}\naddresses = \"10.0.0.1/24\"",
         R"(3: adapter.addresses = "10.0.0.1/24": must be a list of at most 64 addresses)"});
  std::string list;
  for (int host = 1; host <= 64; ++host) list += "\"10.0.0." + std::to_string(host) + "/24\", ";
  const auto with = [](const std::string& listed) {
    return "[[adapter]]\nmatch = {netdev = \"a\"}\naddresses = [" + listed + "]";
  };
  check({with(list).c_str(), ""});
  check({with(list + "\"10.0.0.65/24\"").c_str(),
         "3: adapter.addresses = […]: must be a list of at most 64 addresses"});
  check(
      {"[[adapter]]\nmatch = {netdev = \"a\"}\naddresses = [\"10.0.0.1/24\"]\n"
       "[[adapter]]\nmatch = {netdev = \"b\"}\naddresses = [\"10.0.1.1/16\"]",
       R"(6: adapter.addresses = "10.0.1.1/16": must not share a subnet with "10.0.0.1/24" of /etc/pvrdma-agent/pvrdma-agent.toml:3: two adapters in one subnet do not work on Linux)"});
}

TEST_CASE("a complaint names the drop-in it is about") {
  ConfigTree tree;
  tree.file(kMain, "[modules]\nbefore = [\"a\"]\nrequired = [\"a\"]");
  const char* drop_in = "/run/pvrdma-agent-config/pvrdma-agent.toml.d/50-b.toml";
  tree.file(drop_in, "\n\n[modules]\nbefore = [\"b\"]");
  CHECK(tree.complaint() ==
        std::string{kMain} + R"(:3: modules.required = "a": must be one of modules.before (b))");
}

// The words are toml11's and differ between its versions; the file, the line, and the single line
// are ours.
TEST_CASE("text that is not TOML") {
  const std::pair<std::string, const char*> cases[] = {
      {"reload auto", ":1: is not TOML: "},
      {"[modules]\n\nreload = auto\n", ":3: is not TOML: "},
      {"[modules\n", ":1: is not TOML: "},
      {"[modules]\nreload = \"auto\"\nreload = \"never\"\n", ": is not TOML: "},
      {"a = \"unterminated", ":1: is not TOML: "},
      {"a=[]\na.b=1\n", ": is not TOML: "},
      {"a=[]\n[a.b]\n", ": is not TOML: "},
      {"a={b=[],b.c=1}", ":1: is not TOML: "},
      {"[[adapter]]\naddresses=[]\naddresses.x=1\n", ": is not TOML: "},
      {std::string{"a = 1\0", 6}, ":1: has a control character, \\x00"},
      {"a = 1\nb = \"\xff\"", ":2: is not UTF-8 text"},
      {"\na = " + std::string(4000, '['), ":2: is nested too deeply"},
      {"a" +
           [] {
             std::string key;
             for (int i = 0; i < 2000; ++i) key += ".a";
             return key;
           }() +
           " = 1",
       ":1: is nested too deeply"},
      {"a = [" +
           [] {
             std::string s;
             for (int i = 0; i < 20'000; ++i) s += "1,\n";
             return s;
           }() +
           "]",
       ":1999: has more than 2000 values"},
      {"a = 1\n\nb = \"" + std::string(4096, 'x') + "\"", ":3: has a line of more than 4096 bytes"},
      // toml11 accepts these, but TOML does not.
      {"a = 1 # \rb = 2\n", ":1: has a control character, \\x0d"},
      {"[adapter]\nmtu = 0b1" + std::string(64, '0') + "10001100101000\n", ":2: mtu = 0b1000"},
      {"[adapter]\nmtu = 99999999999999999999",
       ":2: mtu = 99999999999999999999: is an integer beyond 64 bits"},
      // TOML allows this time (RFC 3339's leap second), but no key of ours does.
      {"[readiness]\ntimeout = 07:32:60",
       ":2: readiness.timeout = a date or time: must be a time from 1s"},
  };
  for (const auto& [text, start] : cases) {
    CAPTURE(text.substr(0, 80));
    ConfigTree tree;
    tree.file(kMain, text);
    const std::string line = tree.complaint();
    CAPTURE(line);
    CHECK(line.find(kMain) == 0);
    CHECK(line.find(start) != std::string::npos);
    CHECK(line.find('\n') == std::string::npos);
  }
}

TEST_CASE("a hidden name is no drop-in: editors and copiers leave such files") {
  ConfigTree tree;
  const std::string folder = "/etc/pvrdma-agent/pvrdma-agent.toml.d/";
  tree.file(folder + "a.toml", "[readiness]\nadapters = 3");
  tree.link(folder + ".#a.toml", "root@host.4711:1700000000");
  tree.file(folder + "._a.toml", std::string{"\0\x05\x16\x07", 4});
  tree.file(folder + ".ansible_tmpx1a.toml", "[readiness]\nadap");
  INFO(tree.complaint());
  const auto loaded = tree.load();
  REQUIRE(loaded);
  CHECK(loaded->files == std::vector<std::filesystem::path>{tree / (folder + "a.toml")});
}
