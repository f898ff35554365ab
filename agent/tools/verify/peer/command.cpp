#include "agent/tools/verify/peer/command.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <nlohmann/json.hpp>

#include "agent/base/handle.hpp"
#include "agent/base/program.hpp"
#include "agent/base/text.hpp"
#include "agent/ctl/failure.hpp"
#include "agent/ctl/fields.hpp"
#include "agent/ctl/verbs.hpp"
#include "agent/tools/verify/devices.hpp"
#include "agent/tools/verify/peer/earlier.hpp"
#include "agent/tools/verify/peer/verdict.hpp"
#include "probes/holders.hpp"

namespace pvrdma::ctl {

namespace {

constexpr std::size_t kAnswerLimitBytes = 65536;
// The helper program sees to its own time; this is for the one that hangs.
constexpr Milliseconds kHelperGrace = std::chrono::minutes{3};
constexpr std::string_view kMappedIpv4 = "::ffff:";

struct Way {
  selftest::Target target;
  const Gid* gid = nullptr;  // one of the target's
};

// The first device with a GID, of those that are meant.
Result<Way> find_way(const VerifyOptions& options) {
  auto targets = selftest::find_targets(options.root, options.device);
  if (!targets) return fail(targets.error());
  for (selftest::Target& target : *targets) {
    if (target.device.empty() || selftest::choose_gid(target.gids) == nullptr) continue;
    Way way{std::move(target), nullptr};
    way.gid = selftest::choose_gid(way.target.gids);
    return way;
  }
  return fail(0, "no device has a GID:", "its interface is down, or has no address");
}

// Who holds the device, where that is known.
std::vector<Holder> holders_of(const Root& root, const std::string& device) {
  const auto holders = probes::find_holders(root, {{device, Field<std::string>{}}}).value_or({});
  std::vector<Holder> of;
  for (const Holder& holder : holders)
    if (holder.rdma_device == device) of.push_back(holder);
  return of;
}

Result<Fd> open_token(const std::string& path) {
  Fd fd{::open(path.empty() ? "/dev/null" : path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)};
  struct stat status {};
  if (!fd || ::fstat(fd.get(), &status) != 0) return fail(errno, "reading the token from", path);
  if (!path.empty() && (!S_ISREG(status.st_mode) || (status.st_mode & 077U) != 0))
    return fail(0, "the token's file is open to others, or no file:", path + ": chmod 600 it");
  if (!path.empty() && status.st_size == 0) return fail(0, "the token's file is empty:", path);
  return fd;
}

// IPv4 where the GID is of an IPv4 address; empty: any.
std::string own_address(const Gid& gid) {
  return gid.gid.starts_with(kMappedIpv4) ? gid.gid.substr(kMappedIpv4.size()) : std::string{};
}

Result<nlohmann::json> run_helper(const VerifyOptions& options, const Way& way, const Fd& token) {
  const Program program{
      {options.program, options.listen ? "listen" : "connect", way.target.device,
       std::to_string(way.gid->index), options.listen ? own_address(*way.gid) : options.peer,
       std::to_string(options.port), std::to_string(options.wait.count()),
       std::to_string(options.duration.count())},
      std::nullopt,
      options.wait + 3 * options.duration + kHelperGrace,
      kAnswerLimitBytes,
      token.get()};
  const auto run = run_program(program);
  if (!run) return fail(run.error());
  // Before it there may be words of libibverbs'.
  std::string output = run->output;
  while (!output.empty() && output.back() == '\n') output.pop_back();
  const std::size_t last = output.rfind('\n') + 1;
  auto answer = nlohmann::json::parse(output.substr(last), nullptr, false);
  if (!answer.is_object())
    return fail(0, "measuring with",
                run->ended == Ended::TimedOut ? "pvrdma-verify: it hangs in the kernel"
                                              : "pvrdma-verify: " + first_line(run->output));
  return answer;
}

// The exit code, where the helper program has nothing else to say.
std::optional<int> end_if_failed(const Settings& settings, const Console& console,
                                 const nlohmann::json& answer) {
  const auto failed = answer.find("failed");
  if (failed == answer.end()) return std::nullopt;
  const bool measuring = flag(*failed, "measuring").value_or(false);
  return end_without(settings, console, text(*failed, "message").value_or("pvrdma-verify failed"),
                     measuring ? kExitFailed : kExitUnknown);
}

int end_listening(const Settings& settings, const Console& console, const Way& way,
                  const nlohmann::json& answer) {
  const std::string peer = text(answer, "peer_address").value_or("?");
  const bool printed = settings.json
                           ? console.print(dumped(answer) + "\n")
                           : console.print(fmt::format("{}: served {}; its user has the figures\n",
                                                       printable(way.target.device), peer));
  return printed ? 0 : kExitUnknown;
}

int end_measuring(const Settings& settings, const Console& console, const VerifyOptions& options,
                  const Way& way, const nlohmann::json& answer) {
  auto figures = verify::figures_from(answer);
  if (!figures) return end_without(settings, console, figures.error().message());
  const auto earlier = options.state_file.empty()
                           ? std::nullopt
                           : verify::best_earlier(options.state_file, options.peer);
  const verify::Verdict verdict =
      verify::judge(options.peer, way.target.device, std::move(*figures), options.expected,
                    options.line_rate_mb_s, earlier);
  if (!options.state_file.empty()) {
    const auto kept = verify::remember(options.state_file, options.peer,
                                       std::min(verdict.figures.out_mb_s, verdict.figures.in_mb_s),
                                       verdict.figures.latency.front().typical_us);
    if (!kept) console.complain("not kept for later runs: " + kept.error().message());
  }
  const bool printed = console.print(settings.json ? dumped(verify::to_json(verdict, answer)) + "\n"
                                                   : verify::render(verdict, console.style()));
  return printed ? verify::exit_code(verdict) : kExitUnknown;
}

}  // namespace

int verify_peer(const Settings& settings, const Console& console, const VerifyOptions& options) {
  if (options.peer.empty() && !options.listen)
    return end_without(settings, console,
                       wrong_use("verify", "the other VM's address is missing, or --listen"));
  const auto way = find_way(options);
  if (!way) return end_without(settings, console, printable(way.error().message()));
  if (const auto holders = holders_of(options.root, way->target.device);
      !options.beside && !holders.empty())
    return end_without(
        settings, console,
        fmt::format("{} is in use, by {} ({}): a measurement would disturb it. "
                    "--beside measures all the same",
                    way->target.device, holders.front().command, holders.front().pid));
  const auto token = open_token(options.token_file);
  if (!token) return end_without(settings, console, printable(token.error().message()));
  if (console.live && !settings.json) ::setenv("PVRDMA_VERIFY_PROGRESS", "1", 1);
  const auto answer = run_helper(options, *way, *token);
  if (!answer) return end_without(settings, console, printable(answer.error().message()));
  if (const auto code = end_if_failed(settings, console, *answer)) return *code;
  return options.listen ? end_listening(settings, console, *way, *answer)
                        : end_measuring(settings, console, options, *way, *answer);
}

}  // namespace pvrdma::ctl
