// The verbs of pvrdma-agentctl: one table for the command line, its help, and suggestions.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <vector>

namespace pvrdma::ctl {

struct VerbEntry {
  const char* name;
  const char* what;     // it does, in the list of verbs
  const char* example;  // a whole command line
  const char* page = "pvrdma-agentctl(1)";
  bool root_only = false;
};

// In the order of the help.
inline constexpr std::array<VerbEntry, 20> kVerbTable{{
    {"health", "One screen: the verdict, what is wrong and what to do, every adapter",
     "pvrdma-agentctl health"},
    {"status", "One line for each adapter", "pvrdma-agentctl status"},
    {"plan", "What the agent would do now and why; changes nothing", "pvrdma-agentctl plan"},
    {"boots", "How long each step of this boot and of the last ten took, side by side",
     "pvrdma-agentctl boots"},
    {"wait", "Wait until the adapters are ready (or there are none)",
     "pvrdma-agentctl wait --timeout 60s"},
    {"watch", "Print a line for each change, until interrupted", "pvrdma-agentctl watch"},
    {"reload", "Unload vmw_pvrdma and load it again, unless in use", "sudo pvrdma-agentctl reload",
     "pvrdma-agentctl(1)", true},
    {"acknowledge", "An adapter that was removed from the running VM is not missed",
     "sudo pvrdma-agentctl acknowledge 0000:13:00.1", "pvrdma-agentctl(1)", true},
    {"env", "Print what applications need: devices and GID index, as variables",
     "eval \"$(pvrdma-agentctl env)\""},
    {"doctor", "Is RDMA usable here, and if not, who has to do what",
     "pvrdma-agentctl doctor --host-output esx01.txt", "pvrdma-agentctl-doctor(1)"},
    {"mtu", "The largest packet that reaches a host unfragmented",
     "pvrdma-agentctl mtu 192.168.30.202"},
    {"selftest", "Prove that messages pass through a device", "pvrdma-agentctl selftest",
     "pvrdma-agentctl-selftest(1)"},
    {"verify", "Does RDMA work between this VM and another, by which path, how fast",
     "pvrdma-agentctl verify 192.168.30.202 --expect latency=50us", "pvrdma-agentctl-verify(1)"},
    {"metrics", "State, ports and findings as metrics, for Prometheus",
     "pvrdma-agentctl metrics --output pvrdma.prom", "pvrdma-agentctl-metrics(1)"},
    {"export", "The adapters for container engines, Kubernetes and vSphere",
     "pvrdma-agentctl export cdi", "pvrdma-agentctl-export(1)"},
    {"mmio", "The VM's settings for the memory of passed-through GPUs",
     "pvrdma-agentctl mmio 2x40"},
    {"migrate", "Find the reload of rc.local and its like, and retire it",
     "sudo pvrdma-agentctl migrate --apply", "pvrdma-agentctl-migrate(1)"},
    {"seal", "What a template made of this VM would hand down to its clones",
     "sudo pvrdma-agentctl seal"},
    {"report", "All that is known here, in one JSON document for a support case",
     "sudo pvrdma-agentctl report --output report.json"},
    {"help", "Print the options of a verb, or the list of verbs", "pvrdma-agentctl help wait"},
}};

// Null: there is no such verb.
[[nodiscard]] const VerbEntry* find_verb(const std::string& name);

// What stands below every verb's options: what it may be called with besides, an example, the page.
[[nodiscard]] std::string verb_footer(const VerbEntry& verb, const std::string& exit_codes);

// What is wrong with a command line, in one line with where to read on.
// "there is no verb wiat; did you mean wait? See `pvrdma-agentctl --help`."
[[nodiscard]] std::string unknown_verb(const std::string& word);
// "wait: unknown option --jsn; did you mean --json? See `pvrdma-agentctl wait --help`."
// `verb` empty: none was given.
[[nodiscard]] std::string unknown_option(const std::string& verb, const std::string& word,
                                         const std::vector<std::string>& options);
[[nodiscard]] std::string wrong_use(const std::string& verb, const std::string& what);

// What is wrong with a time on the command line; empty: nothing. It needs its unit, as a number
// alone is read as seconds by some and as milliseconds by others.
[[nodiscard]] std::string check_time(const std::string& word);

}  // namespace pvrdma::ctl
