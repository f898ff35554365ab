// SPDX-License-Identifier: GPL-2.0-or-later
// The Survey of a healthy VM, for tests of doctor's conclusions; each test spoils a part of it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "agent/model/snapshot.hpp"
#include "agent/tools/doctor/survey.hpp"

namespace pvrdma::test {

inline constexpr std::uint64_t kMiB = 1ULL << 20U;

// A VM without any fault.
inline Survey good_survey() {
  Survey survey;
  survey.vendor = std::string{"VMware, Inc."};
  survey.product = std::string{"VMware7,1"};
  survey.nodes = std::vector<DeviceNode>{
      {"rdma_cm", 0666, true}, {"uverbs0", 0666, true}, {"uverbs1", 0666, true}};
  Libraries libraries;
  libraries.verbs = {{"/usr/lib64/libibverbs.so.1", 34U}};
  libraries.providers = {{"/usr/lib64/libibverbs/libvmw_pvrdma-rdmav34.so", 34U}};
  libraries.driver_folder = "/etc/libibverbs.d";
  libraries.driver_file = std::string{"/etc/libibverbs.d/vmw_pvrdma.driver"};
  libraries.vendor_packages = std::vector<std::string>{};
  survey.libraries = libraries;
  survey.own_memlock = MemlockLimit{};
  survey.may_lock_all = false;
  survey.vmxnet3 = std::vector<std::string>{"0000:00:0f.0", "0000:00:10.0"};
  survey.mellanox = std::vector<std::string>{};
  survey.blocks = std::vector<ModuleBlock>{};
  survey.secure_boot = false;
  survey.os = OsRelease{"ubuntu", "22.04", "Ubuntu 22.04.5 LTS", "jammy"};
  survey.clock = {true, std::int64_t{0}};
  return survey;
}

inline Libraries& libraries(Survey& survey) { return *survey.libraries.get(); }
inline void contain(Survey& survey) { survey.container = std::string{"docker"}; }

inline const Error kUnread{13, "reading", "it"};
inline void make_unreadable(Survey& survey) {
  survey.vendor = Field<std::string>::unreadable(kUnread);
  survey.nodes = Field<std::vector<DeviceNode>>::unreadable(kUnread);
  survey.libraries = Field<Libraries>::unreadable(kUnread);
  survey.own_memlock = Field<MemlockLimit>::unreadable(kUnread);
  survey.may_lock_all = Field<bool>::unreadable(kUnread);
  survey.login_memlock = Field<MemlockLimit>::unreadable(kUnread);
  survey.unit_memlocks = {{"x.service", Field<MemlockLimit>::unreadable(kUnread)}};
  survey.vmxnet3 = Field<std::vector<std::string>>::unreadable(kUnread);
  survey.mellanox = Field<std::vector<std::string>>::unreadable(kUnread);
  survey.blocks = Field<std::vector<ModuleBlock>>::unreadable(kUnread);
  survey.secure_boot = Field<bool>::unreadable(kUnread);
  survey.driver_signer = Field<std::string>::unreadable(kUnread);
  survey.os = Field<OsRelease>::unreadable(kUnread);
  survey.crash = Field<KernelCrash>::unreadable(kUnread);
  survey.clock = {Field<bool>::unreadable(kUnread), Field<std::int64_t>::unreadable(kUnread)};
}
inline void make_unreadable(Snapshot& snapshot) {
  for (Module& one : snapshot.modules) {
    one.init = Field<ModuleInit>::unreadable(kUnread);
    one.shipped = Field<Shipped>::unreadable(kUnread);
  }
  snapshot.kernel = Field<std::string>::unreadable(kUnread);
  snapshot.adapters = Field<std::vector<Adapter>>::unreadable(kUnread);
  snapshot.holders = Field<std::vector<Holder>>::unreadable(kUnread);
  snapshot.initramfs = Field<Initramfs>::unreadable(kUnread);
}

}  // namespace pvrdma::test
