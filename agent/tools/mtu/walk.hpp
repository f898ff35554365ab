// One host's measurement under way: its search, its socket and its clock.
#pragma once

#include <optional>
#include <vector>

#include "agent/base/clock.hpp"
#include "agent/tools/mtu/echo_socket.hpp"
#include "agent/tools/mtu/measurement.hpp"
#include "agent/tools/mtu/pace.hpp"
#include "agent/tools/mtu/search.hpp"

namespace pvrdma::ctl::pmtu {

class Walk {
 public:
  // `interface`: the only one to measure from; empty: where the route goes.
  explicit Walk(std::string host, std::string interface = {});

  // The name was resolved: sends the first probe to the first address that can be reached.
  void begin(const Addresses& addresses, BootTime now);
  // The socket has something, or the time of a probe is over: takes notice, sends what is next.
  void go_on(BootTime now);
  // Ends it with what is known; why, where nothing is. `after` is the whole time it had.
  void give_up(BootTime now, Milliseconds after);

  [[nodiscard]] bool done() const { return seen_.done; }
  // -1 before begin() and after the end.
  [[nodiscard]] int fd() const { return socket_ && !done() ? socket_->fd() : -1; }
  // When go_on() wants to be called though nothing came; none: not before something comes.
  [[nodiscard]] std::optional<BootTime> deadline() const;
  [[nodiscard]] const Measurement& seen() const { return seen_; }

 private:
  struct Sent {
    unsigned size = 0;
    BootTime at;
  };

  void listen(BootTime now);
  void note(const Answered& event, BootTime now);
  void note(const TooBig& event, BootTime now);
  void note(const Unreachable& event, BootTime now);
  void send(BootTime now);
  void end(BootTime now);

  Measurement seen_;
  std::string bound_to_;
  BootTime started_;
  std::optional<EchoSocket> socket_;
  std::optional<Search> search_;
  Pace pace_;
  std::vector<Sent> sent_;  // by sequence number, from 1
  BootTime answer_by_;
};

}  // namespace pvrdma::ctl::pmtu
