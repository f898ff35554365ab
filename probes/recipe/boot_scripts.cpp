#include "probes/recipe/boot_scripts.hpp"

#include <sys/stat.h>

#include <algorithm>
#include <string_view>
#include <utility>

#include "agent/base/text.hpp"
#include "probes/unit_state.hpp"

namespace pvrdma::probes {

namespace {

constexpr Milliseconds kCompareEvery{60'000};

bool touches_driver_at_boot(const RecipeFile& file) {
  return runs_at_boot(file) &&
         std::any_of(file.reading.lines.begin(), file.reading.lines.end(), [](const auto& lines) {
           return std::any_of(lines.steps.begin(), lines.steps.end(), touches_driver);
         });
}

// The words of a process's command line; empty for a kernel thread, or one that has just ended.
std::vector<std::string> command_line(const Root& root, pid_t pid) {
  std::vector<std::string> words;
  const auto text = read_file(root / ("/proc/" + std::to_string(pid) + "/cmdline"));
  if (!text) return words;
  for (std::string_view rest = *text; !rest.empty();) words.emplace_back(cut(rest, '\0'));
  return words;
}

// What runs in shells now: the scripts' paths as they were called, and the texts of `sh -c`.
std::vector<std::string> shells_arguments(const Root& root) {
  std::vector<std::string> arguments;
  for (const pid_t pid : list_processes(root).value_or(std::vector<pid_t>{})) {
    auto words = command_line(root, pid);
    if (words.size() < 2 || !is_shell(words.front())) continue;
    std::move(words.begin() + 1, words.end(), std::back_inserter(arguments));
  }
  return arguments;
}

// Whether a shell runs this script, or a text that is the recipe's.
bool is_run_by(const std::vector<std::string>& arguments, const Root& root,
               const RecipeFile& file) {
  return std::any_of(arguments.begin(), arguments.end(), [&](const std::string& argument) {
    if (argument == file.path) return true;
    if (file.form == RecipeForm::Script && argument.starts_with('/')) {
      std::error_code error;  // called by another of its names
      return std::filesystem::equivalent(root / argument, root / file.path, error);
    }
    if (file.form == RecipeForm::Script) return false;
    const auto lines = read_recipe(argument, RecipeScope{}).lines;
    return std::any_of(lines.begin(), lines.end(), [](const RecipeLines& found) {
      return std::any_of(found.steps.begin(), found.steps.end(), touches_driver);
    });
  });
}

}  // namespace

std::vector<BootScript> boot_scripts(const Root& root, const Recipe& recipe,
                                     const AskUnit& in_motion, BootTime now) {
  std::vector<BootScript> scripts;
  std::vector<std::string> running;
  for (const RecipeFile& file : recipe.files) {
    if (!touches_driver_at_boot(file)) continue;
    if (scripts.empty()) running = shells_arguments(root);
    BootScript script{file.path, false};
    if (!is_run_by(running, root, file)) {
      const auto moving = file.unit.empty() ? Result<bool>{false} : in_motion(file.unit);
      script.ended = moving ? !*moving : now.time_since_epoch() > kBootPatience;
    }
    scripts.push_back(std::move(script));
  }
  return scripts;
}

std::vector<BootScript> look_at_boot_scripts(const Root& root,
                                             const std::vector<std::string>& modules) {
  RecipeScope scope;
  scope.modules = modules;
  return boot_scripts(root, find_recipe(root, scope), unit_is_in_motion, BootClock::now());
}

BootScriptWatch::BootScriptWatch(Root root, AskUnit in_motion)
    : root_(std::move(root)), in_motion_(std::move(in_motion)) {}

std::vector<BootScriptWatch::Stamp> BootScriptWatch::stamps() const {
  std::vector<Stamp> stamps;
  for (const std::string& path : recipe_.looked_at) {
    struct stat found {};
    // Not there, or not to be looked at: an empty stamp.
    if (::stat((root_ / path).c_str(), &found) == 0)
      stamps.push_back({found.st_ino, found.st_ctim.tv_sec, found.st_ctim.tv_nsec});
    else
      stamps.emplace_back();
  }
  return stamps;
}

const std::vector<BootScript>& BootScriptWatch::look(const std::vector<std::string>& modules,
                                                     bool asked, BootTime now) {
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
    scripts_ = boot_scripts(root_, recipe_, in_motion_, now);
  return scripts_;
}

}  // namespace pvrdma::probes
