// SPDX-License-Identifier: GPL-2.0-or-later
// Figures, expectations and earlier runs of `verify PEER`.
#include <sys/stat.h>

#include <nlohmann/json.hpp>

#include "agent/tools/verify/peer/earlier.hpp"
#include "agent/tools/verify/peer/figures.hpp"
#include "agent/tools/verify/peer/verdict.hpp"
#include "tests/unit/catch.hpp"
#include "tests/unit/tree.hpp"

namespace pvrdma::verify {

namespace {

std::vector<Nanoseconds> times(std::initializer_list<int> of) {
  std::vector<Nanoseconds> all;
  for (const int time : of) all.emplace_back(time);
  return all;
}

nlohmann::json answer() {
  nlohmann::json row{{"message_bytes", 2}, {"rounds", 100}, {"min_us", 3.0},  {"typical_us", 4.0},
                     {"average_us", 4.5},  {"p99_us", 9.0}, {"p999_us", 12.0}};
  return {
      {"latency", {row}},
      {"peer_address", "192.168.30.2"},
      {"bandwidth",
       {{"message_bytes", 1048576}, {"out_mb_s", 9000}, {"in_mb_s", 8000}, {"both_mb_s", 12000}}},
      {"messages_per_s", 1e6},
      {"tcp", {{"latency_us", 30.0}, {"bandwidth_mb_s", 5000}}}};
}

}  // namespace

TEST_CASE("latencies are half a round trip, percentiles by nearest rank") {
  CHECK_FALSE(latency_figures(2, {}));
  const auto figures = latency_figures(2, times({80, 20, 60, 40}));
  REQUIRE(figures);
  CHECK(figures->min.count() == 10);
  CHECK(figures->typical.count() == 20);
  CHECK(figures->average.count() == 25);
  CHECK(figures->p99.count() == 40);
  CHECK(figures->rounds == 4);
}

TEST_CASE("a median is stable once three batches agree within two percent") {
  CHECK_FALSE(is_stable(times({100, 100})));
  CHECK(is_stable(times({500, 100, 101, 102})));
  CHECK_FALSE(is_stable(times({100, 101, 104})));
}

TEST_CASE("a batch has from 20 to 5000 rounds") {
  CHECK(rounds_within(Nanoseconds{1000}, Nanoseconds{10}) == 100);
  CHECK(rounds_within(Nanoseconds{1000}, Nanoseconds{1000}) == 20);
  CHECK(rounds_within(Nanoseconds{1'000'000'000}, Nanoseconds{0}) == 5000);
}

TEST_CASE("expectations") {
  const auto both = parse_expectation("latency=50us,bandwidth=90%");
  REQUIRE(both);
  CHECK(both->latency_us == 50.0);
  CHECK(both->bandwidth_percent == 90.0);
  CHECK(parse_expectation("latency=1ms")->latency_us == 1000.0);
  CHECK(parse_expectation("latency=2.5us")->latency_us == 2.5);
  CHECK(parse_expectation("bandwidth=40Gb/s")->bandwidth_mb_s == 5000.0);
  for (const char* bad : {"", "latency", "latency=50", "latency=-1us", "bandwidth=x", "speed=1us",
                          "latency=1us,", "latency=1us,latency=2us", "bandwidth=1%,bandwidth=2%",
                          "latency=nanus", "latency=infus", "latency=0us", "latency=us",
                          "latency= 5us", "latency=+5us", "latency=0x5us", "latency=1.2.3us"})
    CHECK_FALSE(parse_expectation(bad));
  CHECK(unmet(*both, {40.0, 9'000.0, 10'000.0}).empty());
  CHECK(unmet(*both, {60.0, 8'000.0, 10'000.0}).size() == 2);
  CHECK(unmet(*both, {40.0, 8'000.0, std::nullopt}).size() == 1);
  CHECK(unmet(*both, {std::nullopt, std::nullopt, 10'000.0}).size() == 2);
}

TEST_CASE("the verdict and its exit code") {
  auto figures = figures_from(answer());
  REQUIRE(figures);
  const Verdict good = judge("peer", "rocep0s16f1", *figures, {}, {});
  CHECK(exit_code(good) == 0);
  CHECK(render(good, {}).find(
            "messages pass, by RDMA: through one host's memory or over the wire\n") !=
        std::string::npos);
  const Verdict low =
      judge("peer", "rocep0s16f1", *figures, parse_expectation("bandwidth=90%"), {12'500.0, 100.0});
  CHECK(exit_code(low) == 2);
  CHECK(verify::to_json(low, answer())["unmet"].size() == 1);
  CHECK(exit_code(
            judge("peer", "d", *figures, parse_expectation("bandwidth=90%"), {{}, 8'500.0})) == 0);
  figures->latency.front().typical_us = 30;
  const Verdict slow = judge("peer", "rocep0s16f1", *figures, {}, {});
  CHECK(exit_code(slow) == 1);
  CHECK(render(slow, {}).find("messages pass, probably over TCP") != std::string::npos);
  CHECK(render(slow, {}).find("RoCE enabled on that vmnic") != std::string::npos);
}

TEST_CASE("an answer that lacks a figure is an error") {
  for (const char* key : {"latency", "bandwidth", "messages_per_s", "tcp"}) {
    auto less = answer();
    less.erase(key);
    CHECK_FALSE(figures_from(less));
  }
}

TEST_CASE("the listener gets the figures with the directions exchanged") {
  auto told = answer();
  CHECK_FALSE(seen_from_here(told, "192.168.30.1"));  // no member says that the data was whole
  told["data_whole"] = true;
  told["shown"] = "\033[2J";
  const auto seen = seen_from_here(told, "192.168.30.1");
  REQUIRE(seen);
  CHECK_FALSE(seen->contains("shown"));
  CHECK((*seen)["peer_address"] == "192.168.30.1");
  CHECK((*seen)["latency"] == told["latency"]);
  const auto figures = figures_from(*seen);
  REQUIRE(figures);
  CHECK(figures->out_mb_s == 8000);
  CHECK(figures->in_mb_s == 9000);
  CHECK(figures->both_mb_s == 12000);
  for (const char* key : {"latency", "bandwidth", "messages_per_s", "tcp"}) {
    auto less = told;
    less[key] = "many";
    CHECK_FALSE(seen_from_here(less, "192.168.30.1"));
  }
  told["latency"][0]["p99_us"] = nlohmann::json::array();
  CHECK_FALSE(seen_from_here(told, "192.168.30.1"));
  for (const nlohmann::json& nothing :
       {nlohmann::json{}, nlohmann::json::array(), nlohmann::json("x")})
    CHECK_FALSE(seen_from_here(nothing, "192.168.30.1"));
}

TEST_CASE("earlier runs") {
  const test::Tree tree;
  const auto file = tree / "/state/pvrdma-agent/verify.json";
  CHECK_FALSE(best_earlier(file, "a"));
  for (const double rate : {3.0, 5.0, 4.0}) REQUIRE(remember(file, "a", rate, 1));
  CHECK(best_earlier(file, "a") == 5.0);
  CHECK_FALSE(best_earlier(file, "b"));
  struct stat status {};
  REQUIRE(::stat(file.c_str(), &status) == 0);
  CHECK((status.st_mode & 0777U) == 0600);
  for (std::size_t n = 0; n < kRunsKept; ++n) REQUIRE(remember(file, "a", 1.0, 1));
  CHECK(best_earlier(file, "a") == 1.0);
  // The user can write the file, and the JSON library recurses: deep nesting must not crash it.
  const std::string deep(500'000, '[');
  tree.file("/state/pvrdma-agent/verify.json",
            "{\"b\":" + deep + std::string(deep.size(), ']') + "}");
  CHECK_FALSE(best_earlier(file, "b"));
  CHECK(remember(file, "b", 2.0, 1));
  CHECK(best_earlier(file, "b") == 2.0);
}

}  // namespace pvrdma::verify
