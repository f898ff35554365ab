// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/ctl/verbs.hpp"

#include <algorithm>

#include "agent/base/text.hpp"
#include "agent/config/duration.hpp"

namespace pvrdma::ctl {

namespace {

constexpr std::size_t kShownChars = 60;

std::string shown(const std::string& word) { return printable(word, kShownChars); }

std::string suggestion(const std::string& word, const std::vector<std::string>& words) {
  const auto meant = closest(word, words);
  return meant ? "; did you mean " + *meant + "?" : ".";
}

std::string with_help(const std::string& verb, const std::string& what) {
  const std::string lead = verb.empty() ? "" : verb + ": ";
  const std::string command = "pvrdma-agentctl " + (verb.empty() ? "" : verb + " ") + "--help";
  return lead + what + " See `" + command + "`.";
}

}  // namespace

const VerbEntry* find_verb(const std::string& name) {
  const auto* const found = std::find_if(kVerbTable.begin(), kVerbTable.end(),
                                         [&](const VerbEntry& verb) { return name == verb.name; });
  return found == kVerbTable.end() ? nullptr : found;
}

std::string verb_footer(const VerbEntry& verb) {
  return std::string{verb.root_only ? "Root only. " : ""} +
         "Takes --json (JSON, for programs) and --socket PATH as well.\n" + verb.exit_codes +
         "\nExample: " + verb.example + "\nManual page: " + verb.page;
}

std::string unknown_verb(const std::string& word) {
  std::vector<std::string> names;
  names.reserve(kVerbTable.size());
  for (const VerbEntry& verb : kVerbTable) names.emplace_back(verb.name);
  return with_help("", "there is no verb " + shown(word) + suggestion(word, names));
}

std::string unknown_option(const std::string& verb, const std::string& word,
                           const std::vector<std::string>& options) {
  const std::string name = word.substr(0, word.find('='));
  return with_help(verb, "unknown option " + shown(name) + suggestion(name, options));
}

std::string wrong_use(const std::string& verb, const std::string& what) {
  return with_help(verb, printable(what) + ".");
}

std::string check_time(const std::string& word) {
  if (!word.empty() && word.find_first_not_of("0123456789") == std::string::npos)
    return "needs a unit, as in " + shown(word) + "s";
  return parse_timeout(word) ? std::string{} : std::string{kTimeoutRule};
}

}  // namespace pvrdma::ctl
