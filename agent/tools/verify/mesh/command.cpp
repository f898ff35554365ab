// SPDX-License-Identifier: GPL-2.0-or-later
// `verify mesh`: every pair of several machines. One machine, the coordinator, has the address
// where all meet; it tells the others what to measure, collects the results, and takes part as
// well.
#include <sys/resource.h>

#include <algorithm>
#include <cerrno>
#include <future>
#include <nlohmann/json.hpp>
#include <optional>

#include "agent/base/format.hpp"
#include "agent/base/text.hpp"
#include "agent/ctl/json_text.hpp"
#include "agent/ctl/verbs.hpp"
#include "agent/tools/verify/commands.hpp"
#include "agent/tools/verify/mesh/coordinator.hpp"
#include "agent/tools/verify/mesh/member.hpp"
#include "agent/tools/verify/mesh/rendering.hpp"
#include "agent/tools/verify/mesh/results.hpp"
#include "agent/tools/verify/peer/greeting.hpp"
#include "agent/tools/verify/peer/helper.hpp"

namespace pvrdma::ctl {

namespace {

constexpr Milliseconds kPairDuration = std::chrono::seconds{3};
constexpr Milliseconds kSoon = std::chrono::seconds{10};
constexpr std::size_t kQuickRounds = 2;

struct Place {
  std::string host;
  int port = 0;
};

// Parses HOST:PORT; an IPv6 address stands in brackets.
std::optional<Place> parse_place(const std::string& text) {
  const std::size_t colon = text.rfind(':');
  if (colon == std::string::npos || colon == 0) return std::nullopt;
  std::string host = text.substr(0, colon);
  const auto port = number_from<int>(text.substr(colon + 1));
  if (!port || *port < 1 || *port > 65535) return std::nullopt;
  if (host.front() == '[' && host.back() == ']') host = host.substr(1, host.size() - 2);
  return Place{host, *port};
}

// None: another machine, or another program on this one, listens there.
Result<std::optional<verify::Listener>> listen_at(const Place& place, std::size_t size) {
  auto listener = verify::Listener::open(
      place.host, place.port, std::max(verify::Reception::kQueue, static_cast<int>(size)));
  if (!listener && (listener.error().code == EADDRNOTAVAIL || listener.error().code == EADDRINUSE))
    return std::nullopt;
  if (!listener) return fail(listener.error());
  // /etc/hosts may map a host's own name to 127.0.1.1: no other machine could reach that address.
  const std::string address = listener->address();
  if ((address.starts_with("127.") || address == "::1") && address != place.host)
    return fail(0, place.host + " is " + address,
                "on this machine, where no other one reaches it: --rendezvous needs an address");
  return std::optional<verify::Listener>{std::move(*listener)};
}

// Each machine needs a connection, so this allows as many as the user may have. The default limit
// of 1,024 is only for programs that call select(2); none of ours does.
void allow_many_connections() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
  limit.rlim_cur = limit.rlim_max;
  static_cast<void>(::setrlimit(RLIMIT_NOFILE, &limit));
}

Result<unsigned> join(const Place& place, const Helper& helper, Milliseconds wait,
                      std::size_t rounds) {
  // The coordinator may greet other machines first, so the wait is long.
  auto control =
      verify::reach(place.host, place.port, helper.token(), BootClock::now() + wait, wait + kSoon);
  if (!control) return fail(control.error());
  return verify::take_part(*control, helper, verify::patience_of(helper, wait, rounds));
}

// The coordinator's own work, besides taking part.
Result<verify::Mesh> hold(verify::Reception& reception, verify::Meeting meeting,
                          const std::optional<verify::Results>& results, const Console& console,
                          bool live) {
  if (results) {
    auto earlier = results->earlier();
    if (!earlier) return fail(earlier.error());
    meeting.earlier = std::move(*earlier);
  }
  Result<void> kept;
  meeting.keep = [&](const verify::PairResult& pair) {
    if (results && kept) kept = results->keep(pair);
  };
  meeting.tell = [&](const std::string& doing) {
    if (live) console.progress(doing);
  };
  auto mesh = verify::hold(reception, meeting);
  if (live) console.progress("");
  if (!kept) console.complain(printable(kept.error().message()));
  return mesh;
}

int end_holding(const Settings& settings, const Console& console, const verify::Mesh& mesh,
                const std::optional<verify::Results>& results) {
  const verify::Judgement judgement = verify::judge(mesh);
  const auto written = results ? results->write(mesh, judgement) : Result<void>{};
  // The figures took minutes to measure: they are printed all the same.
  if (!written) console.complain(printable(written.error().message()));
  const bool printed =
      console.print(settings.json ? dumped(verify::to_json(mesh, judgement)) + "\n"
                                  : verify::render(mesh, judgement, console.style()));
  return printed && written ? verify::exit_code(mesh, judgement) : kExitUnknown;
}

int end_taking_part(const Settings& settings, const Console& console, const Place& place,
                    unsigned pairs) {
  const bool printed =
      console.print(settings.json ? dumped(nlohmann::json{{"pairs", pairs}}) + "\n"
                                  : formatted("measured with {} machine{}; {} has the figures\n",
                                              pairs, pairs == 1 ? "" : "s", printable(place.host)));
  return printed ? 0 : kExitUnknown;
}

// The error in the command line; empty: it is valid. An option without effect is an error.
std::string misused(const VerifyOptions& options, const std::optional<Place>& place) {
  if (!place || options.mesh.size < 2)
    return "mesh needs --rendezvous HOST:PORT and --size, the number of machines, from 2";
  if (options.expected)
    return "--expect is for one peer; the pairs of a mesh are compared with each other";
  if (options.mesh.resume && options.mesh.folder.empty())
    return "--resume needs --output, the folder to go on with";
  return {};
}

}  // namespace

