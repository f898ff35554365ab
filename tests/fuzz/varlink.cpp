// SPDX-License-Identifier: GPL-2.0-or-later
// Targets for both sides of varlink.
#include <sys/un.h>
#include <unistd.h>

#include <cstring>
#include <vector>

#include "agent/varlink/client.hpp"
#include "agent/varlink/service.hpp"
#include "tests/fuzz/sockets.hpp"
#include "tests/fuzz/target.hpp"

namespace pvrdma::fuzz {

using namespace pvrdma::varlink;

namespace {

constexpr std::string_view kInterface = R"(interface x.y
type T (a: ?int, b: []string)
method Reply(t: ?T, o: ?object) -> (n: int)
method Keep() -> ()
method Watch(n: ?int) -> (n: int)
method Drop() -> ()
method Big(n: int) -> (s: string)
error E (x: int)
)";

// A service whose handlers answer at once, later, often, or never; the input drives its clients.
class Served {
 public:
  explicit Served(sd_event* event) : event_(event), service_(event, "p") {
    const auto added = service_.add_interface(
        kInterface, {{"Reply",
                      [](CallPtr call) {
                        call->reply({{"n", 1}});
                      }},
                     {"Keep", [this](CallPtr call) { keep(std::move(call)); }},
                     {"Watch",
                      [](CallPtr call) {
                        for (int n = 0; n < 3; ++n) call->reply_continues({{"n", n}});
                        call->reply({{"n", 9}});
                      }},
                     {"Drop", [](const CallPtr&) {}},
                     {"Big", [](CallPtr call) {
                        const auto wanted = call->parameters()["n"].get<std::int64_t>();
                        constexpr std::int64_t kMost = 400'000;
                        const auto bytes = std::clamp<std::int64_t>(wanted, 0, kMost);
                        call->reply({{"s", std::string(static_cast<std::size_t>(bytes), 'x')}});
                      }}});
    require(added.has_value(), "the interface is one");
    listen();
  }

  void connect() {
    Fd client{::socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0)};
    if (::connect(client.get(), reinterpret_cast<const sockaddr*>(&address_), length_) == 0)
      clients_.push_back(std::move(client));
    turn();
  }
  void turn() {
    for (int n = 0; n < 40 && sd_event_run(event_, 0) > 0; ++n) {
    }
  }
  void drain() {
    std::array<char, 65536> bytes{};
    for (const Fd& client : clients_)
      for (int n = 0; n < 8 && ::recv(client.get(), bytes.data(), bytes.size(), 0) > 0; ++n) {
      }
  }
  void send(std::size_t client, std::string_view bytes) {
    static_cast<void>(
        ::send(clients_[client % clients_.size()].get(), bytes.data(), bytes.size(), MSG_NOSIGNAL));
  }
  void answer_kept() {
    if (kept_.empty()) return;
    const CallPtr call = kept_.back();
    kept_.pop_back();
    call->reply(Json::object());
  }
  void leave() {
    if (!clients_.empty()) clients_.pop_back();
    turn();
  }
  [[nodiscard]] std::size_t clients() const { return clients_.size(); }
  void require_answer() {
    connect();
    require(!clients_.empty(), "another client may come");
    constexpr char kCall[] = R"({"method":"org.varlink.service.GetInfo"})";  // and its NUL
    send(clients_.size() - 1, {kCall, sizeof kCall});
    std::string answer(4096, '\0');
    ssize_t got = -1;
    // The requests that others have sent at once come first where the clients are root's.
    for (int n = 0; n < 200 && got <= 0; ++n) {
      turn();
      got = ::recv(clients_.back().get(), answer.data(), answer.size(), 0);
    }
    require(got > 0 && answer.starts_with(R"({"parameters":{"interfaces":)"),
            "another client is answered");
  }
  void end() {
    clients_.clear();
    turn();
    kept_.clear();
    turn();
    require(service_.clients() == 0, "a client that has left is forgotten");
  }

 private:
  void listen() {
    Fd listening{::socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0)};
    address_.sun_family = AF_UNIX;
    // The kernel chooses the name (unix(7), "Autobind").
    ::bind(listening.get(), reinterpret_cast<const sockaddr*>(&address_), sizeof(sa_family_t));
    length_ = sizeof address_;
    ::getsockname(listening.get(), reinterpret_cast<sockaddr*>(&address_), &length_);
    ::listen(listening.get(), 8);
    require(service_.listen_on(std::move(listening)).has_value(), "the service listens");
  }
  void keep(CallPtr call) {
    const Call* const one = call.get();
    call->on_gone([this, one] {
      std::erase_if(kept_, [&](const CallPtr& kept) { return kept.get() == one; });
    });
    kept_.push_back(std::move(call));
  }

  sd_event* event_;
  std::vector<CallPtr> kept_;
  Service service_;
  sockaddr_un address_{};
  socklen_t length_ = 0;
  std::vector<Fd> clients_;
};

}  // namespace

// A byte below ten chooses an event; another is the number of following bytes that a client sends.
void service(std::string_view bytes) {
  static const Handle<sd_event, sd_event_unref> kEvent = [] {
    sd_event* event = nullptr;
    require(sd_event_new(&event) >= 0, "there is a loop");
    return Handle<sd_event, sd_event_unref>{event};
  }();
  Served served{kEvent.get()};
  while (!bytes.empty()) {
    const unsigned choice = take_choice(bytes);
    if (choice < 4 && served.clients() < 4) {
      served.connect();
    } else if (choice == 4) {
      served.drain();
    } else if (choice == 5) {
      served.leave();
    } else if (choice == 6) {
      served.answer_kept();
    } else if (choice < 10) {
      served.turn();
    } else {
      if (served.clients() == 0) served.connect();
      if (served.clients() == 0) break;
      const std::string_view part = bytes.substr(0, choice > 200 ? choice * 40UL : choice - 9UL);
      served.send(choice, part);
      bytes.remove_prefix(part.size());
    }
  }
  served.turn();
  served.require_answer();
  served.end();
}

// Gives the client a server's bytes.
void client(std::string_view bytes) {
  Pair pair = connected_with(bytes);
  Client caller{PeerSocket{std::move(pair.ours)}};
  if (!caller.start_stream("x.y.Watch", Json::object())) return;
  for (int replies = 0; replies < 64; ++replies) {
    const auto reply = caller.next(Milliseconds{0});
    if (!reply) return require_line(reply.error().message());
    static_cast<void>(to_text(reply->parameters));
  }
}

}  // namespace pvrdma::fuzz
