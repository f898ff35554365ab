// SPDX-License-Identifier: GPL-2.0-or-later
// `metrics`: the output and its place, with and without an agent, once and repeatedly.
#include <sys/stat.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>

#include "agent/base/file.hpp"
#include "agent/tools/metrics/command.hpp"
#include "tests/unit/catch.hpp"
#include "tests/unit/ctl/fake_agent.hpp"
#include "tests/unit/ctl/samples.hpp"
#include "tests/unit/notified.hpp"
#include "tests/unit/text.hpp"

using namespace pvrdma;
using namespace pvrdma::ctl;
using pvrdma::test::has;

namespace {

struct Textfile {
  fake::Directory directory;
  std::string socket = directory / "socket";
  std::string file = directory / "pvrdma.prom";

  [[nodiscard]] fake::Printed run(const MetricsOptions& options, bool json = false) const {
    fake::Screen screen;
    Settings settings = fake::settings(socket);
    settings.json = json;
    settings.answer_within = Milliseconds{300};
    const int code = print_metrics(settings, screen.console, options);
    return {code, screen.out(), screen.err()};
  }
  [[nodiscard]] std::string written() const { return read_file(file).value(); }
};

fake::Agent ready_agent(const Textfile& place) {
  return {place.socket, {{"GetHealth", fake::answers({{"health", samples::ready()}})}}};
}

// One update. An answer on its way comes in time on a busy machine too.
MetricsOptions watching(const Textfile& place) {
  return {place.file, true, {Milliseconds{2000}, Milliseconds{10}, 1}};
}

// Three updates: the agent's own report may come late, as the second.
Pace asking_again() { return {Milliseconds{300}, Milliseconds{10}, 3}; }

}  // namespace

TEST_CASE("metrics are printed, also as JSON") {
  const Textfile place;
  const fake::Agent agent = ready_agent(place);
  const fake::Printed text = place.run({});
  CHECK(text.code == 0);
  CHECK(has(text.out, "\npvrdma_agent_up 1\n"));
  CHECK(text.err.empty());
  CHECK(place.run({"-"}).out.substr(0, 40) == text.out.substr(0, 40));
  CHECK(Json::parse(place.run({}, true).out)["metrics"].is_array());
}

TEST_CASE("steps of this boot are read until it is ready") {
  const Textfile place;
  const fake::Agent agent = ready_agent(place);
  unsigned reads = 0;
  MetricsOptions options = watching(place);
  options.pace = {Milliseconds{10}, Milliseconds{1}, 3};
  options.read_boot = [&]() -> Answered<Timeline> {
    Timeline boot;
    boot.add({StepKind::AgentStarted, "", from_ms(4500), std::nullopt, false});
    boot.add({StepKind::ModuleLoaded, "ib_umad", from_ms(5250), std::nullopt, false});
    boot.add({StepKind::PortActive, "0000:13:00.1", from_ms(6000), std::nullopt, false});
    if (++reads > 1) boot.add({StepKind::Ready, "", from_ms(6001), std::nullopt, false});
    return boot;
  };
  CHECK(place.run(options).code == 0);
  CHECK(reads == 2);
  CHECK(has(place.written(), "\npvrdma_boot_step_seconds{step=\"agent_started\"} 4.5\n"));
  CHECK(has(place.written(), "{step=\"module_loaded\",module=\"ib_umad\"} 5.25\n"));
  CHECK(has(place.written(), "{step=\"port_active\",function=\"0000:13:00.1\"} 6\n"));
  CHECK(has(place.written(), "{step=\"ready\"} 6.001\n"));
  options.read_boot = [] { return tl::unexpected(NoAnswer{"", "there is no journal", ""}); };
  CHECK(place.run(options).code == 0);
  CHECK(!has(place.written(), "boot_step_seconds{"));
}

TEST_CASE("an agent that does not run, or hangs, is reported as down") {
  const Textfile place;
  const fake::Printed dead = place.run({});
  CHECK(dead.code == 0);
  CHECK(has(dead.out, "\npvrdma_agent_up 0\n"));
  CHECK(dead.err.empty());
  const fake::BadServer server{place.socket, fake::stays_silent()};
  const BootTime start = BootClock::now();
  const fake::Printed hung = place.run({});
  CHECK(hung.code == 0);
  CHECK(has(hung.out, "\npvrdma_agent_up 0\n"));
  CHECK(BootClock::now() - start < std::chrono::seconds{5});
}

