// SPDX-License-Identifier: GPL-2.0-or-later
// The shapes of an ESXi host's output: tables, details, CSV, and what a terminal, a mail program or
// Markdown made of them.
#include "agent/tools/survey/host_paste.hpp"
#include "tests/unit/catch.hpp"

using namespace pvrdma;
using Rows = std::vector<std::vector<std::string>>;

namespace {

// `text` as a terminal of this width leaves it: long lines broken, no blanks at the end of a line.
std::string wrapped(const std::string& text, std::size_t width) {
  std::string broken;
  for (std::string_view rest = text; !rest.empty();) {
    std::string_view line = rest.substr(0, rest.find('\n'));
    rest.remove_prefix(std::min(line.size() + 1, rest.size()));
    do {
      const std::string_view piece = line.substr(0, width);
      broken += std::string{piece.substr(0, piece.find_last_not_of(' ') + 1)} + "\n";
      line.remove_prefix(piece.size());
    } while (!line.empty());
  }
  return broken;
}

}  // namespace

TEST_CASE("tables and the lines right below them") {
  // Tabs separate the cells, although they would fit the dashes as well.
  const auto tabs = parse_paste("A\tB\n--\t--\na\tb\n");
  REQUIRE(tabs.tables.size() == 1);
  CHECK(tabs.tables[0].rows == Rows{{"a", "b"}});
  // Details are indented, and some could be no row; a UTF-8 mark stands before the first column's
  // name.
  const auto below = parse_paste(
      "\xef\xbb\xbfName               Enabled\n-----------------  -------\nsshServer             "
      "true\n"
      "   Path: /Net/X\n");
  REQUIRE(below.tables.size() == 2);
  CHECK(below.tables[0].columns.front() == "Name");
  CHECK(below.tables[0].rows.size() == 1);
  CHECK(below.tables[1].cell(0, "Path") == "/Net/X");
  const auto key = parse_paste("Name  Enabled\n----  -------\nPhysical HCA available:0\n");
  REQUIRE(key.tables.size() == 2);
  CHECK(key.tables[1].columns == std::vector<std::string>{"Physical HCA available"});
  // A block belongs to the host of the prompt above it.
  const auto hosts = parse_paste("a:1\n\n[root@esx01:~] vsish\na:1\n\n~ # vsish -e\na:1\n");
  REQUIRE(hosts.tables.size() == 3);
  CHECK(hosts.tables[0].host.empty());
  CHECK(hosts.tables[1].host == "esx01");
  CHECK(hosts.tables[2].host.empty());
}

TEST_CASE("CSV, and its names without blanks") {
  const auto paste = parse_paste(
      "~ # esxcli --formatter=csv rdma device list\n"
      "Description,Name,PairedUplink,\n"
      "\"MT27800, port 1\",vmrdma0,vmnic4,\n"
      "Intel,vmrdma1,,\n"
      "Device,RoCEv1,\n"
      "vmrdma0,true,\n"
      "text, with commas, that is no CSV\n");
  REQUIRE(paste.tables.size() == 2);
  CHECK(paste.tables[0].cell(0, "Paired Uplink") == "vmnic4");
  CHECK(paste.tables[0].cell(0, "description") == "MT27800, port 1");
  CHECK(paste.tables[0].cell(1, "Paired Uplink").empty());
  CHECK(paste.tables[1].lines == std::vector<std::size_t>{6});
  CHECK(paste.tables[1].cell(0, "RoCE v1") == "true");
  CHECK(paste.other.size() == 1);
}

TEST_CASE("esxcfg-nics prints a table without dashes, with empty cells") {
  const auto paste = parse_paste(
      "# esxcfg-nics -l\n"
      "Name    PCI          Driver      Link Speed      Duplex MAC Address       MTU    "
      "Description\n"
      "vmnic4  0000:18:00.0 nmlx5_core  Up   25000Mbps  Full   02:00:5e:10:00:05 9000   ConnectX-4 "
      "Lx "
      "EN NIC; OCP; (MCX4421A)\n"
      "vmnic10 0000:18:00.1             Down 0Mbps      Half   02:00:5e:10:00:06 1500   "
      "Ethernet\n");
  REQUIRE(paste.tables.size() == 1);
  const PastedTable& nics = paste.tables[0];
  REQUIRE(nics.rows.size() == 2);
  CHECK(nics.cell(0, "Description") == "ConnectX-4 Lx EN NIC; OCP; (MCX4421A)");
  CHECK(nics.cell(1, "Name") == "vmnic10");
  CHECK(nics.cell(1, "Driver").empty());
  CHECK(nics.cell(1, "Link") == "Down");
  CHECK(nics.cell(1, "MTU") == "1500");
}

TEST_CASE("rows that a terminal of any width wrapped") {
  const std::string table =
      "Name    PCI Device    Driver      Admin Status  Link Status   Speed  Duplex  MAC Address    "
      "     MTU  Description\n"
      "------  ------------  ----------  ------------  -----------  ------  ------  "
      "-----------------  ----  ---------------------------------------\n"
      "vmnic0  0000:01:00.0  ixgben      Up            Up             1000  Full    "
      "02:00:5e:10:00:01  1500  Intel(R) X550\n"
      "vmnic4  0000:3b:00.0  nmlx5_core  Up            Up           100000  Full    "
      "02:00:5e:10:00:05  9000  Mellanox MT27800 Family [ConnectX-5]\n"
      "vmnic5  0000:3b:00.1  nmlx5_core  Up            Down              0  Half    "
      "02:00:5e:10:00:06  1500\n";
  const std::string around =
      "[root@esx01:~] esxcli network nic list\n" + table + "\n[root@esx01:~]\n";
  const PastedTable whole = parse_paste(around).tables.at(0);
  REQUIRE(whole.rows.size() == 3);
  for (std::size_t width = 40; width < 150; ++width) {
    INFO("width " << width << "\n" << wrapped(table, width));
    const Paste paste = parse_paste(wrapped(around, width));
    REQUIRE(paste.tables.size() == 1);
    CHECK(paste.tables[0].columns == whole.columns);
    CHECK(paste.tables[0].rows == whole.rows);
  }
}

