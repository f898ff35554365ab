// SPDX-License-Identifier: GPL-2.0-or-later
// Targets for data that machines which measure send each other. The adapter is made up
// (made_up_verbs.cpp).
#include <nlohmann/json.hpp>

#include "agent/tools/verify/mesh/coordinator.hpp"
#include "agent/tools/verify/mesh/member.hpp"
#include "agent/tools/verify/mesh/rendering.hpp"
#include "agent/tools/verify/peer/measure.hpp"
#include "agent/tools/verify/peer/reception.hpp"
#include "agent/tools/verify/peer/run.hpp"
#include "agent/tools/verify/peer/verdict.hpp"
#include "tests/fuzz/made_up_verbs.hpp"
#include "tests/fuzz/sockets.hpp"
#include "tests/fuzz/target.hpp"

namespace pvrdma::fuzz {

using namespace pvrdma::verify;

namespace {

// All of the peer's bytes are there already, so each wait is short.
BootTime soon() { return BootClock::now() + Milliseconds{50}; }

void show(const Json& answer) {
  const auto figures = figures_from(answer);
  if (!figures) return;
  const auto verdict =
      judge("peer", "device", *figures, parse_expectation("latency=10us"), {{}, 100.0});
  require_tame(render(verdict, {}));
  static_cast<void>(to_json(verdict, answer).dump(-1, ' ', true, Json::error_handler_t::replace));
}

void show(const Mesh& found) {
  const auto judgement = judge(found);
  require_tame(render(found, judgement, {}));
  static_cast<void>(to_csv(found, judgement));
  static_cast<void>(heat_map(found, judgement));
  static_cast<void>(to_json(found, judgement).dump(-1, ' ', true, Json::error_handler_t::replace));
}

}  // namespace

// Lines of a connection, from a client or a listener.
void control(std::string_view bytes) {
  const unsigned choice = take_choice(bytes);
  Pair pair = connected_with(bytes);
  Control connection{std::move(pair.ours)};
  if ((choice & 1U) != 0)
    if (auto greeted =
            greet(connection, (choice & 2U) != 0 ? Side::Client : Side::Listener, "", soon());
        !greeted)
      require_line(greeted.error().message());
  for (int line = 0; line < 20; ++line) {
    if ((choice & 8U) != 0)
      if (auto there = connection.check_peer(); !there) require_line(there.error().message());
    const auto came =
        line % 2 == 0 ? connection.receive_answer(soon()) : connection.receive(soon());
    if (came)
      static_cast<void>(came->dump(-1, ' ', true, Json::error_handler_t::replace));
    else if (came.error().code == ECONNRESET || came.error().code == EMSGSIZE)
      return require_line(came.error().message());
  }
}

// Up to four machines, separated by a byte 0xff; the first byte is the number of machines to come.
void mesh(std::string_view bytes) {
  const std::size_t size = 2 + take_choice(bytes) % 3;
  std::vector<Fd> strangers;
  Reception reception{nullptr, "", true};
  for (int machine = 0; machine < 4 && !bytes.empty(); ++machine) {
    const std::size_t end = bytes.find('\xff');
    Pair pair = connected_with(bytes.substr(0, end));
    bytes.remove_prefix(end == std::string_view::npos ? bytes.size() : end + 1);
    reception.add(Control{std::move(pair.ours)});
    strangers.push_back(std::move(pair.strangers));
  }
  const auto held = hold(reception, {size,
                                     3,
                                     Milliseconds{50},
                                     Milliseconds{50},
                                     {},
                                     [](const PairResult&) {},
                                     [](const std::string&) {}});
  if (held)
    show(*held);
  else
    require_line(printable(held.error().message()));
}

// A whole measurement, for the side that the first byte chooses.
void serve(std::string_view bytes) {
  const Side side = (take_choice(bytes) & 1U) != 0 ? Side::Client : Side::Listener;
  const unsigned adapter = take_choice(bytes);
  auto connection = Connection::open(kMadeUpDevice, 0);
  require(connection.has_value(), "the made-up adapter opens");
  make_up({(adapter & 1U) != 0, adapter >> 1U & 3U});
  Pair pair = connected_with(bytes);
  Control control{std::move(pair.ours)};
  const auto measured = [&]() -> Result<Json> {
    if (auto greeted = greet(control, side, "", soon()); !greeted) return fail(greeted.error());
    const auto peer = exchange_names(control, connection->name(), soon());
    if (!peer) return fail(peer.error());
    if (auto connected = connection->connect(*peer); !connected) return fail(connected.error());
    return side == Side::Client
               ? measure(control, *connection, Milliseconds{10}, [](const std::string&) {})
               : verify::serve(control, *connection, soon());
  }();
  if (measured)
    show(*measured);
  else
    require_line(printable(measured.error().message()));
}

// The output of pvrdma-verify, which a peer may have influenced.
void figures(std::string_view bytes) {
  const Json object = Json::parse(bytes, nullptr, false);
  if (!object.is_object()) return;
  show(object);
  if (const auto seen = seen_from_here(object.value("figures", Json{}), "10.0.0.1")) show(*seen);
  if (const auto run = run_from(object))
    require(run->bytes <= kMessageAtMost && run_from(to_json(*run)).has_value(),
            "a run comes back");
  const auto pair = pair_figures_from(object);
  static_cast<void>(pair_result_from(object));
  Mesh found;
  found.size = 3;
  found.machines = {{"a", "10.0.0.1", "d"}, {"b", "10.0.0.2", "d"}, {"c", "10.0.0.3", "d"}};
  if (const auto machine = machine_from(object)) found.machines[1] = *machine;
  for (std::size_t at = 0; at < 3; ++at)
    found.pairs.push_back({found.machines[at].address, found.machines[(at + 1) % 3].address,
                           pair && at > 0 ? std::optional{*pair} : std::nullopt,
                           text_in(object, "failed")});
  if (found.machines[1].address != "10.0.0.1" && found.machines[1].address != "10.0.0.3")
    show(found);
}

}  // namespace pvrdma::fuzz
