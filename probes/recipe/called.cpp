// SPDX-License-Identifier: GPL-2.0-or-later
// Which scripts a command line runs (scripts_called(), command.hpp).
#include <algorithm>
#include <array>

#include "agent/base/text.hpp"
#include "probes/recipe/command.hpp"

namespace pvrdma::probes {

namespace {

using Words = std::vector<std::string_view>;

// Folders of distributions: scripts of packages are not part of a site's recipe.
bool is_packaged(std::string_view path) {
  constexpr std::array kFolders{"/usr/bin/", "/usr/sbin/", "/bin/",        "/sbin/",
                                "/usr/lib/", "/lib/",      "/etc/init.d/", "/etc/rc.d/init.d/"};
  return std::any_of(kFolders.begin(), kFolders.end(),
                     [&](const char* folder) { return path.starts_with(folder); });
}

// A word that only says how, or on which condition, to run the command in the words after it.
struct Wrapper {
  std::string_view name;
  std::string_view options{};  // letters of those whose argument is the next word
  unsigned operands = 0;       // words between its options and the command
};
constexpr std::array<Wrapper, 11> kInterpreters{{
    {"sh", "o"},
    {"bash", "oO"},
    {"dash", "o"},
    {"ash", "o"},
    {"ksh", "o"},
    {"mksh", "o"},
    {"zsh", "o"},
    {"busybox"},
    {"python", "cmWX"},
    {"platform-python", "cmWX"},
    {"perl", "eEI"},
}};
constexpr std::array<Wrapper, 26> kWrappers{{
    {"flock", "wE", 1},
    {"timeout", "ks", 1},
    {"sudo", "CDghpRrTtUu"},
    {"env", "Cu"},
    {"ionice", "cn"},
    {"nice", "n"},
    {"time", "fo"},
    {"exec", "a"},
    {"su", "gGsw"},  // the argument of -c is the command itself
    {"runuser", "gGsuw"},
    {"root"},  // the user of su and runuser
    {"systemd-cat", "tp"},
    {"systemd-run", "EHMpu"},
    {"nohup"},
    {"command"},
    {"setsid"},
    {"source"},
    {"."},
    {"if"},
    {"then"},
    {"else"},
    {"elif"},
    {"do"},
    {"while"},
    {"until"},
    {"!"},
}};

// Null: another program. "/usr/bin/python3.9" is python.
const Wrapper* interpreter(std::string_view word) {
  const std::string_view name = base_name(word);
  const std::size_t end = name.find_last_not_of("0123456789.") + 1;
  return find_in(kInterpreters, name.substr(0, end), &Wrapper::name);
}

const Wrapper* find_wrapper(std::string_view word) {
  const Wrapper* found = interpreter(word);
  return found != nullptr ? found : find_in(kWrappers, base_name(word), &Wrapper::name);
}

// Whether the next word is the argument of this option.
bool takes_argument(std::string_view option, const Wrapper& wrapper) {
  constexpr std::array<std::string_view, 11> kLong{
      "--chdir",   "--class", "--group", "--kill-after", "--property", "--signal",
      "--timeout", "--unit",  "--unset", "--user",       "--wait"};
  // Flags of systemd-run, but options of flock and sudo.
  if (wrapper.name == "systemd-run" && (option == "--wait" || option == "--user")) return false;
  if (option.starts_with("--")) return contains(kLong, option);
  return option.find_first_of(wrapper.options, 1) == option.size() - 1;
}

// The first word of the command after its wrappers; empty: there is none.
std::string_view program_in(const Words& words) {
  Wrapper wrapper;
  for (std::size_t at = 0; at < words.size(); ++at) {
    const std::string_view word = words[at];
    if (word.starts_with('-')) {
      if (takes_argument(word, wrapper)) ++at;
    } else if (wrapper.operands > 0) {
      --wrapper.operands;
    } else if (const Wrapper* next = find_wrapper(word)) {
      wrapper = *next;
    } else if (!is_digit(word.front()) &&
               (word.starts_with('/') || word.find('=') == std::string_view::npos)) {
      return word;
    }
  }
  return {};
}

}  // namespace

bool is_interpreter(std::string_view word) { return interpreter(word) != nullptr; }

bool starts_timer(std::string_view text) {
  return std::ranges::any_of(commands_in(without_comment(text)), [](const std::string& command) {
    const Words words = split_at_blanks(command);
    return std::ranges::any_of(words, [](auto word) { return base_name(word) == "systemd-run"; }) &&
           std::ranges::any_of(words, [](auto word) { return word.starts_with("--on-"); });
  });
}

std::vector<std::string> scripts_called(std::string_view text) {
  std::vector<std::string> paths;
  for (const std::string& command : commands_in(without_comment(text))) {
    const std::string_view program = program_in(split_at_blanks(command));
    if (program.starts_with('/') && words_in(program) == Words{program} && !is_packaged(program))
      paths.emplace_back(program);
  }
  return paths;
}

}  // namespace pvrdma::probes
