// SPDX-License-Identifier: GPL-2.0-or-later
// The table of verbs, and the error for a wrong command line: as functions, and by the program.
#include "agent/ctl/verbs.hpp"

#include <nlohmann/json.hpp>

#include "agent/base/program.hpp"
#include "tests/unit/catch.hpp"
#include "tests/unit/places.hpp"

using namespace pvrdma;
using namespace pvrdma::ctl;

namespace {

struct Run {
  int status;
  std::string output;  // both streams
};

Run agentctl(std::vector<std::string> words) {
  words.insert(words.begin(), places::agentctl);
  Program program;
  program.words = std::move(words);
  program.timeout = std::chrono::seconds{20};
  program.output_limit_bytes = 1U << 20U;
  const auto result = run_program(program);
  REQUIRE(result);
  return {result->status, result->output};
}

}  // namespace

TEST_CASE("verbs are found by their names") {
  for (const ctl::VerbEntry& verb : ctl::kVerbTable) CHECK(find_verb(verb.name) == &verb);
  CHECK(find_verb("wiat") == nullptr);
  CHECK(find_verb("") == nullptr);
}

TEST_CASE("a similar word is suggested") {
  CHECK(unknown_verb("wiat") ==
        "there is no verb wiat; did you mean wait? See `pvrdma-agentctl --help`.");
  CHECK(unknown_verb("frobnicate\x1b") ==
        "there is no verb frobnicate\\x1b. See `pvrdma-agentctl --help`.");
  CHECK(unknown_option("wait", "--jsn=3", {"--json", "--for"}) ==
        "wait: unknown option --jsn; did you mean --json? See `pvrdma-agentctl wait --help`.");
  CHECK(unknown_option("", "-x", {"--json"}) == "unknown option -x. See `pvrdma-agentctl --help`.");
}

TEST_CASE("a time on the command line needs its unit") {
  CHECK(check_time("5") == "needs a unit, as in 5s");
  CHECK(check_time("5s").empty());
  CHECK(check_time("1min 30s").empty());
  CHECK(check_time("soon") ==
        "must be a time from 1s to 1h, such as \"90s\", \"2min\" or \"1500ms\"");
  CHECK_FALSE(check_time("").empty());
}

TEST_CASE("wrong command lines, are one line in our own words") {
  const std::vector<std::pair<std::vector<std::string>, std::string>> table{
      {{}, "a verb is missing"},
      {{"wiat"}, "there is no verb wiat; did you mean wait?"},
      {{"wait", "--jsn"}, "wait: unknown option --jsn; did you mean --json?"},
      {{"wait", "--timeout"}, "wait: --timeout needs exactly one value."},
      {{"wait", "--timeout", "5"}, "wait: --timeout needs a unit, as in 5s."},
      {{"wait", "--for", "red"}, "wait: --for must be ready or settled."},
      {{"wait", "more"}, "wait: unexpected argument more."},
      {{"mtu"}, "mtu: HOST is missing."},
      {{"mmio", "2q40"}, "mmio: GPUS must be COUNTxGB"},
      {{"doctor", "--root", "/"}, "doctor: --root can only be used with --next-boot."},
      {{"doctor", "--host-output", "x", "--unit", "y"},
       "doctor: --unit cannot be used with --host-output."},
      {{"migrate", "--apply", "--revert"}, "migrate: --apply cannot be used with --revert."},
      {{"seal", "--root", "/nowhere"}, "seal: --root must be a directory."},
      {{"help", "wiat"}, "there is no verb wiat; did you mean wait?"}};
  for (const auto& [words, said] : table) {
    const Run run = agentctl(words);
    INFO(run.output);
    CHECK(run.status == 3);
    CHECK(run.output.starts_with("pvrdma-agentctl: " + said));
    CHECK(run.output.find('\n') == run.output.size() - 1);
  }
  const Run run = agentctl({"--json", "wait", "--jsn"});
  CHECK(run.status == 3);
  const auto object = nlohmann::json::parse(run.output);
  CHECK(object["error"]["message"].get<std::string>().starts_with("wait: unknown option --jsn"));
}

TEST_CASE("help prints the same as --help, for every verb with example and manual page") {
  CHECK(agentctl({"help"}).output == agentctl({"--help"}).output);
  for (const ctl::VerbEntry& verb : ctl::kVerbTable) {
    const Run run = agentctl({"help", verb.name});
    CHECK(run.status == 0);
    CHECK(run.output == agentctl({verb.name, "--help"}).output);
    for (const std::string& part : {std::string{"--json"}, std::string{verb.example},
                                    std::string{verb.page}, std::string{"Exit codes: "}}) {
      INFO(verb.name << " lacks " << part);
      CHECK(run.output.find(part) != std::string::npos);
    }
    CHECK((run.output.find("Root only.") != std::string::npos) == verb.root_only);
  }
}
