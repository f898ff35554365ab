// SPDX-License-Identifier: GPL-2.0-or-later
// A process with the agent's user can answer in its place: for any answer, each command ends with a
// code and a line, and prints nothing that a terminal would obey, as text or as JSON.
#include <cstdint>
#include <limits>
#include <nlohmann/json.hpp>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "agent/base/text.hpp"
#include "tests/unit/catch.hpp"
#include "tests/unit/ctl/fake_agent.hpp"
#include "tests/unit/ctl/samples.hpp"
#include "tests/unit/mutate.hpp"

using namespace pvrdma;
using namespace pvrdma::ctl;
using namespace std::string_literals;

namespace {

// ESC, line end, OSC, DEL, C1 CSI, right-to-left override, not UTF-8.
const std::string kEvil =
    "x\n\x1b[2J\x1b]0;y\x07\x7f\xc2\x9b"
    "31m\xe2\x80\xae\xe2\x81\xa6\xff'\";$(id)";

struct NamedCommand {
  const char* name;
  const char* member;  // a member of the reply's parameters
  std::function<int(const Settings&, const Console&)> run;
};

const std::vector<NamedCommand> kAskOnce{
    {"health", "health", health},
    {"status", "health", status},
    {"plan", "plan", plan},
    {"env", "health",
     [](const Settings& settings, const Console& console) { return env(settings, console, {}); }},
    {"env of one", "health",
     [](const Settings& settings, const Console& console) {
       return env(settings, console, {kEvil, EnvironmentUse::Rdma, EnvironmentForm::Systemd});
     }},
    {"reload", "health",
     [](const Settings& settings, const Console& console) {
       return reload(settings, console, std::nullopt);
     }},
    {"acknowledge", "health", [](const Settings& settings, const Console& console) {
       return acknowledge(settings, console, std::nullopt);
     }}};
const std::vector<NamedCommand> kFollow{
    {"wait", "health",
     [](const Settings& settings, const Console& console) {
       return wait(settings, console, {Milliseconds{30}, false});
     }},
    {"watch", "health", [](const Settings& settings, const Console& console) {
       return watch(settings, console, Milliseconds{30});
     }}};

Json plan_sample() {
  return {{"actions", {{{"verb", "LoadModule"}, {"target", "ib_umad"}, {"reason", "missing"}}}},
          {"findings", samples::degraded()["findings"]},
          {"next_look_in_ms", 1200}};
}

Json sample_for(const NamedCommand& command, std::size_t turn) {
  const std::string member = command.member;
  if (member == "plan") return plan_sample();
  switch (turn % 4) {
    case 0:
      return samples::failed();
    case 1:
      return samples::degraded();
    case 2:
      return samples::stuck();
    default:
      return samples::ready();
  }
}

// Makes every text hostile, except those that must be right to be read at all.
Json all_evil(Json value) {
  if (value.is_string()) return kEvil;
  if (value.is_structured())
    for (auto& [key, entry] : value.items())
      if (key != "state") entry = all_evil(entry);
  return value;
}

// Replaces one random value by another of random type.
Json one_wrong(const Json& good, test::Mutator& mutator) {
  const Json values[] = {nullptr,
                         true,
                         -1,
                         std::numeric_limits<std::int64_t>::min(),
                         std::numeric_limits<std::uint64_t>::max(),
                         1e308,
                         "",
                         kEvil,
                         std::string(70'000, 'x'),
                         Json::array(),
                         Json::object(),
                         {{"pid", kEvil}},
                         {1, kEvil, nullptr},
                         "9999-99-99T99:99:99Z"};
  const Json flat = good.flatten();
  const auto chosen = std::next(flat.begin(), static_cast<int>(mutator.below(flat.size())));
  Json::json_pointer place{chosen.key()};
  for (std::size_t up = mutator.below(3); up > 0 && !place.empty(); --up)
    place = place.parent_pointer();
  Json wrong = good;
  wrong[place] = values[mutator.below(std::size(values))];
  return wrong;
}

// Writes the message as an attacker would: with raw control characters and invalid UTF-8.
std::string as_text(const Json& message) {
  std::string text = message.dump(-1, ' ', false, Json::error_handler_t::ignore);
  for (std::size_t at = 0; (at = text.find("'\\\";$(id)", at)) != std::string::npos; at += 9)
    text.insert(at, "\x7f");
  return text + '\0';
}

void check_plain(const std::string& printed) {
  std::string_view rest = printed;
  while (!rest.empty()) {
    const std::string line{cut(rest, '\n')};
    if (printable(line) == line) continue;
    CAPTURE(printable(line));
    FAIL_CHECK("a raw control character was printed");
  }
}

// Runs the command against these bytes from the server.
void try_out(const NamedCommand& command, const std::string& bytes, bool json) {
  const fake::Directory directory;
  const fake::BadServer server{directory / "socket", fake::says(bytes)};
  Settings settings = fake::settings(directory / "socket");
  settings.json = json;
  const fake::Screen screen;
  CAPTURE(command.name, json, printable(bytes));
  const int code = command.run(settings, screen.console);
  CHECK(code >= 0);
  CHECK(code <= 3);
  // `watch` may print nothing in its short time.
  CHECK((!screen.out().empty() || !screen.err().empty() || command.name == "watch"s));
  check_plain(screen.out());
  check_plain(screen.err());
}

void try_many(const std::vector<NamedCommand>& commands, std::size_t rounds) {
  const char* const pieces[] = {"\"", "{", "[", "null", "\x1b", "\\u001b", "\\u202e", "1e99", "-"};
  test::Mutator mutator{pieces};
  for (const NamedCommand& command : commands) {
    for (std::size_t turn = 0; turn < rounds; ++turn) {
      Json answer = sample_for(command, turn);
      if (turn % 5 == 1) answer = all_evil(answer);
      if (turn % 5 > 1) answer = one_wrong(answer, mutator);
      Json message = {{"parameters", {{command.member, answer}}}};
      if (turn % 7 == 6) message["error"] = "io.pvrdma.Agent.InUse";
      if (turn % 7 == 6) message["parameters"]["holders"] = answer;
      std::string text = as_text(message);
      if (turn % 5 == 4) text = mutator.mutated(text, 1 + mutator.below(3)) + '\0';
      try_out(command, text, turn % 2 == 1);
    }
  }
}

}  // namespace

TEST_CASE("commands that ask once, and answers that are nearly right") { try_many(kAskOnce, 100); }

TEST_CASE("commands that follow, and answers that are nearly right") { try_many(kFollow, 25); }

TEST_CASE("the words of a refusal are data") {
  for (const char* error : {"io.pvrdma.Agent.InUse", "io.pvrdma.Agent.Failed",
                            "io.pvrdma.Agent.NoSuchAdapter", "a.b.C\x1b[2J"}) {
    const Json parameters = {
        {"reason", kEvil},
        {"adapter", kEvil},
        {"holders", {{{"pid", 1}, {"command", kEvil}, {"rdma_device", kEvil}}}}};
    const std::string bytes = as_text({{"error", error}, {"parameters", parameters}});
    for (const NamedCommand& command : kAskOnce)
      for (const bool json : {false, true}) try_out(command, bytes, json);
  }
}

TEST_CASE("a deeply nested answer is a bad answer") {
  const std::string deep = R"({"parameters":{"health":)" + std::string(1U << 19U, '[') + '\0';
  const fake::Directory directory;
  const fake::BadServer server{directory / "socket", fake::says(deep)};
  const fake::Screen screen;
  CHECK(health(fake::settings(directory / "socket"), screen.console) == 3);
  CHECK(screen.err().find("nested too deeply") != std::string::npos);
}
