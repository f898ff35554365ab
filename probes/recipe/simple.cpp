// SPDX-License-Identifier: GPL-2.0-or-later
// Whether a command line only loads and unloads modules of the agent, so that it can be commented
// out as a whole (why_not_simple(), command.hpp). A line with any other syntax is not simple.
#include <algorithm>
#include <array>
#include <vector>

#include "agent/base/text.hpp"
#include "agent/model/snapshot.hpp"
#include "probes/modules.hpp"
#include "probes/recipe/command.hpp"

namespace pvrdma::probes {

namespace {

using Words = std::vector<std::string_view>;

// `modprobe MODULE NAME=VALUE…`: the parameter must still be set without the line.
std::string sets_parameters(const Words& words, Words::const_iterator first) {
  std::string options{first[-1]};
  for (auto word = first; word != words.end(); ++word) options += " " + std::string{*word};
  return "it sets a parameter: in its place write `options " + options +
         "` into a file in /etc/modprobe.d";
}

constexpr const char* kUnloadsNic = "it unloads vmxnet3, which the agent never does";
constexpr const char* kForces =
    "it loads a module by force, which the agent never does: the kernel may refuse it otherwise";
constexpr const char* kOwnFile =
    "it loads a file of its own; the agent loads only modules in /lib/modules that depmod knows";

bool is_below_lib_modules(std::string_view file) {
  return file.starts_with("/lib/modules/") || file.starts_with("/usr/lib/modules/");
}

// Removes redirections of the output, and `|| true` and similar endings.
void drop_endings(Words& words) {
  constexpr std::array<std::string_view, 5> kRedirections{">/dev/null", "1>/dev/null",
                                                          "2>/dev/null", "&>/dev/null", "2>&1"};
  constexpr std::array<std::string_view, 4> kArrows{">", "1>", "2>", "&>"};
  constexpr std::array<std::string_view, 4> kTrue{"true", ":", "/bin/true", "/usr/bin/true"};
  if (words.size() > 2 && words[words.size() - 2] == "||" && contains(kTrue, words.back()))
    words.resize(words.size() - 2);
  while (words.size() > 1) {
    if (contains(kRedirections, words.back()))
      words.pop_back();
    else if (words.size() > 2 && words.back() == "/dev/null" &&
             contains(kArrows, words[words.size() - 2]))
      words.resize(words.size() - 2);
    else
      break;
  }
}

// The name of a tool given by its name or in a folder of programs; else empty.
std::string_view tool_of(std::string_view word) {
  constexpr std::array<std::string_view, 5> kFolders{"", "/sbin/", "/usr/sbin/", "/bin/",
                                                     "/usr/bin/"};
  const std::string_view name = base_name(word);
  return contains(kFolders, word.substr(0, word.size() - name.size())) ? name : std::string_view{};
}

bool is_flag(std::string_view word) {
  constexpr std::array<std::string_view, 7> kLong{"--all",    "--remove",  "--force",     "--quiet",
                                                  "--syslog", "--verbose", "--first-time"};
  if (word.starts_with("--")) return contains(kLong, word);
  return word.size() > 1 && word.front() == '-' &&
         word.find_first_not_of("afqrsv", 1) == std::string_view::npos;
}

bool has_option(std::string_view word, char letter, std::string_view name) {
  return word.starts_with("--") ? word == name : word.find(letter) != std::string_view::npos;
}

std::string why_not_simple(const Words& words, const RecipeScope& scope) {
  const std::string_view tool = tool_of(words.front());
  bool removes = tool == "rmmod", forces = false;
  unsigned modules = 0;
  for (auto word = words.begin() + 1; word != words.end(); ++word) {
    if (word->starts_with('-')) {
      if (!is_flag(*word)) return kDoesMore;
      removes = removes || has_option(*word, 'r', "--remove");
      forces = forces || has_option(*word, 'f', "--force");
      continue;
    }
    const std::string module = module_of(*word);
    if (tool == "modprobe" && modules == 1 && word->find('=') != std::string_view::npos)
      return sets_parameters(words, word);
    // For insmod only the first word names a module; the rest are its parameters.
    if (!is_module_of_agent(module, scope) || (tool == "insmod" && modules > 0)) return kDoesMore;
    if (removes && module == kNetModule) return kUnloadsNic;
    if (tool == "insmod" && !is_below_lib_modules(*word)) return kOwnFile;
    ++modules;
  }
  if (forces && !removes) return kForces;
  return modules == 0 ? kDoesMore : "";
}

// The text cut at ";" and "&&", without an empty last piece after ";".
std::vector<std::string_view> pieces_of(std::string_view text) {
  std::vector<std::string_view> pieces;
  for (;;) {
    const std::size_t end = std::min(text.find(';'), text.find("&&"));
    pieces.push_back(trimmed(text.substr(0, end)));
    if (end == std::string_view::npos) return pieces;
    const bool semicolon = text[end] == ';';
    text.remove_prefix(end + (semicolon ? 1 : 2));
    if (semicolon && trimmed(text).empty()) return pieces;
  }
}

}  // namespace

bool is_module_of_agent(const std::string& module, const RecipeScope& scope) {
  constexpr std::array<std::string_view, 7> kAlways{
      kDriverModule, kNetModule, "ib_core", "ib_uverbs", "ib_cm", "iw_cm", "ib_mad"};
  return contains(kAlways, module) || contains(scope.modules, module);
}

std::string why_not_simple(std::string_view text, const RecipeScope& scope) {
  bool any = false;
  for (const std::string_view piece : pieces_of(text)) {
    Words words = split_at_blanks(piece);
    drop_endings(words);
    if (words.size() > 1 && words.front() == "sudo") words.erase(words.begin());
    const bool plain = std::all_of(words.begin(), words.end(), [](std::string_view word) {
      return std::all_of(word.begin(), word.end(), [](char letter) {
        return is_alphanumeric(letter) ||
               std::string_view{"_./-+=,"}.find(letter) != std::string_view::npos;
      });
    });
    if (words.empty() || !plain) return kDoesMore;
    const std::string_view tool = tool_of(words.front());
    if (tool == "sleep" && words.size() == 2) continue;
    if (tool != "modprobe" && tool != "rmmod" && tool != "insmod") return kDoesMore;
    if (std::string why = why_not_simple(words, scope); !why.empty()) return why;
    any = true;
  }
  return any ? "" : kDoesMore;
}

}  // namespace pvrdma::probes