int verify_mesh(const Settings& settings, const Console& console, const VerifyOptions& options) {
  const auto place = parse_place(options.mesh.rendezvous);
  if (const std::string why = misused(options, place); !why.empty())
    return end_without(settings, console, wrong_use("verify", why));
  VerifyOptions of_pair = options;
  if (of_pair.duration.count() == 0) of_pair.duration = kPairDuration;
  const auto helper = Helper::prepare(of_pair);
  if (!helper) return end_without(settings, console, helper.error());
  if (const auto own = verify::address_in_mesh(helper->own_address(), helper->device()); !own)
    return end_without(settings, console, own.error());
  // At most: with an odd number of machines one rests in each round.
  const std::size_t rounds = options.mesh.full ? options.mesh.size : kQuickRounds;
  const auto listener = listen_at(*place, options.mesh.size);
  if (!listener) return end_without(settings, console, listener.error());
  if (!*listener) {
    const auto pairs = join(*place, *helper, options.wait, rounds);
    return pairs ? end_taking_part(settings, console, *place, *pairs)
                 : end_without(settings, console, pairs.error());
  }

  // Only here: the same command runs on machines that do not have the file.
  auto properties = read_properties(options, console);
  if (!properties) return end_without(settings, console, properties.error());
  allow_many_connections();
  std::optional<verify::Results> results;
  if (!options.mesh.folder.empty()) {
    auto opened = verify::Results::open(options.mesh.folder, options.mesh.resume);
    if (!opened) return end_without(settings, console, opened.error());
    results = std::move(*opened);
  }
  const verify::Meeting meeting{
      options.mesh.size, rounds, options.wait, verify::round_limit(*helper), {}, {}, {}};
  verify::Reception reception{&**listener, helper->token(), true};
  auto holding = std::async(std::launch::async, [&] {
    return hold(reception, meeting, results, console, console.live && !settings.json);
  });
  const auto own = join(*place, *helper, options.wait, rounds);
  auto mesh = holding.get();
  if (!mesh) return end_without(settings, console, mesh.error());
  if (!own) console.complain("this machine: " + printable(own.error().message()));
  mesh->line_rate_mb_s = options.line_rate_mb_s;
  mesh->properties = std::move(*properties);
  return end_holding(settings, console, *mesh, results);
}

}  // namespace pvrdma::ctl
