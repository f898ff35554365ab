// SPDX-License-Identifier: GPL-2.0-or-later
#include "probes/holders.hpp"

#include <algorithm>
#include <cerrno>
#include <iterator>
#include <set>
#include <tuple>
#include <utility>

#include "agent/base/text.hpp"
#include "probes/rdma_nldev.hpp"

namespace pvrdma::probes {

namespace {

// Absent: the driver is not loaded, or built in.
Field<unsigned> reference_count(const Root& root) {
  const auto place = root / "/sys/module/vmw_pvrdma/refcnt";
  const auto text = read_attribute(place);
  if (!text) return Field<unsigned>::from(fail(text.error()));
  if (const auto count = number_from<unsigned>(*text)) return *count;
  return Field<unsigned>::unreadable({EBADMSG, "reading", place});
}

std::string command_of(const Root& root, pid_t pid) {
  // A process can choose any name (PR_SET_NAME).
  return printable(read_attribute(root / ("/proc/" + std::to_string(pid) + "/comm")).value_or(""));
}

// Before Linux 5.14 nldev lists no contexts, but protection domains; a holder without one has no
// name.
Result<std::vector<pid_t>> processes_on(Nldev& nldev, std::uint32_t index, bool& complete) {
  auto contexts = nldev.contexts(index);
  if (contexts || (contexts.error().code != EINVAL && contexts.error().code != EOPNOTSUPP))
    return contexts;
  complete = false;
  return nldev.domain_owners(index).map([](std::vector<pid_t> owners) {
    // A process may have several protection domains in one context.
    std::ranges::sort(owners);
    owners.erase(std::unique(owners.begin(), owners.end()), owners.end());
    return owners;
  });
}

std::vector<Holder> finished(const Root& root, std::vector<Holder> holders) {
  const auto key = [](const Holder& holder) {
    return std::tie(holder.pid, holder.rdma_device, holder.command);
  };
  std::ranges::sort(holders, {}, key);
  const auto same = [&](const Holder& one, const Holder& other) { return key(one) == key(other); };
  holders.erase(std::unique(holders.begin(), holders.end(), same), holders.end());
  for (Holder& holder : holders)
    if (holder.pid != 0) holder.command = command_of(root, holder.pid);
  return holders;
}

// Looks at the fds of one process. A process that has ended meanwhile holds nothing.
void look_into(const std::filesystem::path& process, pid_t pid,
               const std::vector<HeldDevice>& devices, OpenNodes& open) {
  const auto links = list_directory(process / "fd");
  if (!links) {
    if (!means_absent(links.error()) && links.error().code != ESRCH) open.complete = false;
    return;
  }
  for (const std::string& link : *links) {
    const auto node = link_target_name(process / "fd" / link);
    if (!node) {
      if (!means_absent(node.error()) && node.error().code != ESRCH) open.complete = false;
      continue;
    }
    const auto device =
        std::ranges::find_if(devices, [&](const HeldDevice& one) { return one.uverbs.is(*node); });
    if (device != devices.end()) open.holders.push_back({pid, {}, device->rdma_device});
  }
}

std::size_t distinct(const std::vector<Holder>& holders) {
  std::set<std::pair<pid_t, std::string>> seen;
  for (const Holder& holder : holders) seen.emplace(holder.pid, holder.rdma_device);
  return seen.size();
}

Field<std::vector<Holder>> find_processes(const Root& root, const std::vector<HeldDevice>& devices,
                                          const FindContexts& contexts) {
  const auto count = reference_count(root);
  if (count.is(0)) return std::vector<Holder>{};
  const auto named = contexts(devices);
  std::vector<Holder> holders = named ? named->holders : std::vector<Holder>{};
  // A driver that is built in has no refcount, so nldev's list has to suffice.
  bool complete = count.is_absent() && named && named->complete;
  if (!complete && (!count.is_known() || holders.size() < *count.get())) {
    const auto open = find_open_nodes(root, devices);
    complete = open && open->complete;
    if (open) std::ranges::copy(open->holders, std::back_inserter(holders));
  }
  // One known holder is reason enough to wait. Others without a name may hold any device. Each open
  // node has one reference, and one context at most. Those that were closed meanwhile do not count.
  const std::size_t of_contexts = named && named->complete ? named->holders.size() : 0;
  const auto is_higher = [known = std::max(distinct(holders), of_contexts)](Field<unsigned> now) {
    return now.is_known() && *now.get() > known;
  };
  if (!holders.empty() && !complete && is_higher(count) && is_higher(reference_count(root)))
    holders.emplace_back();
  if (!holders.empty()) return holders;
  if (count.is_known())
    return Field<std::vector<Holder>>::unreadable(
        {EACCES, "finding who holds",
         "vmw_pvrdma (its reference count is " + std::to_string(*count.get()) + ")"});
  if (complete) return holders;
  if (count.error() != nullptr) return Field<std::vector<Holder>>::unreadable(*count.error());
  return Field<std::vector<Holder>>::unreadable(named ? Error{EACCES, "reading", root / "/proc"}
                                                      : named.error());
}

}  // namespace

Result<ContextOwners> context_owners(const std::vector<HeldDevice>& devices) {
  auto nldev = Nldev::open();
  if (!nldev) return fail(nldev.error());
  ContextOwners named;
  for (const HeldDevice& device : devices) {
    const NldevDevice* known = nldev->find(device.rdma_device);
    if (known == nullptr) return fail(ENODATA, "asking nldev about", device.rdma_device);
    const auto processes = processes_on(*nldev, known->index, named.complete);
    if (!processes) return fail(processes.error());
    for (const pid_t pid : *processes) named.holders.push_back({pid, {}, device.rdma_device});
  }
  return named;
}

Result<OpenNodes> find_open_nodes(const Root& root, const std::vector<HeldDevice>& devices) {
  const auto processes = list_processes(root);
  if (!processes) return fail(processes.error());
  // Where /proc does not list other users' processes (hidepid=, ProtectProc=), the first process is
  // missing too.
  OpenNodes open{{}, contains(*processes, 1)};
  for (const pid_t pid : *processes)
    look_into(root / ("/proc/" + std::to_string(pid)), pid, devices, open);
  return open;
}

Result<std::vector<Holder>> kernel_users(const std::vector<std::string>& rdma_devices) {
  if (rdma_devices.empty()) return {};
  auto nldev = Nldev::open();
  // Without ib_core there is no RDMA device.
  if (!nldev && nldev.error().code == EPROTONOSUPPORT) return {};
  if (!nldev) return fail(nldev.error());
  std::vector<Holder> users;
  for (const std::string& device : rdma_devices) {
    const NldevDevice* known = nldev->find(device);
    if (known == nullptr) continue;
    const auto names = nldev->kernel_users(known->index);
    if (!names && (names.error().code == EINVAL || names.error().code == EOPNOTSUPP)) continue;
    if (!names) return fail(names.error());
    for (const std::string& name : *names) users.push_back({0, name, device});
  }
  return users;
}

Field<std::vector<Holder>> find_holders(const Root& root, const std::vector<HeldDevice>& devices,
                                        const KernelUsers& users, const FindContexts& contexts) {
  if (devices.empty()) return std::vector<Holder>{};
  auto found = find_processes(root, devices, contexts);
  if (!found.is_known()) return found;
  std::vector<Holder>& holders = *found.get();
  // A process is reason enough to wait, so the kernel is asked only about devices without one; a
  // process may have many queue pairs.
  std::vector<std::string> free;
  for (const HeldDevice& device : devices)
    if (std::ranges::find(holders, device.rdma_device, &Holder::rdma_device) == holders.end())
      free.push_back(device.rdma_device);
  const auto in_kernel = users(free);
  if (!in_kernel) return Field<std::vector<Holder>>::unreadable(in_kernel.error());
  for (const Holder& user : *in_kernel)
    holders.push_back({0, user.command + " (kernel)", user.rdma_device});
  return finished(root, std::move(holders));
}

std::vector<HeldDevice> held_devices(const std::vector<Adapter>& adapters) {
  std::vector<HeldDevice> devices;
  for (const Adapter& adapter : adapters)
    if (const RdmaDevice* rdma = adapter.rdma_device.get())
      devices.push_back({rdma->name, rdma->uverbs});
  return devices;
}

}  // namespace pvrdma::probes
