// A varlink service on an sd-event loop: AF_UNIX stream, JSON objects, each ended by a NUL byte
// (https://varlink.org/Service). Single-threaded, as the loop is.
//
// A client that floods, stalls or vanishes costs nobody else anything: messages, clients, pending
// output and idle time are limited, and no call here ever blocks.
#pragma once

#include <systemd/sd-event.h>

#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

#include "agent/base/clock.hpp"
#include "agent/base/error.hpp"
#include "agent/base/handle.hpp"

namespace pvrdma::varlink {

using Json = nlohmann::json;

struct Limits {
  std::size_t message_bytes = 16U << 10U;  // of one request
  std::size_t output_bytes = 1U << 20U;    // pending to one client; more: it is cut off
  // Without those of uid 0 and of the service's own user, who always find a place (clients.hpp).
  std::size_t clients = 1024;
  std::size_t clients_per_uid = 128;
  Milliseconds idle = std::chrono::minutes{2};           // without a request or an open watch
  Milliseconds half_message = std::chrono::seconds{10};  // from a message's first byte to its last
};

// One request, from its arrival until its last reply. The handler may keep it and reply later; if
// it is dropped unanswered, the client gets an error. After the client has gone, replies do
// nothing.
class Call {
 public:
  virtual ~Call() = default;
  [[nodiscard]] virtual const std::string& method() const = 0;  // "io.pvrdma.Agent.GetHealth"
  [[nodiscard]] virtual const Json& parameters() const = 0;     // always an object
  [[nodiscard]] virtual bool wants_more() const = 0;
  [[nodiscard]] virtual uid_t peer_uid() const = 0;          // SO_PEERCRED, unix(7)
  [[nodiscard]] virtual bool gone() const = 0;               // the client has left
  virtual void reply(const Json& parameters) = 0;            // the last one
  virtual void reply_continues(const Json& parameters) = 0;  // only where wants_more()
  // Like the two above for parameters already serialised, to share one text among many clients.
  virtual void reply_text(std::string_view parameters, bool continues) = 0;
  virtual void error(std::string_view name, const Json& parameters) = 0;  // "io.pvrdma.Agent.InUse"
  // Called once, from the loop, when the client leaves before the last reply. For who keeps calls.
  virtual void on_gone(std::function<void()> callback) = 0;
};
using CallPtr = std::shared_ptr<Call>;
using Handler = std::function<void(CallPtr)>;

struct About {
  std::string vendor, product, version, url;
};

class Service {
 public:
  // `event` must outlive the service.
  Service(sd_event* event, About about, Limits limits = {});
  ~Service();
  Service(const Service&) = delete;
  Service& operator=(const Service&) = delete;
  Service(Service&&) = delete;
  Service& operator=(Service&&) = delete;

  // `description` is the interface file's text; its `interface` line names it, its `method` lines
  // are the methods, each of which must have a handler (by its short name: "GetHealth").
  // Requests are checked against the parameters the description declares before the handler sees
  // them: unknown, missing or mistyped ones get org.varlink.service.InvalidParameter.
  [[nodiscard]] Result<void> add_interface(std::string_view description,
                                           std::map<std::string, Handler> handlers);
  // Binds and listens; a stale socket file of the same name is replaced. `mode` of the socket file.
  [[nodiscard]] Result<void> listen(const std::string& path, unsigned mode);
  // Accepts on a listening socket that somebody else bound (sd_listen_fds(3)).
  [[nodiscard]] Result<void> listen_on(Fd socket);

  [[nodiscard]] std::size_t clients() const;
  // Called when the last client has left.
  void on_idle(std::function<void()> callback);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace pvrdma::varlink
