#include "agent/tools/verify/peer/tcp_run.hpp"

namespace pvrdma::verify {

Result<void> tcp_ping_pong(const Run& run, Side side, Control& control, BootTime deadline,
                           std::vector<Nanoseconds>& times) {
  std::vector<std::byte> message(run.bytes);
  const auto write = [&] { return control.write(message.data(), message.size(), deadline); };
  const auto read = [&] { return control.read(message.data(), message.size(), deadline); };
  for (std::uint32_t round = 0; round < run.count; ++round) {
    const auto start = std::chrono::steady_clock::now();
    auto done = side == Side::Client ? write().and_then(read) : read().and_then(write);
    if (!done) return done;
    if (side == Side::Client) times.push_back(std::chrono::steady_clock::now() - start);
  }
  return {};
}

Result<void> tcp_stream(const Run& run, bool sends, Control& control, BootTime deadline,
                        Received& received) {
  std::vector<std::byte> message(run.bytes);
  std::chrono::steady_clock::time_point first;
  for (std::uint32_t n = 0; n < run.count; ++n) {
    auto done = sends ? control.write(message.data(), message.size(), deadline)
                      : control.read(message.data(), message.size(), deadline);
    if (!done) return done;
    if (n == 0) first = std::chrono::steady_clock::now();
  }
  if (!sends) received = {std::chrono::steady_clock::now() - first, run.count - 1};
  return {};
}

}  // namespace pvrdma::verify
