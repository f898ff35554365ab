// SPDX-License-Identifier: GPL-2.0-or-later
// `report`: one document with all parts that work, within its time and size, and never a file's
// text.
#include <sys/stat.h>
#include <unistd.h>

#include <nlohmann/json.hpp>
#include <string>

#include "agent/ctl/commands.hpp"
#include "agent/tools/report/command.hpp"
#include "tests/unit/catch.hpp"
#include "tests/unit/ctl/fake_agent.hpp"
#include "tests/unit/text.hpp"
#include "tests/unit/tree.hpp"

using namespace pvrdma;
using namespace pvrdma::ctl;
using pvrdma::test::has;
using test::Tree;

namespace {

constexpr Milliseconds kReportWithin = std::chrono::seconds{30};

// A system with a script in place of pvrdma-agentctl: $4 and the words after it are the command.
struct System {
  Tree tree;
  fake::Directory directory;
  ReportOptions options;

  explicit System(const std::string& script = R"(printf '{\n"words": "%s"\n}\n' "$*")") {
    tree.file("/etc/os-release", "ID=rhel\nPRETTY_NAME=\"Red Hat 9.4\"\n");
    tree.program("/agentctl", script);
    options.root = tree.root();
    options.agentctl = (tree / "/agentctl").string();
  }
  [[nodiscard]] fake::Printed run() const {
    fake::Screen screen;
    const int code = report(fake::settings("/run/socket"), screen.console, options);
    return {code, screen.out(), screen.err()};
  }
  [[nodiscard]] Json document() const {
    const fake::Printed printed = run();
    CHECK(printed.code == 0);
    CHECK(printed.err.empty());
    return Json::parse(printed.out);
  }
};

// The recording is the only part that is asked of the agent directly.
constexpr const char* kNoAgent = "pvrdma-agent is not running (no process listens on /run/socket)";

Result<Json> run_script(const System& system, Milliseconds limit = kReportWithin) {
  return run_part({system.options.agentctl}, limit);
}

}  // namespace

TEST_CASE("a report is one JSON document with the answers of this program's commands") {
  const System system;
  const Json document = system.document();
  CHECK(document["version"] == 1);
  CHECK(has(document["program"], "pvrdma-agentctl "));
  CHECK(document["as_root"] == (::geteuid() == 0));
  CHECK(document["errors"] == Json{{"recording", kNoAgent}});
  CHECK(document["system"]["os"] == "Red Hat 9.4");
  CHECK(has(document["system"]["kernel"], "Linux "));
  CHECK(document["configuration"]["values"]["modules"]["reload"] == "auto");
  CHECK(document["health"]["words"] == "--json --socket /run/socket health");
  CHECK(document["next_boot"]["words"] == "--json --socket /run/socket doctor --next-boot");
  for (const char* name : {"plan", "boots", "doctor", "took_ms", "made"})
    CHECK_FALSE(document[name].is_null());
}

TEST_CASE("a report names the files of the configuration and has their values, never their text") {
  const System system;
  system.tree.file("/etc/pvrdma-agent/pvrdma-agent.toml",
                   "# root:$6$secret\n[[adapter]]\nmatch = { mac = \"00:50:56:8a:9f:c2\" }\n"
                   "mtu = 9000\naddresses = [\"192.168.30.201/24\"]\n");
  const fake::Printed printed = system.run();
  CHECK_FALSE(has(printed.out, "secret"));
  const Json part = Json::parse(printed.out)["configuration"];
  REQUIRE(part["files"].size() == 1);
  CHECK(has(part["files"][0]["path"], "/etc/pvrdma-agent/pvrdma-agent.toml"));
  CHECK(part["files"][0]["uid"] == ::geteuid());
  CHECK(part["files"][0]["mode"].get<std::string>().size() == 4);
  CHECK(part["values"]["adapter"] ==
        Json::parse(R"([{"match": {"mac": "00:50:56:8a:9f:c2"}, "manage": "auto", "mtu": 9000,
                         "addresses": ["192.168.30.201/24"], "gid_type": "best"}])"));
  CHECK_FALSE(part["values"]["every_adapter"].contains("mtu"));
  CHECK(part["left_out"].is_null());
}

TEST_CASE("with a bad configuration only that part is missing") {
  const System system;
  system.tree.file("/etc/pvrdma-agent/pvrdma-agent.toml", "[modules]\nreload = \"sometimes\"\n");
  const Json document = system.document();
  CHECK(document["configuration"].is_null());
  CHECK(has(document["errors"]["configuration"], "must be one of auto, always, never"));
  CHECK(document["health"].is_object());
}

TEST_CASE("a part that fails, hangs, floods or is no JSON is missing alone, with the reason") {
  System system{R"(case $4 in
    plan) exec sleep 60 ;;
    boots) echo 'pvrdma-agentctl: no process listens' >&2; exit 3 ;;
    doctor) [ "$5" ] || exec yes; kill -KILL $$ ;;
    *) echo 'pvrdma-agentctl: it is not running' >&2; printf '{\n"good": 1\n}\n'; echo more >&2
  esac)"};
  system.options.part_limit = std::chrono::seconds{2};
  const BootTime start = BootClock::now();
  const Json document = system.document();
  CHECK(BootClock::now() - start < kReportWithin);
  CHECK(document["health"]["good"] == 1);
  CHECK(document["errors"] == Json{{"plan", "not done in its time"},
                                   {"boots", "exit status 3, pvrdma-agentctl: no process listens"},
                                   {"doctor", "more than 1048576 bytes, y"},
                                   {"next_boot", "ended by signal 9"},
                                   {"recording", kNoAgent}});
  for (const char* name : {"plan", "boots", "doctor", "next_boot"}) {
    CHECK(document.contains(name));
    CHECK(document[name].is_null());
  }
}

