// SPDX-License-Identifier: GPL-2.0-or-later
// The steps of a reload, and a failure of each.
#include "agent/executor/driver.hpp"
#include "tests/unit/catch.hpp"

namespace pvrdma::executor {

namespace {

const OperationResult kIn = done();
const OperationResult kOut = done();
const OperationResult kNotLoaded = already_done("not loaded");
const OperationResult kBusy{Outcome::InUse, "in use", 11, {}};
const OperationResult kBad{Outcome::Failed, "bad", 8, {}};
const OperationResult kBlocked{Outcome::Refused, "blocked", 1, {}};

struct ReloadCase {
  const char* what;
  OperationResult rehearsal, removal;
  std::vector<OperationResult> insertions;  // the results of successive insertions
  Outcome outcome;
  bool removed;
  const char* detail;
  std::string steps;
  std::optional<OperationResult> refused_now{};
};

}  // namespace

TEST_CASE("reload: the order, and the result of each failing step") {
  const std::vector<ReloadCase> cases{
      {"all well", done(), kOut, {kIn}, Outcome::Done, true, "", "?!-+"},
      {"not loaded", done(), kNotLoaded, {kIn}, Outcome::Done, false, "", "?!-+"},
      {"not loaded, and no luck",
       done(),
       kNotLoaded,
       {kBad},
       Outcome::Failed,
       false,
       "bad",
       "?!-+"},
      {"in use", done(), kBusy, {}, Outcome::InUse, false, "in use", "?!-"},
      {"taken meanwhile", done(), kOut, {}, Outcome::InUse, false, "in use", "?!", kBusy},
      {"could not come back", kBlocked, kOut, {}, Outcome::Refused, false, "not removed", "?"},
      {"second try", done(), kOut, {kBad, kIn}, Outcome::Done, true, "second try", "?!-++"},
      {"left out",
       done(),
       kOut,
       {kBad, kBad},
       Outcome::Failed,
       true,
       "was removed and could not",
       "?!-++"},
      {"udev was faster", done(), kOut, {already_done("loaded")}, Outcome::Done, true, "", "?!-+"}};
  for (const ReloadCase& one : cases) {
    INFO(one.what);
    std::string steps;
    std::size_t insertions = 0;
    const OperationResult reload = reload_driver({[&] {
                                                    steps += '?';
                                                    return one.rehearsal;
                                                  },
                                                  [&] {
                                                    steps += '!';
                                                    return one.refused_now;
                                                  },
                                                  [&] {
                                                    steps += '-';
                                                    return one.removal;
                                                  },
                                                  [&] {
                                                    steps += '+';
                                                    return one.insertions.at(insertions++);
                                                  }});
    CHECK(steps == one.steps);
    CHECK(reload.outcome == one.outcome);
    CHECK(reload.driver_taken == one.removed);
    CHECK(reload.detail.find(one.detail) != std::string::npos);
  }
}

}  // namespace pvrdma::executor
