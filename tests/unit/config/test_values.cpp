// SPDX-License-Identifier: GPL-2.0-or-later
// The small parsers: durations, names, addresses, and checks of text.
#include "agent/config/duration.hpp"
#include "agent/config/toml_limits.hpp"
#include "agent/model/identifiers.hpp"
#include "tests/unit/catch.hpp"

using namespace pvrdma;
using namespace std::chrono_literals;

TEST_CASE("durations") {
  const std::pair<const char*, std::optional<Milliseconds>> cases[] = {
      {"90s", 90s},
      {"90", 90s},
      {"2min", 2min},
      {"2 min", 2min},
      {"1min 30s", 90s},
      {"1h30m", 90min},
      {"1500ms", 1500ms},
      {"1h", 1h},
      {"0", 0ms},
      {"", std::nullopt},
      {" ", std::nullopt},
      {"s", std::nullopt},
      {"-1s", std::nullopt},
      {"+1s", std::nullopt},
      {"1.5s", std::nullopt},
      {"1 fortnight", std::nullopt},
      {"9000000h", std::nullopt},
      {"99999999999999999999s", std::nullopt},
      {"9223372036854775807ms", std::nullopt},
      {"8784h 8784h", std::nullopt},
      {"1S", std::nullopt},
  };
  for (const auto& [text, expected] : cases) {
    CAPTURE(text);
    CHECK(parse_duration(text) == expected);
  }
  CHECK(parse_timeout("1s") == 1s);
  CHECK(parse_timeout("60min") == 1h);
  CHECK_FALSE(parse_timeout("999ms"));
  CHECK_FALSE(parse_timeout("1h 1ms"));
}

TEST_CASE("module names") {
  CHECK(module_name("ib-umad") == "ib_umad");
  CHECK(module_name("mlx4_ib") == "mlx4_ib");
  CHECK(module_name(std::string(55, 'a')));
  for (const char* bad : {"", "../x", "a b", "a/b", "a.ko", "ä"}) {
    CAPTURE(bad);
    CHECK_FALSE(module_name(bad));
  }
  CHECK_FALSE(module_name(std::string(56, 'a')));
  CHECK_FALSE(module_name(std::string_view{"a\0b", 3}));
}

TEST_CASE("MAC, PCI and netdev names") {
  CHECK(mac_address("00:50:56:8A:9F:C2") == "00:50:56:8a:9f:c2");
  for (const char* bad : {"", "00:50:56:8a:9f", "00-50-56-8a-9f-c2", "00:50:56:8a:9f:cg", "x"})
    CHECK_FALSE(mac_address(bad));
  CHECK(pci_address("0000:13:00.1") == "0000:13:00.1");
  CHECK(pci_address("0000:1B:1f.7") == "0000:1b:1f.7");
  CHECK(pci_address("13:00.1") == "0000:13:00.1");
  for (const char* bad :
       {"", "0000:13:00", "0000:13:20.0", "0000:13:00.8", "13.00.1", "00:13:00.1"})
    CHECK_FALSE(pci_address(bad));
  CHECK(netdev_name("ens224f0") == "ens224f0");
  for (const char* bad :
       {"", ".", "..", "a/b", "a b", "eth0:1", "sixteen-letters.", "a\x1b[2J", "a\x7f", "a\x01"})
    CHECK_FALSE(netdev_name(bad));
}

TEST_CASE("interface addresses") {
  const std::pair<const char*, const char*> good[] = {
      {"192.168.30.201/24", "192.168.30.201/24"},
      {"10.0.0.0/31", "10.0.0.0/31"},
      {"10.0.0.0/32", "10.0.0.0/32"},
      {"FD00:0:0::1/64", "fd00::1/64"},
      {"fe80::1/64", "fe80::1/64"},
      {"fd00::/127", "fd00::/127"},
  };
  for (const auto& [text, expected] : good) {
    CAPTURE(text);
    const auto address = parse_interface_address(text);
    REQUIRE(address);
    CHECK(address->text == expected);
  }
  for (const char* bad :
       {"", "192.168.30.201", "192.168.30/24", "192.168.30.201/", "192.168.30.201/0",
        "192.168.30.201/33", "192.168.30.201/24x", "192.168.30.201/ 24", "192.168.30.201/-1",
        "192.168.030.1/24", "fd00::1/129", "fd00::g/64", "host/24", "fe80::1%eth0/64"}) {
    CAPTURE(bad);
    CHECK_FALSE(parse_interface_address(bad));
  }
  CHECK_FALSE(parse_interface_address(std::string_view{"10.0.0.1\0/24", 12}));
}

TEST_CASE("subnets") {
  const auto share = [](const char* one, const char* other) {
    return share_subnet(*parse_interface_address(one), *parse_interface_address(other));
  };
  CHECK(share("192.168.30.1/24", "192.168.30.2/24"));
  CHECK(share("192.168.30.1/24", "192.168.31.2/16"));
  CHECK(share("fd00::1/64", "fd00::2/64"));
  CHECK_FALSE(share("192.168.30.1/24", "192.168.31.2/24"));
  CHECK_FALSE(share("192.168.30.1/25", "192.168.30.129/25"));
  CHECK_FALSE(share("fe80::1/64", "fe80::2/64"));
  CHECK_FALSE(share("10.0.0.1/8", "a00::1/8"));
}

