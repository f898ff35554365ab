// SPDX-License-Identifier: GPL-2.0-or-later
// Strangers at the port of `verify --listen` and of the mesh's rendezvous: they open connections
// without end, from several addresses, and greet no more than half.
#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <iterator>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "agent/tools/verify/peer/reception.hpp"
#include "tests/unit/catch.hpp"
#include "tests/unit/tools/verify/free_port.hpp"

namespace pvrdma::verify {

namespace {

sockaddr_in local(const std::string& address, int port) {
  sockaddr_in made{};
  made.sin_family = AF_INET;
  made.sin_port = htons(static_cast<std::uint16_t>(port));
  REQUIRE(::inet_pton(AF_INET, address.c_str(), &made.sin_addr) == 1);
  return made;
}

// A connection to this port of 127.0.0.1 from another address of this machine. Does not wait.
Fd stranger(const std::string& from, int port) {
  Fd fd{::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0)};
  const sockaddr_in own = local(from, 0);
  const sockaddr_in to = local("127.0.0.1", port);
  const int yes = 1;
  REQUIRE(::setsockopt(fd.get(), IPPROTO_IP, IP_BIND_ADDRESS_NO_PORT, &yes, sizeof yes) == 0);
  REQUIRE(::bind(fd.get(), reinterpret_cast<const sockaddr*>(&own), sizeof own) == 0);
  static_cast<void>(::connect(fd.get(), reinterpret_cast<const sockaddr*>(&to), sizeof to));
  return fd;
}

// Whether the listener has closed this connection.
bool is_closed(const Fd& fd) {
  char byte = 0;
  ssize_t got = 0;
  while ((got = ::recv(fd.get(), &byte, 1, 0)) > 0) {
  }
  return got == 0 || errno != EAGAIN;
}

std::size_t closed(const std::vector<Fd>& strangers) {
  return static_cast<std::size_t>(std::count_if(strangers.begin(), strangers.end(), is_closed));
}

std::vector<Fd> take_places(Reception& reception, const Listener& listener, int port,
                            const std::vector<std::string>& from) {
  std::vector<Fd> strangers;
  for (std::size_t n = 0; n < Reception::kMostAtOnce; ++n) {
    strangers.push_back(stranger(from[n % from.size()], port));
    auto control = listener.accept(test::in_time());
    REQUIRE(control);
    reception.add(std::move(*control));
  }
  return strangers;
}

// The next guest that is not refused.
bool peer_comes(Reception& reception) {
  for (;;) {
    const auto guest = reception.next(test::in_time());
    if (!guest || !guest->refused) return guest.has_value();
  }
}

std::size_t descriptors() {
  return static_cast<std::size_t>(
      std::distance(std::filesystem::directory_iterator{"/proc/self/fd"}, {}));
}

// Opens connections from four addresses as fast as one thread can, until it is destroyed. Each says
// one of the texts.
class Flood {
 public:
  static constexpr std::size_t kOpen = 600;  // at once; the oldest ends for the next

  Flood(int port, std::vector<std::string> texts) : port_(port), texts_(std::move(texts)) {}

  // Returns when so many connections more have been opened that none of the earlier ones is left.
  void await_more() const {
    for (const std::size_t from = opened_; opened_ < from + kOpen;) std::this_thread::yield();
  }

 private:
  void run(const std::stop_token& stop) {
    for (; !stop.stop_requested(); ++opened_) {
      Fd& fd = strangers_[opened_ % kOpen];
      fd = stranger("127.0.0." + std::to_string(2 + opened_ % 4), port_);
      const std::string& text = texts_[opened_ / 4 % texts_.size()];
      static_cast<void>(::send(fd.get(), text.data(), text.size(), MSG_NOSIGNAL));
    }
  }

