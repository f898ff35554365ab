// SPDX-License-Identifier: GPL-2.0-or-later
// One client of a service: its socket, its unfinished input, its unsent output, its time limits.
//
// Requests are answered in order: the next one is not taken before the current one has its last
// reply. Memory is bounded: nothing is read while a whole request waits, no request is taken while
// much output is unsent, and a client whose output exceeds the limit is disconnected. No call here
// blocks; a client that passes a descriptor is disconnected, as its close could wait (closing.hpp).
// A piece of work is one read and one request; the rest waits for the loop's next round, in which
// all other clients have their turn.
#pragma once

#include <systemd/sd-event.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "agent/base/clock.hpp"
#include "agent/base/handle.hpp"
#include "agent/base/timer.hpp"
#include "agent/varlink/call.hpp"
#include "agent/varlink/closing.hpp"
#include "agent/varlink/message.hpp"

namespace pvrdma::varlink {

struct Limits {
  std::size_t message_bytes = 16U << 10U;  // of one request
  std::size_t output_bytes = 1U << 20U;    // unsent to one client; with more it is disconnected
  // Not counting uid 0 and the service's own user, who are always accepted (clients.hpp).
  std::size_t clients = 1024;
  std::size_t clients_per_uid = 128;
  bool cpu_shares = true;  // whether a user who has used much CPU time rests (clients.hpp)
  Milliseconds idle = std::chrono::minutes{2};           // without a request or an open watch
  Milliseconds half_message = std::chrono::seconds{10};  // from a message's first byte to its last
};

class Connection final : public std::enable_shared_from_this<Connection> {
 public:
  // The maker of the connection; must outlive it.
  class Owner {
   public:
    virtual void handle(CallPtr call) = 0;
    // Called once, when the client has left or was disconnected; never from the destructor.
    virtual void closed(Connection& connection) = 0;
    // Called after each piece of work for this user, with the CPU time that it took (µs).
    virtual void spent(uid_t uid, std::uint64_t cpu) = 0;

   protected:
    ~Owner() = default;
  };

  // `socket` is a connected, non-blocking stream socket. Errors: those of setsockopt(2) and of
  // making event sources.
  [[nodiscard]] static Result<std::shared_ptr<Connection>> open(sd_event* event, PeerSocket socket,
                                                                uid_t peer_uid,
                                                                const Limits& limits, Owner& owner);
  // Only for open().
  Connection(sd_event* event, PeerSocket socket, uid_t peer_uid, const Limits& limits,
             Owner& owner);
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  [[nodiscard]] uid_t peer_uid() const noexcept { return peer_uid_; }
  [[nodiscard]] bool gone() const noexcept { return closed_ || hung_up_; }

  // While a connection rests, nothing is read from its client, and no request is taken.
  void set_rest(bool rests);

  // The call under way sends whole messages, and then reports that it is answered.
  void send(std::string_view message);
  // Whether more is unsent than a last message of this size and what may be unsent when a request
  // is taken.
  [[nodiscard]] bool lags_behind(std::size_t last_message) const noexcept;
  void call_answered();

  // Closes the connection at once, and calls Call::on_gone() of the call under way.
  void close();

 private:
  // Runs the work of a callback of the loop. An exception only closes this connection.
  template <typename Work>
  static int carry_out(void* self, Work work);
  static int on_io(sd_event_source* source, int fd, std::uint32_t events, void* self);
  static int on_timer(sd_event_source* source, std::uint64_t when, void* self);
  static int on_resume(sd_event_source* source, void* self);

  [[nodiscard]] Result<void> attach();
  void hang_up();
  void receive();
  void flush();
  void take_request();
  void handle(std::string_view message);
  // Sets the event sources to match the state, and closes where nothing is left to do. Must follow
  // every change of the state.
  void settle();
  void settle_time();

  // Handles the requests that wait from the loop's next round.
  void resume();

  [[nodiscard]] std::uint64_t now() const;
  [[nodiscard]] std::uint64_t deadline() const;  // CLOCK_MONOTONIC in µs
  [[nodiscard]] bool may_take() const;           // whether a request may be taken from the input
  [[nodiscard]] bool finished() const;

  sd_event* event_;
  PeerSocket socket_;
  uid_t peer_uid_;
  const Limits& limits_;
  Owner& owner_;
  Decoder input_;
  std::string output_;
  std::weak_ptr<Call> call_;  // the call under way
  EventSource io_, timer_, resume_;
  std::uint32_t watched_ = 0;   // epoll's mask of io_
  std::uint64_t timer_at_ = 0;  // 0: off
  std::uint64_t active_at_ = 0;
  std::uint64_t part_since_ = 0;  // when an incomplete message began; 0: there is none
  bool rests_ = false;
  bool in_flight_ = false;  // a request waits for its last reply
  bool taking_ = false;     // take_request() is on the stack
  bool eof_ = false;        // the client sends nothing more, but may still read
  bool hung_up_ = false;    // the client has gone; only its oneway calls are still handled
  bool closed_ = false;
};

}  // namespace pvrdma::varlink
