// SPDX-License-Identifier: GPL-2.0-or-later
// Looks at one command line of a script, crontab or unit, by its words, without parsing it: whether
// it names modprobe, rmmod or insmod and a module of the agent, or belongs to such lines.
//
// This is not a shell: lines that it cannot judge are left to a person.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace pvrdma::probes {

// The modules, netdevs and functions of the agent on that system.
struct RecipeScope {
  std::vector<std::string> modules = {"mlx4_ib", "ib_umad", "rdma_cm", "rdma_ucm"};
  // Of PVRDMA adapters; empty: not known, so any netdev may be one.
  std::vector<std::string> netdevs{};
  std::vector<std::string> functions{};  // PCI addresses of the adapters, as far as known
};

enum class LineKind {
  Other,
  Driver,  // loads, unloads, binds or blocks one of the modules, or restarts the RDMA services
  Link,    // sets a link's MTU, address or state
  Port,    // looks at RDMA devices
};

struct CommandLook {
  LineKind kind = LineKind::Other;
  // The line removes or loads vmw_pvrdma, so it could collide with a reload by the agent.
  bool touches_driver = false;
  // Driver: why the line is not simple; empty: it is simple, and can be removed as a whole.
  std::string by_hand{};
  // Other: the line loads or unloads a module that a variable or another program names.
  bool by_another_name = false;
  // Modules of the agent, or such that a variable or another program names.
  bool unloads = false;
};
inline constexpr const char* kDoesMore = "it does more than load or unload these modules";
[[nodiscard]] CommandLook look_at_command(std::string_view text, const RecipeScope& scope);

// The absolute paths that the command line runs, without those of packages: the first word of each
// command, after sudo, env, a shell and similar words.
[[nodiscard]] std::vector<std::string> scripts_called(std::string_view text);

// True for a shell, Perl or Python: "/usr/bin/python3.9".
[[nodiscard]] bool is_interpreter(std::string_view word);

// Whether a command of the line leaves its program to a timer (`systemd-run --on-active=60`).
[[nodiscard]] bool starts_timer(std::string_view text);

// The text up to " #", unless a quote stands before it, as the " #" may be quoted.
[[nodiscard]] std::string_view without_comment(std::string_view text);

// Up to 16 KiB of the text with its braces expanded, as in bash: "rdma_{cm,ucm}" -> "rdma_cm
// rdma_ucm". Braces with a blank inside stay.
[[nodiscard]] std::string without_braces(std::string_view text);

// The runs of characters that can be part of names, paths, options and addresses.
[[nodiscard]] std::vector<std::string_view> words_in(std::string_view text);

// The text cut at ";", "&", "|", parentheses and braces; quotes become spaces.
[[nodiscard]] std::vector<std::string> commands_in(std::string_view text);

// True for a module that the agent loads, and for modules that are loaded with these.
[[nodiscard]] bool is_module_of_agent(const std::string& module, const RecipeScope& scope);

// Empty where the line is simple: one or several of `modprobe [-afqrsv] MODULE…`, `rmmod MODULE…`,
// `insmod FILE` and `sleep N` between ";" or "&&", each with nothing more than `sudo` before it and
// redirections to /dev/null, `2>&1`, `|| true` after it.
[[nodiscard]] std::string why_not_simple(std::string_view text, const RecipeScope& scope);

// Relations between the lines of a shell script, as far as single lines show them: which lines must
// not be commented out.

// The shell of the #! line, if any: /bin/sh or /bin/bash, always at these fixed paths; empty:
// another interpreter.
[[nodiscard]] std::string shell_of(std::string_view script);

// Takes the lines in turn, without empty lines and comments.
class ScriptLines {
 public:
  explicit ScriptLines(std::string shell) : shell_(std::move(shell)) {}

  // Call it before next(): why the next line must stay; empty: it may be commented out.
  [[nodiscard]] std::string why_to_stay() const;
  // `goes`: the line may be commented out.
  void next(unsigned number, std::string_view line, bool goes);
  // The line that begins a body (`then`, `do`, `{`) that would become empty; 0: there is none.
  [[nodiscard]] unsigned emptied() const { return emptied_; }

 private:
  std::string shell_;
  bool continued_ = false;
  unsigned text_from_ = 0;  // the line that may begin a text of several lines; 0: none so far
  unsigned body_from_ = 0;  // the line whose body so far has no line that stays; 0: none
  bool body_has_lines_ = false;
  unsigned emptied_ = 0;
};

}  // namespace pvrdma::probes