  const int port_;
  const std::vector<std::string> texts_;
  std::vector<Fd> strangers_ = std::vector<Fd>(kOpen);
  std::atomic<std::size_t> opened_{0};
  std::jthread thread_{[this](const std::stop_token& stop) { run(stop); }};
};

}  // namespace

TEST_CASE("where strangers of few addresses have all places, one makes room for a peer") {
  const test::FreePort port;
  const auto listener = Listener::open("127.0.0.1", port.number, Reception::kQueue);
  REQUIRE(listener);
  Reception reception{&*listener, "", false};
  const auto strangers =
      take_places(reception, *listener, port.number, {"127.0.0.2", "127.0.0.3", "127.0.0.4"});
  std::optional<Result<void>> greeted;
  std::jthread peer{[&] {
    auto control = Control::connect("127.0.0.1", port.number, test::in_time());
    greeted = control ? greet(*control, Side::Client, "", test::in_time()) : fail(control.error());
  }};
  CHECK(peer_comes(reception));
  peer.join();
  CHECK(greeted->has_value());
  CHECK(closed(strangers) == 1);
  CHECK(is_closed(strangers.front()));
}

TEST_CASE("strangers hold no more descriptors than there are places, however many they are") {
  const test::FreePort port;
  const auto listener = Listener::open("127.0.0.1", port.number, Reception::kQueue);
  REQUIRE(listener);
  const std::size_t before = descriptors();
  Reception reception{&*listener, "", false};
  auto strangers = take_places(reception, *listener, port.number, {"127.0.0.2", "127.0.0.3"});
  for (int more = 0; more < 100; ++more) strangers.push_back(stranger("127.0.0.2", port.number));
  // The peer is the last in the queue, so all strangers have been accepted when it comes.
  std::jthread peer{[&] {
    static_cast<void>(
        reach("127.0.0.1", port.number, "", test::in_time(), std::chrono::seconds{10}));
  }};
  CHECK(peer_comes(reception));
  peer.join();
  CHECK(descriptors() <= before + strangers.size() + Reception::kMostAtOnce);
}

TEST_CASE("machines with an address each are given time, and do not drive each other out") {
  const test::FreePort port;
  const auto listener = Listener::open("127.0.0.1", port.number, Reception::kQueue);
  REQUIRE(listener);
  Reception reception{&*listener, "", false};
  std::vector<std::string> addresses;
  for (int n = 2; n < 7; ++n) addresses.push_back("127.0.0." + std::to_string(n));
  const auto machines = take_places(reception, *listener, port.number, addresses);
  const Fd one_more = stranger("127.0.0.7", port.number);
  const auto late = reception.next(test::in_time());
  REQUIRE(late);
  REQUIRE(late->refused);
  CHECK(late->refused->code == ETIMEDOUT);
  CHECK(closed(machines) == 0);
}

TEST_CASE("a peer that the listener closes before it is greeted comes again") {
  const test::FreePort port;
  auto listener = Listener::open("127.0.0.1", port.number, Reception::kQueue);
  REQUIRE(listener);
  bool greeted = false;
  std::jthread closing{[&] {
    auto evicted = listener->accept(test::in_time());
    if (evicted) evicted = fail(0, "", "");
    auto again = listener->accept(test::in_time());
    greeted = again && greet(*again, Side::Listener, "", test::in_time());
  }};
  CHECK(reach("127.0.0.1", port.number, "", test::in_time(), std::chrono::seconds{10}));
  closing.join();
  CHECK(greeted);
}

TEST_CASE("a peer that is closed, and then finds no listener, tells that it was closed") {
  const test::FreePort port;
  auto listener = Listener::open("127.0.0.1", port.number, Reception::kQueue);
  REQUIRE(listener);
  std::jthread closing{[&] {
    static_cast<void>(listener->accept(test::in_time()));
    listener = fail(0, "", "");
  }};
  const auto until = BootClock::now() + std::chrono::seconds{1};
  const auto peer = reach("127.0.0.1", port.number, "", until, std::chrono::seconds{10});
  REQUIRE_FALSE(peer);
  CHECK(peer.error().code == ECONNRESET);
}