TEST_CASE("texts that a parser refuses") {
  CHECK_FALSE(toml_limits::unfit("plain, ä, €, 𝄞\r\n\t\n\r\n"));
  const std::pair<std::string, std::size_t> bad[] = {
      {"a\xff", 1},        {"ab\xc3", 2},           {"\xc0\xaf", 0},         {"\xe0\x80\x80", 0},
      {"\xed\xa0\x80", 0}, {"\xf4\x90\x80\x80", 0}, {"\xf0\x80\x80\x80", 0}, {"\x80", 0},
      {"a\xe2\x82", 1},
  };
  for (const auto& [bytes, offset] : bad) {
    const auto fault = toml_limits::unfit(bytes);
    REQUIRE(fault);
    CHECK(fault->offset == offset);
    CHECK(fault->what == "is not UTF-8 text");
  }
  for (const std::string& control : {std::string(1, '\0'), std::string{"\x1f"}, std::string{"\x7f"},
                                     std::string{"\r"}, std::string{"\r\r\n"}}) {
    const auto fault = toml_limits::unfit("a = 1\n#" + control);
    REQUIRE(fault);
    CHECK(fault->offset == 7);
    CHECK(fault->what.starts_with("has a control character, \\"));
  }
  const std::string line(toml_limits::kLongestLine, 'x');
  CHECK_FALSE(toml_limits::unfit(line + "\n" + line + "\n" + line));
  const auto fault = toml_limits::unfit(line + "\n" + line + "x");
  REQUIRE(fault);
  CHECK(fault->what == "has a line of more than 4096 bytes");
}

TEST_CASE("TOML beyond the limits") {
  const auto at = [](std::string_view text) {
    const auto excess = toml_limits::excess(text, {.levels = 2, .values = 9, .marks = 20});
    return excess ? std::to_string(excess->offset) + ": " + excess->what : "none";
  };
  CHECK(at("a = [[1], [2]]\n[t.u]\nb = {c = 1}") == "none");
  CHECK(at("a = [[[1]]]") == "6: is nested too deeply");
  CHECK(at("a.b.c.d = 1") == "5: is nested too deeply");
  CHECK(at("a = \"[[[[\" # [[[[\nb = '[[[['\nc = '''[[[\n[[['''") == "none");
  // A quote in a string, and a bracket that only seems to close in one.
  CHECK(at(R"(a = "\"[[[[[")") == "none");
  CHECK(at(R"(a = ["]", ["]", ["]"]]])") == "16: is nested too deeply");
  CHECK(at("a=1\nb=[1,2,3,4,5,6]\nc='=,,,,' #,,,,\n") == "none");
  CHECK(at("a=1\nb=[1,2,3,4,5,6]\nc='' d=1\ne=1") == "26: has more than 9 values");
  // One or two quotes may stand before the three that end a string.
  for (const std::string quote : {"\"", "'"})
    for (const std::size_t more : {3U, 4U, 5U}) {
      std::string text = "a=";
      for (std::size_t i = 0; i < 3; ++i) text += quote;
      text += "x";
      for (std::size_t i = 0; i < more; ++i) text += quote;
      const std::string at_third = std::to_string(text.size() + 5);
      CHECK(at(text + "\nb=[[[") == at_third + ": is nested too deeply");
      CHECK(at(text + "#[[[\nb=1") == "none");
    }
  // Versions of toml11 clamp a number that is too large, or wrap it.
  CHECK(at("a = 9223372036854775807\nb=-9223372036854775808\nc=+0x7fff_ffff_ffff_ffff") == "none");
  CHECK(at("99999999999999999999.9 1e99999999999999999999 a99999999999999999999") == "none");
  CHECK(at("a = 1\nb = 9223372036854775808") ==
        "10: b = 9223372036854775808: is an integer beyond 64 bits");
  for (const std::string number :
       {"-9223372036854775809", "0x8000000000000000", "0o1000000000000000000000",
        "9_999_999_999_999_999_999", "+9223372036854775808",
        "0b1000000000000000000000000000000000000000000000000000000000000000"})
    CHECK(at("a = 1\nb = " + number) == "10: b = " + number + ": is an integer beyond 64 bits");
  CHECK(at("a = 0b" + std::string(62, '1')) == "none");
  CHECK(at("a = 0b" + std::string(63, '0')) ==
        "4: a = 0b" + std::string(63, '0') + ": has more than 62 binary digits");
  CHECK(at("a = [1,\n99999999999999999999]") ==
        "8: 99999999999999999999: is an integer beyond 64 bits");
  // In every form of string brackets count.
  CHECK(at("a='" + std::string(21, '[') + "'") == "23: has more than 20 brackets");
  CHECK(at("#" + std::string(20, '.') + "\n#" + std::string(21, '.')) ==
        "43: has more than 20 dots in a line");
}
