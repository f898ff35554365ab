// SPDX-License-Identifier: GPL-2.0-or-later
// `verify`: measures between this VM and another. The helper program measures (peer_main.cpp).
#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <nlohmann/json.hpp>

#include "agent/base/format.hpp"
#include "agent/base/text.hpp"
#include "agent/ctl/json_text.hpp"
#include "agent/ctl/verbs.hpp"
#include "agent/model/identifiers.hpp"
#include "agent/tools/survey/host_paste.hpp"
#include "agent/tools/verify/commands.hpp"
#include "agent/tools/verify/hosts.hpp"
#include "agent/tools/verify/peer/earlier.hpp"
#include "agent/tools/verify/peer/helper.hpp"
#include "agent/tools/verify/peer/verdict.hpp"

namespace pvrdma::ctl {

namespace {

constexpr Milliseconds kDuration = std::chrono::seconds{10};

struct Pair {
  std::string device;
  verify::Hosts hosts;
};

// A listener has the peer's figures; it does not keep them for later runs.
int end_with_figures(const Settings& settings, const Console& console, const VerifyOptions& options,
                     const Pair& pair, const nlohmann::json& answer) {
  auto figures = verify::figures_from(answer);
  if (!figures) return end_without(settings, console, figures.error());
  const auto earlier = verify::best_earlier(options.state_file, options.peer);
  const verify::Verdict verdict =
      verify::judge(options.peer, pair.device, std::move(*figures), options.expected,
                    {options.line_rate_mb_s, earlier, pair.hosts});
  if (!options.listen && !options.state_file.empty()) {
    const auto kept = verify::remember(options.state_file, options.peer,
                                       std::min(verdict.figures.out_mb_s, verdict.figures.in_mb_s),
                                       verdict.figures.latency.front().typical_us);
    if (!kept) console.complain("not kept for later runs: " + printable(kept.error().message()));
  }
  const bool printed = console.print(settings.json ? dumped(verify::to_json(verdict, answer)) + "\n"
                                                   : verify::render(verdict, console.style()));
  return printed ? verify::exit_code(verdict) : kExitUnknown;
}

// The peer measured and told its figures. They are shown, but not kept to compare others with.
int end_listening(const Settings& settings, const Console& console, VerifyOptions options,
                  const Pair& pair, const nlohmann::json& answer) {
  options.peer = text(answer, "peer_address").value_or("?");
  auto seen = verify::seen_from_here(answer.value("figures", nlohmann::json{}), options.peer);
  if (seen) {
    (*seen)["peer_mac"] = answer["peer_mac"];
    return end_with_figures(settings, console, options, pair, *seen);
  }
  if (options.expected || answer.value("parts", nlohmann::json{}) == 0)
    return end_without(settings, console, Error{0, "the peer", options.peer + " told no figures"});
  const bool printed = settings.json
                           ? console.print(dumped(answer) + "\n")
                           : console.print(formatted("{}: served {}; its user has the figures\n",
                                                     printable(pair.device), options.peer));
  return printed ? 0 : kExitUnknown;
}

}  // namespace

Result<std::vector<AdapterProperties>> read_properties(const VerifyOptions& options,
                                                       const Console& console) {
  if (options.host_properties.empty()) return std::vector<AdapterProperties>{};
  if (const std::string hint = hint_to_paste(options.host_properties); !hint.empty())
    console.complain(hint);
  return verify::read_host_properties(options.host_properties);
}

int verify_peer(const Settings& settings, const Console& console, VerifyOptions options) {
  if (options.duration.count() == 0) options.duration = kDuration;
  if (options.peer.empty() && !options.listen)
    return end_without(settings, console,
                       wrong_use("verify", "the other VM's address is missing, or --listen"));
  if (options.mesh.is_given())
    return end_without(settings, console,
                       wrong_use("verify",
                                 "--rendezvous, --size, --rounds, --output and --resume are for "
                                 "verify mesh"));
  const auto properties = read_properties(options, console);
  if (!properties) return end_without(settings, console, properties.error());
  const auto helper = Helper::prepare(options);
  if (!helper) return end_without(settings, console, helper.error());
  if (console.live && !settings.json) ::setenv("PVRDMA_VERIFY_PROGRESS", "1", 1);
  auto answer = options.listen ? helper->listen(options.wait, verify::kDurationAtMost)
                               : helper->connect(options.peer, options.wait);
  if (!answer) return end_without(settings, console, answer.error());
  if (const auto failed = answer->find("failed"); failed != answer->end())
    return end_without(settings, console, text(*failed, "message").value_or("pvrdma-verify failed"),
                       flag(*failed, "measuring").value_or(false) ? kExitFailed : kExitUnknown);
  const std::string peer_mac =
      mac_address(text(*answer, "peer_mac").value_or("")).value_or("");  // the peer sent the text
  (*answer)["peer_mac"] = peer_mac;
  const Pair pair{helper->device(), verify::hosts_of(*properties, helper->mac(), peer_mac)};
  return options.listen ? end_listening(settings, console, options, pair, *answer)
                        : end_with_figures(settings, console, options, pair, *answer);
}

}  // namespace pvrdma::ctl