TEST_CASE("prompts of any kind, and lines that are none") {
  for (const char* prompt : {"[root@esx01:~]", "[root@esx01:/tmp] #", "root@esx01:~#", "~ #",
                             "/vmfs/volumes #", "PS C:\\Users\\me>"}) {
    INFO(prompt);
    const auto command = command_in(std::string{prompt} + " lsmod");
    REQUIRE(command);
    CHECK(command->at_prompt);
    CHECK(command->text == "lsmod");
  }
  CHECK(command_in("root@esx01:~# esxcli vm process list")->host == "esx01");
  CHECK(command_in("# esxcli rdma device list")->text == "esxcli rdma device list");
  for (const char* line : {"# Heading", "[ConnectX-5]", "> quoted", "a #1 of b", "#"})
    CHECK_FALSE(command_in(line));
}

TEST_CASE("a table that came through another program is the same table") {
  const std::string text =
      "[root@esx01:~] esxcli rdma device list\nName     Paired Uplink\n-------  -------------\n"
      "vmrdma0  vmnic4\n\n   Path: /Net/X\n[root@esx01:~]\n";
  const auto each = [&](const char* before_line, const char* blanks) {
    std::string made = before_line;
    for (const char letter : text.substr(0, text.size() - 1)) {
      made += letter == ' ' && *blanks != '\0' ? blanks : std::string{letter};
      if (letter == '\n') made += before_line;
    }
    return made;
  };
  const auto utf16 = [&](bool is_big) {
    std::string made = is_big ? "\xfe\xff" : "\xff\xfe";
    for (const char letter : text) {
      made += is_big ? '\0' : letter;
      made += is_big ? letter : '\0';
    }
    return made;
  };
  for (const std::string& pasted :
       {utf16(false), utf16(true), each("> ", ""), each(">", ""), each("", "\xc2\xa0"),
        each("\x1b[J", ""), each("\x1b[01;32m\x1b[0m", ""), each("> ", "\xc2\xa0")}) {
    INFO(pasted);
    const auto paste = parse_paste(pasted);
    REQUIRE(paste.tables.size() == 2);
    CHECK(paste.tables[0].host == "esx01");
    CHECK(paste.tables[0].cell(0, "Paired Uplink") == "vmnic4");
    CHECK(paste.tables[0].lines == std::vector<std::size_t>{4});
    CHECK(paste.tables[1].cell(0, "Path") == "/Net/X");
    CHECK(paste.tables[1].lines == std::vector<std::size_t>{6});
    CHECK(paste.other.empty());
  }
  // busybox's shell asks for the cursor's place at each prompt.
  CHECK(parse_paste("[root@esx01:~] \x1b[6nesxcli rdma device list\n").commands.at(0).text ==
        "esxcli rdma device list");
  // One quoted line among others is the text's own.
  CHECK(parse_paste("> a\nName  B\n----  -\nx     y\n").other.at(0).begins == "> a");
  for (const char* cut_short : {"\xff\xfe",
                                "\xff\xfe"
                                "a",
                                "\x1b[", "\x1b[0;0;0;0;0;0;0;0;0;0;0;0m", ">"})
    CHECK(parse_paste(cut_short).tables.empty());
}

TEST_CASE("the host of a command that another machine has sent") {
  const auto host_of = [](const std::string& line) { return command_in(line)->host; };
  CHECK(host_of("me@jump:~$ ssh root@esx01 esxcli rdma device list") == "esx01");
  CHECK(host_of("me@jump:~$ ssh -l root esx01 'esxcli rdma device list; esxcfg-nics -l'") ==
        "esx01");
  CHECK(host_of(
            "[me@jump ~]$ ssh esx01 vsish -e cat /vmkModules/vrdma/pvrdmaDevices/7_0/properties") ==
        "esx01");
  CHECK(host_of("PS C:\\> plink -ssh root@10.0.0.1 \"esxcli rdma device list\"") == "10.0.0.1");
  CHECK(host_of("ssh root@esx01 esxcli rdma device list") == "esx01");
  CHECK(
      host_of("me@jump:~$ for h in esx01 esx02; do ssh $h esxcli rdma device list; done").empty());
  CHECK(host_of("me@jump:~$ ssh esx01 -- esxcli rdma device list").empty());
  CHECK(host_of("[root@esx01:~] time esxcli rdma device list") == "esx01");
}

TEST_CASE("text of a mail program and of Markdown") {
  std::string spaced;
  for (const char* line : {"Name     Paired Uplink", "-------  -------------", "vmrdma0  vmnic4",
                           "   Path: /Net/X", "   String Value: vmk0"})
    spaced += std::string{line} + "\n\n";
  const auto paste = parse_paste(spaced);
  REQUIRE(paste.tables.size() == 2);
  CHECK(paste.tables[0].lines == std::vector<std::size_t>{5});
  CHECK(paste.tables[1].cell(0, "String Value") == "vmk0");
  const auto fenced = parse_paste("```\n\tA  B\n\t-- --\n\ta  b\n```\ntext\n");
  REQUIRE(fenced.tables.size() == 1);
  CHECK(fenced.tables[0].rows == Rows{{"a", "b"}});
  REQUIRE(fenced.other.size() == 1);
  CHECK(fenced.other[0].begins == "text");
}
