// `boots`: the steps of this boot and of those before it, side by side.
#include <nlohmann/json.hpp>
#include <utility>

#include "agent/ctl/commands.hpp"
#include "agent/ctl/failure.hpp"
#include "agent/ctl/fields.hpp"
#include "agent/ctl/rendering_boots.hpp"
#include "agent/varlink/boots_file.hpp"

namespace pvrdma::ctl {

namespace {

using Boots = std::vector<Timeline>;

// What an agent has left behind: of this boot, and of those before it.
Answered<Boots> read_what_is_left(const BootsOptions& options, const NoAnswer& trouble) {
  auto now = varlink::read_boots(options.root / varlink::kThisBootPath);
  auto kept = varlink::read_boots(options.root / varlink::kBootsPath);
  if (!now || !kept) {
    const std::string why = (now ? kept.error() : now.error()).message();
    return tl::unexpected(
        NoAnswer{trouble.id, trouble.summary + "; " + printable(why), trouble.remedy});
  }
  if (kept->machine != options.machine) kept->boots.clear();
  if (now->boots.empty() && kept->boots.empty()) return tl::unexpected(trouble);
  if (now->boots.empty()) return std::move(kept->boots);
  return varlink::with_newest(std::move(now->boots.front()), std::move(kept->boots));
}

Answered<Boots> find_boots(const Settings& settings, const Console& console,
                           const BootsOptions& options) {
  const auto answer = ask(settings.socket, "GetBoots", settings.answer_within);
  if (!answer && answer.error().not_running()) {
    auto left = read_what_is_left(options, answer.error());
    if (left) console.complain("pvrdma-agent is not running; this is what it has left behind");
    return left;
  }
  if (!answer) return tl::unexpected(answer.error());
  auto boots = varlink::timelines_from(answer->value("boots", Json{}));
  if (!boots) return tl::unexpected(bad_answer(printable(boots.error().message())));
  return std::move(*boots);
}

}  // namespace

int boots(const Settings& settings, const Console& console, const BootsOptions& options) {
  const auto found = find_boots(settings, console, options);
  if (!found) return end_without(settings, console, found.error());
  const bool printed = console.print(settings.json ? dumped(varlink::to_json(*found)) + "\n"
                                                   : render_boots(*found, console.style()));
  return printed ? 0 : kExitUnknown;
}

}  // namespace pvrdma::ctl
