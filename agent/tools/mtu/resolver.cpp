// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/tools/mtu/resolver.hpp"

#include <netdb.h>
#include <sys/eventfd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <mutex>
#include <thread>
#include <utility>

#include "agent/base/guarded.hpp"
#include "agent/base/handle.hpp"

namespace pvrdma::ctl::pmtu {

namespace {

Address address_of(const addrinfo& info) {
  Address address;
  std::memcpy(&address.storage, info.ai_addr, info.ai_addrlen);
  address.length = info.ai_addrlen;
  address.text = in_numbers(info.ai_addr, info.ai_addrlen);
  return address;
}

Addresses look_up(int family, const std::string& host, int flags) {
  addrinfo hints{};
  hints.ai_family = family;
  hints.ai_socktype = SOCK_DGRAM;  // one entry for each address
  hints.ai_flags = flags;
  addrinfo* found = nullptr;
  const int code = getaddrinfo(host.c_str(), nullptr, &hints, &found);
  if (code == EAI_SYSTEM) return fail(errno, "resolving", host);
  if (code != 0) return fail(0, "resolving", host + ": " + gai_strerror(code));
  const Handle<addrinfo, freeaddrinfo> owner{found};
  std::vector<Address> addresses;
  for (const addrinfo* info = found; info != nullptr; info = info->ai_next)
    addresses.push_back(address_of(*info));
  return addresses;
}

}  // namespace

std::string in_numbers(const sockaddr* address, socklen_t length) {
  std::array<char, NI_MAXHOST> text{};
  const int code =
      getnameinfo(address, length, text.data(), text.size(), nullptr, 0, NI_NUMERICHOST);
  return code == 0 ? text.data() : "";
}

// Owned by the resolver and by each thread still at work.
struct Resolver::Shared {
  std::mutex mutex;
  std::vector<Answer> answers;
  Fd event;

  void add(Answer answer) {
    const std::lock_guard lock{mutex};
    answers.push_back(std::move(answer));
    // Fails only where the counter is full, and then the fd is readable as it is.
    static_cast<void>(eventfd_write(event.get(), 1));
  }
};

Resolver::Resolver(int family, std::shared_ptr<Shared> shared)
    : family_(family), shared_(std::move(shared)) {}

Result<Resolver> Resolver::make(int family) {
  auto shared = std::make_shared<Shared>();
  shared->event = Fd{eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)};
  if (!shared->event) return fail(errno, "creating", "an event descriptor");
  return Resolver{family, std::move(shared)};
}

void Resolver::ask(std::size_t index, const std::string& host) {
  if (auto at_once = look_up(family_, host, AI_NUMERICHOST))
    return shared_->add({index, std::move(at_once)});
  // The thread outlives nothing it uses: what it shares, it owns as well.
  std::thread{[shared = shared_, family = family_, index, host] {
    // Where it fails the host stays without an answer, until the time for all is over.
    static_cast<void>(guarded([&] { shared->add({index, look_up(family, host, 0)}); }));
  }}.detach();
}

int Resolver::fd() const { return shared_->event.get(); }

std::vector<Resolver::Answer> Resolver::take() {
  const std::lock_guard lock{shared_->mutex};
  eventfd_t count = 0;
  static_cast<void>(eventfd_read(shared_->event.get(), &count));
  return std::exchange(shared_->answers, {});
}

}  // namespace pvrdma::ctl::pmtu
