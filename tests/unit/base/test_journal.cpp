// What is logged and sent to the service manager: one line and one assignment, whatever the names
// in it are made of.
#include "agent/base/journal.hpp"

#include <algorithm>

#include "agent/base/notify.hpp"
#include "tests/unit/catch.hpp"
#include "tests/unit/notified.hpp"

using namespace pvrdma;

namespace {

// A process's name, with all that a log or a terminal would take for more than a name.
const std::string kHostile = "x\nSTOPPING=1\x1b]0;y\x07\xc2\x9b\xe2\x80\xae\xff";
const std::string kShown = "x\\nSTOPPING=1\\x1b]0;y\\x07\\x9b\\u202e\\xff";

}  // namespace

TEST_CASE("an entry of the journal has printable values of bounded length") {
  const std::string id(32, 'a');
  const auto entry = journal::entry(journal::Priority::Warning, id, "held by " + kHostile,
                                    {{"PVRDMA_TARGET", kHostile}});
  CHECK(entry == std::vector<std::string>{"MESSAGE=held by " + kShown, "PRIORITY=4",
                                          "MESSAGE_ID=" + id, "PVRDMA_TARGET=" + kShown});
  const std::string long_name(1U << 20U, 'x');
  for (const std::string& field :
       journal::entry(journal::Priority::Error, {}, long_name, {{"PVRDMA_TARGET", long_name}}))
    CHECK(field.size() < 5000);
}

TEST_CASE("without a journal a message is one printable line on standard error") {
  const test::ErrorOutput output;
  journal::log(journal::Priority::Warning, {}, "held by " + kHostile);
  CHECK(output.text() == "held by " + kShown + "\n");
}

TEST_CASE("the service manager is sent one assignment") {
  const test::Manager manager;
  notify("STATUS", "held by " + kHostile);
  notify("STATUS", std::string("a\0STOPPING=1", 12));
  notify("READY", "1");
  CHECK(manager.heard() ==
        std::vector<std::string>{"STATUS=held by " + kShown, "STATUS=a\\x00STOPPING=1", "READY=1"});
  notify("STATUS", std::string(1U << 20U, 'x'));
  const auto heard = manager.heard();
  REQUIRE(heard.size() == 1);
  CHECK(heard.front().size() < 600);
}
