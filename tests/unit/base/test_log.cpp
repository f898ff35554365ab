// SPDX-License-Identifier: GPL-2.0-or-later
// Whatever names are in it, a message stays one line of the log, and one assignment for the service
// manager.
#include "agent/base/log.hpp"

#include <new>
#include <thread>

#include "agent/base/log_sink.hpp"
#include "agent/base/notify.hpp"
#include "tests/unit/catch.hpp"
#include "tests/unit/logged.hpp"
#include "tests/unit/notified.hpp"

using namespace pvrdma;

namespace {

// A process's name with everything that a log or a terminal could obey.
const std::string kHostile = "x\nSTOPPING=1\x1b]0;y\x07\xc2\x9b\xe2\x80\xae\xff";
const std::string kShown = "x\\nSTOPPING=1\\x1b]0;y\\x07\\x9b\\u202e\\xff";

}  // namespace

TEST_CASE("an entry of the journal has printable values of bounded length") {
  const test::ErrorOutput output;
  const test::Logged logged;
  const std::string id(32, 'a');
  log::event(log::Level::Warning, id, "held by " + kHostile, {{"PVRDMA_TARGET", kHostile}});
  const std::string long_name(1U << 20U, 'x');
  log::event(log::Level::Error, {}, long_name, {{"PVRDMA_TARGET", long_name}});
  REQUIRE(logged.entries().size() == 2);
  CHECK(logged.entries()[0] == log::JournalEntry{"MESSAGE=held by " + kShown, "PRIORITY=4",
                                                 "MESSAGE_ID=" + id, "PVRDMA_TARGET=" + kShown});
  CHECK(logged.entries()[1].size() == 3);
  for (const std::string& field : logged.entries()[1]) CHECK(field.size() < 5000);
}

TEST_CASE("without a journal a message is one printable line on standard error") {
  const test::ErrorOutput output;
  log::event(log::Level::Warning, {}, "held by " + kHostile, {{"PVRDMA_TARGET", "x"}});
  log::warning("{} of {}", kHostile, 2);
  CHECK(output.text() == "held by " + kShown + "\n" + kShown + " of 2\n");
}

TEST_CASE("each level has its priority, and less important messages are left out") {
  const test::ErrorOutput output;
  const test::Logged logged{log::Level::Notice};
  const auto all = [] {
    log::error("e");
    log::warning("w");
    log::notice("n");
    log::info("i");
    log::debug("d");
  };
  all();
  using Entry = log::JournalEntry;
  const std::vector<Entry> seen{Entry{"MESSAGE=e", "PRIORITY=3"}, Entry{"MESSAGE=w", "PRIORITY=4"},
                                Entry{"MESSAGE=n", "PRIORITY=5"}};
  CHECK(logged.entries() == seen);
  log::set_level(log::Level::Debug);
  all();
  REQUIRE(logged.entries().size() == 8);
  CHECK(logged.entries()[6] == log::JournalEntry{"MESSAGE=i", "PRIORITY=6"});
  CHECK(logged.entries()[7] == log::JournalEntry{"MESSAGE=d", "PRIORITY=7"});
}

TEST_CASE("threads that log at the same time keep their fields apart") {
  const test::ErrorOutput output;
  const test::Logged logged;
  // In the middle of the first message, another thread logs one.
  auto& sinks = log::logger().sinks();
  sinks.insert(
      sinks.begin(), std::make_shared<log::JournalSink>([](const log::JournalEntry& entry) {
        if (entry.front() == "MESSAGE=first")
          std::thread{[] { log::event(log::Level::Info, {}, "other", {{"B", "b"}}); }}.join();
      }));
  log::event(log::Level::Warning, "id", "first", {{"A", "a"}});
  REQUIRE(logged.entries().size() == 2);
  CHECK(logged.entries()[0] == log::JournalEntry{"MESSAGE=other", "PRIORITY=6", "B=b"});
  CHECK(logged.entries()[1] ==
        log::JournalEntry{"MESSAGE=first", "PRIORITY=4", "MESSAGE_ID=id", "A=a"});
}

TEST_CASE("an exception of a sink reaches the caller, and leaves no field behind") {
  const test::ErrorOutput output;
  const test::Logged logged;
  auto& sinks = log::logger().sinks();
  sinks.push_back(
      std::make_shared<log::JournalSink>([](const log::JournalEntry&) { throw std::bad_alloc{}; }));
  CHECK_THROWS_AS(log::event(log::Level::Info, "id", "x", {{"A", "b"}}), std::bad_alloc);
  sinks.pop_back();
  log::logger().log(spdlog::level::info, "y");
  CHECK(logged.entries().back() == log::JournalEntry{"MESSAGE=y", "PRIORITY=6"});
  CHECK(output.text() == "x\ny\n");
}

TEST_CASE("the journal listens where JOURNAL_STREAM names standard error") {
  struct stat file {};
  file.st_dev = 9;
  file.st_ino = 41234;
  CHECK(log::is_journal("9:41234", file));
  for (const char* other :
       {"9:41235", "8:41234", "9:41234:", "9:4123", "9:", ":41234", "", "9", "0x9:41234",
        "-9:41234", " 9:41234", "9:41234 ", "9:41234\n", "99999999999999999999999:41234", "x"})
    CHECK_FALSE(log::is_journal(other, file));
}

TEST_CASE("--log-level is taken out of the command line") {
  const test::Logged logged;
  const auto words = [](std::vector<const char*> given) {
    given.insert(given.begin(), "program");
    return log::take_log_level(static_cast<int>(given.size()), given.data());
  };
  CHECK(words({"--check-config"}).value() == std::vector<std::string_view>{"--check-config"});
  CHECK_FALSE(log::wants(log::Level::Debug));
  CHECK(words({"--log-level", "debug", "--help"}).value() ==
        std::vector<std::string_view>{"--help"});
  CHECK(log::wants(log::Level::Debug));
  CHECK(words({"--log-level", "error"}).value().empty());
  CHECK_FALSE(log::wants(log::Level::Warning));
  const std::string allowed = "--log-level takes one of error, warning, notice, info, debug, ";
  CHECK(words({"--log-level", "Info"}).error().message() == allowed + "and not \"Info\"");
  CHECK(words({"--log-level"}).error().message() == allowed + "and not nothing");
  CHECK_FALSE(log::wants(log::Level::Warning));
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