TEST_CASE("a file is replaced, and all may read it") {
  const Textfile place;
  const fake::Agent agent = ready_agent(place);
  REQUIRE(replace_file(place.file, "old", 0600));
  struct stat before {};
  REQUIRE(::stat(place.file.c_str(), &before) == 0);
  const mode_t mask = ::umask(0077);
  const fake::Printed printed = place.run({place.file});
  ::umask(mask);
  CHECK(printed.code == 0);
  CHECK(printed.out.empty());
  CHECK(has(place.written(), "\npvrdma_agent_up 1\n"));
  struct stat after {};
  REQUIRE(::stat(place.file.c_str(), &after) == 0);
  CHECK((after.st_mode & 07777U) == 0644);
  CHECK(after.st_ino != before.st_ino);
  CHECK(list_directory(place.directory / "").value().size() == 2);  // the file and the socket
}

TEST_CASE("a file that cannot be written is an error") {
  const Textfile place;
  const fake::Printed nowhere = place.run({place.directory / "none/pvrdma.prom"});
  CHECK(nowhere.code == 3);
  CHECK(has(nowhere.err, "none/pvrdma.prom"));
  CHECK(has(nowhere.err, "No such file or directory"));
  std::filesystem::create_symlink("/dev/null", place.file);
  const fake::Printed device = place.run({place.file});
  CHECK(device.code == 3);
  CHECK(has(device.err, "it is no regular file"));
  CHECK(std::filesystem::is_symlink(place.file));
  const Json error = Json::parse(place.run({place.file}, true).out);
  CHECK(has(error["error"]["message"].get<std::string>(), "it is no regular file"));
}

TEST_CASE("watching, the file has the latest of several reports") {
  const Textfile place;
  const fake::Agent agent{place.socket,
                          {{"WatchHealth", fake::streams({samples::converging(), samples::failed(),
                                                          samples::ready()})}}};
  const test::Manager manager;
  MetricsOptions options = watching(place);
  options.pace.burst = Milliseconds{300};
  CHECK(place.run(options).code == 0);
  CHECK(has(place.written(), "\npvrdma_state{state=\"ready\"} 1\n"));
  CHECK(manager.heard() == std::vector<std::string>{"READY=1", "WATCHDOG=1"});
}

TEST_CASE("watching, a silent agent is asked") {
  const Textfile place;
  Json older = samples::ready();
  older["executor"]["reloads"] = 7;
  const fake::Agent agent{place.socket,
                          {{"WatchHealth", fake::streams({samples::ready()})},
                           {"GetHealth", fake::answers({{"health", older}})}}};
  MetricsOptions options = watching(place);
  options.pace = asking_again();
  CHECK(place.run(options).code == 0);
  CHECK(has(place.written(), "\npvrdma_driver_reloads_total 7\n"));
}

TEST_CASE("watching, an agent that hangs after its first answer is down") {
  const Textfile place;
  // The fake agent never answers GetHealth.
  const fake::Agent agent{
      place.socket,
      {{"WatchHealth", fake::streams({samples::ready()})}, {"GetHealth", fake::streams({})}}};
  MetricsOptions options = watching(place);
  options.pace = asking_again();
  CHECK(place.run(options).code == 0);
  CHECK(has(place.written(), "\npvrdma_agent_up 0\n"));
  CHECK(!has(place.written(), "pvrdma_port_state_id"));
}

TEST_CASE("watching, a missing agent is down") {
  const Textfile place;
  CHECK(place.run(watching(place)).code == 0);
  CHECK(has(place.written(), "\npvrdma_agent_up 0\n"));
}

TEST_CASE("watching ends where it cannot write") {
  const Textfile place;
  MetricsOptions options = watching(place);
  options.output = place.directory / "none/pvrdma.prom";
  options.pace.times = std::nullopt;
  CHECK(place.run(options).code == 3);
}
