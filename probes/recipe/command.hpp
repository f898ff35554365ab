// SPDX-License-Identifier: GPL-2.0-or-later
// One command line of a script, crontab or unit, looked at by its words and not parsed: whether it
// names modprobe, rmmod or insmod and a module of the agent's, or stands beside such lines.
//
// This is no shell, and does not try to be one: what it cannot tell is left to a person.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace pvrdma::probes {

// What belongs to the agent on that system.
struct RecipeScope {
  std::vector<std::string> modules = {"mlx4_ib", "ib_umad", "rdma_cm", "rdma_ucm"};
  std::vector<std::string> netdevs;      // of PVRDMA adapters; none: not known, any may be one
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
  // It takes vmw_pvrdma away or brings it in, so that a reload of the agent's would meet it.
  bool touches_driver = false;
  std::string by_hand{};  // Driver: why it is not simple; empty: it is, and can go as a whole
  // Other: it loads or unloads a module that a variable or another program names.
  bool by_another_name = false;
};
inline constexpr const char* kDoesMore = "it does more than load or unload these modules";
[[nodiscard]] CommandLook look_at_command(std::string_view text, const RecipeScope& scope);

// Absolute paths that the command line runs, those of packages left out: the first word of each of
// its commands, after sudo, env, a shell and their like.
[[nodiscard]] std::vector<std::string> scripts_called(std::string_view text);

// Up to " #", unless a quote stands before it, which may hold it.
[[nodiscard]] std::string_view without_comment(std::string_view text);

// Up to 16 KiB of the text with its braces taken apart, as bash does: "rdma_{cm,ucm}" ->
// "rdma_cm rdma_ucm". What holds a blank stays.
[[nodiscard]] std::string without_braces(std::string_view text);

// The runs of characters that names, paths, options and addresses consist of.
[[nodiscard]] std::vector<std::string_view> words_in(std::string_view text);

// Cut at ";", "&", "|", parentheses and braces, quotes taken for spaces.
[[nodiscard]] std::vector<std::string> commands_in(std::string_view text);

// Whether all that an `install` command of modprobe.d runs are the usual ways to do nothing.
[[nodiscard]] bool loads_nothing(std::string_view command);

// "/usr/sbin/ip" -> "ip"
[[nodiscard]] std::string_view base_name(std::string_view path);

// "/lib/modules/…/vmw-pvrdma.ko.xz" -> "vmw_pvrdma"
[[nodiscard]] std::string module_of(std::string_view word);

// One that the agent loads, or that comes with one of these.
[[nodiscard]] bool is_module_of_agent(const std::string& module, const RecipeScope& scope);

// Empty where it is simple: one or several of `modprobe [-afqrsv] MODULE…`, `rmmod MODULE…`,
// `insmod FILE` and `sleep N` between ";" or "&&", each with nothing more than `sudo` before it and
// redirections to /dev/null, `2>&1`, `|| true` after it.
[[nodiscard]] std::string why_not_simple(std::string_view text, const RecipeScope& scope);

}  // namespace pvrdma::probes
