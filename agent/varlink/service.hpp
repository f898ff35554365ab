// SPDX-License-Identifier: GPL-2.0-or-later
// A varlink service on an sd-event loop: JSON objects over an AF_UNIX stream, each ended by a NUL
// byte (https://varlink.org/Service). Single-threaded, like the loop.
//
// A client that floods, stalls or vanishes does not harm other clients: messages, clients, unsent
// output and idle time are limited, and no call here ever blocks. connection.cpp handles one
// connection, clients.cpp decides which may stay and which rest; this file accepts them, and finds
// the handler of a method.
#pragma once

#include <sys/types.h>
#include <systemd/sd-event.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "agent/base/error.hpp"
#include "agent/base/handle.hpp"
#include "agent/base/timer.hpp"
#include "agent/varlink/call.hpp"
#include "agent/varlink/clients.hpp"
#include "agent/varlink/connection.hpp"
#include "agent/varlink/interface.hpp"

namespace pvrdma::varlink {

using Handler = std::function<void(CallPtr)>;

class Service final : Connection::Owner {
 public:
  // `event` must outlive the service. `product`: in the answer to org.varlink.service.GetInfo.
  Service(sd_event* event, std::string product, Limits limits = {});
  ~Service();
  Service(const Service&) = delete;
  Service& operator=(const Service&) = delete;

  // `description` is the interface file's text; its `interface` line names it, its `method` lines
  // are the methods, each of which must have a handler (by its short name: "GetHealth").
  // Requests are checked against the parameters the description declares before the handler sees
  // them: unknown, missing or mistyped ones get org.varlink.service.InvalidParameter.
  [[nodiscard]] Result<void> add_interface(std::string_view description,
                                           std::map<std::string, Handler> handlers);
  // Binds and listens; a stale socket file of the same name is replaced. `mode` is that of the
  // socket file.
  [[nodiscard]] Result<void> listen(const std::string& path, unsigned mode);
  // Accepts on a listening socket that another process bound (sd_listen_fds(3)).
  [[nodiscard]] Result<void> listen_on(Fd socket);

  [[nodiscard]] std::size_t clients() const { return clients_.size(); }
  // Called when the last client has left.
  void on_idle(std::function<void()> callback) { idle_ = std::move(callback); }
  // Called about a second after most clients of a crowd have left, so that their memory can be
  // given back.
  void on_crowd_left(std::function<void()> callback) { crowd_left_ = std::move(callback); }

 private:
  void handle(CallPtr call) override;
  void closed(Connection& connection) override;
  void spent(uid_t uid, std::uint64_t cpu) override;
  [[nodiscard]] std::uint64_t now() const;  // CLOCK_MONOTONIC in µs
  // Ends the rest of users whose time has come, and sets the timer for the next.
  void wake(std::uint64_t now);

  [[nodiscard]] Result<void> add_own_interface();
  void describe(const CallPtr& call) const;
  [[nodiscard]] Result<void> watch(Fd socket, bool own);
  static int on_accept(sd_event_source* source, int fd, std::uint32_t events, void* self);
  static int on_pause_over(sd_event_source* source, std::uint64_t when, void* self);
  static int on_rest_over(sd_event_source* source, std::uint64_t when, void* self);
  static int on_crowd_rest(sd_event_source* source, std::uint64_t when, void* self);
  // False: no client waits, or none can be accepted now.
  bool accept_one(int listening);
  // Logs the first of several errors in a row; a callback of the loop has no caller who could.
  void say_not_accepted(const Error& error);
  // Called where accept(2) fails, for instance without free descriptors: the loop would spin.
  void pause_listening();
  void resume_listening();

  struct Route {
    std::string description;
    Interface interface;
    std::map<std::string, Handler> handlers;
  };
  struct Listener {
    Fd socket;
    EventSource source;  // declared after its fd, so that it is destroyed first
    bool own;            // no other process listens on it as well
  };
  sd_event* event_;
  std::string product_;
  Limits limits_;
  std::map<std::string, Route, std::less<>> routes_;
  std::vector<Listener> listeners_;
  EventSource pause_;          // null while the service listens
  bool not_accepted_ = false;  // the last client was not accepted because of an error
  Clients clients_;
  EventSource rest_;  // set while a user rests
  std::function<void()> idle_;
  EventSource crowd_rest_;  // set while a crowd leaves
  std::function<void()> crowd_left_;
};

}  // namespace pvrdma::varlink
