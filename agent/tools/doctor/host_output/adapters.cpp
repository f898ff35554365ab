// SPDX-License-Identifier: GPL-2.0-or-later
// The adapters of this VM, as the host's vsish prints them, and the VM's World ID.
#include <algorithm>

#include "agent/tools/doctor/host_output/tables.hpp"
#include "agent/tools/survey/host_properties.hpp"

namespace pvrdma::doctor {

namespace {

// The adapter of this VM that has this MAC address; null: none has.
const GuestLink* link_of(const GuestVm& guest, const AdapterProperties& adapter) {
  return adapter.mac.empty() ? nullptr : find_in(guest.links, adapter.mac, &GuestLink::mac);
}

bool knows_macs(const GuestVm& guest) {
  return std::any_of(guest.links.begin(), guest.links.end(),
                     [](const GuestLink& link) { return !link.mac.empty(); });
}

bool is_foreign(const GuestVm& guest, const AdapterProperties& adapter) {
  return !adapter.mac.empty() && knows_macs(guest) && link_of(guest, adapter) == nullptr;
}

class AdapterJudge {
 public:
  AdapterJudge(const AdapterProperties& adapter, const GuestVm& guest, const std::string& available)
      : adapter_{adapter}, guest_{guest}, link_{link_of(guest, adapter)}, available_{available} {}

  [[nodiscard]] std::vector<HostRemark> remarks() const {
    std::vector<HostRemark> all{path()};
    if (is_foreign(guest_, adapter_)) return all;
    if (adapter_.roce_version) all.push_back(roce_version());
    if (adapter_.native_endpoints || adapter_.namespace_allocated) all.push_back(endpoints());
    return all;
  }

 private:
  [[nodiscard]] HostRemark about_it(Weight weight, const std::string& says,
                                    std::string means) const {
    std::vector<std::string> names;
    if (link_ != nullptr) names.push_back(link_->name);
    if (link_ == nullptr && !adapter_.mac.empty()) names.push_back(adapter_.mac);
    if (!adapter_.node.empty()) names.push_back(adapter_.node);
    return remark(weight, HostPart::Properties, adapter_.line,
                  (names.empty() ? "" : joined(names) + ": ") + says, std::move(means));
  }

  [[nodiscard]] HostRemark path() const {
    const std::string says =
        "Physical HCA available: " + (available_.empty() ? "(nothing)" : available_);
    if (is_foreign(guest_, adapter_))
      return about_it(Weight::Info, says, "no adapter of this VM has this MAC address");
    if (!adapter_.physical_hca)
      return about_it(Weight::Unknown, says, "neither 0 nor 1: not understood");
    if (*adapter_.physical_hca)
      return about_it(Weight::Good, says,
                      "this adapter goes over RDMA to VMs on hosts that have an RDMA NIC as well");
    HostRemark none = about_it(
        Weight::Change, says,
        "this adapter goes over TCP, at reduced performance, to VMs on other hosts; make a NIC "
        "that supports RoCE the only uplink of the distributed switch on this host");
    none.commands = {about(HostPart::RdmaDevices).look, about(HostPart::Switch).look};
    return none;
  }

  [[nodiscard]] HostRemark roce_version() const {
    const unsigned version = *adapter_.roce_version;
    const std::string says = "RoCE version: " + std::to_string(version);
    if (version != 1 && version != 2)
      return about_it(Weight::Unknown, says, "neither 1 nor 2: not understood");
    if (link_ != nullptr && (link_->has_roce_v1 || link_->has_roce_v2)) {
      if (!(version == 1 ? link_->has_roce_v1 : link_->has_roce_v2))
        return about_it(
            Weight::Unknown, says,
            "the GIDs of " + link_->name +
                " are of the other version: the adapter's "
                "Device Protocol was changed, and the VM has not been powered off since");
    }
    if (version == 1)
      return about_it(Weight::Info, says,
                      "no router forwards it; the adapter's Device Protocol chooses RoCE v2, which "
                      "all VMs must have alike");
    return about_it(Weight::Good, says,
                    link_ != nullptr && link_->has_roce_v2
                        ? "as the GIDs of " + link_->name
                        : "the GIDs of the adapter in this VM are of type RoCE v2");
  }

  [[nodiscard]] HostRemark endpoints() const {
    const auto word = [](const std::optional<bool>& flag) {
      return std::string{!flag ? "not told" : *flag ? "yes" : "no"};
    };
    std::string means =
        adapter_.native_endpoints.value_or(false)
            ? "it can speak to machines without PVRDMA as well" +
                  std::string{adapter_.native_vmotion.value_or(false)
                                  ? ""
                                  : "; while it does, vMotion of this VM is not possible"}
            : "its peers need PVRDMA adapters: machines with the NIC itself (passthrough, SR-IOV, "
              "no VM) cannot be reached by RDMA";
    if (!adapter_.namespace_allocated.value_or(true))
      means +=
          "; without a namespace (vSphere 7.0, hardware version 17, a NIC that can) many "
          "queue pairs take longer to create";
    return about_it(Weight::Info,
                    "native endpoints: " + word(adapter_.native_endpoints) +
                        ", with vMotion: " + word(adapter_.native_vmotion) +
                        ", namespace: " + word(adapter_.namespace_allocated),
                    std::move(means));
  }