TEST_CASE("all parts together have a time limit") {
  System system{"exec sleep 60"};
  system.options.limit = Milliseconds{300};
  const BootTime start = BootClock::now();
  const Json document = system.document();
  CHECK(BootClock::now() - start < kReportWithin);
  CHECK(document["errors"]["health"] == "not done in its time");
  for (const char* late : {"next_boot", "recording"})
    CHECK(document["errors"][late] == "the time for all parts was over");
}

TEST_CASE("a deeply nested answer crashes no program") {
  const std::string deep(100'000, '[');
  const System system;
  const auto said = [&](const std::string& text) {
    system.tree.file("/said", text);
    system.tree.program("/agentctl", "exec cat " + (system.tree / "/said").string());
    return run_script(system);
  };
  CHECK_FALSE(said("{\n\"a\": " + deep + std::string(deep.size(), ']') + "\n}\n"));
  CHECK_FALSE(said("{\n\"a\": " + deep + "\n}\n"));
  CHECK_FALSE(said("[\n]\n"));
  CHECK(said("{\n\"a\": [[1]]\n}\n")->at("a")[0][0] == 1);
  // Control characters in a name do not reach the terminal.
  System names{R"(printf '{\n"a": "x\\u001b[2J"\n}\n')"};
  CHECK(has(names.run().out, R"(x\u001b[2J)"));
  system.tree.program("/agentctl", R"(printf 'pvrdma-agentctl: \033[2J\n'; exit 3)");
  CHECK(run_script(system).error().message() == R"(exit status 3, pvrdma-agentctl: \x1b[2J)");
}

TEST_CASE("a report goes into a new file and never replaces a file") {
  System system;
  system.options.output = system.directory / "report";
  const fake::Printed printed = system.run();
  CHECK(printed.code == 0);
  CHECK(printed.out.empty());
  CHECK(Json::parse(read_file(std::filesystem::path{system.options.output}).value()).is_object());
  struct stat status {};
  REQUIRE(::stat(system.options.output.c_str(), &status) == 0);
  CHECK((status.st_mode & 07777U) == 0600);
  const auto refused = [&](const std::string& output, const std::string& why) {
    system.options.output = output;
    const fake::Printed made = system.run();
    CHECK(made.code == 3);
    CHECK(made.out.empty());
    CHECK(has(made.err, "creating " + output + ": " + why));
  };
  refused(system.options.output, "File exists");
  system.tree.link("/link", "nowhere");
  refused((system.tree / "/link").string(), "File exists");
  refused((system.tree / "/none/file").string(), "No such file or directory");
}

TEST_CASE("--redact is refused, with a hint to its replacement") {
  System system;
  system.options.redact = true;
  const fake::Printed printed = system.run();
  CHECK(printed.code == 3);
  CHECK(printed.out.empty());
  CHECK(has(printed.err, "`sos report`"));
  CHECK(has(printed.err, "`sos clean`"));
}

TEST_CASE("the agent's last events are part of the report, and can be asked for alone") {
  System system;
  const fake::Agent agent{
      system.directory / "socket",
      {{"GetRecording", [](const varlink::CallPtr& call) {
          call->reply({{"recording", {{"version", 1}, {"events", Json::array()}}}});
        }}}};
  const auto ask = [&] {
    fake::Screen screen;
    const int code =
        report(fake::settings(system.directory / "socket"), screen.console, system.options);
    return std::pair{code, screen.out()};
  };
  CHECK(Json::parse(ask().second)["recording"]["version"] == 1);
  system.options.recording = true;
  const auto [code, text] = ask();
  CHECK(code == 0);
  CHECK(Json::parse(text) == Json{{"version", 1}, {"events", Json::array()}});
}

TEST_CASE("only root gets the agent's last events, and the report says so") {
  System system;
  const fake::Agent agent{system.directory / "socket",
                          {{"GetRecording", fake::refuses("io.pvrdma.Agent.PermissionDenied",
                                                          {{"method", "GetRecording"}})}}};
  const auto run = [&] {
    fake::Screen screen;
    const int code =
        report(fake::settings(system.directory / "socket"), screen.console, system.options);
    return fake::Printed{code, screen.out(), screen.err()};
  };
  const Json document = Json::parse(run().out);
  CHECK(document["recording"].is_null());
  CHECK(document["errors"]["recording"] == "only root may ask for this");
  system.options.recording = true;
  const fake::Printed alone = run();
  CHECK(alone.code == 3);
  CHECK(has(alone.err, "only root may ask for this"));
}

TEST_CASE("without an agent there is no recording, and the report says so") {
  System system;
  CHECK(system.document()["recording"].is_null());
  CHECK(system.document()["errors"].contains("recording"));
  system.options.recording = true;
  CHECK(system.run().code == 3);
}
