// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/tools/verify/peer/verdict.hpp"

#include <algorithm>
#include <cerrno>

#include "agent/base/format.hpp"
#include "agent/base/text.hpp"
#include "agent/tools/verify/peer/control.hpp"

namespace pvrdma::verify {

namespace {

using nlohmann::json;

constexpr std::size_t kIndent = 14;

// A number, unchanged. A missing one makes `complete` false.
json copied(const json& object, const char* key, bool& complete) {
  const auto at = object.find(key);
  if (at != object.end() && at->is_number()) return *at;
  complete = false;
  return {};
}

double number_in(const json& object, const char* key, bool& complete) {
  const json number = copied(object, key, complete);
  return number.is_number() ? number.get<double>() : 0;
}

const json& part(const json& answer, const char* key) {
  static const json none = json::object();
  const auto at = answer.find(key);
  return at != answer.end() && at->is_object() ? *at : none;
}

// One row for each message size. An empty list makes `complete` false.
const json& latencies(const json& answer, bool& complete) {
  static const json none = json::array();
  const auto at = answer.find("latency");
  if (at != answer.end() && at->is_array() && !at->empty()) return *at;
  complete = false;
  return none;
}

std::string latency_table(const Figures& figures) {
  std::string text = formatted("  {:<12}{:>9}{:>10}{:>10}{:>10}{:>10}{:>10}\n", "latency, us",
                               "bytes", "min", "typical", "average", "p99", "p99.9");
  for (const LatencyRow& of : figures.latency)
    text += formatted("  {:<12}{:>9.0f}{:>10.1f}{:>10.1f}{:>10.1f}{:>10.1f}{:>10.1f}\n", "",
                      of.bytes, of.min_us, of.typical_us, of.average_us, of.p99_us, of.p999_us);
  return text;
}

}  // namespace

Result<Figures> figures_from(const json& answer) {
  Figures figures;
  bool complete = true;
  figures.peer_address = text_in(answer, "peer_address");
  for (const json& of : latencies(answer, complete))
    figures.latency.push_back(
        {number_in(of, "message_bytes", complete), number_in(of, "min_us", complete),
         number_in(of, "typical_us", complete), number_in(of, "average_us", complete),
         number_in(of, "p99_us", complete), number_in(of, "p999_us", complete)});
  const json& bandwidth = part(answer, "bandwidth");
  figures.message_bytes = number_in(bandwidth, "message_bytes", complete);
  figures.out_mb_s = number_in(bandwidth, "out_mb_s", complete);
  figures.in_mb_s = number_in(bandwidth, "in_mb_s", complete);
  figures.both_mb_s = number_in(bandwidth, "both_mb_s", complete);
  figures.messages_per_s = number_in(answer, "messages_per_s", complete);
  const json& tcp = part(answer, "tcp");
  figures.tcp_latency_us = number_in(tcp, "latency_us", complete);
  figures.tcp_bandwidth_mb_s = number_in(tcp, "bandwidth_mb_s", complete);
  if (!complete) return fail(EBADMSG, "reading", "the figures of pvrdma-verify");
  return figures;
}

Result<json> seen_from_here(const json& told, const std::string& peer_address) {
  bool complete = told.is_object() && told.value("data_whole", json{}) == true;
  json seen{{"data_whole", true}, {"peer_address", peer_address}};
  for (const json& row : latencies(told, complete)) {
    json& of = seen["latency"].emplace_back(json::object());
    for (const char* key :
         {"message_bytes", "rounds", "min_us", "typical_us", "average_us", "p99_us", "p999_us"})
      of[key] = copied(row, key, complete);
  }
  const json& bandwidth = part(told, "bandwidth");
  seen["bandwidth"] = {{"message_bytes", copied(bandwidth, "message_bytes", complete)},
                       {"out_mb_s", copied(bandwidth, "in_mb_s", complete)},
                       {"in_mb_s", copied(bandwidth, "out_mb_s", complete)},
                       {"both_mb_s", copied(bandwidth, "both_mb_s", complete)}};
  seen["messages_per_s"] = copied(told, "messages_per_s", complete);
  const json& tcp = part(told, "tcp");
  seen["tcp"] = {{"latency_us", copied(tcp, "latency_us", complete)},
                 {"bandwidth_mb_s", copied(tcp, "bandwidth_mb_s", complete)}};
  if (!complete) return fail(EBADMSG, "reading", "the figures of the peer");
  return seen;
}

Verdict judge(std::string peer, std::string device, Figures figures,
              const std::optional<Expectation>& expected, const Known& known) {
  Verdict verdict;
  verdict.peer = std::move(peer);
  verdict.device = std::move(device);
  verdict.figures = std::move(figures);
  const Figures& of = verdict.figures;
  const double latency = of.latency.front().typical_us;
  verdict.path = classify({latency, std::max(of.out_mb_s, of.in_mb_s), of.tcp_latency_us,
                           of.tcp_bandwidth_mb_s, known.line_rate_mb_s},
                          known.hosts);
  verdict.reference_mb_s = known.line_rate_mb_s ? known.line_rate_mb_s : known.best_earlier_mb_s;
  verdict.expected = expected.has_value();
  if (expected)
    verdict.unmet =
        unmet(*expected, {latency, std::min(of.out_mb_s, of.in_mb_s), verdict.reference_mb_s});
  return verdict;
}

int exit_code(const Verdict& verdict) {
  if (!verdict.unmet.empty()) return 2;
  return verdict.path.path == Path::TcpFallBack ? 1 : 0;
}

std::string render(const Verdict& verdict, const ctl::Style& style) {
  const Figures& of = verdict.figures;
  const bool falls_back = verdict.path.path == Path::TcpFallBack;
  const ctl::Colour colour = !verdict.unmet.empty() ? ctl::Colour::Red
                             : falls_back           ? ctl::Colour::Yellow
                                                    : ctl::Colour::Green;
  const char* word = !verdict.unmet.empty() ? "below what is expected" : "messages pass";
  std::string text =
      formatted("{} from {}: {}, {}{}\n", printable(verdict.peer), printable(verdict.device),
                ctl::painted(word, colour, style),
                verdict.path.sure || verdict.path.path == Path::Unclear ? "" : "probably ",
                words_of(verdict.path.path).passes);
  text += ctl::row("data", "whole, compared byte by byte at both ends", kIndent, style);
  text += latency_table(of);
  text += ctl::row("bandwidth",
                   formatted("{:.0f} MB/s out, {:.0f} in, {:.0f} both ways at once; messages of "
                             "{:.0f} bytes",
                             of.out_mb_s, of.in_mb_s, of.both_mb_s, of.message_bytes),
                   kIndent, style);
  text += ctl::row("messages", formatted("{:.0f} a second, of 64 bytes", of.messages_per_s),
                   kIndent, style);
  text += ctl::row("TCP",
                   formatted("{:.1f} us, {:.0f} MB/s, to {} in the same run", of.tcp_latency_us,
                             of.tcp_bandwidth_mb_s, of.peer_address),
                   kIndent, style);
  for (std::size_t n = 0; n < verdict.path.reasons.size(); ++n)
    text += ctl::row(n == 0 ? "path" : "", verdict.path.reasons[n], kIndent, style);
  if (falls_back)
    for (std::size_t n = 0; n < causes_of_fall_back().size(); ++n)
      text += ctl::row(n == 0 ? "look at" : "", causes_of_fall_back()[n], kIndent, style);
  for (const std::string& what : verdict.unmet) text += ctl::row("expected", what, kIndent, style);
  if (verdict.expected && verdict.unmet.empty())
    text += ctl::row("expected", "met", kIndent, style);
  return text;
}

json to_json(const Verdict& verdict, const json& answer) {
  json result = answer;
  result["peer"] = verdict.peer;
  result["device"] = verdict.device;
  result["path"] = {{"kind", words_of(verdict.path.path).id},
                    {"sure", verdict.path.sure},
                    {"reasons", verdict.path.reasons}};
  if (verdict.path.path == Path::TcpFallBack) result["path"]["look_at"] = causes_of_fall_back();
  result["unmet"] = verdict.unmet;
  result["reference_mb_s"] = verdict.reference_mb_s ? json(*verdict.reference_mb_s) : json();
  return result;
}

}  // namespace pvrdma::verify
