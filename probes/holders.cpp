#include "probes/holders.hpp"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <tuple>

#include "agent/base/text.hpp"
#include "probes/rdma.hpp"

namespace pvrdma::probes {

namespace {

Result<unsigned> read_count(const std::filesystem::path& path) {
  return read_attribute(path).and_then([&](const std::string& text) -> Result<unsigned> {
    unsigned count = 0;
    const auto parsed = std::from_chars(text.data(), text.data() + text.size(), count);
    if (parsed.ec != std::errc{}) return fail(EBADMSG, "reading", path);
    return count;
  });
}

std::string command_of(const Root& root, pid_t pid) {
  if (pid == 0) return {};
  // A process calls itself what it likes (PR_SET_NAME).
  return printable(read_attribute(root / ("/proc/" + std::to_string(pid) + "/comm")).value_or(""));
}

// An Error where nldev cannot tell about every device.
Result<std::vector<Holder>> holders_from_nldev(const std::vector<HeldDevice>& devices) {
  NldevView nldev = open_nldev_view();
  if (!nldev.socket) return fail(nldev.socket.error());
  std::vector<Holder> holders;
  for (const HeldDevice& device : devices) {
    const auto known =
        std::find_if(nldev.devices.begin(), nldev.devices.end(),
                     [&](const NldevDevice& one) { return one.name == device.rdma_device; });
    if (known == nldev.devices.end())
      return fail(ENODATA, "asking nldev about", device.rdma_device);
    const auto processes = nldev.socket->contexts(known->index);
    if (!processes) return fail(processes.error());
    for (const pid_t pid : *processes) holders.push_back({pid, {}, device.rdma_device});
  }
  return holders;
}

// Adds the processes that hold a verbs node open; false: some could not be looked into.
bool add_open_nodes(const Root& root, const std::vector<HeldDevice>& devices,
                    std::vector<Holder>& holders) {
  auto open = find_open_nodes(root, devices);
  if (!open) return false;
  holders.insert(holders.end(), open->holders.begin(), open->holders.end());
  return open->complete;
}

std::vector<Holder> finished(const Root& root, std::vector<Holder> holders) {
  const auto key = [](const Holder& holder) { return std::tie(holder.pid, holder.rdma_device); };
  std::sort(holders.begin(), holders.end(),
            [&](const Holder& one, const Holder& other) { return key(one) < key(other); });
  const auto same = [&](const Holder& one, const Holder& other) { return key(one) == key(other); };
  holders.erase(std::unique(holders.begin(), holders.end(), same), holders.end());
  for (Holder& holder : holders) holder.command = command_of(root, holder.pid);
  return holders;
}

// The device whose verbs node a link of /proc/PID/fd leads to, or null.
const HeldDevice* device_of(const std::string& node, const std::vector<HeldDevice>& devices) {
  const auto found = std::find_if(devices.begin(), devices.end(),
                                  [&](const HeldDevice& device) { return device.uverbs.is(node); });
  return found == devices.end() ? nullptr : &*found;
}

// One process's fds. A process that has ended meanwhile holds nothing.
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
    if (const HeldDevice* device = device_of(*node, devices))
      open.holders.push_back({pid, {}, device->rdma_device});
  }
}

}  // namespace

Result<OpenNodes> find_open_nodes(const Root& root, const std::vector<HeldDevice>& devices) {
  const auto processes = list_processes(root);
  if (!processes) return fail(processes.error());
  OpenNodes open;
  for (const pid_t pid : *processes)
    look_into(root / ("/proc/" + std::to_string(pid)), pid, devices, open);
  return open;
}

Field<std::vector<Holder>> find_holders(const Root& root, const std::vector<HeldDevice>& devices) {
  const auto refcnt = root / "/sys/module/vmw_pvrdma/refcnt";
  const auto count = Field<unsigned>::from(read_count(refcnt));
  if (count.is(0) || devices.empty()) return std::vector<Holder>{};
  auto named = holders_from_nldev(devices);
  std::vector<Holder> holders = named.value_or(std::vector<Holder>{});
  // Built in, the driver has no count, and nldev's list is all there is to know.
  const bool certain_count = count.is_absent() && named.has_value();
  bool complete = certain_count;
  if (!certain_count && (!count.is_known() || holders.size() < *count.get()))
    complete = add_open_nodes(root, devices, holders);
  // Some known is enough to wait for, though there may be more.
  if (!holders.empty()) return finished(root, std::move(holders));
  if (count.is_known())
    return Field<std::vector<Holder>>::unreadable(
        {EACCES, "finding who holds",
         "vmw_pvrdma (its reference count is " + std::to_string(*count.get()) + ")"});
  if (complete) return holders;
  if (count.error() != nullptr) return Field<std::vector<Holder>>::unreadable(*count.error());
  return Field<std::vector<Holder>>::unreadable(named ? Error{EACCES, "reading", root / "/proc"}
                                                      : named.error());
}

std::vector<HeldDevice> held_devices(const std::vector<Adapter>& adapters) {
  std::vector<HeldDevice> devices;
  for (const Adapter& adapter : adapters)
    if (const RdmaDevice* rdma = adapter.rdma.get()) devices.push_back({rdma->name, rdma->uverbs});
  return devices;
}

}  // namespace pvrdma::probes
