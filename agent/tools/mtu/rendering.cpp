// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/tools/mtu/rendering.hpp"

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <utility>

#include "agent/ctl/json_text.hpp"
#include "agent/ctl/text.hpp"
#include "agent/model/identifiers.hpp"
#include "agent/tools/survey/vsphere_menus.hpp"

namespace pvrdma::ctl {

namespace {

using pmtu::Limit;
using pmtu::Measurement;

// An MTU that may be too small for packets that vanish without a word.
struct PlaceToLook {
  const char* where;
  const char* menu;  // in the vSphere Client; empty: it is not there
  const char* how;   // a command that shows it
};
// From the guest outwards, as the guides have it.
constexpr std::array<PlaceToLook, 4> kPlacesToLook{{
    {"both guests' interfaces", "", "ip link show"},
    {"distributed switch", menus::kSwitchMtu, ""},
    {"physical switches", "", "MTU of each port and VLAN between the hosts"},
    {"vmknics of both hosts", menus::kVmkernelAdapters, "esxcli network ip interface list"},
}};
std::string how_of(const PlaceToLook& place) {
  const std::string menu = place.menu;
  const std::string how = place.how;
  return (menu.empty() ? "" : "vSphere Client: " + menu) +
         (menu.empty() || how.empty() ? "" : "; ") + how;
}
// Whether larger packets vanish on the way, and no router says why.
bool vanishes(const Measurement& one) { return one.found() && one.outcome.limit == Limit::Silence; }

// "db1 (192.0.2.7)", or the address alone where that was given.
std::string name_of(const Measurement& one) {
  const std::string host = printable(one.host);
  return one.address.empty() || one.address == one.host
             ? host
             : host + " (" + printable(one.address) + ")";
}

std::string effort(const Measurement& one) {
  const unsigned probes = one.outcome.probes;
  return "(" + std::to_string(probes) + (probes == 1 ? " probe, " : " probes, ") + span(one.took) +
         ")";
}

std::string router_words(const Measurement& one) {
  const pmtu::Claim& claim = one.outcome.claim.value();
  if (claim.router.empty()) return "limited by a router that told this host earlier (ip route get)";
  std::string words = "limited by router " + printable(claim.router) + ", which says ";
  words += is_ipv6(one.address) ? "\"packet too big\"" : "\"fragmentation needed\"";
  if (claim.mtu == 0) return words + " but names no MTU";
  if (claim.mtu != one.outcome.mtu) words += " but names MTU " + std::to_string(claim.mtu);
  return words;
}

// As JSON names it, and as a line says it.
std::pair<const char*, std::string> limit_of(const Measurement& one) {
  const auto& link = one.outcome.link_mtu;
  switch (one.outcome.limit.value()) {
    case Limit::LocalLink:
      return {"local-link",
              "limited by the local link" + (one.interface.empty() ? "" : " " + one.interface)};
    case Limit::Router:
      return {"router", router_words(one)};
    case Limit::Silence:
      return {"silence", "larger packets vanish, and no router says why" +
                             (link ? " (local link: " + std::to_string(*link) + ")" : "")};
    case Limit::LargestPacket:
      break;
  }
  return {"largest-packet", "the largest packet IP has"};
}

// Why there is no answer; empty where there is one.
std::string trouble(const Measurement& one) {
  if (one.found()) return {};
  if (!one.error.empty()) return printable(one.error);
  if (one.outcome.mtu > 0)
    return "packets of " + std::to_string(one.outcome.mtu) +
           " bytes pass, but the search did not come to its end " + effort(one);
  const std::string words = "no answer, not even to small packets " + effort(one);
  return one.unreachable.empty() ? words : words + "; " + printable(one.unreachable);
}

// The first of those with the smallest MTU.
const Measurement* smallest(const Measurements& all) {
  const Measurement* least = nullptr;
  for (const Measurement& one : all)
    if (one.found() && (least == nullptr || one.outcome.mtu < least->outcome.mtu)) least = &one;
  return least;
}

// Where to look, once for all hosts; empty where no packets vanish.
std::string place_lines(const Measurements& all) {
  constexpr std::size_t kWhereColumns = 25;
  std::vector<std::string> hosts;
  for (const Measurement& one : all)
    if (vanishes(one)) hosts.push_back(name_of(one));
  if (hosts.empty()) return {};
  std::string lines = "where large packets vanish to " + joined(hosts) + ", look at the MTU of:\n";
  for (const PlaceToLook& place : kPlacesToLook)
    lines += "  " + padded(place.where, kWhereColumns) + how_of(place) + "\n";
  return lines;
}

std::string expectation_line(const Measurements& all, unsigned expect) {
  const auto hosts = [&](pmtu::Carries wanted) {
    std::vector<std::string> names;
    for (const Measurement& one : all)
      if (pmtu::carries(one, expect) == wanted) names.push_back(name_of(one));
    return joined(names);
  };
  std::vector<std::string> words;
  if (const std::string no = hosts(pmtu::Carries::No); !no.empty())
    words.push_back("do not pass to " + no);
  if (const std::string unknown = hosts(pmtu::Carries::Unknown); !unknown.empty())
    words.push_back("not known of " + unknown);
  return "expected: packets of " + std::to_string(expect) + " bytes " +
         (words.empty() ? "pass" : joined(words, "; ")) + "\n";
}

Json places_json(const Measurement& one) {
  Json places = Json::array();
  if (vanishes(one))
    for (const PlaceToLook& place : kPlacesToLook)
      places.push_back({{"where", place.where}, {"how", how_of(place)}});
  return places;
}

Json carried(pmtu::Carries carries, unsigned expect) {
  if (expect == 0) return {};
  return carries == pmtu::Carries::Yes ? "yes" : carries == pmtu::Carries::No ? "no" : "unknown";
}

Json json_of(const Measurement& one, unsigned expect) {
  const pmtu::Outcome& outcome = one.outcome;
  return {{"host", one.host},
          {"address", or_null(one.address)},
          {"mtu_bytes", one.found() ? Json(outcome.mtu) : Json{}},
          {"passed_bytes", outcome.mtu > 0 ? Json(outcome.mtu) : Json{}},
          {"limited_by", outcome.limit ? Json(limit_of(one).first) : Json{}},
          {"link_mtu_bytes", outcome.link_mtu ? Json(*outcome.link_mtu) : Json{}},
          {"interface", or_null(one.interface)},
          {"router", outcome.claim ? or_null(outcome.claim->router) : Json{}},
          {"router_mtu_bytes", outcome.claim ? Json(outcome.claim->mtu) : Json{}},
          {"probes", outcome.probes},
          {"took_ms", one.took.count()},
          {"carried", carried(pmtu::carries(one, expect), expect)},
          {"look_at", places_json(one)},
          {"error", or_null(trouble(one))}};
}

// Of several hosts; empty where there is none.
std::string minimum_line(const Measurements& all, std::size_t found) {
  const Measurement* least = smallest(all);
  if (all.size() < 2 || least == nullptr) return {};
  std::string line =
      "minimum: MTU " + std::to_string(least->outcome.mtu) + ", to " + name_of(*least);
  if (found < all.size())
    line += " (" + std::to_string(found) + " of " + std::to_string(all.size()) + " hosts)";
  return line + "\n";
}

}  // namespace

std::string render_mtu(const Measurements& all, unsigned expect) {
  std::string out;
  std::size_t found = 0;
  for (const Measurement& one : all) {
    if (!one.found()) continue;
    ++found;
    out += name_of(one) + ": MTU " + std::to_string(one.outcome.mtu) + ", " + limit_of(one).second +
           " " + effort(one) + "\n";
  }
  out += place_lines(all) + minimum_line(all, found);
  return expect == 0 ? out : out + expectation_line(all, expect);
}

std::vector<std::string> mtu_complaints(const Measurements& all) {
  std::vector<std::pair<std::string, std::string>> lines;  // hosts, trouble
  for (const Measurement& one : all) {
    const std::string what = trouble(one);
    if (what.empty()) continue;
    const auto same = std::ranges::find(lines, what, &std::pair<std::string, std::string>::second);
    if (same == lines.end())
      lines.emplace_back(name_of(one), what);
    else
      same->first += ", " + name_of(one);
  }
  std::vector<std::string> out;
  out.reserve(lines.size());
  for (const auto& [hosts, what] : lines) out.push_back(hosts + ": " + what);
  return out;
}

std::string mtu_progress(const Measurements& all) {
  if (all.size() == 1) {
    const Measurement& one = all.front();
    return name_of(one) + ": " + std::to_string(one.outcome.mtu) + " bytes pass, trying " +
           std::to_string(one.trying);
  }
  unsigned probes = 0;
  for (const Measurement& one : all) probes += one.outcome.probes;
  const auto done = std::ranges::count_if(all, &Measurement::done);
  return std::to_string(done) + " of " + std::to_string(all.size()) + " hosts done, " +
         std::to_string(probes) + " probes";
}

Json mtu_json(const Measurements& all, unsigned expect) {
  Json hosts = Json::array();
  for (const Measurement& one : all) hosts.push_back(json_of(one, expect));
  const Measurement* least = smallest(all);
  return {{"version", 1},
          {"hosts", std::move(hosts)},
          {"minimum_mtu_bytes", least == nullptr ? Json{} : Json(least->outcome.mtu)},
          {"expected_bytes", expect == 0 ? Json{} : Json(expect)},
          {"carried", carried(pmtu::carries(all, expect), expect)}};
}

}  // namespace pvrdma::ctl
