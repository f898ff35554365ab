// SPDX-License-Identifier: GPL-2.0-or-later
#include "probes/recipe/boot_scripts.hpp"

#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <condition_variable>
#include <mutex>
#include <string_view>
#include <system_error>
#include <thread>
#include <utility>

#include "agent/base/guarded.hpp"
#include "agent/base/text.hpp"
#include "probes/recipe/command.hpp"
#include "probes/systemd.hpp"

namespace pvrdma::probes {

namespace {

// Each comparison wakes a thread, and most changes come with an event or a request.
constexpr Milliseconds kCompareEvery{300'000};

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

// Whether an interpreter with these words runs this script, or may be about to, or runs text with
// commands of the recipe.
bool is_run_by(const std::vector<std::string>& words, const RecipeFile& file,
               const RecipeScope& scope, bool is_late) {
  const auto is_the_script = [&](const std::string& path) { return contains(file.names, path); };
  return std::any_of(words.begin() + 1, words.end(), [&](const std::string& word) {
    if (is_the_script(word) || std::ranges::any_of(scripts_called(word), is_the_script))
      return true;
    // Before it runs the script, its caller may wait in the background, or stay there for ever.
    if (!is_late && !file.by.empty() && word == file.by) return true;
    return file.form != RecipeForm::Script && names_driver(word, scope);
  });
}

// Whether a unit that runs the file is being started or stopped.
Result<bool> is_in_motion(const RecipeFile& file, const AskUnit& ask) {
  for (const std::string& unit : file.boot_units)
    if (auto moving = ask(unit); !moving || *moving) return moving;
  return false;
}

// The command lines of the interpreters that root runs outside users' sessions.
std::vector<std::vector<std::string>> interpreters_of_root(const Root& root) {
  std::vector<std::vector<std::string>> found;
  for (const pid_t pid : list_processes(root).value_or(std::vector<pid_t>{})) {
    const std::string process = "/proc/" + std::to_string(pid);
    // The owner is checked first: a user can make the read of his command line wait for ever, as
    // the kernel needs the process's mmap_lock for that.
    if (!is_of_root(root, process)) continue;
    auto words = command_line(root, process);
    if (words.size() > 1 && is_interpreter(words.front())) found.push_back(std::move(words));
  }
  return found;
}

// False with hidepid=, where /proc does not list other users' processes, or refuses their files.
bool shows_processes_of_root(const Root& root) {
  return read_attribute(root / "/proc/1/status").has_value();
}

// Returns 0, or an errno: EAGAIN where the limit of tasks is reached. Each look would try again, so
// nothing is logged here, as guarded() would do.
template <typename Work>
int start_thread(const Work& work) {
  try {
    std::thread{work}.detach();
    return 0;
  } catch (const std::system_error& failed) {
    return failed.code().value();
  }
}

struct Stamp {
  unsigned long inode = 0;
  long changed_s = 0, changed_ns = 0;  // st_ctim: changes with content, mode or name
  friend bool operator==(const Stamp&, const Stamp&) = default;
};

std::vector<Stamp> stamps_of(const Root& root, const std::vector<std::string>& paths) {
  std::vector<Stamp> stamps;
  for (const std::string& path : paths) {
    const auto found = status_of(root / path);
    // A missing or unreadable file has an empty stamp.
    stamps.push_back(found ? Stamp{found->st_ino, found->st_ctim.tv_sec, found->st_ctim.tv_nsec}
                           : Stamp{});
  }
  return stamps;
}

}  // namespace

std::vector<BootScript> boot_scripts(const Root& root, const Recipe& recipe,
                                     const RecipeScope& scope, const AskUnit& in_motion,
                                     BootTime now) {
  std::vector<BootScript> scripts;
  if (std::none_of(recipe.files.begin(), recipe.files.end(), touches_driver_at_boot))
    return scripts;
  const auto running = interpreters_of_root(root);
  const bool is_shown = shows_processes_of_root(root);
  const bool is_late = now.time_since_epoch() > kBootPatience;
  for (const RecipeFile& file : recipe.files) {
    if (!touches_driver_at_boot(file)) continue;
    BootScript script{file.path, false};
    if (std::none_of(running.begin(), running.end(),
                     [&](const auto& words) { return is_run_by(words, file, scope, is_late); })) {
      const auto moving = is_in_motion(file, in_motion);
      // A unit without a job has ended, or its timer has not elapsed yet.
      const bool shows_end = is_shown && !file.by_timer;
      script.ended = moving && (*moving || shows_end) ? !*moving : is_late;
    }
    scripts.push_back(std::move(script));
  }
  return scripts;
}

struct BootScriptWatch::Shared {
  // What the thread is to do.
  struct Request {
    std::vector<std::string> modules;
    bool compare = false;
    BootTime now;
  };