  const AdapterProperties& adapter_;
  const GuestVm& guest_;
  const GuestLink* link_;  // of this VM; null: not known
  const std::string& available_;
};

std::string digits_of(std::string_view text) {
  std::string digits;
  for (const char letter : lower(text))
    if (is_hex(letter)) digits += letter;
  return digits;
}

// esxcli prints the bytes in the order in which they are; DMI's first three fields are
// little-endian since SMBIOS 2.6.
bool is_same_uuid(std::string_view left, std::string_view right) {
  std::string one = digits_of(left);
  const std::string other = digits_of(right);
  if (one.size() != 32 || other.size() != 32) return false;
  if (one == other) return true;
  const auto swap = [&](std::size_t begin, std::size_t bytes) {
    for (std::size_t low = 0, high = bytes - 1; low < high; ++low, --high)
      for (std::size_t digit = 0; digit < 2; ++digit)
        std::swap(one[begin + 2 * low + digit], one[begin + 2 * high + digit]);
  };
  swap(0, 4);
  swap(8, 2);
  swap(12, 2);
  return one == other;
}

const std::string& name_of(const TableRow& vm) {
  return vm.table->has({"Display Name"}) ? vm["Display Name"] : vm["Name"];
}

// In small letters.
std::vector<std::string> guest_names(const GuestVm& guest) {
  if (guest.name.empty()) return {};
  return {lower(guest.name), lower(guest.name.substr(0, guest.name.find('.')))};
}

// The row of this VM, by its UUID, else by its name; the only row where neither tells.
std::optional<TableRow> row_of(const std::vector<TableRow>& vms, const GuestVm& guest) {
  for (const TableRow& vm : vms)
    if (is_same_uuid(vm["UUID"], guest.uuid)) return vm;
  for (const TableRow& vm : vms)
    if (contains(guest_names(guest), lower(name_of(vm)))) return vm;
  const bool could_be = vms.size() == 1 && (guest.uuid.empty() || vms.front()["UUID"].empty());
  return could_be ? std::optional{vms.front()} : std::nullopt;
}

std::vector<AdapterProperties> adapters_of(const HostTables& host) {
  std::vector<AdapterProperties> all;
  for (const PastedTable* table : host.tables(HostPart::Properties))
    for (std::size_t row = 0; row < table->rows.size(); ++row)
      all.push_back(adapter_properties(*table, row));
  return all;
}

}  // namespace

void judge_properties(const HostTables& host, const GuestVm& guest, HostReading& reading) {
  for (const TableRow& row : host.rows(HostPart::Properties)) {
    const AdapterProperties adapter = adapter_properties(*row.table, row.row);
    for (HostRemark& one : AdapterJudge{adapter, guest, row["Physical HCA available"]}.remarks())
      reading.remarks.push_back(std::move(one));
  }
}

std::string world_of(const HostTables& host, const GuestVm& guest) {
  const auto vm = row_of(host.rows(HostPart::WorldId), guest);
  const std::string world = vm ? (*vm)["World ID"] : "";
  return number_from<unsigned>(world) ? world : "";
}

std::vector<std::string> names_of_vm(const HostTables& host, const GuestVm& guest) {
  auto names = guest_names(guest);
  if (const auto vm = row_of(host.rows(HostPart::WorldId), guest))
    names.push_back(lower(name_of(*vm)));
  return names;
}

void judge_world(const HostTables& host, const GuestVm& guest, HostReading& reading) {
  const auto vms = host.rows(HostPart::WorldId);
  if (vms.empty()) return;
  const auto vm = row_of(vms, guest);
  if (vm) {
    reading.remarks.push_back(remark(Weight::Good, HostPart::WorldId, vm->line(),
                                     name_of(*vm) + ": World ID " + (*vm)["World ID"],
                                     "this VM, whose adapters' properties have that number"));
    return;
  }
  reading.remarks.push_back(
      remark(Weight::Info, HostPart::WorldId, vms.front().line(),
             std::to_string(vms.size()) + (vms.size() == 1 ? " VM" : " VMs"),
             "none has the UUID or the name of this VM (" + told(guest.name) +
                 "): it runs on another host, or only root may read its UUID"));
}

std::vector<std::string> missing_properties(const HostTables& host, const GuestVm& guest) {
  const auto found = adapters_of(host);
  std::string world = world_of(host, guest);
  for (const AdapterProperties& adapter : found)
    if (world.empty() && link_of(guest, adapter) != nullptr)
      world = adapter.node.substr(0, adapter.node.find('_'));
  const bool is_number = number_from<unsigned>(world).has_value();
  const auto command = [&](const std::string& index) {
    return "vsish -e cat /vmkModules/vrdma/pvrdmaDevices/" + (is_number ? world : "WORLD") + "_" +
           index + "/properties" +
           (is_number ? "" : "    # WORLD: esxcli vm process list; INDEX: 0 is the first adapter");
  };
  std::vector<std::string> commands;
  if (!knows_macs(guest)) {
    if (found.empty()) commands.push_back(command(is_number ? "0" : "INDEX"));
    return commands;
  }
  const bool has_bare = std::any_of(found.begin(), found.end(),
                                    [](const AdapterProperties& one) { return one.mac.empty(); });
  for (std::size_t index = 0; index < guest.links.size(); ++index)
    if (!has_bare && !guest.links[index].mac.empty() &&
        find_in(found, guest.links[index].mac, &AdapterProperties::mac) == nullptr)
      commands.push_back(command(std::to_string(index)));
  return commands;
}

}  // namespace pvrdma::doctor
