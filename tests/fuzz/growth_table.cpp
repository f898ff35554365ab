// SPDX-License-Identifier: GPL-2.0-or-later
// The repeated texts for each reader.
#include <linux/netlink.h>
#include <linux/rtnetlink.h>

#include <string_view>
#include <vector>

#include "agent/base/text.hpp"
#include "agent/config/toml_tree.hpp"
#include "agent/ctl/rendering.hpp"
#include "agent/tools/doctor/host_output/judgement.hpp"
#include "agent/tools/next_boot/boot_menu.hpp"
#include "agent/tools/survey/machine.hpp"
#include "agent/varlink/message.hpp"
#include "tests/fuzz/growth.hpp"
#include "tests/fuzz/target.hpp"

namespace pvrdma::fuzz {

namespace {

using Text = const std::string&;

// `head`, pieces up to the size, `tail`. "%" in a piece becomes the piece's number.
std::string repeated(std::size_t bytes, std::string_view piece, std::string_view head = "",
                     std::string_view tail = "", std::string_view between = "") {
  std::string text{head};
  for (unsigned number = 0; text.size() < bytes; ++number) {
    if (number > 0) text += between;
    for (const char letter : piece)
      text += letter == '%' ? std::to_string(number) : std::string(1, letter);
  }
  return text += tail;
}

auto of(std::string piece, std::string head = "", std::string tail = "", std::string between = "") {
  return [=](std::size_t bytes) { return repeated(bytes, piece, head, tail, between); };
}

std::string health_with(const std::string& adapters, const std::string& findings) {
  return R"({"version":1,"state":"ready","since":"2026-11-21T02:31:43Z","observed_ms_ago":1,)"
         R"("summary":"s","adapters":[)" +
         adapters + R"(],"findings":[)" + findings +
         R"(],"executor":{"reloads":0,"rebinds":0,"busy":null}})";
}

std::string findings(std::size_t bytes) {
  return health_with(
      "", repeated(bytes,
                   R"({"id":"driver-in-use","severity":"warning","actor":"guest","adapter":"%",)"
                   R"("summary":"s","remedy":"r","evidence":{"holders":[],"values":{}}})",
                   "", "", ","));
}

// The target gets the text after the byte that chooses its kind of input.
auto by(Target target, unsigned choice) {
  return [=](Text text) { target(static_cast<char>(choice) + text); };
}
auto by(Target target) {
  return [=](Text text) { target(text); };
}

void read_toml(Text text) { static_cast<void>(toml_tree::parse(text, "file")); }
void read_paste(Text text) { static_cast<void>(doctor::judge_host_output(text, {{{"e", 1500}}})); }
void read_menu(Text text) { static_cast<void>(probes::parse_grub_menu(text)); }
void read_messages(Text text) {
  varlink::Decoder decoder{1U << 24U};
  decoder.feed(text);
  for (auto message = decoder.next(); message && *message; message = decoder.next()) {
  }
}
void read_bytes(Text text) {
  varlink::Decoder decoder{1U << 24U};
  for (const char byte : text) {
    decoder.feed({&byte, 1});
    static_cast<void>(decoder.next());
  }
}

// A netlink message with a family's header of 16 bytes, and attributes.
std::string message_of(std::uint16_t type, const std::string& attributes) {
  nlmsghdr header{};
  header.nlmsg_len = static_cast<std::uint32_t>(NLMSG_HDRLEN + 16 + attributes.size());
  header.nlmsg_type = type;
  std::string message{reinterpret_cast<const char*>(&header), sizeof header};
  return message + std::string(16, '\2') + attributes;
}
std::string attributes(std::size_t bytes) {
  const nlattr empty{NLA_HDRLEN, IFLA_PROP_LIST | NLA_F_NESTED};
  return message_of(RTM_NEWLINK,
                    repeated(bytes, {reinterpret_cast<const char*>(&empty), sizeof empty}));
}

// A cpio archive of empty files in the format "newc": the magic, 13 numbers of 8 digits, the name.
std::string archive(std::size_t bytes, const std::string& name, std::string_view name_size) {
  std::string entry = "070701" + std::string(8, '0') + "000081a4" + std::string(8 * 9, '0');
  entry.append(name_size).append(8, '0').append(name);
  entry.resize((entry.size() + 4) / 4 * 4);
  return repeated(bytes, entry);
}

std::vector<Repetition> table() {
  using namespace std::string_literals;
  return {
      {"TOML: comments", of("# c\n"), read_toml},
      {"TOML: keys", of("k% = 1\n"), read_toml},
      {"TOML: an array over many lines", of("1,\n", "x = [", "]"), read_toml},
      {"TOML: inline tables, many on a line",
       of("{a='%'},{a='%'},{a='%'},{a='%'},{a='%'},{a='%'}", "x = [", "]", ",\n"), read_toml},
      {"TOML: long lines of values", of(std::string(30, '1') + ".0", "x = [", "]", ", "),
       read_toml},
      {"TOML: tables", of("[t%]\n"), read_toml},
      {"TOML: arrays of tables", of("[[adapter]]\nmatch = {netdev = \"e%\"}\n"), read_toml},
      {"TOML: a long string", of("a\n", "x = \"\"\"", "\"\"\""), read_toml},
      // For each value, toml11 3 counts lines from the beginning.
      {"TOML: escapes", of("x% = \"\\u00e9\\u00e9\\u00e9\\u00e9\\u00e9\"\n"), read_toml,
       Growth::BySquare},
      {"TOML: the configuration's own keys", of("[[adapter]]\nmatch = {netdev = \"e%\"}\n"),
       by(config)},
      {"TOML: an open array", of("#\n", "x = ["), read_toml},
      {"varlink: tiny messages", of("a\0"s), read_messages},
      {"varlink: byte by byte", of("a"), read_bytes},
      {"varlink: keys of a message", of("\"k%\":%", "{", "}", ","), by(executor_json)},
      {"varlink: addresses",
       of("\"10.0.0.1/24\"", "{\"function\":\"0000:13:00.1\",\"netdev\":\"e\",\"addresses\":[",
          "]}", ","),
       by(executor_json)},
      {"varlink: nesting", of("[", "{\"a\":"), by(executor_json)},
      {"ledger: attempts",
       of(R"({"verb":"ReloadDriver","target":"t%","started_ms":%,"finished_ms":%,)"
          R"("outcome":"done","detail":"d"})",
          R"({"reloads":1,"rebinds":2,"attempts":[)", "]}", ","),
       by(ledger)},
      {"health: findings", findings, by(health)},
      {"health: a long summary",
       [](std::size_t bytes) {
         return health_with(
             "", R"({"id":"driver-in-use","severity":"warning","actor":"guest","adapter":null,)"
                 R"("summary":")" +
                     repeated(bytes, "a b ") +
                     R"(","remedy":"r","evidence":{"holders":[],"values":{}}})");
       },
       by(health)},
      {"host output: a wide rule, many rows",
       [](std::size_t bytes) {
         return "N\n" + repeated(bytes / 2, "- ") + "--\n" + repeated(bytes / 2, "a\n");
       },
       read_paste},
      {"host output: entries", of("Key%: v\n"), read_paste},
      {"host output: other lines", of("!!\n\n"), read_paste},
      {"host output: CSV", of("vmrdma%,true,false,\n", "Device,RoCEv1,RoCEv2,\n"), read_paste},
      {"host output: broken rules", of("Name  Nu\nmber\n----  --\n----\n"), read_paste},
      {"host output: broken rows", of("a     %\n%\n", "Name  Nu\nmber\n----  --\n----\n"),
       read_paste},
      {"host output: switches", of("VDS ID: %\nUplinks: vmnic%\nClient: %.eth1\n"), read_paste},
      {"host output: devices",
       of("vmrdma%   vmnic%\n", "Name      Paired Uplink\n--------  ------\n"), read_paste},
      {"host output: hosts", of("[root@h%:~]\nName  Enabled\n----  -------\npvrdma  true\n"),
       read_paste},
      {"host output: a line of rules", of("-"), read_paste},
      {"host output: statistics",
       of("   Key %: 5\n", "[root@e] esxcli rdma device stats get -d vmrdma0\n"), read_paste},
      {"settings: a long section of many keys",
       [](std::size_t bytes) {
         return "[" + std::string(bytes / 2, 's') + "]\n" + repeated(bytes / 2, "=\n");
       },
       by(proc, 8)},
      {"settings: lines that go on", of("a\\\n"), by(proc, 8)},
      {"kernel's command line: one long word", of("a,", "modprobe.blacklist="), by(proc, 4)},
      {"kernel's command line: words", of("modprobe.blacklist=m% "), by(proc, 4)},
      {"modprobe.d: names", of("blacklist m%\n"), by(proc, 3)},
      {"modprobe.d: softdeps", of("softdep m% pre: m% ib_core post: a\n"), by(proc, 3)},
      {"modprobe.d: lines that go on", of("a\\\n"), by(proc, 3)},
      {"script: lines of the recipe", of("rmmod ib_mad\n"), by(recipe, 0)},
      {"script: scripts it calls", of("/%\n"), by(recipe, 0)},
      {"script: links", of("ifconfig e% mtu 9000\n"), by(recipe, 0)},
      {"script: addresses of one link", of("ip addr add 10.1.%.1/24 dev e0\n"), by(recipe, 0)},
      {"script: a long line of hashes", of("  #", "a"), by(recipe, 0)},
      {"script: a long line of commands", of("modprobe ib_core;"), by(recipe, 0)},
      {"script: quotes that are nested", of("\"$("), by(recipe, 0)},
      {"crontab: scripts it calls", of("@reboot /%\n"), by(recipe, 1)},
      {"unit: commands", of("ExecStart=/sbin/rmmod ib_core\n", "[Service]\n"), by(recipe, 3)},
      {"netplan: links", of("    e%:\n      mtu: 9000\n", "network:\n  ethernets:\n"),
       by(recipe, 10)},
      {"GRUB: submenus", of("submenu a b {\n"), read_menu},
      {"GRUB: entries", of("menuentry 'a%' {\nlinux /v x\n}\n"), read_menu},
      {"GRUB: its environment", of("a%=1\n"),
       [](Text text) { static_cast<void>(probes::parse_grub_environment(text)); }},
      {"loader entry: options", of("options a\n"),
       [](Text text) { static_cast<void>(probes::parse_loader_entry("a", text)); }},
      {"os-release", of("ID=a\n"),
       [](Text text) { static_cast<void>(probes::parse_os_release(text)); }},
      {"/proc/modules", of("m% 1 0 - Live 0x0\n"), by(proc, 0)},
      {"/proc/modules: holders", of("m%,", "m 1 1 ", " Live 0x0\n"), by(proc, 0)},
      {"limits.conf", of("* soft memlock 1\n"), by(proc, 1)},
      {"modules that are looked up", of("missing\n"), by(proc, 2)},
      {"records of addresses", of("00:50:56:8a:9f:c2 10.1.1.%/24 marked\n"), by(proc, 5)},
      {"networkd's state of a link", of("NETWORK_FILE=%\n"), by(proc, 6)},
      {"interfaces: stanzas", of("iface e% inet\n"), by(proc, 7)},
      {"interfaces: lines that go on", of("a\\\n"), by(proc, 7)},
      {"cloud-init: nesting", of("[", "{\"v1\":"), by(proc, 9)},
      {"kernel log: brackets", of("[1", "6,1,1,-;"), by(proc, 10)},
      {"kernel log: records", of("6,%,1,-;BUG: unable to handle\n"), by(proc, 10)},
      {"netplan: matches", of("    e%: {name: \"en*\"}\n", "network:\n  ethernets:\n"),
       by(proc, 11)},
      {"traces of a template", of("00:50:56:8a:9f:c2 "), by(proc, 12)},
      {"netlink: links", of(message_of(RTM_NEWLINK, "")), by(netlink)},
      {"netlink: attributes of a link", attributes, by(netlink)},
      {"initramfs: names of modules",
       [](std::size_t bytes) { return archive(bytes, "kernel/vmw_pvrdma.ko", "00000015"); },
       by(initramfs)},
      {"initramfs: texts",
       [](std::size_t bytes) { return archive(bytes, "etc/modprobe.d/vmw_pvrdma", "0000001a"); },
       by(initramfs)},
      {"verify: figures of many sizes",
       of(R"({"message_bytes":%,"rounds":1,"typical_us":2.0})", R"({"latency":[)", "]}", ","),
       by(figures)},
      {"verify: a line of a peer", of("{", ""), by(control, 1)},
      {"verify: nesting of a peer", of("[", "{\"mesh\":"), by(control, 0)},
      {"mesh: lines of a machine",
       of("{\"served\":true}\n",
          R"({"pvrdma_verify":1,"nonce":"0123456789abcdef0123456789abcde1","token":false})"
          "\n"),
       by(mesh, 0)},
      {"mesh: a name",
       of("a",
          R"({"pvrdma_verify":1,"nonce":"0123456789abcdef0123456789abcde1","token":false})"
          "\n{\"mesh\":{\"address\":\"10.0.0.1\",\"device\":\"d\",\"name\":\"",
          "\"}}\n"),
       by(mesh, 0)},
      {"client: replies", of("{\"parameters\":{},\"continues\":true}\0"s), by(client)},
      {"client: a long reply", of("\"k%\":%", "{\"parameters\":{", "}}\0"s, ","), by(client)},
      {"printable: escapes", of("\x1b"), [](Text text) { static_cast<void>(printable(text)); }},
      {"wrapped: words", of("a "), [](Text text) { static_cast<void>(ctl::wrapped(text, 80, 4)); }},
  };
}

}  // namespace

std::span<const Repetition> repetitions() {
  static const std::vector<Repetition> kTable = table();
  return kTable;
}

}  // namespace pvrdma::fuzz
