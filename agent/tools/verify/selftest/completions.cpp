// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/tools/verify/selftest/completions.hpp"

#include <poll.h>

#include <algorithm>
#include <cerrno>
#include <string>

namespace pvrdma::ctl::selftest {

namespace {

// The index is the number of Work.
constexpr std::array<const char*, kWorks> kWorkNames{"a send",    "a send",    "a receive",
                                                     "a receive", "a receive", "an RDMA write"};

tl::unexpected<Failure> failed_completion(const ibv_wc& wc) {
  std::string what = wc.wr_id < kWorks ? kWorkNames.at(wc.wr_id) : "";
  what += std::string{" ended with: "} + ibv_wc_status_str(wc.status);
  if (wc.vendor_err != 0) what += " (vendor error " + std::to_string(wc.vendor_err) + ")";
  return failure(0, std::move(what), wc.status);
}

}  // namespace

Stepped<void> Completions::drain() {
  ibv_wc wc{};
  int got = 0;
  while ((got = ibv_poll_cq(endpoint_.completions.get(), 1, &wc)) > 0) {
    if (wc.status != IBV_WC_SUCCESS) return failed_completion(wc);
    if (wc.wr_id >= kWorks) return failure(EBADMSG, "a completion of work that was not posted");
    done_.at(wc.wr_id) = true;
    received_.at(wc.wr_id) = wc.byte_len;
  }
  if (got < 0) return failure(EIO, "polling the completion queue");
  return {};
}

bool Completions::take(std::initializer_list<Work> works) {
  const auto is_done = [&](Work work) -> bool& { return done_.at(static_cast<std::size_t>(work)); };
  if (!std::all_of(works.begin(), works.end(), is_done)) return false;
  for (const Work work : works) is_done(work) = false;
  return true;
}

Stepped<bool> Completions::sleep() const {
  for (;;) {
    const auto left =
        std::chrono::ceil<std::chrono::milliseconds>(deadline_ - Clock::now()).count();
    if (left <= 0) return false;
    pollfd readable{endpoint_.channel->fd, POLLIN, 0};
    const int ready = ::poll(&readable, 1, static_cast<int>(left));
    if (ready > 0) break;
    if (ready < 0 && errno != EINTR) return failure(errno, "waiting for a completion event");
  }
  ibv_cq* queue = nullptr;
  void* context = nullptr;
  if (ibv_get_cq_event(endpoint_.channel.get(), &queue, &context) != 0)
    return failure(errno, "taking a completion event");
  ibv_ack_cq_events(queue, 1);
  return true;
}

Stepped<void> Completions::await(std::initializer_list<Work> works,
                                 std::chrono::nanoseconds polling) {
  const auto polls_until = std::min(Clock::now() + polling, deadline_);
  do {
    if (auto drained = drain(); !drained) return drained;
    if (take(works)) return {};
  } while (Clock::now() < polls_until);
  for (;;) {
    // A completion that came before the event was requested sends none, so look again.
    if (const int code = ibv_req_notify_cq(endpoint_.completions.get(), 0))
      return failure(code, "asking for completion events");
    if (auto drained = drain(); !drained) return drained;
    if (take(works)) return {};
    const auto woken = sleep();
    if (!woken) return tl::unexpected<Failure>(woken.error());
    if (*woken) continue;
    if (auto drained = drain(); !drained) return drained;
    return take(works) ? failure(ETIMEDOUT, "it completed, but sent no event")
                       : failure(ETIMEDOUT, "no completion came");
  }
}

}  // namespace pvrdma::ctl::selftest
