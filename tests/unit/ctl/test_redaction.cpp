// What --redact leaves of a text: each value by one placeholder, and nothing of the value itself.
#include <arpa/inet.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdio>
#include <random>
#include <string>
#include <vector>

#include "agent/base/clock.hpp"
#include "agent/ctl/report/redactor.hpp"
#include "agent/ctl/report/secrets.hpp"
#include "tests/unit/catch.hpp"
#include "tests/unit/mutate.hpp"

using namespace pvrdma;
using namespace pvrdma::ctl::bundle;

namespace {

std::string masked(const std::string& text) {
  Redactor redactor;
  redactor.learn(text);
  return redactor.mask(text);
}

std::string lower(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return text;
}
bool has(const std::string& text, const std::string& part) {
  return lower(text).find(lower(part)) != std::string::npos;
}

}  // namespace

TEST_CASE("addresses become placeholders, the same for the same") {
  CHECK(masked("inet 192.168.30.201/24 brd 192.168.30.255, again 192.168.30.201.") ==
        "inet ipv4-1/24 brd ipv4-2, again ipv4-1.");
  CHECK(masked("link/ether 00:50:56:8A:9F:C2 and 00-50-56-8a-9f-c2 and enx0050568a9fc2") ==
        "link/ether mac-1 and mac-1 and enxmac-1");
  CHECK(masked("fe80::250:56ff:fe8a:9fc2/64 [fe80:0:0:0:250:56FF:FE8A:9FC2]:22 2001:db8::1%ens3") ==
        "ipv6-1/64 [ipv6-1]:22 ipv6-2%ens3");
  // A GID that holds an IPv4 address shows whose it is, in either spelling.
  CHECK(masked("192.168.30.201 GID[1]: ::ffff:192.168.30.201, RoCE v2 "
               "0000:0000:0000:0000:0000:ffff:c0a8:1ec9") ==
        "ipv4-1 GID[1]: ::ffff:ipv4-1, RoCE v2 ::ffff:ipv4-1");
  // So does a GUID that was made of a MAC.
  CHECK(masked("00:50:56:8a:9f:c2 node_guid 0250:56ff:fe8a:9fc2 0x025056fffe8a9fc2") ==
        "mac-1 node_guid mac-1 0xmac-1");
  CHECK(masked("rocep19s0f1:fe80:0000:0000:0000:0250:56ff:fe8a:9fc2") == "rocep19s0f1:ipv6-1");
  CHECK(masked("GID:::ffff:c0a8:1ec9") == "GID:::ffff:ipv4-1");
  CHECK(masked("2f3a4b5c-0001-4002-8003-123456789abc d3adbeefd3adbeefd3adbeefd3adbeef") ==
        "uuid-1 uuid-2");
}

TEST_CASE("well-known values stay, and what only looks like an address") {
  for (const char* text :
       {"127.0.0.1 0.0.0.0/0 255.255.255.0 255.255.255.255 224.0.0.251 127.1.2.3",
        "::1 :: fe80::/10 ff02::1 ::ffff:127.0.0.1 0000:0000:0000:0000:0000:0000:0000:0000",
        "ff:ff:ff:ff:ff:ff 00:00:00:00:00:00 01:00:5e:00:00:01 33:33:00:00:00:01",
        "00000000-0000-0000-0000-000000000000 0000:0000:0000:0000",
        "0000:13:00.1 15ad:0820 02:31:43 2026-11-21T02:31:43Z 2026-11-21 12:00:01.123456",
        "Linux 6.1.0-18-amd64 #1 SMP 6.1.76-1", "version:        1.0.1.0-k",
        "VMware vmxnet3 virtual NIC driver - version 1.7.0.0-k-NAPI", "version 5.10.0.1.2",
        "ffff888012345678 deadbeef cafe std::abs(x)", "ib_umad rdma_cm mlx4_ib ens224f0"})
    CHECK(masked(text) == text);
  // A version that is an address of the machine as well is taken for one.
  CHECK(masked("inet 10.0.0.5\nversion 10.0.0.5\n") == "inet ipv4-1\nversion ipv4-1\n");
  // Multicast that holds half of a MAC is not well known.
  CHECK(masked("33:33:ff:8a:9f:c2 ff02::1:ff8a:9fc2") == "mac-1 ipv6-1");
}

