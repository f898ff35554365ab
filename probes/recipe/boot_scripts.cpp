// SPDX-License-Identifier: GPL-2.0-or-later
#include "probes/recipe/boot_scripts.hpp"

#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "agent/base/text.hpp"

namespace pvrdma::probes {

namespace {

constexpr Milliseconds kCompareEvery{60'000};

bool is_interpreter(const std::string& word) {
  constexpr std::array<std::string_view, 11> kInterpreters{
      "sh", "ash", "bash", "dash", "ksh", "mksh", "zsh", "busybox", "perl", "python", "python3"};
  return contains(kInterpreters, base_name(word));
}

// The words in the first page of a process's command line; empty for a kernel thread, or for a
// process that has just ended.
std::vector<std::string> command_line(const Root& root, const std::string& process) {
  std::vector<std::string> words;
  const auto text = read_attribute(root / (process + "/cmdline"));
  if (!text) return words;
  for (std::string_view rest = *text; !rest.empty();) words.emplace_back(cut(rest, '\0'));
  return words;
}

// True where all four user ids are root's, which excludes set-uid programs of users, and where the
// process is not of a user's session, as sudo(8) has all four ids while it asks for a password.
bool is_of_root(const Root& root, const std::string& process) {
  const auto status = read_attribute(root / (process + "/status"));
  if (!status) return false;
  bool ids_of_root = false;
  for (std::string_view rest = *status; !rest.empty();)
    if (cut(rest, '\n') == "Uid:\t0\t0\t0\t0") ids_of_root = true;
  // Absent in a kernel without auditing.
  const std::string login = read_attribute(root / (process + "/loginuid")).value_or("0");
  constexpr std::string_view kNobodyHasLoggedIn = "4294967295";  // (uid_t)-1
  return ids_of_root && (login == "0" || login == kNobodyHasLoggedIn);
}

bool names_driver(const std::string& text, const RecipeScope& scope) {
  for (std::string_view rest = text; !rest.empty();)
    if (look_at_command(cut(rest, '\n'), scope).touches_driver) return true;
  return false;
}

// Whether an interpreter with these words runs this script, or runs text with commands of the
// recipe.
bool is_run_by(const std::vector<std::string>& words, const RecipeFile& file,
               const RecipeScope& scope) {
  return std::any_of(words.begin() + 1, words.end(), [&](const std::string& word) {
    if (word == file.path || word == file.called) return true;
    return file.form != RecipeForm::Script && names_driver(word, scope);
  });
}

// The command lines of the interpreters that root runs outside users' sessions.
std::vector<std::vector<std::string>> interpreters_of_root(const Root& root) {
  std::vector<std::vector<std::string>> found;
  for (const pid_t pid : list_processes(root).value_or(std::vector<pid_t>{})) {
    const std::string process = "/proc/" + std::to_string(pid);
    auto words = command_line(root, process);
    if (words.size() > 1 && is_interpreter(words.front()) && is_of_root(root, process))
      found.push_back(std::move(words));
  }
  return found;
}

}  // namespace

std::vector<BootScript> boot_scripts(const Root& root, const Recipe& recipe,
                                     const RecipeScope& scope, const AskUnit& in_motion,
                                     BootTime now) {
  std::vector<BootScript> scripts;
  if (std::none_of(recipe.files.begin(), recipe.files.end(), touches_driver_at_boot))
    return scripts;
  const auto running = interpreters_of_root(root);
  for (const RecipeFile& file : recipe.files) {
    if (!touches_driver_at_boot(file)) continue;
    BootScript script{file.path, false};
    if (std::none_of(running.begin(), running.end(),
                     [&](const auto& words) { return is_run_by(words, file, scope); })) {
      const auto moving = file.unit.empty() ? Result<bool>{false} : in_motion(file.unit);
      script.ended = moving ? !*moving : now.time_since_epoch() > kBootPatience;
    }
    scripts.push_back(std::move(script));
  }
  return scripts;
}

std::vector<BootScriptWatch::Stamp> BootScriptWatch::stamps() const {
  std::vector<Stamp> stamps;
  for (const std::string& path : recipe_.looked_at) {
    const auto found = status_of(root_ / path);
    // A missing or unreadable file has an empty stamp.
    stamps.push_back(found ? Stamp{found->st_ino, found->st_ctim.tv_sec, found->st_ctim.tv_nsec}
                           : Stamp{});
  }
  return stamps;
}

const std::vector<BootScript>& BootScriptWatch::look(const std::vector<std::string>& modules,
                                                     bool asked, const AskUnit& in_motion,
                                                     BootTime now) {
  const bool compare = asked || now - compared_ >= kCompareEvery;
  bool changed = !read_ || scope_.modules != modules;
  if (compare) {
    compared_ = now;
    changed = changed || stamps() != stamps_;
  }
  if (changed) {
    read_ = true;
    scope_.modules = modules;
    recipe_ = find_recipe(root_, scope_);
    stamps_ = stamps();
  }
  if (changed || unfinished(scripts_) != nullptr)
    scripts_ = boot_scripts(root_, recipe_, scope_, in_motion, now);
  return scripts_;
}

}  // namespace pvrdma::probes
