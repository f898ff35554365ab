// SPDX-License-Identifier: GPL-2.0-or-later
// `health --plugin`: the line for a monitoring system.
#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>

#include "agent/ctl/rendering.hpp"
#include "tests/unit/catch.hpp"
#include "tests/unit/ctl/fake_agent.hpp"
#include "tests/unit/ctl/samples.hpp"

using namespace pvrdma;
using namespace pvrdma::ctl;

namespace {

std::string line_of(const Json& object) {
  Health health = samples::value(object);
  health.since = health.observed - Milliseconds{3'504'100};
  return plugin_line(health, health.observed + Milliseconds{95'999});
}

struct Checked {
  int code = 0;
  std::string out, err;
};
Checked check(const fake::Directory& directory, bool json = false) {
  fake::Screen screen;
  Settings settings = fake::settings(directory / "socket");
  settings.json = json;
  const int code = health_for_monitor(settings, screen.console);
  return {code, screen.out(), screen.err()};
}

}  // namespace

TEST_CASE("the line has the verdict, its worst finding and figures with their thresholds") {
  CHECK(line_of(samples::ready()) ==
        "PVRDMA OK - 1 of 1 adapters ready | "
        "adapters=1;;;0 ready=1;1:;1:;0;1 reloads=0c rebinds=0c in_state=3600s;;;0 age=95s;;;0\n");
  CHECK(line_of(samples::degraded()) ==
        "PVRDMA WARNING - 1 of 1 adapters ready: vmw_pvrdma ought to be reloaded (ib_umad was "
        "loaded after it), but is held. | "
        "adapters=1;;;0 ready=1;1:;1:;0;1 reloads=2c rebinds=0c in_state=3600s;;;0 age=95s;;;0\n");
  CHECK(line_of(samples::failed()) ==
        "PVRDMA CRITICAL - 1 of 2 adapters ready; The port is DOWN though its link is up: the host "
        "holds it down. | adapters=2;;;0 ready=1;2:;1:;0;2 reloads=0c rebinds=0c "
        "in_state=3600s;;;0 age=95s;;;0\n");
}

TEST_CASE("without an adapter there is no threshold") {
  CHECK(line_of(samples::absent()) ==
        "PVRDMA OK - no PVRDMA adapter | "
        "adapters=0;;;0 ready=0;0:;0:;0;0 reloads=0c rebinds=0c in_state=3600s;;;0 age=95s;;;0\n");
}

TEST_CASE("the text contains no separator and no line end") {
  Json object = samples::ready();
  object["summary"] = "one | two\nthree\x1b[2J";
  const std::string line = line_of(object);
  CHECK(line.substr(0, line.find(" | ")) == "PVRDMA OK - one / two\\nthree\\x1b[2J");
  CHECK(line.find('\n') == line.size() - 1);
}

TEST_CASE("the check ends with the state's code, and names a missing answer on standard output") {
  const fake::Directory directory;
  {
    const fake::Agent agent{directory / "socket",
                            {{"GetHealth", fake::answers({{"health", samples::failed()}})}}};
    const Checked checked = check(directory);
    CHECK(checked.code == 2);
    CHECK(checked.out.substr(0, 17) == "PVRDMA CRITICAL -");
  }
  const Checked alone = check(directory);
  CHECK(alone.code == 3);
  CHECK(alone.out.substr(0, 17) == "PVRDMA UNKNOWN - ");
  CHECK(std::count(alone.out.begin(), alone.out.end(), '\n') == 1);
  CHECK(alone.err.empty());
}

TEST_CASE("--plugin excludes --json") {
  const fake::Directory directory;
  const Checked checked = check(directory, true);
  CHECK(checked.code == 3);
  CHECK(Json::parse(checked.out)["error"]["message"] ==
        "--plugin is one line of text: not with --json");
}
