// SPDX-License-Identifier: GPL-2.0-or-later
// Measures the part of a look that asks the kernel for links, addresses and routes, beside 10,
// 1,000 and 100,000 addresses and routes of 200 other interfaces, in a network namespace of its
// own. An emulated CPU would take very long to add so many addresses.
#include <sched.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "agent/base/clock.hpp"
#include "probes/netdevs.hpp"

using namespace pvrdma;

namespace {

constexpr int kInterfaces = 200;  // Linux compares a new address with those of its interface
constexpr int kLooks = 100;

void fail_with(const char* what) {
  std::fprintf(stderr, "bench-netdevs: %s\n", what);
  std::exit(1);
}

// Runs lines of ip(8).
class Batch {
 public:
  Batch() : pipe_(::popen("ip -batch -", "w")) {
    if (pipe_ == nullptr) fail_with("cannot run ip(8)");
  }
  Batch(const Batch&) = delete;
  Batch& operator=(const Batch&) = delete;
  ~Batch() {
    if (::pclose(pipe_) != 0) fail_with("ip(8) failed");
  }
  void line(const std::string& text) { std::fprintf(pipe_, "%s\n", text.c_str()); }

 private:
  std::FILE* pipe_;
};

void add_interfaces() {
  Batch batch;
  batch.line("link add v0 type veth peer name v1");
  for (const char* name : {"v0", "v1"}) batch.line(std::string{"link set "} + name + " up");
  batch.line("address add 192.168.30.1/24 dev v0");
  for (int n = 0; n < kInterfaces; n += 2) {
    const std::string one = "other" + std::to_string(n), two = "other" + std::to_string(n + 1);
    batch.line("link add " + one + " type veth peer name " + two);
    batch.line("link set " + one + " up");
    batch.line("link set " + two + " up");
  }
}

void add_addresses(int from, int to) {
  Batch batch;
  for (int n = from; n < to; ++n) {
    const std::string rest = std::to_string(n >> 16) + "." + std::to_string(n >> 8 & 255) + "." +
                             std::to_string(n & 255) + "/32 dev other" +
                             std::to_string(n % kInterfaces);
    batch.line("address add 10." + rest);
    batch.line("route add 11." + rest);
  }
}

void measure(int many) {
  std::array<double, kLooks> took{};
  const auto before = cpu_us();
  for (double& one : took) {
    const auto began = std::chrono::steady_clock::now();
    const auto found = probes::look_at_netdevs({"v0"});
    if (!found.at(0).is_known() || found[0].get()->addresses.size() < 1) fail_with("no address");
    one =
        std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - began).count();
  }
  const double used = static_cast<double>(cpu_us() - before) / kLooks;
  std::nth_element(took.begin(), took.begin() + kLooks / 2, took.end());
  std::printf("BENCH netdevs-%d-us %.0f\nBENCH netdevs-%d-cpu-us %.0f\n", many, took[kLooks / 2],
              many, used);
}

}  // namespace

int main() {
  if (::unshare(CLONE_NEWNET) != 0) fail_with("needs root, and a network namespace");
  add_interfaces();
  int have = 0;
  for (const int many : {10, 1000, 100'000}) {
    add_addresses(have, many);
    have = many;
    measure(many);
  }
  return 0;
}
