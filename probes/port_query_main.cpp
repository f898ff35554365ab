// SPDX-License-Identifier: GPL-2.0-or-later
// port-query DEVICE: prints the answer of ibv_query_port(3) for port 1 of an RDMA device, in one
// line:
//   state=ACTIVE active_mtu=1024
//
// Errors are one line on stderr and exit status 1. The context is open for some milliseconds only.
// There is no time-out: the caller limits its own wait, and lets this program finish. Only SIGKILL
// can end it, and must not be sent, as it would spoil a device command of another process
// (agent/base/held_signals.hpp).
#include <dlfcn.h>
#include <glob.h>
#include <infiniband/verbs.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

#include "agent/base/held_signals.hpp"
#include "agent/model/port_state.hpp"

namespace {

int complain(const char* doing, const char* what, int code) {
  std::fprintf(stderr, "port-query: %s %s: %s\n", doing, what, std::strerror(code));
  return EXIT_FAILURE;
}

unsigned mtu_bytes(ibv_mtu mtu) { return 128U << static_cast<unsigned>(mtu); }

// libibverbs loads every installed provider unless the loaded ones know all devices (rdma-core's
// libibverbs/init.c). So this loads PVRDMA's provider first, from the folder beside libibverbs,
// which avoids loading a dozen others. If the provider is elsewhere, libibverbs still finds it.
void load_provider() {
  Dl_info where{};
  if (::dladdr(reinterpret_cast<void*>(&ibv_get_device_list), &where) == 0) return;
  std::string pattern{where.dli_fname};
  pattern.erase(pattern.rfind('/') + 1);
  pattern += "libibverbs/libvmw_pvrdma-rdmav*.so";
  glob_t found{};
  if (::glob(pattern.c_str(), 0, nullptr, &found) == 0 && found.gl_pathc == 1)
    ::dlopen(found.gl_pathv[0], RTLD_NOW);
  ::globfree(&found);
}

int query(const char* name) {
  load_provider();
  ibv_device** devices = ibv_get_device_list(nullptr);
  if (devices == nullptr) return complain("listing devices for", name, errno);
  ibv_device* device = nullptr;
  for (ibv_device** at = devices; *at != nullptr; ++at)
    if (std::strcmp(ibv_get_device_name(*at), name) == 0) device = *at;
  if (device == nullptr) {
    // No provider knows the device, or its node in /dev/infiniband is missing.
    ibv_free_device_list(devices);
    return complain("finding among libibverbs' devices", name, ENODEV);
  }
  ibv_context* context = ibv_open_device(device);
  const int open_code = errno;
  ibv_free_device_list(devices);
  if (context == nullptr) return complain("opening", name, open_code);
  ibv_port_attr port{};
  const int code = ibv_query_port(context, 1, &port);
  ibv_close_device(context);
  if (code != 0) return complain("querying port 1 of", name, code);
  std::printf("state=%s active_mtu=%u\n",
              to_string(static_cast<pvrdma::PortState>(port.state)).c_str(),
              mtu_bytes(port.active_mtu));
  return EXIT_SUCCESS;
}

}  // namespace

int main(int count, char** arguments) {
  if (count != 2) {
    std::fprintf(stderr, "usage: port-query DEVICE\n");
    return 2;
  }
  // Signals stay blocked until the device is closed.
  const pvrdma::HeldSignals held;
  return query(arguments[1]);
}
