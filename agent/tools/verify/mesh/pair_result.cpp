// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/tools/verify/mesh/pair_result.hpp"

#include <array>
#include <cerrno>

#include "agent/tools/verify/peer/control.hpp"

namespace pvrdma::verify {

namespace {

using nlohmann::json;

struct Named {
  const char* name;
  double PairFigures::*value;
};
constexpr std::array<Named, 8> kMembers{{{"latency_us", &PairFigures::latency_us},
                                         {"p99_us", &PairFigures::p99_us},
                                         {"out_mb_s", &PairFigures::out_mb_s},
                                         {"in_mb_s", &PairFigures::in_mb_s},
                                         {"both_mb_s", &PairFigures::both_mb_s},
                                         {"messages_per_s", &PairFigures::messages_per_s},
                                         {"tcp_latency_us", &PairFigures::tcp_latency_us},
                                         {"tcp_bandwidth_mb_s", &PairFigures::tcp_bandwidth_mb_s}}};

}  // namespace

json to_json(const Machine& machine) {
  return {{"name", machine.name},
          {"address", machine.address},
          {"device", machine.device},
          {"mac", machine.mac}};
}

json to_json(const PairFigures& figures) {
  json object;
  for (const Named& member : kMembers) object[member.name] = figures.*member.value;
  object["mtu_bytes"] = figures.mtu_bytes ? json(*figures.mtu_bytes) : json();
  return object;
}

json to_json(const PairResult& result) {
  json object{{"from", result.from}, {"to", result.to}};
  if (result.figures)
    object["figures"] = verify::to_json(*result.figures);
  else
    object["failed"] = result.failed;
  return object;
}

Result<PairFigures> pair_figures_from(const json& object) {
  PairFigures figures;
  for (const Named& member : kMembers) {
    const auto at = object.find(member.name);
    if (at == object.end() || !at->is_number() || at->get<double>() < 0)
      return fail(EBADMSG, "reading a pair's figures:", member.name);
    figures.*member.value = at->get<double>();
  }
  if (const auto mtu = object.find("mtu_bytes"); mtu != object.end() && mtu->is_number())
    figures.mtu_bytes = mtu->get<double>();
  return figures;
}

Result<PairResult> pair_result_from(const json& object) {
  PairResult result{text_in(object, "from"), text_in(object, "to"), std::nullopt,
                    text_in(object, "failed")};
  if (result.from.empty() || result.to.empty()) return fail(EBADMSG, "reading", "a pair's result");
  if (!result.failed.empty()) return result;
  auto figures = pair_figures_from(object.value("figures", json{}));
  if (!figures) return fail(figures.error());
  result.figures = *figures;
  return result;
}

}  // namespace pvrdma::verify
