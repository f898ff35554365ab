// SPDX-License-Identifier: GPL-2.0-or-later
// Schedule, judgement and rendering of `verify mesh`. Machines are made up.
#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

#include "agent/tools/verify/mesh/rendering.hpp"
#include "tests/unit/catch.hpp"
#include "tests/unit/tools/verify/made_mesh.hpp"

namespace pvrdma::verify {

namespace {

using Index = std::vector<std::size_t>;

const ctl::Style kWide{300, false, {}};

}  // namespace

TEST_CASE("every pair meets once, and no machine is in two pairs of a round") {
  for (const std::size_t machines : {2U, 3U, 4U, 7U, 64U, 1000U}) {
    const auto rounds = schedule(machines, machines);
    CHECK(rounds.size() == (machines % 2 == 0 ? machines - 1 : machines));
    std::vector<bool> seen(machines * machines);
    bool disjoint = true;
    for (const auto& round : rounds) {
      std::vector<bool> busy(machines);
      for (const auto& [one, other] : round) {
        disjoint = disjoint && one < other && other < machines && !busy[one] && !busy[other];
        busy[one] = busy[other] = seen[one * machines + other] = true;
      }
      disjoint = disjoint && round.size() == machines / 2;
    }
    CHECK(disjoint);
    CHECK(std::count(seen.begin(), seen.end(), true) ==
          static_cast<std::ptrdiff_t>(machines * (machines - 1) / 2));
  }
  CHECK(schedule(1, 5).empty());
  CHECK(schedule(1000, 2).size() == 2);
}

TEST_CASE("machines with similar figures are good") {
  const Mesh mesh = mesh_of(64, 64);
  const Judgement judgement = judge(mesh);
  CHECK(judgement.blamed.empty());
  CHECK(judgement.unclear.empty());
  CHECK(judgement.smallest_mtu_bytes == 9000);
  CHECK(exit_code(mesh, judgement) == 0);
}

TEST_CASE("a machine that is slow with all partners is blamed, its partners are not") {
  Mesh mesh = mesh_of(64, 64);
  change_pairs_of(mesh, 17, [](PairResult& pair) { pair.figures->latency_us *= 3; });
  const Judgement judgement = judge(mesh);
  CHECK(judgement.blamed == Index{17});
  CHECK(judgement.unclear.empty());
  CHECK(exit_code(mesh, judgement) == 1);
  CHECK(render(mesh, judgement, kWide)
            .find("vm17 (10.0.0.18): with all of its 63 partners, of whom "
                  "63 work well with others") != std::string::npos);
}

TEST_CASE("two rounds find a slow machine as well") {
  Mesh mesh = mesh_of(64, 2);
  change_pairs_of(mesh, 17, [](PairResult& pair) { pair.figures->in_mb_s /= 2; });
  CHECK(judge(mesh).blamed == Index{17});
}

TEST_CASE("where only one pair is slow, neither machine is blamed") {
  Mesh mesh = mesh_of(64, 64);
  pair_of(mesh, 3, 40).figures->out_mb_s = 900;
  const Judgement judgement = judge(mesh);
  CHECK(judgement.blamed.empty());
  REQUIRE(judgement.unclear.size() == 1);
  const JudgedPair& pair = judgement.pairs[judgement.unclear.front()];
  CHECK(std::set{pair.from, pair.to} == std::set<std::size_t>{3, 40});
}

TEST_CASE("a pair within a host is compared only with other such pairs") {
  Mesh mesh = mesh_of(8, 8);
  mesh.line_rate_mb_s = 12'500;
  for (const auto& [one, other] : {Pairing{0, 1}, Pairing{2, 3}, Pairing{4, 5}, Pairing{6, 7}})
    pair_of(mesh, one, other).figures = same_host();
  CHECK(exit_code(mesh, judge(mesh)) == 0);
  pair_of(mesh, 2, 3).figures->latency_us = 5;  // better than any pair between two hosts
  CHECK(judge(mesh).unclear.size() == 1);
}

TEST_CASE("a machine that is alone on its host is told from a slow one where the hosts are known") {
  Mesh mesh = mesh_of(5, 5);
  for (PairResult& pair : mesh.pairs)
    if (pair.from != address_of(4) && pair.to != address_of(4)) pair.figures = same_host();
  const char* note = "pairs of one host copy memory";
  Judgement judgement = judge(mesh);
  CHECK(judgement.blamed == Index{4});
  CHECK(render(mesh, judgement, {}).find(note) != std::string::npos);
  mesh.line_rate_mb_s = 12'500;
  judgement = judge(mesh);
  CHECK(exit_code(mesh, judgement) == 0);
  CHECK(render(mesh, judgement, {}).find(note) == std::string::npos);
  // The rates are below this line rate, but the hosts tell by their names.
  mesh.line_rate_mb_s = 25'000;
  CHECK(judge(mesh).blamed == Index{4});
  for (std::size_t n = 0; n < 5; ++n) {
    mesh.machines[n].mac = "00:50:56:00:00:0" + std::to_string(n);
    AdapterProperties& one = mesh.properties.emplace_back();
    one.mac = mesh.machines[n].mac;
    one.node = std::to_string(n) + "_0";
    one.host = n == 4 ? "esx02" : "esx01";
    one.physical_hca = true;
  }
  judgement = judge(mesh);
  CHECK(exit_code(mesh, judgement) == 0);
  CHECK(to_json(mesh, judgement)["machines"][4]["mac"] == "00:50:56:00:00:04");
}

TEST_CASE(
    "a machine whose host has no RoCE uplink is blamed; where no host has one, all pairs are "
    "told") {
  Mesh mesh = mesh_of(6, 6);
  change_pairs_of(mesh, 2, [](PairResult& pair) { pair.figures = over_tcp(); });
  const Judgement by_rdma = judge(mesh);
  CHECK(by_rdma.blamed == Index{2});
  CHECK(render(mesh, by_rdma, kWide).find("pairs of one host") == std::string::npos);
  for (PairResult& pair : mesh.pairs) pair.figures = over_tcp();
  PairFigures unclear = over_tcp();
  unclear.latency_us = 28;
  mesh.line_rate_mb_s = 12'500;
  for (const PairFigures& one : {over_tcp(), unclear, same_host()}) {
    pair_of(mesh, 0, 1).figures = one;
    const Judgement judgement = judge(mesh);
    CHECK(judgement.all_over_tcp);
    CHECK(judgement.blamed.empty());
    CHECK(exit_code(mesh, judgement) == 1);
    CHECK(render(mesh, judgement, {}).find("all between hosts go over TCP") != std::string::npos);
  }
}

TEST_CASE("where most paths are not clear, a pair over TCP stands out") {
  Mesh mesh = mesh_of(8, 8);
  for (PairResult& pair : mesh.pairs) {
    pair.figures->latency_us = 18;
    pair.figures->tcp_latency_us = 30;
  }
  pair_of(mesh, 3, 5).figures = over_tcp();
  const Judgement judgement = judge(mesh);
  CHECK_FALSE(judgement.all_over_tcp);
  CHECK(judgement.unclear.size() == 1);
  CHECK(render(mesh, judgement, kWide).find("it goes over TCP") != std::string::npos);
}

TEST_CASE("where the hosts are not known, a pair of one host may be all that differs from TCP") {
  Mesh mesh = mesh_of(8, 8);
  for (PairResult& pair : mesh.pairs) pair.figures = over_tcp();
  pair_of(mesh, 0, 1).figures = same_host();
  Judgement judgement = judge(mesh);
  CHECK(judgement.blamed.size() == 6);
  const std::string text = render(mesh, judgement, kWide);
  CHECK(text.find("pairs of one host copy memory") != std::string::npos);
  CHECK(text.find(causes_of_fall_back().front()) != std::string::npos);
  mesh.line_rate_mb_s = 12'500;
  judgement = judge(mesh);
  CHECK(judgement.all_over_tcp);
  CHECK(render(mesh, judgement, kWide).find("pairs of one host") == std::string::npos);
}

TEST_CASE("a failure is a reason, not a figure") {
  Mesh mesh = mesh_of(3, 3);
  const auto lose = [](PairResult& pair) {
    pair.figures.reset();
    pair.failed = "it was lost";
  };
  lose(pair_of(mesh, 0, 1));
  Judgement judgement = judge(mesh);
  CHECK(judgement.blamed.empty());
  CHECK(judgement.unclear.size() == 1);
  CHECK(exit_code(mesh, judgement) == 2);
  lose(pair_of(mesh, 0, 2));
  judgement = judge(mesh);
  CHECK(judgement.blamed == Index{0});
  lose(pair_of(mesh, 1, 2));
  judgement = judge(mesh);
  CHECK(judgement.blamed.empty());  // no machine is good with any partner
  CHECK(exit_code(mesh, judgement) == 3);
  const auto json = to_json(mesh, judgement);
  CHECK(json["latency_us"][0][1].is_null());
}

TEST_CASE("a machine that did not come is counted") {
  Mesh mesh = mesh_of(4, 4);
  mesh.size = 5;
  CHECK(exit_code(mesh, judge(mesh)) == 2);
}

TEST_CASE("a path with a smaller MTU stands out") {
  Mesh mesh = mesh_of(4, 4);
  pair_of(mesh, 1, 2).figures->mtu_bytes = 1500;
  const Judgement judgement = judge(mesh);
  CHECK(judgement.smallest_mtu_bytes == 1500);
  CHECK(judgement.unclear.size() == 1);
}

TEST_CASE("of the partners of a blamed machine those that work well are counted") {
  Mesh mesh = mesh_of(9, 9);
  for (PairResult& pair : mesh.pairs) pair.figures->mtu_bytes = 1500;
  pair_of(mesh, 0, 1).figures->mtu_bytes = 9000;
  const Judgement judgement = judge(mesh);
  CHECK(judgement.blamed.size() == 7);
  CHECK(render(mesh, judgement, kWide).find("8 partners, of whom 2 work well with others") !=
        std::string::npos);
}

TEST_CASE("where too many machines are slow to stand out, the range of the figures shows them") {
  Mesh mesh = mesh_of(6, 6);
  for (PairResult& pair : mesh.pairs) pair.figures = native();
  for (const std::size_t slow : {4U, 5U})
    change_pairs_of(mesh, slow, [](PairResult& pair) { pair.figures->out_mb_s = 4500; });
  const Judgement judgement = judge(mesh);
  CHECK(exit_code(mesh, judgement) == 0);
  const std::string text = render(mesh, judgement, kWide);
  CHECK(text.find("none stands out") != std::string::npos);
  CHECK(text.find("rdma: 15 pairs, latency 8.0 us (8.0 to 8.0), bandwidth 4500 MB/s (4500 to 9000)"
                  ", bandwidth both ways 14000 MB/s (14000 to 14000)") != std::string::npos);
}

TEST_CASE("pairs of unclear path are counted beside those that they are compared with") {
  Mesh mesh = mesh_of(6, 6);
  change_pairs_of(mesh, 2, [](PairResult& pair) { pair.figures->latency_us = 25; });
  CHECK(render(mesh, judge(mesh), kWide).find("rdma: 15 pairs (5 of unclear path), latency ") !=
        std::string::npos);
}

TEST_CASE("the table tells machines apart whose names differ at their ends") {
  Mesh mesh = mesh_of(12, 12);
  for (std::size_t n = 0; n < 12; ++n)
    mesh.machines[n].name = "compute-node-" + std::to_string(n + 1);
  mesh.machines[11].name += std::string(100, 'x');
  const std::string text = render(mesh, judge(mesh), {});
  CHECK(text.find("\n" + std::string(35, ' ') + "         1         2") != std::string::npos);
  CHECK(text.find("\n   1 compute-node-1 ") != std::string::npos);
  CHECK(text.find("\n  12 compute-node-12xxxxxxxxxxxx... ") != std::string::npos);
}

TEST_CASE("with a thousand machines a part of the rounds finds the slow one") {
  Mesh mesh = mesh_of(1000, 50);
  CHECK(mesh.pairs.size() == 25'000);
  change_pairs_of(mesh, 999, [](PairResult& pair) { pair.figures->both_mb_s /= 4; });
  CHECK(judge(mesh).blamed == Index{999});
}

TEST_CASE("matrices, lines and the picture have every pair") {
  Mesh mesh = mesh_of(3, 3);
  mesh.machines[1].name = "a<b>\"c\x1b";
  pair_of(mesh, 0, 2).figures.reset();
  const Judgement judgement = judge(mesh);
  const auto json = to_json(mesh, judgement);
  const PairResult& pair = pair_of(mesh, 0, 1);
  CHECK(json["bandwidth_mb_s"][1][0] == pair.figures->out_mb_s);
  CHECK(json["bandwidth_mb_s"][0][1] == pair.figures->in_mb_s);
  const std::string csv = to_csv(mesh, judgement);
  CHECK(std::count(csv.begin(), csv.end(), '\n') == 4);
  CHECK(csv.find("\"a<b>\"\"c") != std::string::npos);
  for (const char* formula : {"=HYPERLINK(\"http://x\")", "+1", "-1", "@SUM(A1)"}) {
    Mesh named = mesh;
    named.machines[0].name = formula;
    CHECK(to_csv(named, judgement).find(",\"'" + std::string(1, *formula)) != std::string::npos);
  }
  const std::string svg = heat_map(mesh, judgement);
  CHECK(svg.find("a&lt;b&gt;&quot;c") != std::string::npos);
  CHECK(svg.find('\x1b') == std::string::npos);
  CHECK(svg.find("failed</title>") != std::string::npos);
}

TEST_CASE("the lines have no control characters but those at their ends") {
  Mesh mesh = mesh_of(3, 3);
  mesh.machines[1].name = "a\x1b";
  pair_of(mesh, 0, 2).figures.reset();
  pair_of(mesh, 0, 2).failed = "lost\r\n\x1b[2J=1";
  std::string csv = to_csv(mesh, judge(mesh));
  CHECK(csv.find("\"lost\\x0d\\n\\x1b[2J=1\"\r\n") != std::string::npos);
  CHECK(std::count(csv.begin(), csv.end(), '\n') == 4);
  for (std::size_t at = 0; (at = csv.find("\r\n", at)) != std::string::npos;) csv.erase(at, 2);
  CHECK(std::none_of(csv.begin(), csv.end(), [](unsigned char one) { return one < ' '; }));
}

}  // namespace pvrdma::verify