TEST_CASE("names of hosts and users are masked as words, homes wherever they are") {
  Redactor redactor;
  redactor.add_name(Kind::Host, "node7.cluster.example");
  redactor.add_name(Kind::Host, "node7");
  redactor.add_name(Kind::User, "alice");
  redactor.add_name(Kind::User, "x");
  CHECK(redactor.mask("Nov 21 NODE7 systemd[1]: node7.cluster.example node77 node7-a alice x") ==
        "Nov 21 host-2 systemd[1]: host-1 node77 host-2-a user-1 x");
  CHECK(redactor.mask("/home/alice/run.sh, /home/bob: malice /root/x") ==
        "/home/user-1/run.sh, /home/user-2: malice /root/x");
}

TEST_CASE("values of keys that look like secrets are masked") {
  for (const char* key : {"password", "wifi.PSK", "api_token", "key", "ssh-key", "PASSWD",
                          "client-secret", "sasl_password_file", "pin"})
    CHECK(is_secret_key(key));
  for (const char* key : {"pkey", "max_pkeys", "keyboard", "monkey", "mtu", "", "spin"})
    CHECK_FALSE(is_secret_key(key));
  CHECK(masked("password = \"a \\\" b\"  # why\nmtu = 9000\n") ==
        "password = \"secret-1\"  # why\nmtu = 9000\n");
  CHECK(masked("  psk: my long pass\nother: my long pass") ==
        "  psk: secret-1\nother: my long pass");
  CHECK(masked("root=/dev/vda ro join.token=abc,def quiet") ==
        "root=/dev/vda ro join.token=secret-1 quiet");
  CHECK(masked("{\"token\": \"abc\", \"mtu\": 1}") == "{\"token\": \"secret-1\", \"mtu\": 1}");
  CHECK(masked("curl --password xyz https://me:pw@there/") ==
        "curl --password secret-1 https://secret-2@there/");
  CHECK(masked("export TOKEN=a b\n#key=c d") == "export TOKEN=secret-1\n#key=secret-2");
  CHECK(masked("a\n-----BEGIN RSA PRIVATE KEY-----\nMIIE\n-----END RSA PRIVATE KEY-----\nb\n") ==
        "a\nsecret-1\nb\n");
  CHECK(masked("-----BEGIN PRIVATE KEY-----\nMIIE\nnever ends") == "secret-1");
  // What is long and mixed is masked where no key says so.
  CHECK(masked("token: s3cr3tVALUE\nlater s3cr3tvalue!") == "token: secret-1\nlater secret-1!");
  CHECK(masked("password:\npassword: \"\"\nkey = {") == "password:\npassword: \"\"\nkey = {");
}

// --- properties

namespace {

// A machine's addresses, and each of them as tools write it.
struct Addresses {
  std::mt19937 random{7};              // NOLINT(cert-msc51-cpp): the same ones every time
  std::vector<std::string> written;    // what texts hold
  std::vector<std::string> originals;  // what must be in no text afterwards

  static std::string print(const char* format, const std::array<unsigned, 8>& n) {
    std::array<char, 80> text{};
    const int size = std::snprintf(text.data(), text.size(), format, n[0], n[1], n[2], n[3], n[4],
                                   n[5], n[6], n[7]);
    return {text.data(), static_cast<std::size_t>(size)};
  }
  unsigned byte() { return static_cast<unsigned>(random() % 256); }
  void write(const std::string& text) {
    written.push_back(text);
    originals.push_back(text);
  }