  Root root;
  AskUnit in_motion;
  Milliseconds patience;
  std::mutex mutex;
  std::condition_variable changed;
  std::vector<BootScript> known;
  std::optional<Request> request;
  bool started = false, stop = false;
  BootTime compared;
  bool busy = false;  // the thread works, and uses what follows without the mutex
  RecipeScope scope;
  Recipe recipe;
  std::vector<Stamp> stamps;
  bool read = false;

  [[nodiscard]] bool is_due(const std::vector<std::string>& modules, bool compare) const {
    return compare || !read || scope.modules != modules || unfinished(known) != nullptr;
  }
  void run(const Request& work);
  void serve();
};

void BootScriptWatch::Shared::run(const Request& work) {
  const bool outdated = !read || scope.modules != work.modules ||
                        (work.compare && stamps_of(root, recipe.looked_at) != stamps);
  if (outdated) {
    scope.modules = work.modules;
    recipe = find_recipe(root, scope);
    stamps = stamps_of(root, recipe.looked_at);
    read = true;
  }
  if (!outdated && unfinished(known) == nullptr) return;
  SystemBus bus{root};
  const auto by_bus = [&](const std::string& unit) { return unit_is_in_motion(bus, unit); };
  auto scripts =
      boot_scripts(root, recipe, scope, in_motion ? in_motion : AskUnit{by_bus}, work.now);
  const std::scoped_lock lock{mutex};
  known = std::move(scripts);
}

// The thread.
void BootScriptWatch::Shared::serve() {
  std::unique_lock lock{mutex};
  for (;;) {
    changed.wait(lock, [&] { return stop || request; });
    if (stop) return;
    const Request work = *std::exchange(request, std::nullopt);
    lock.unlock();
    static_cast<void>(guarded([&] { run(work); }));
    lock.lock();
    busy = false;
    changed.notify_all();
  }
}

BootScriptWatch::BootScriptWatch(const Root& root, AskUnit in_motion, Milliseconds patience)
    : shared_{std::make_shared<Shared>()} {
  shared_->root = root;
  shared_->in_motion = std::move(in_motion);
  shared_->patience = patience;
}

BootScriptWatch::~BootScriptWatch() {
  const std::scoped_lock lock{shared_->mutex};
  shared_->stop = true;
  shared_->changed.notify_all();
}

BootScriptsLook BootScriptWatch::look(const std::vector<std::string>& modules, bool asked,
                                      BootTime now) {
  Shared& shared = *shared_;
  std::unique_lock lock{shared.mutex};
  int error = shared.busy ? ETIMEDOUT : 0;
  const bool compare = asked || now - shared.compared >= kCompareEvery;
  if (!shared.busy && shared.is_due(modules, compare)) {
    if (compare) shared.compared = now;
    if (!shared.started) error = start_thread([shared = shared_] { shared->serve(); });
    shared.started = error == 0;
    if (shared.started) {
      shared.request = {modules, compare, now};
      shared.busy = true;
      shared.changed.notify_all();
      if (!shared.changed.wait_for(lock, shared.patience, [&] { return !shared.busy; }))
        error = ETIMEDOUT;
    }
  }
  BootScriptsLook seen{shared.known, {}};
  if (error == 0) return seen;
  for (BootScript& script : seen.scripts) script.ended = false;
  seen.error = Error{error, "looking for", "scripts that reload vmw_pvrdma at boot"};
  return seen;
}

}  // namespace pvrdma::probes
