// SPDX-License-Identifier: GPL-2.0-or-later
// The commented-out script does everything else that the original did: both are run, with a
// modprobe that does nothing.
#include <string>

#include "agent/base/program.hpp"
#include "agent/tools/migrate/edit.hpp"
#include "probes/recipe/lines.hpp"
#include "tests/unit/catch.hpp"
#include "tests/unit/text.hpp"

using namespace pvrdma;
using namespace pvrdma::ctl::migration;
using pvrdma::test::has;

namespace {

std::string migrated(const std::string& script) {
  return comment_out(script, probes::look_at(probes::RecipeForm::Script, script, {}).lines,
                     probes::RecipeForm::Script);
}

// The output of the script, and its exit status.
std::string run(const std::string& script) {
  Program program;
  program.words = {"/bin/sh", "-c", "modprobe() { :; }\n" + script};
  const auto result = run_program(program);
  REQUIRE(result);
  return result->output + "exit " + std::to_string(result->status);
}

}  // namespace

TEST_CASE("a line in a string stays, whatever the nesting of its quotes") {
  for (const char* script : {"echo \"$(echo \"\nmodprobe vmw_pvrdma # x\")\"\n",
                             "x=\"${y:-\"\nmodprobe vmw_pvrdma # x\"}\"\necho \"$x\"\n",
                             "echo \"$(echo '\nmodprobe vmw_pvrdma # x')\"\n"}) {
    CHECK(migrated(script) == script);
    CHECK(run(migrated(script)) == run(script));
  }
}

TEST_CASE("a script, a function and a block keep their exit status where their last line is gone") {
  for (const std::string script :
       {"false || true\n[ -e /none ] && echo there\nmodprobe vmw_pvrdma\n",
        "[ -e /none ] && echo there\nmodprobe ib_umad\nmodprobe vmw_pvrdma\n# the end\n\n",
        "[ -e /none ] && echo there\nmodprobe vmw_pvrdma",
        "[ -e /none ] && echo there\nmodprobe vmw_pvrdma\nexit\n",
        "up() {\n  [ -e /none ] && echo there\n  modprobe vmw_pvrdma\n}\nup || echo failed\n",
        "up() {\n  [ -e /none ]\n  modprobe vmw_pvrdma\n  return\n}\nup || echo failed\n",
        "if true; then\n  [ -e /none ] && echo there\n  modprobe vmw_pvrdma\nfi\n",
        "for i in 1 2; do\n  [ -e /none ] && echo there\n  modprobe vmw_pvrdma\ndone\n",
        "case a in\n  a)\n    [ -e /none ]\n    modprobe vmw_pvrdma\n    ;;\nesac\n",
        "if false; then\n  :\nelse\n  [ -e /none ]\n  modprobe vmw_pvrdma\nfi\n"}) {
    CHECK(has(migrated(script), ": #pvrdma-agent# "));
    CHECK(run(migrated(script)) == run(script));
    CHECK(put_back(migrated(script)) == script);
  }
}

TEST_CASE("the other lines are commented out, in a crontab all of them") {
  CHECK(migrated("modprobe vmw_pvrdma\n[ -e /none ]\nexit 0\n") ==
        "#pvrdma-agent# modprobe vmw_pvrdma\n[ -e /none ]\nexit 0\n");
  CHECK(migrated("modprobe vmw_pvrdma\nexit 1\n") ==
        "#pvrdma-agent# modprobe vmw_pvrdma\nexit 1\n");
  const std::string crontab = "@reboot modprobe vmw_pvrdma\n";
  CHECK(comment_out(crontab, probes::look_at(probes::RecipeForm::Crontab, crontab, {}).lines,
                    probes::RecipeForm::Crontab) == "#pvrdma-agent# " + crontab);
}

TEST_CASE("a block that would be left empty keeps its lines") {
  for (const std::string script :
       {"if true; then\n  modprobe vmw_pvrdma\nfi\n",
        "while true; do\n  modprobe vmw_pvrdma\ndone\n", "up() {\n  modprobe vmw_pvrdma\n}\n"})
    CHECK(migrated(script) == script);
}
