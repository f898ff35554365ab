// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/tools/verify/peer/helper.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <nlohmann/json.hpp>

#include "agent/base/format.hpp"
#include "agent/base/program.hpp"
#include "agent/base/text.hpp"
#include "agent/model/identifiers.hpp"
#include "agent/tools/survey/machine.hpp"
#include "agent/tools/verify/peer/greeting.hpp"
#include "probes/holders.hpp"
#include "probes/pci.hpp"
#include "probes/rdma.hpp"

namespace pvrdma::ctl {

namespace {

constexpr std::size_t kAnswerLimitBytes = 65536;

Result<Fd> open_token(const std::string& path) {
  Fd fd{::open(path.empty() ? "/dev/null" : path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)};
  struct stat status {};
  if (!fd || ::fstat(fd.get(), &status) != 0) return fail(errno, "reading the token from", path);
  if (!path.empty() && (!S_ISREG(status.st_mode) || (status.st_mode & 077U) != 0))
    return fail(0, "the token's file is open to others, or no file:", path + ": chmod 600 it");
  return fd;
}

std::string mac_of(const Root& root, const Gid& gid) {
  const std::string* netdev = gid.netdev.get();
  if (netdev == nullptr) return {};
  return mac_address(probes::present_mac(root, *netdev).value_or("")).value_or("");
}

// The first device with a GID of an address that is not link-local; where none has one, the first
// with a GID. Null: none has a GID.
verify::Target* choose_target(std::vector<verify::Target>& targets) {
  verify::Target* link_local = nullptr;
  for (verify::Target& target : targets) {
    const Gid* gid = verify::choose_gid(target.gids);
    if (target.device.empty() || gid == nullptr) continue;
    if (!verify::holds_on_its_link_alone(*gid)) return &target;
    if (link_local == nullptr) link_local = &target;
  }
  return link_local;
}

// The holders of the device; for an adapter, also the holders of its verbs node.
Field<std::vector<Holder>> holders_of(const Root& root, const verify::Target& target) {
  std::vector<probes::HeldDevice> devices;
  if (target.function.empty()) {
    devices.push_back({target.device, {}});
  } else {
    // The module's refcount counts holders of all adapters, so all adapters are asked.
    const auto adapters = probes::find_adapters(root);
    if (!adapters) return Field<std::vector<Holder>>::unreadable(adapters.error());
    for (const probes::PciAdapter& adapter : *adapters)
      if (const std::string* device = adapter.rdma_device.get())
        devices.push_back(
            {*device, probes::verbs_node(probes::function_path(root, adapter.function))});
  }
  auto holders = probes::find_holders(root, devices);
  if (auto* known = holders.get())
    std::erase_if(*known, [&](const Holder& one) { return one.rdma_device != target.device; });
  return holders;
}

Result<void> check_free(const Root& root, const verify::Target& target) {
  const auto holders = holders_of(root, target);
  if (const auto* known = holders.get(); known != nullptr && !known->empty())
    return fail(0, target.device + " is in use,",
                formatted("by {}: a measurement would disturb it. "
                          "--allow-in-use measures all the same",
                          describe(known->front())));
  if (!target.function.empty() && holders.is_unreadable())
    return fail(0, "a process may hold " + target.device + ", and this user cannot see which:",
                holders.error()->message() + ". Run it as root, or with --allow-in-use");
  return {};
}

// What the program has told of its client, and the lines after that; or else all lines.
struct Told {
  Milliseconds duration{0};  // how long the client measures
  std::string_view rest;
};
Told told_by(std::string_view output) {
  for (std::string_view rest = output; !rest.empty();) {
    const std::string_view line = cut(rest, '\n');
    if (line.starts_with(verify::kServesFor))
      return {Milliseconds{number_from<int>(line.substr(verify::kServesFor.size())).value_or(0)},
              rest};
  }
  return {Milliseconds{0}, output};
}

}  // namespace

Result<Helper> Helper::prepare(const VerifyOptions& options) {
  auto targets = verify::find_targets(options.root, options.device);
  if (!targets) return fail(targets.error());
  verify::Target* const target = choose_target(*targets);
  if (target == nullptr)
    return fail(0, "no device has a GID:", "its interface is down, or has no address");
  Helper helper;
  helper.gid_ = *verify::choose_gid(target->gids);
  helper.mac_ = mac_of(options.root, helper.gid_);
  helper.target_ = std::move(*target);
  if (!options.allow_in_use)
    if (auto is_free = check_free(options.root, helper.target_); !is_free)
      return fail(is_free.error());
  auto file = open_token(options.token_file);
  if (!file) return fail(file.error());
  auto token = verify::read_token(file->get());
  if (!token) return fail(token.error());
  if (token->empty() && !options.token_file.empty())
    return fail(0, "the token's file is empty:", options.token_file);
  // The first use of AF_ALG loads modules, which may take longer than a peer waits for a greeting.
  // A listener would notice an error only when a peer comes.
  if (!token->empty())
    if (const auto digest = verify::hmac(*token, ""); !digest) return fail(digest.error());
  helper.token_file_ = std::move(*file);
  helper.token_ = std::move(*token);
  helper.options_ = options;
  return helper;
}

std::string Helper::own_address() const {
  const std::string ipv4 = verify::ipv4_of(gid_);
  return ipv4.empty() && !is_link_local(gid_.gid) ? gid_.gid : ipv4;
}

Milliseconds Helper::limit(Milliseconds wait, Milliseconds of_client) const {
  return wait + 3 * std::max(options_.duration, of_client) + options_.helper_grace;
}

Result<nlohmann::json> Helper::run(const char* side, const std::string& address, Milliseconds wait,
                                   Milliseconds of_client) const {
  // The helper reads the token from the offset of this descriptor, which both share.
  static_cast<void>(::lseek(token_file_.get(), 0, SEEK_SET));
  const Program program{{options_.program, side, device(), std::to_string(gid_.index), address,
                         std::to_string(options_.port), std::to_string(wait.count()),
                         std::to_string(options_.duration.count()), mac_},
                        std::nullopt,
                        limit(wait),
                        kAnswerLimitBytes,
                        token_file_.get(),
                        SIGTERM};
  Milliseconds within = program.timeout;
  const BootTime start = BootClock::now();
  auto running = RunningProgram::start(program);
  if (!running) return fail(running.error());
  bool has_ended = running->await(start + within);
  const ProgramResult& run = running->result();
  // Only a client that has come is given more time, so that a program that hangs before is ended.
  if (run.ended == Ended::TimedOut) {
    within = limit(wait, std::min(told_by(run.output).duration, of_client));
    has_ended = running->await(start + within);
  }
  if (!has_ended) running->end();
  // libibverbs may print lines before the answer.
  std::string output = run.output;
  while (!output.empty() && output.back() == '\n') output.pop_back();
  const std::size_t last = output.rfind('\n') + 1;
  auto answer = nlohmann::json::parse(output.substr(last), nullptr, false);
  if (!answer.is_object())
    return fail(0, "measuring with pvrdma-verify:",
                run.left_behind != 0 ? "the helper hangs in the kernel"
                : run.ended == Ended::TimedOut
                    ? formatted("the helper took longer than {} s", within.count() / 1000)
                    : first_line(std::string{told_by(run.output).rest}));
  return answer;
}

Result<nlohmann::json> Helper::listen(Milliseconds wait, Milliseconds of_client) const {
  return run("listen", own_address(), wait, of_client);
}

Result<nlohmann::json> Helper::connect(const std::string& peer, Milliseconds wait) const {
  return run("connect", peer, wait, Milliseconds{0});
}

}  // namespace pvrdma::ctl
