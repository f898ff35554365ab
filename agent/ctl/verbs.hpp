// SPDX-License-Identifier: GPL-2.0-or-later
// The verbs of pvrdma-agentctl: one table for the command line, its help, and suggestions.
#pragma once

#include <array>
#include <string>
#include <vector>

namespace pvrdma::ctl {

// The exit codes of every verb that returns a state.
inline constexpr const char* kStateExitCodes =
    "Exit codes: 0 ready or absent, 1 degraded or converging, 2 failed, 3 unknown (no agent, no\n"
    "answer in time, wrong command line).";

struct VerbEntry {
  const char* name;
  const char* what;                          // one line for the list of verbs
  const char* example;                       // a whole command line
  const char* exit_codes = kStateExitCodes;  // and further notes, printed below the options
  const char* page = "pvrdma-agentctl(1)";
  bool root_only = false;
};

// In the order of the help.
inline constexpr std::array<VerbEntry, 20> kVerbTable{{
    {"health", "One screen: the verdict, the findings with their remedies, every adapter",
     "pvrdma-agentctl health"},
    {"status", "One line for each adapter", "pvrdma-agentctl status"},
    {"plan", "Show what the agent would do now, and why; changes nothing", "pvrdma-agentctl plan",
     "Exit codes: 0 nothing to do, 1 actions or warnings, 2 an error is among the findings,\n"
     "3 unknown (no agent, no answer in time, no look, or an old one; wrong command line)."},
    {"boots", "Show how long each step of this boot and of the last ten took, side by side",
     "pvrdma-agentctl boots",
     "Reads the journal: for root and members of the groups systemd-journal and adm; needs no\n"
     "agent. Exit codes: 0 printed, 3 not printed (no boot is known, wrong command line)."},
    {"wait", "Wait until the adapters are ready (or there are none)",
     "pvrdma-agentctl wait --timeout 60s"},
    {"watch", "Print a line for each change, until interrupted", "pvrdma-agentctl watch"},
    {"reload", "Unload vmw_pvrdma and load it again, unless in use", "sudo pvrdma-agentctl reload",
     "Exit codes: 0 reloaded, 1 an adapter is in use or now degraded, 2 failed or forbidden,\n"
     "3 unknown (no agent, no answer in time, not permitted, no such adapter, wrong\n"
     "command line).",
     "pvrdma-agentctl(1)", true},
    {"acknowledge", "Stop reporting an adapter that was removed from the running VM",
     "sudo pvrdma-agentctl acknowledge 0000:13:00.1", kStateExitCodes, "pvrdma-agentctl(1)", true},
    {"env", "Print variables that have NCCL, UCX, MPI and perftest use the adapters, or TCP",
     "eval \"$(pvrdma-agentctl env)\"",
     "Exit codes: 0 printed; where no adapter is ready 1 degraded or converging, 2 failed, else 3\n"
     "(no such adapter, no agent, no answer in time, no look, or an old one; wrong command line).",
     "pvrdma-agentctl-env(1)"},
    {"doctor", "Check whether RDMA is usable here; if not, name what to do, and who must do it",
     "pvrdma-agentctl doctor --host-output esx01.txt",
     "Needs neither agent nor root; sees more with either. Exit codes: 0 RDMA is usable here,\n"
     "1 with warnings, 2 it is not usable, 3 not known, or a wrong command line.\n"
     "With --next-boot: 0 all is well, 1 warnings, 2 the driver will not be there, 3 not all\n"
     "could be read.\n"
     "With --host-output: 0 nothing to change on the host, 1 something to change, 3 the output is\n"
     "incomplete or unreadable. `ssh ESX-HOST esxcli rdma device list | pvrdma-agentctl doctor\n"
     "--host-output -`; it names the other commands whose output it needs.",
     "pvrdma-agentctl-doctor(1)"},
    {"mtu", "The largest packet that reaches a host unfragmented",
     "pvrdma-agentctl mtu 192.168.30.202",
     "Runs ping of iputils with packets that may not be fragmented, at most 20 times for a host "
     "where\n"
     "the link has MTU 9000, more where packets get lost. Sizes are whole IP packets: 28 bytes "
     "more than the\n"
     "payload of ping -s, 48 more for IPv6.\n"
     "Exit codes: 0 the MTU to every host was found, 3 it was not (no answer, no such host, out "
     "of\n"
     "time, not permitted, wrong command line). With --expect: 0 packets of that size reach every\n"
     "host, 2 they do not reach one, 3 it is not known for one."},
    {"selftest", "Test that messages pass through a device", "pvrdma-agentctl selftest",
     "Sends messages from the device to itself, for a second or so; asks no agent and changes\n"
     "nothing. Exit codes: 0 every device passed, 2 one did not, 3 nothing was tested (no such\n"
     "device, no libibverbs, wrong command line).",
     "pvrdma-agentctl-selftest(1)"},
    {"verify",
     "Test RDMA between this VM and another one: whether it works, its path and its speed",
     "pvrdma-agentctl verify 192.168.30.202 --expect latency=50us",
     "Run `pvrdma-agentctl verify --listen` on the other VM first; it serves one peer and ends.\n"
     "For every pair of N machines run `pvrdma-agentctl verify mesh --rendezvous HOST:PORT --size "
     "N`\non all of them, by srun, mpirun, Ansible or a Kubernetes Job.\n"
     "Needs neither agent nor root. Exit codes: 0 messages pass, 1 they pass, but over TCP "
     "instead\n"
     "of RDMA, 2 they do not pass, or worse than expected, 3 nothing was measured, or a wrong\n"
     "command line.",
     "pvrdma-agentctl-verify(1)"},
    {"metrics", "State, ports and findings as metrics, for Prometheus",
     "pvrdma-agentctl metrics --output pvrdma.prom",
     "Prometheus' text format 0.0.4. Without an answer of the agent it writes pvrdma_agent_up 0.\n"
     "Exit codes: 0 written, whatever the state, 3 not written, or a wrong command line.",
     "pvrdma-agentctl-metrics(1)"},
    {"export", "The adapters for container engines, Kubernetes and vSphere",
     "pvrdma-agentctl export cdi",
     "cdi: devices for container engines; nfd: labels for Node Feature Discovery, valid for\n"
     "five minutes; guestinfo: the verdict for vSphere. Exit codes: 0 written, whatever the "
     "state,\n"
     "3 not written, or a wrong command line.",
     "pvrdma-agentctl-export(1)"},
    {"mmio", "The VM's settings for the memory of passed-through GPUs", "pvrdma-agentctl mmio 2x40",
     "Exit codes: 0 printed, 3 not printed (no GPU in this guest, or one that maps less than its\n"
     "framebuffer; wrong command line)."},
    {"migrate", "Find old reload scripts, such as rc.local, and comment their lines out",
     "sudo pvrdma-agentctl migrate --apply",
     "Exit codes: 0 there are none, or all were commented out, 1 there are some, or some are left\n"
     "to you, 2 a file could not be changed, 3 not permitted, no agent is enabled to take over,\n"
     "not all files could be read, or a wrong command line.",
     "pvrdma-agentctl-migrate(1)"},
    {"seal", "List data to clear before this VM is cloned", "sudo pvrdma-agentctl seal",
     "Changes nothing. Exit codes: 0 nothing to clear, 1 something to clear, 3 not all could be\n"
     "read, or a wrong command line."},
    {"report", "Write all that is known here as one JSON document, for a support case",
     "sudo pvrdma-agentctl report --output report.json",
     "Takes 60 seconds at most; a missing part is null, and `errors` says why.\n"
     "`sos report` collects logs and files, and `sos clean` masks them. Exit codes: 0 written,\n"
     "also with missing parts, 3 not written, or a wrong command line."},
    {"help", "Print the options of a verb, or the list of verbs", "pvrdma-agentctl help wait",
     "Exit codes: 0 printed, 3 there is no such verb."},
}};

// Null: there is no such verb.
[[nodiscard]] const VerbEntry* find_verb(const std::string& name);

// The text below a verb's options: global options, exit codes, an example, the manual page.
[[nodiscard]] std::string verb_footer(const VerbEntry& verb);

// Messages about a wrong command line, in one line that names the help to read.
// "there is no verb wiat; did you mean wait? See `pvrdma-agentctl --help`."
[[nodiscard]] std::string unknown_verb(const std::string& word);
// "wait: unknown option --jsn; did you mean --json? See `pvrdma-agentctl wait --help`."
// `verb` empty: no verb was given.
[[nodiscard]] std::string unknown_option(const std::string& verb, const std::string& word,
                                         const std::vector<std::string>& options);
[[nodiscard]] std::string wrong_use(const std::string& verb, const std::string& what);

// The error text for a time on the command line; empty: no error. A time needs its unit, as a plain
// number could mean seconds or milliseconds.
[[nodiscard]] std::string check_time(const std::string& word);

}  // namespace pvrdma::ctl
