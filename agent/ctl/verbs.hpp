// SPDX-License-Identifier: GPL-2.0-or-later
// The verbs of pvrdma-agentctl: one table for the command line, its help, and suggestions.
#pragma once

#include <array>
#include <string>
#include <vector>

namespace pvrdma::ctl {

// Of every verb that returns a state.
inline constexpr const char* kStateExitCodes =
    "Exit codes: 0 ready or absent, 1 degraded or converging, 2 failed, 3 unknown (no agent, no\n"
    "answer in time, wrong command line).";

struct VerbEntry {
  const char* name;
  const char* what;                          // it does, in the list of verbs
  const char* example;                       // a whole command line
  const char* exit_codes = kStateExitCodes;  // and what else there is to know, below its options
  const char* page = "pvrdma-agentctl(1)";
  bool root_only = false;
};

// In the order of the help.
inline constexpr std::array<VerbEntry, 20> kVerbTable{{
    {"health", "One screen: the verdict, what is wrong and what to do, every adapter",
     "pvrdma-agentctl health"},
    {"status", "One line for each adapter", "pvrdma-agentctl status"},
    {"plan", "What the agent would do now and why; changes nothing", "pvrdma-agentctl plan",
     "Exit codes: 0 nothing to do, 1 actions or warnings, 2 an error is among the findings,\n"
     "3 unknown (no agent, no answer in time, no look, or an old one; wrong command line)."},
    {"boots", "How long each step of this boot and of the last ten took, side by side",
     "pvrdma-agentctl boots",
     "From the journal, for root and who is in the group systemd-journal or adm; without the "
     "agent\n"
     "as well. Exit codes: 0 printed, 3 not (nothing is known of any boot, wrong command line)."},
    {"wait", "Wait until the adapters are ready (or there are none)",
     "pvrdma-agentctl wait --timeout 60s"},
    {"watch", "Print a line for each change, until interrupted", "pvrdma-agentctl watch"},
    {"reload", "Unload vmw_pvrdma and load it again, unless in use", "sudo pvrdma-agentctl reload",
     "Exit codes: 0 reloaded, 1 an adapter is in use or now degraded, 2 it did not work or is\n"
     "forbidden, 3 unknown (no agent, no answer in time, not permitted, no such adapter, wrong\n"
     "command line).",
     "pvrdma-agentctl(1)", true},
    {"acknowledge", "An adapter that was removed from the running VM is not missed",
     "sudo pvrdma-agentctl acknowledge 0000:13:00.1", kStateExitCodes, "pvrdma-agentctl(1)", true},
    {"env", "Print what applications need: devices and GID index, as variables",
     "eval \"$(pvrdma-agentctl env)\"",
     "Exit codes: 0 printed; where no adapter is ready 1 degraded or converging, 2 failed, else 3\n"
     "(no such adapter, no agent, no answer in time, no look, or an old one; wrong command line)."},
    {"doctor", "Is RDMA usable here, and if not, who has to do what",
     "pvrdma-agentctl doctor --host-output esx01.txt",
     "Needs neither agent nor root; sees more with either. Exit codes: 0 RDMA is usable here,\n"
     "1 with warnings, 2 it is not, 3 that is not known, or a wrong command line.\n"
     "Of --next-boot: 0 all is well, 1 warnings, 2 the driver will not be there, 3 not all\n"
     "could be read.\n"
     "Of --host-output: 0 nothing is to be changed on the host, 1 something is, 3 not all is in "
     "the\n"
     "paste, or it could not be read. `ssh ESX-HOST esxcli rdma device list | pvrdma-agentctl "
     "doctor\n"
     "--host-output -`; it says which other commands it wants.",
     "pvrdma-agentctl-doctor(1)"},
    {"mtu", "The largest packet that reaches a host unfragmented",
     "pvrdma-agentctl mtu 192.168.30.202",
     "Sends ICMP echo requests that may not be fragmented: at most 20 to a host where the link "
     "has\n"
     "MTU 9000, more where packets get lost. Sizes are whole IP packets: 28 bytes more than the\n"
     "payload of ping -s, 48 more for IPv6.\n"
     "Exit codes: 0 the MTU to every host was found, 3 it was not (no answer, no such host, out "
     "of\n"
     "time, not permitted, wrong command line). With --expect: 0 packets of that size reach every\n"
     "host, 2 they do not reach one, 3 of one it is not known."},
    {"selftest", "Prove that messages pass through a device", "pvrdma-agentctl selftest",
     "Sends messages from the device to itself, for a second or so; asks no agent and changes\n"
     "nothing. Exit codes: 0 every device passed, 2 one did not, 3 nothing was tested (no such\n"
     "device, no libibverbs, wrong command line).",
     "pvrdma-agentctl-selftest(1)"},
    {"verify", "Does RDMA work between this VM and another, by which path, how fast",
     "pvrdma-agentctl verify 192.168.30.202 --expect latency=50us",
     "Run `pvrdma-agentctl verify --listen` on the other VM first; it serves one peer and ends.\n"
     "For every pair of N machines run `pvrdma-agentctl verify mesh --rendezvous HOST:PORT --size "
     "N`\non all of them, by srun, mpirun, Ansible or a Kubernetes Job.\n"
     "Needs neither agent nor root. Exit codes: 0 messages pass, 1 they do, but over TCP instead "
     "of\n"
     "RDMA, 2 they do not, or not as expected, 3 nothing was measured, or a wrong command line.",
     "pvrdma-agentctl-verify(1)"},
    {"metrics", "State, ports and findings as metrics, for Prometheus",
     "pvrdma-agentctl metrics --output pvrdma.prom",
     "Prometheus' text format 0.0.4. Where the agent does not answer it says just that\n"
     "(pvrdma_agent_up 0), which is an answer too. Exit codes: 0 written, whatever the state, 3 "
     "not\n"
     "written, or a wrong command line.",
     "pvrdma-agentctl-metrics(1)"},
    {"export", "The adapters for container engines, Kubernetes and vSphere",
     "pvrdma-agentctl export cdi",
     "cdi: devices for container engines; nfd: labels for Node Feature Discovery, which lapse "
     "after\n"
     "five minutes; guestinfo: the verdict for vSphere. Exit codes: 0 written, whatever the "
     "state,\n"
     "3 not written, or a wrong command line.",
     "pvrdma-agentctl-export(1)"},
    {"mmio", "The VM's settings for the memory of passed-through GPUs", "pvrdma-agentctl mmio 2x40",
     "Exit codes: 0 printed, 3 not (no GPU in this guest, or one that maps less than its "
     "framebuffer;\n"
     "wrong command line)."},
    {"migrate", "Find the reload of rc.local and its like, and retire it",
     "sudo pvrdma-agentctl migrate --apply",
     "Exit codes: 0 nothing of it is there, or all was moved, 1 some is left to be done by hand,\n"
     "2 a file could not be changed, 3 not permitted, no enabled agent is there to take over, not\n"
     "all could be read, or a wrong command line.",
     "pvrdma-agentctl-migrate(1)"},
    {"seal", "What a template made of this VM would hand down to its clones",
     "sudo pvrdma-agentctl seal",
     "Changes nothing. Exit codes: 0 nothing would be handed down, 1 something would, 3 not all\n"
     "could be looked at, or a wrong command line."},
    {"report", "All that is known here, in one JSON document for a support case",
     "sudo pvrdma-agentctl report --output report.json",
     "One JSON document, in 60 seconds at most; what is missing is null, and `errors` says why.\n"
     "`sos report` collects logs and files, and `sos clean` masks them. Exit codes: 0 written,\n"
     "whatever is missing, 3 not written, or a wrong command line."},
    {"help", "Print the options of a verb, or the list of verbs", "pvrdma-agentctl help wait",
     "Exit codes: 0 printed, 3 there is no such verb."},
}};

// Null: there is no such verb.
[[nodiscard]] const VerbEntry* find_verb(const std::string& name);

// What stands below a verb's options: what it may be called with besides, exit codes, an example,
// the page.
[[nodiscard]] std::string verb_footer(const VerbEntry& verb);

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
