// SPDX-License-Identifier: GPL-2.0-or-later
// The catalogue of findings: complete, without contradictions, and with all names filled in.
#include <set>

#include "agent/base/text.hpp"
#include "agent/model/catalogue.hpp"
#include "tests/unit/catch.hpp"

using namespace pvrdma;

namespace {

bool is_hex(std::string_view text) {
  return text.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

// The agent logs these subjects; it has no findings of the others.
bool is_logged(Subject subject) {
  return subject == Subject::Machine || subject == Subject::Adapter;
}

// Without -a or -r modprobe takes the words after a module's name for parameters of that module.
bool loads_only_the_first(std::string_view text) {
  const auto is_module = [](std::string_view word) {
    return word == "vmxnet3" || word.find('_') != std::string_view::npos;
  };
  constexpr std::string_view kCommand = "modprobe ";
  for (std::size_t at = text.find(kCommand); at != std::string_view::npos;
       at = text.find(kCommand, at + 1)) {
    std::string_view rest = text.substr(at + kCommand.size());
    const std::string_view first = cut(rest, ' ');
    if (is_module(first) && is_module(cut(rest, ' '))) return true;
  }
  return false;
}

}  // namespace

TEST_CASE("each id stands in one place, with a MESSAGE_ID of its own") {
  std::set<FindingId> ids;
  std::set<std::string_view> names;
  std::set<std::string_view> message_ids;
  for (const Subject subject : kSubjects) {
    auto before = FindingId::Other;
    std::set<std::string_view> variants;
    for (const CatalogueEntry& entry : catalogue(subject)) {
      INFO(entry.name << " " << entry.variant);
      if (entry.id != before) {
        // pvrdma-agentctl uses config-bad too, but the entry is among the machine's.
        CHECK(ids.insert(entry.id).second);
        CHECK(names.insert(entry.name).second);
        if (is_logged(subject)) CHECK(message_ids.insert(entry.message_id).second);
        variants.clear();
      }
      before = entry.id;
      CHECK(variants.insert(entry.variant).second);
      const CatalogueEntry& first = *find_entry(entry.id);
      CHECK(entry.name == first.name);
      CHECK(entry.message_id == first.message_id);
      CHECK(entry.concerns == first.concerns);
      CHECK(finding_id_from(to_string(entry.id)) == entry.id);
      CHECK(find_entry(entry.id, entry.variant)->id == entry.id);
      CHECK(entry.message_id.size() == (is_logged(subject) ? 32 : 0));
      CHECK(is_hex(entry.message_id));
      CHECK_FALSE(entry.summary.empty());
      CHECK_FALSE(entry.remedy.empty());
      CHECK(entry.remedy_in_pages.find('{') == std::string_view::npos);
    }
  }
  // Other is the last id, and has no entry.
  CHECK(ids.size() == static_cast<std::size_t>(FindingId::Other));
  CHECK(finding_id_from("no-such-finding") == FindingId::Other);
  CHECK(find_entry(FindingId::Other) == nullptr);
  CHECK(find_entry(FindingId::NoAdapter, "no-such-variant") == nullptr);
}

TEST_CASE("each modprobe of several modules has -a or -r") {
  CHECK(loads_only_the_first("modprobe vmxnet3 rdma_cm"));
  CHECK_FALSE(loads_only_the_first("modprobe -a vmxnet3 rdma_cm"));
  for (const Subject subject : kSubjects)
    for (const CatalogueEntry& entry : catalogue(subject)) {
      INFO(entry.name << " " << entry.variant);
      for (const std::string_view text :
           {entry.summary, entry.remedy, entry.remedy_in_pages, entry.commands})
        CHECK_FALSE(loads_only_the_first(text));
    }
}

// systemctl's --now has no effect on unmask.
TEST_CASE("no remedy unmasks and starts by one command") {
  for (const Subject subject : kSubjects)
    for (const CatalogueEntry& entry : catalogue(subject))
      for (const std::string_view text : {entry.remedy, entry.remedy_in_pages, entry.commands}) {
        INFO(entry.name << " " << entry.variant);
        CHECK_FALSE(has_part(text, "unmask --now"));
      }
}

TEST_CASE("where dnf downloads a package, its plugins are installed first") {
  for (const Subject subject : kSubjects)
    for (const CatalogueEntry& entry : catalogue(subject)) {
      INFO(entry.name << " " << entry.variant);
      const std::string_view before = entry.commands.substr(0, entry.commands.find("dnf download"));
      CHECK((before == entry.commands || has_part(before, "dnf-plugins-core")));
    }
}

// A driver that is loaded by hand probes its adapters in a row, which can crash the kernel; the
// agent has the driver probe one at a time.
TEST_CASE("no remedy has the driver loaded by hand") {
  for (const Subject subject : kSubjects)
    for (const CatalogueEntry& entry : catalogue(subject)) {
      INFO(entry.name << " " << entry.variant);
      for (const std::string_view text : {entry.remedy, entry.remedy_in_pages, entry.commands}) {
        CHECK(text.find("modprobe vmw_pvrdma") == std::string_view::npos);
        CHECK(text.find("by hand when") == std::string_view::npos);
      }
    }
}

TEST_CASE("names are filled in once, whatever the values hold") {
  CHECK(filled("{a} and {b}", {{"a", "{b}"}, {"b", "2"}}) == "{b} and 2");
  CHECK(filled("{missing} stays", {}) == "{missing} stays");
  CHECK(filled("open {", {{"", "x"}}) == "open {");
  CHECK(filled("", {{"a", "b"}}).empty());
}

TEST_CASE("a finding is its entry, with the values as evidence") {
  const Finding finding = make_finding(FindingId::PortDown, {},
                                       {{"device", "rocep0"}, {"state", "DOWN"}}, "0000:13:00.1");
  CHECK(finding.id == FindingId::PortDown);
  CHECK(finding.severity == Severity::Error);
  CHECK(finding.actor == Actor::Host);
  CHECK(finding.adapter == "0000:13:00.1");
  CHECK(finding.summary ==
        "The port of rocep0 is DOWN though its link and carrier are up: the host holds it down.");
  CHECK(finding.values.at("state") == "DOWN");
  CHECK(make_finding(FindingId::GivingUp, "optional", {}).severity == Severity::Warning);
}