  void ipv4() {
    // Neither loopback nor multicast nor a mask.
    const std::array<unsigned, 8> n{1 + byte() % 120, byte(), byte(), 2 + byte() % 250};
    write(print("%u.%u.%u.%u", n));
    write(print("::ffff:%u.%u.%u.%u", n));
    write(print("0000:0000:0000:0000:0000:ffff:%02x%02x:%02x%02x", n));
    // Known to be an address by the other spelling only.
    originals.push_back(print("%u-%u-%u-%u", n));
    written.push_back(print("%u.%u.%u.%u", n) + " ip-" + originals.back());
    originals.push_back(print("ffff:%02x%02x:%02x%02x", n));
  }
  void mac() {
    const std::array<unsigned, 8> n{byte() & 0xFEU, byte(), byte(),
                                    byte(),         byte(), 1 + byte() % 250};
    write(print("%02x:%02x:%02x:%02x:%02x:%02x", n));
    write(print("%02X-%02X-%02X-%02X-%02X-%02X", n));
    write(print("enx%02x%02x%02x%02x%02x%02x", n));
    originals.push_back(written.back().substr(3));
    std::array<unsigned, 8> eui = n;
    eui[0] ^= 2U;
    write(print("fe80:0000:0000:0000:%02x%02x:%02xff:fe%02x:%02x%02x", eui));
    write(print("%02x%02x:%02xff:fe%02x:%02x%02x", eui));
    write(print("0x%02x%02x%02xfffe%02x%02x%02x", eui));
    in6_addr address{};
    ::inet_pton(AF_INET6, written[written.size() - 3].c_str(), &address);
    std::array<char, INET6_ADDRSTRLEN> text{};
    write(::inet_ntop(AF_INET6, &address, text.data(), text.size()));
    originals.push_back(written.back().substr(6));
  }
  void ipv6() {
    in6_addr address{};
    for (auto& one : address.s6_addr)
      one = static_cast<std::uint8_t>(random() % 3 == 0 ? 0 : byte());
    address.s6_addr[0] = 0x20;
    std::array<char, INET6_ADDRSTRLEN> text{};
    write(::inet_ntop(AF_INET6, &address, text.data(), text.size()));
    std::string full;
    for (std::size_t n = 0; n < 16; n += 2)
      full +=
          print(n == 0 ? "%02x%02x" : ":%02x%02x", {address.s6_addr[n], address.s6_addr[n + 1]});
    write(full);
    full.erase(std::remove(full.begin(), full.end(), ':'), full.end());
    write(full);
  }
};

constexpr std::array<const char*, 13> kAround{
    " ",   "\n",       "/24 ", "inet ",   "GID[  1]:\t\t", ", RoCE v1\n", "\"mac\": \"",
    "\",", "port 1: ", "(",    ") from ", "lladdr ",       "%ens224f0 "};

}  // namespace

TEST_CASE("no address is found in what was masked, in whatever spelling and surroundings") {
  Addresses addresses;
  for (int n = 0; n < 20; ++n) {
    addresses.ipv4();
    addresses.mac();
    addresses.ipv6();
  }
  test::Mutator mutator{kAround};
  for (int round = 0; round < 200; ++round) {
    std::vector<std::string> parts(3);
    for (std::string& part : parts)
      for (int piece = 0; piece < 40; ++piece)
        part += kAround[mutator.below(kAround.size())] +
                addresses.written[mutator.below(addresses.written.size())] +
                kAround[mutator.below(kAround.size())];
    Redactor redactor;
    for (const std::string& part : parts) redactor.learn(part);
    for (const std::string& part : parts) {
      const std::string out = redactor.mask(part);
      CHECK(out == redactor.mask(part));
      for (const std::string& original : addresses.originals)
        if (has(out, original)) {
          INFO(original << "\n--- of\n" << part << "\n--- in\n" << out);
          FAIL("an address was left");
        }
    }
  }
}

TEST_CASE("redaction takes whatever text there is, and keeps what is no secret") {
  const std::string text =
      "inet 10.0.0.5/24 fe80::250:56ff:fe8a:9fc2 00:50:56:8a:9f:c2 /home/alice key = \"v\" "
      "https://a:b@c/ -----BEGIN PRIVATE KEY-----\n0250:56ff:fe8a:9fc2 version 1.2.3.4\n";
  static constexpr std::array<const char*, 8> kPieces{":", "::", ".", "0:", "\"", "=", "-", "\xff"};
  test::Mutator mutator{kPieces};
  for (int round = 0; round < 3000; ++round) {
    const std::string odd = mutator.mutated(text, 1 + mutator.below(8));
    Redactor redactor;
    redactor.learn(odd);
    static_cast<void>(redactor.mask(odd));
  }
  CHECK(masked("").empty());
}

TEST_CASE("lines of any length are masked in time") {
  for (const char* piece :
       {" ", ":", "::", "a", "a:", "key ", "x=", "1.", "00:", "/home/", "\"", "-"}) {
    std::string text;
    while (text.size() < 1'000'000) text += piece;
    Redactor redactor;
    const BootTime start = BootClock::now();
    redactor.learn(text);
    static_cast<void>(redactor.mask(text));
    INFO(piece << ": " << (BootClock::now() - start).count() << " ms");
    CHECK(BootClock::now() - start < std::chrono::seconds{20});
  }
}
