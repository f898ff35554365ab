// `boots`: the table, and where it comes from.
#include <nlohmann/json.hpp>

#include "agent/ctl/rendering_boots.hpp"
#include "agent/varlink/boots_file.hpp"
#include "tests/unit/boots.hpp"
#include "tests/unit/catch.hpp"
#include "tests/unit/ctl/fake_agent.hpp"
#include "tests/unit/ctl/samples.hpp"
#include "tests/unit/text.hpp"
#include "tests/unit/tree.hpp"

using namespace pvrdma;
using namespace pvrdma::ctl;
using namespace pvrdma::test;
using samples::kPlain;

namespace {

fake::Printed run_boots(const std::string& socket, const Tree& tree, bool json = false) {
  fake::Screen screen;
  Settings settings = fake::settings(socket);
  settings.json = json;
  const int code = boots(settings, screen.console, {tree.root(), "mine"});
  return {code, screen.out(), screen.err()};
}

std::vector<std::string> ids(const std::string& out) {
  std::vector<std::string> found;
  const Json printed = Json::parse(out);
  for (const Json& boot : printed["boots"]) found.push_back(boot["boot_id"]);
  return found;
}

}  // namespace

TEST_CASE("a column for each boot, a row for each step of any") {
  Timeline slow = usual_boot("new", 20'000);
  slow.port_changes = 1;
  Timeline other = usual_boot("old");
  other.began = "2026-11-20T22:10:07Z";
  other.kernel = "6.1.0-28-amd64";
  other.steps.pop_back();
  other.add({StepKind::DriverReloaded, "vmw_pvrdma", BootTime{Milliseconds{9000}},
             Milliseconds{6100}, false});
  CHECK(render_boots({slow, other}, kPlain) ==
        R"(boot of                      2026-11-21    2026-11-20
(UTC)                        02:31:43      22:10:07
kernel                       6.1.0-test    6.1.0-28-amd64
start of the agent           2.00 +2.00    2.00 +2.00
0000:13:00.1 on the bus      <= 2.01       <= 2.01
load of ib_umad              2.20 (0.04)   2.20 (0.04)
vmw_pvrdma live              2.50 +0.30    2.50 +0.30
link up of 0000:13:00.1      2.60 +0.10    2.60 +0.10
carrier of 0000:13:00.1      22.61 +20.01  2.61 +0.01
port ACTIVE of 0000:13:00.1  22.70 +0.09   2.70 +0.09
reload of vmw_pvrdma         -             9.00 (6.10)
ready                        23.00 +0.30   -
changes of a port before     1             0

Seconds since the boot began, +seconds since the step before, (seconds in the
kernel). <= found so by the agent's first look: reached then or before.
)");
}

TEST_CASE("what does not fit beside stands below, with the same rows") {
  const std::vector<Timeline> boots(6, usual_boot());
  const std::string text = render_boots(boots, kPlain);
  std::size_t tables = 0;
  for (std::size_t at = 0; (at = text.find("start of the agent", at)) != std::string::npos; ++at)
    ++tables;
  CHECK(tables == 2);
  CHECK(has(text, "\nKernel: 6.1.0-test\n"));
  // One at least, however narrow it is.
  CHECK(has(render_boots({usual_boot()}, {10, false, {}}), "2.00 +2.00"));
  CHECK(render_boots({}, kPlain) == "nothing is known of any boot\n");
}

TEST_CASE("what a file holds is printed without its control characters") {
  Timeline evil = usual_boot();
  evil.began = "\x1b[2J";
  evil.kernel = "\x1b]0;x";
  put(evil, StepKind::ModuleLoaded, "a\nb", 2300);
  const std::string text = render_boots({evil}, kPlain);
  CHECK_FALSE(has(text, "\x1b"));
  CHECK(has(text, "load of a\\nb"));
}

TEST_CASE("boots prints what the agent says") {
  const Tree tree;
  const fake::Directory directory;
  const Json answer = varlink::to_json(std::vector{usual_boot("now"), usual_boot("before")});
  const fake::Agent agent{directory / "socket", {{"GetBoots", fake::answers({{"boots", answer}})}}};
  const fake::Printed printed = run_boots(directory / "socket", tree);
  CHECK(printed.code == 0);
  CHECK(has(printed.out, "start of the agent"));
  CHECK(printed.err.empty());
  CHECK(Json::parse(run_boots(directory / "socket", tree, true).out) == answer);
}

TEST_CASE("an agent that answers otherwise has answered badly") {
  const Tree tree;
  const fake::Directory directory;
  const fake::Agent agent{directory / "socket",
                          {{"GetBoots", fake::answers({{"boots", {{"version", "x"}}}})}}};
  const fake::Printed ran = run_boots(directory / "socket", tree);
  CHECK(ran.code == 3);
  CHECK(ran.out.empty());
  CHECK(has(ran.err, "version"));
}

TEST_CASE("without an agent its files are read: of this boot, and of those before") {
  const Tree tree;
  const std::string nobody = tree / "/socket";
  CHECK(run_boots(nobody, tree).code == 3);
  CHECK(has(run_boots(nobody, tree).err, "not running"));
  tree.file(varlink::kBootsPath, varlink::to_text({"mine", {usual_boot("b"), usual_boot("a")}}));
  CHECK(ids(run_boots(nobody, tree, true).out) == std::vector<std::string>{"b", "a"});
  tree.file(varlink::kThisBootPath, varlink::to_text({"", {usual_boot("c")}}));
  const fake::Printed ran = run_boots(nobody, tree, true);
  CHECK(ran.code == 0);
  CHECK(ids(ran.out) == std::vector<std::string>{"c", "b", "a"});
  CHECK(has(ran.err, "not running"));
  // A template's are not this machine's.
  tree.file(varlink::kBootsPath, varlink::to_text({"theirs", {usual_boot("b")}}));
  CHECK(ids(run_boots(nobody, tree, true).out) == std::vector<std::string>{"c"});
  tree.file(varlink::kBootsPath, "{");
  CHECK(run_boots(nobody, tree).code == 3);
  CHECK(has(run_boots(nobody, tree).err, "timelines"));
}
