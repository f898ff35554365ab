// SPDX-License-Identifier: GPL-2.0-or-later
// pvrdma-verify listen|connect DEVICE GID_INDEX ADDRESS PORT WAIT_MS DURATION_MS MAC: the part of
// `pvrdma-agentctl verify` that needs libibverbs. The token, if there is one, comes on standard
// input. Prints JSON in one line: the figures, or "failed" with the step that failed. Before that,
// a listener tells its caller the duration of a client that measures for longer. Exit status 0:
// measured, 1: failed, 2: a wrong command line.
//
// ADDRESS is the peer's; for a listener the address to listen on ("" for any). MAC is told to the
// peer ("": not known). Progress goes to the terminal, if PVRDMA_VERIFY_PROGRESS is set.
#include <signal.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "agent/base/held_signals.hpp"
#include "agent/base/text.hpp"
#include "agent/tools/verify/peer/measure.hpp"

namespace {

using namespace pvrdma;
using namespace pvrdma::verify;

constexpr Milliseconds kSoon = std::chrono::seconds{10};

struct Arguments {
  Side side = Side::Client;
  std::string device, address, mac;
  int gid_index = 0, port = 0;
  Milliseconds wait{0}, duration{0};
};

std::optional<Arguments> parse(int count, char** words) {
  if (count != 9) return std::nullopt;
  const std::string side = words[1];
  const auto gid_index = number_from<int>(words[3]);
  const auto port = number_from<int>(words[5]);
  const auto wait = number_from<int>(words[6]);
  const auto duration = number_from<int>(words[7]);
  if ((side != "listen" && side != "connect") || !gid_index || !port || !wait || !duration)
    return std::nullopt;
  return Arguments{side == "listen" ? Side::Listener : Side::Client,
                   words[2],
                   words[4],
                   words[8],
                   *gid_index,
                   *port,
                   Milliseconds{*wait},
                   Milliseconds{*duration}};
}

void show(const std::string& doing) {
  if (std::getenv("PVRDMA_VERIFY_PROGRESS") == nullptr) return;
  const Handle<std::FILE, std::fclose> terminal{std::fopen("/dev/tty", "we")};
  if (terminal) std::fprintf(terminal.get(), "\r\033[K%s", doing.c_str());
}

// `measuring` is set once both sides are about to connect: from then on both report the same
// failure.
Result<Json> measure_with(Control& control, Connection& connection, const Arguments& arguments,
                          BootTime named_until, bool& measuring) {
  PairName own = connection.name();
  own.mac = arguments.mac;
  own.duration = arguments.duration;
  const auto peer = exchange_names(control, own, named_until);
  if (!peer) return fail(peer.error());
  measuring = true;
  if (arguments.side == Side::Listener && peer->duration > arguments.duration) {
    std::printf("%s%lld\n", kServesFor.data(), static_cast<long long>(peer->duration.count()));
    std::fflush(stdout);
  }
  const auto connected = [&] {
    const HeldSignals held;
    return connection.connect(*peer);
  }();
  if (!connected) return fail(connected.error());
  auto found = arguments.side == Side::Client
                   ? measure(control, connection, arguments.duration, show)
                   : serve(control, connection,
                           BootClock::now() + serving_limit(arguments.duration, peer->duration));
  if (found) (*found)["peer_mac"] = peer->mac;
  return found;
}

Result<Json> work(const Arguments& arguments, const std::string& token, bool& measuring) {
  auto connection = [&] {
    const HeldSignals held;
    return Connection::open(arguments.device, arguments.gid_index);
  }();
  if (!connection) return fail(connection.error());
  const BootTime until = BootClock::now() + arguments.wait;
  if (arguments.side == Side::Listener) show("waiting for a peer");
  auto control = arguments.side == Side::Client
                     ? reach(arguments.address, arguments.port, token, until, kSoon)
                     : await_peer(arguments.address, arguments.port, token, until);
  show("");
  if (!control) return fail(control.error());
  auto found = measure_with(*control, *connection, arguments, BootClock::now() + kSoon, measuring);
  if (arguments.side == Side::Client) show("");
  if (found)
    (*found)["peer_address"] = control->peer();
  else
    control->send_failure(found.error());
  return found;
}

}  // namespace

int main(int count, char** words) {
  const auto arguments = parse(count, words);
  if (!arguments) {
    std::fprintf(stderr,
                 "usage: pvrdma-verify listen|connect DEVICE GID_INDEX ADDRESS PORT WAIT_MS "
                 "DURATION_MS MAC\n");
    return 2;
  }
  // If pvrdma-agentctl dies, this process must not go on holding the device.
  ::prctl(PR_SET_PDEATHSIG, SIGTERM);
  bool measuring = false;
  auto found = work(*arguments, read_token(STDIN_FILENO).value_or(""), measuring);
  Json answer = found ? std::move(*found)
                      : Json{{"failed",
                              {{"code", found.error().code},
                               {"measuring", measuring},
                               {"message", found.error().message()}}}};
  std::printf("%s\n", answer.dump(-1, ' ', true, Json::error_handler_t::replace).c_str());
  return found ? EXIT_SUCCESS : EXIT_FAILURE;
}
