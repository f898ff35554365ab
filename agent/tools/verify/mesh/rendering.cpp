// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/tools/verify/mesh/rendering.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

#include "agent/base/format.hpp"
#include "agent/base/text.hpp"

namespace pvrdma::verify {

namespace {

using nlohmann::json;

constexpr std::size_t kTableAtMost = 12;
constexpr std::size_t kNameAtMost = 30;

std::string line(const std::string& text, const ctl::Style& style) {
  return "  " + ctl::wrapped(printable(text), style.width, 4) + "\n";
}

std::string name_of(const Mesh& mesh, std::size_t machine) {
  return mesh.machines[machine].name + " (" + mesh.machines[machine].address + ")";
}

std::string headline(const Mesh& mesh, const Judgement& judgement, const ctl::Style& style) {
  const int code = exit_code(mesh, judgement);
  const char* const words[] = {"none stands out", "some stand out", "not all of them work",
                               "nothing was measured"};
  const ctl::Colour colour = code == 0   ? ctl::Colour::Green
                             : code == 1 ? ctl::Colour::Yellow
                                         : ctl::Colour::Red;
  return formatted(
      "{} of {} machines, {} of {} pairs measured: {}\n", mesh.machines.size(), mesh.size,
      measured(mesh), mesh.pairs.size(),
      ctl::painted(
          judgement.all_over_tcp && code == 1 ? "all between hosts go over TCP" : words[code],
          colour, style));
}

std::string table(const Mesh& mesh, const Judgement& judgement, const MatrixKind& kind) {
  const Matrix matrix = matrix_of(mesh, judgement, kind);
  // The columns have numbers alone: the names of a cluster differ at their ends.
  std::vector<std::string> rows;
  std::size_t width = 0;
  for (const Machine& machine : mesh.machines) {
    rows.push_back(formatted("  {:>2} {}", rows.size() + 1,
                             ctl::shortened(printable(machine.name), kNameAtMost)));
    width = std::max(width, rows.back().size());
  }
  std::string text = std::string{"  "} + kind.title + "\n" + ctl::padded("", width);
  for (std::size_t to = 1; to <= matrix.size(); ++to) text += formatted("{:>10}", to);
  text += "\n";
  for (std::size_t from = 0; from < matrix.size(); ++from) {
    text += ctl::padded(rows[from], width);
    for (std::size_t to = 0; to < matrix.size(); ++to)
      text += from == to         ? formatted("{:>10}", "")
              : matrix[from][to] ? formatted("{:>10.1f}", *matrix[from][to])
                                 : formatted("{:>10}", "-");
    text += "\n";
  }
  return text;
}

// A fault common to all pairs of a blamed machine is told once.
std::string blame_line(const Mesh& mesh, const Judgement& judgement, std::size_t machine) {
  std::vector<std::string> reasons;
  std::set<std::size_t> partners, working;
  for (const JudgedPair& pair : judgement.pairs)
    if (pair.from == machine || pair.to == machine) {
      partners.insert(pair.from == machine ? pair.to : pair.from);
      for (const std::string& reason : pair.bad)
        if (!contains(reasons, reason)) reasons.push_back(reason);
    }
  constexpr std::size_t kReasons = 3;
  if (reasons.size() > kReasons) reasons.resize(kReasons);
  for (const JudgedPair& pair : judgement.pairs)
    for (const std::size_t partner : {pair.from, pair.to})
      if (pair.bad.empty() && partners.contains(partner)) working.insert(partner);
  return formatted("{}: with all of its {} partners, of whom {} work{} well with others: {}",
                   name_of(mesh, machine), partners.size(), working.size(),
                   working.size() == 1 ? "s" : "", joined(reasons));
}

// A spreadsheet runs a text that begins like a formula, and a terminal obeys control characters; a
// machine chooses its own name and the text of its failure.
std::string csv_field(const std::string& text) {
  constexpr std::string_view kFormula = "=+-@";
  std::string quoted = "\"";
  if (!text.empty() && kFormula.find(text.front()) != std::string_view::npos) quoted += '\'';
  for (const char each : printable(text))
    quoted += each == '"' ? std::string{"\"\""} : std::string{each};
  return quoted + "\"";
}

std::string spread_line(const Spread& spread) {
  return formatted("{}: {} pair{}{}, {}", words_of(spread.path).id, spread.pairs,
                   spread.pairs == 1 ? "" : "s",
                   spread.unclear > 0 ? formatted(" ({} of unclear path)", spread.unclear) : "",
                   joined(spread.figures));
}

auto count_of(const Judgement& judgement, Path path) {
  return std::ranges::count(judgement.pairs, path, &JudgedPair::path);
}

// Whether pairs may be bad only because others, which are few or fast, are within one host.
bool may_mix_paths(const Mesh& mesh, const Judgement& judgement) {
  const auto rdma = count_of(judgement, Path::Rdma);
  return mesh.properties.empty() &&
         ((rdma > 0 && rdma < count_of(judgement, Path::TcpFallBack)) ||
          std::ranges::any_of(judgement.pairs, [](const JudgedPair& pair) {
            return pair.path == Path::Rdma && !pair.bad.empty();
          }));
}

}  // namespace

Matrix matrix_of(const Mesh& mesh, const Judgement& judgement, const MatrixKind& kind) {
  const std::size_t size = mesh.machines.size();
  Matrix matrix(size, std::vector<std::optional<double>>(size));
  for (std::size_t at = 0; at < mesh.pairs.size(); ++at) {
    const JudgedPair& pair = judgement.pairs[at];
    const auto& figures = mesh.pairs[at].figures;
    if (!figures) continue;
    matrix[pair.from][pair.to] = kind.of(*figures, true);
    matrix[pair.to][pair.from] = kind.of(*figures, false);
  }
  return matrix;
}

std::string render(const Mesh& mesh, const Judgement& judgement, const ctl::Style& style) {
  std::string text = headline(mesh, judgement, style);
  for (const std::size_t machine : judgement.blamed)
    text += line(blame_line(mesh, judgement, machine), style);
  for (const std::size_t at : judgement.unclear) {
    const JudgedPair& pair = judgement.pairs[at];
    text += line(
        name_of(mesh, pair.from) + " and " + name_of(mesh, pair.to) + ": " + joined(pair.bad, "; "),
        style);
  }
  if (may_mix_paths(mesh, judgement))
    text += line(
        "pairs of one host copy memory, which may be all that stands out: --line-rate and "
        "--host-properties tell such pairs from others",
        style);
  for (const Spread& spread : judgement.spreads) text += line(spread_line(spread), style);
  if (count_of(judgement, Path::TcpFallBack) > 0)
    for (const std::string& cause : causes_of_fall_back()) text += line(cause, style);
  if (judgement.smallest_mtu_bytes)
    text += line(formatted("the smallest MTU is {:.0f} bytes: it fits every pair",
                           *judgement.smallest_mtu_bytes),
                 style);
  else if (measured(mesh) > 0)
    text += line("no MTU was measured: pvrdma-agentctl mtu, tried by this user, says why", style);
  if (mesh.machines.size() <= kTableAtMost && measured(mesh) > 0)
    for (const MatrixKind& kind : kMatrices)
      if (kind.key != std::string_view{"mtu_bytes"}) text += table(mesh, judgement, kind);
  return text;
}

json to_json(const Mesh& mesh, const Judgement& judgement) {
  json result{{"size", mesh.size}, {"all_over_tcp", judgement.all_over_tcp}};
  result["machines"] = json::array();
  for (const Machine& machine : mesh.machines)
    result["machines"].push_back(verify::to_json(machine));
  for (const MatrixKind& kind : kMatrices) {
    json rows = json::array();
    for (const auto& row : matrix_of(mesh, judgement, kind)) {
      json cells = json::array();
      for (const auto& cell : row) cells.push_back(cell ? json(*cell) : json());
      rows.push_back(std::move(cells));
    }
    result[kind.key] = std::move(rows);
  }
  result["pairs"] = json::array();
  for (std::size_t at = 0; at < mesh.pairs.size(); ++at) {
    json pair = verify::to_json(mesh.pairs[at]);
    const JudgedPair& judged = judgement.pairs[at];
    pair["path"] = judged.path ? json(words_of(*judged.path).id) : json();
    pair["stands_out"] = judged.bad;
    result["pairs"].push_back(std::move(pair));
  }
  result["blamed"] = json::array();
  for (const std::size_t machine : judgement.blamed)
    result["blamed"].push_back(mesh.machines[machine].address);
  result["smallest_mtu_bytes"] =
      judgement.smallest_mtu_bytes ? json(*judgement.smallest_mtu_bytes) : json();
  return result;
}

std::string to_csv(const Mesh& mesh, const Judgement& judgement) {
  std::string text =
      "from,to,from_name,to_name,path,latency_us,p99_us,out_mb_s,in_mb_s,both_mb_s,"
      "messages_per_s,tcp_latency_us,tcp_bandwidth_mb_s,mtu_bytes,stands_out\r\n";
  for (std::size_t at = 0; at < mesh.pairs.size(); ++at) {
    const PairResult& pair = mesh.pairs[at];
    const JudgedPair& judged = judgement.pairs[at];
    text += formatted("{},{},{},{},{}", csv_field(pair.from), csv_field(pair.to),
                      csv_field(mesh.machines[judged.from].name),
                      csv_field(mesh.machines[judged.to].name),
                      judged.path ? words_of(*judged.path).id : "");
    if (const auto& of = pair.figures)
      text += formatted(",{:.2f},{:.2f},{:.1f},{:.1f},{:.1f},{:.0f},{:.2f},{:.1f},{}",
                        of->latency_us, of->p99_us, of->out_mb_s, of->in_mb_s, of->both_mb_s,
                        of->messages_per_s, of->tcp_latency_us, of->tcp_bandwidth_mb_s,
                        of->mtu_bytes ? formatted("{:.0f}", *of->mtu_bytes) : "");
    else
      text += ",,,,,,,,,";
    text += "," + csv_field(joined(judged.bad)) + "\r\n";
  }
  return text;
}

}  // namespace pvrdma::verify