TEST_CASE("a peer that was closed tries again while the listener's queue is full") {
  const test::FreePort port;
  const auto listener = Listener::open("127.0.0.1", port.number, 0);
  REQUIRE(listener);
  std::vector<Fd> strangers;
  std::jthread closing{[&] {
    const auto evicted = listener->accept(test::in_time());
    while (strangers.size() < 4) strangers.push_back(stranger("127.0.0.2", port.number));
  }};
  const auto until = BootClock::now() + std::chrono::seconds{4};
  // Without a name both of this machine's addresses are meant, and nothing listens at IPv6's.
  CHECK_FALSE(reach("", port.number, "", until, std::chrono::seconds{10}));
  CHECK(BootClock::now() >= until);
  closing.join();
}

TEST_CASE("a flood of strangers from several addresses keeps no peer out") {
  const test::FreePort port;
  std::optional<Result<Control>> served;
  std::jthread listening{
      [&] { served = await_peer("127.0.0.1", port.number, "", test::in_time()); }};
  REQUIRE(Control::connect("127.0.0.1", port.number, test::in_time()));  // it listens
  Flood flood{port.number, {"", "{\"pvrdma_verify\":", "GET / HTTP/1.1\n", "\n\n\n"}};
  flood.await_more();
  auto peer = Control::connect("127.0.0.1", port.number, test::in_time());
  REQUIRE(peer);
  CHECK(greet(*peer, Side::Client, "", test::in_time()));
  listening.join();
  CHECK(served->has_value());
}

TEST_CASE("a flood of strangers without the token keeps no peer out that has it") {
  if (const auto digest = hmac("secret", "text"); !digest) {
    WARN("skipped: " + digest.error().message());
    return;
  }
  const test::FreePort port;
  const std::string hello = R"({"pvrdma_verify":1,"nonce":"0123456789abcdef0123456789abcdef",)";
  Flood flood{port.number,
              {"", hello, hello + "\"token\":false}\n",
               hello + "\"token\":true}\n{\"proof\":\"of nothing\"}\n"}};
  for (int peers = 0; peers < 2; ++peers) {
    std::optional<Result<Control>> served;
    std::jthread listening{
        [&] { served = await_peer("127.0.0.1", port.number, "secret", test::in_time()); }};
    REQUIRE(Control::connect("127.0.0.1", port.number, test::in_time()));  // it listens
    flood.await_more();
    CHECK(reach("127.0.0.1", port.number, "secret", test::in_time(), std::chrono::seconds{10}));
    listening.join();
    CHECK(served->has_value());
  }
}

TEST_CASE("addresses of one /64 are one network's, an IPv4 address is one of its own") {
  const auto network = [](const char* text) {
    sockaddr_storage address{};
    auto& of_ipv4 = reinterpret_cast<sockaddr_in&>(address);
    auto& of_ipv6 = reinterpret_cast<sockaddr_in6&>(address);
    const bool is_ipv4 = ::inet_pton(AF_INET, text, &of_ipv4.sin_addr) == 1;
    address.ss_family = is_ipv4 ? AF_INET : AF_INET6;
    if (!is_ipv4) REQUIRE(::inet_pton(AF_INET6, text, &of_ipv6.sin6_addr) == 1);
    return network_of(address);
  };
  CHECK(network("2001:db8:1:2::3") == network("2001:db8:1:2:ffff:ffff:ffff:ffff"));
  CHECK(network("2001:db8:1:2::3") != network("2001:db8:1:3::3"));
  CHECK(network("192.0.2.1") != network("192.0.2.2"));
  // A socket for both families shows an IPv4 address in IPv6's form.
  CHECK(network("::ffff:192.0.2.1") == network("192.0.2.1"));
}

}  // namespace pvrdma::verify
