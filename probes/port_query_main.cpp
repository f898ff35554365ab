// port-query DEVICE: what ibv_query_port(3) says about port 1 of an RDMA device, in one line:
//   state=ACTIVE phys_state=LINK_UP active_mtu=1024 link_layer=Ethernet
//
// Errors are one line on stderr and exit status 1, 124 for a device that did not answer in time (as
// timeout(1) has it). The context is open for some milliseconds only.
// A child does the asking: a device that does not answer holds it in the kernel, where no signal
// reaches it, while this process reports the time-out and ends. Nobody is left with a child that
// cannot be reaped: PID 1 inherits it.
#include <dlfcn.h>
#include <glob.h>
#include <infiniband/verbs.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

#include "probes/port_words.hpp"

namespace {

constexpr int kTimeoutMs = 5000;
constexpr int kExitTimedOut = 124;

int complain(const char* doing, const char* what, int code) {
  std::fprintf(stderr, "port-query: %s %s: %s\n", doing, what, std::strerror(code));
  return EXIT_FAILURE;
}

const char* link_layer_word(unsigned layer) {
  return layer == IBV_LINK_LAYER_ETHERNET     ? "Ethernet"
         : layer == IBV_LINK_LAYER_INFINIBAND ? "InfiniBand"
                                              : "Unspecified";
}

unsigned mtu_bytes(ibv_mtu mtu) { return 128U << static_cast<unsigned>(mtu); }

// libibverbs loads every installed provider unless those already there know all devices
// (rdma-core's libibverbs/init.c). Loading PVRDMA's beforehand, from the folder beside libibverbs,
// keeps a dozen others out; where that folder is elsewhere, nothing is lost.
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
    // No provider knows it, or its node in /dev/infiniband is missing.
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
  std::printf("state=%s phys_state=%s active_mtu=%u link_layer=%s\n",
              pvrdma::probes::port_state_word(port.state).c_str(),
              pvrdma::probes::phys_state_word(port.phys_state).c_str(), mtu_bytes(port.active_mtu),
              link_layer_word(port.link_layer));
  return EXIT_SUCCESS;
}

// The child: writes into the parent's pipe, so that no file of the caller stays open with it.
[[noreturn]] void ask(const char* name, int output) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  ::alarm(kTimeoutMs / 1000);
  ::dup2(output, STDOUT_FILENO);
  ::dup2(output, STDERR_FILENO);
  const int status = query(name);
  std::fflush(stdout);
  ::_exit(status);
}

// The child's line; false: it did not come in time.
bool collect(int input, std::string& line) {
  std::array<char, 512> chunk{};
  for (;;) {
    pollfd readable{input, POLLIN, 0};
    const int ready = ::poll(&readable, 1, kTimeoutMs);
    if (ready < 0 && errno == EINTR) continue;
    if (ready <= 0) return false;
    const ssize_t got = ::read(input, chunk.data(), chunk.size());
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return true;
    line.append(chunk.data(), static_cast<std::size_t>(got));
  }
}

}  // namespace

int main(int count, char** arguments) {
  if (count != 2) {
    std::fprintf(stderr, "usage: port-query DEVICE\n");
    return 2;
  }
  const char* name = arguments[1];
  std::array<int, 2> ends{};
  if (::pipe(ends.data()) != 0) return complain("opening a pipe for", name, errno);
  const pid_t child = ::fork();
  if (child < 0) return complain("starting a process for", name, errno);
  if (child == 0) {
    ::close(ends[0]);
    ask(name, ends[1]);
  }
  ::close(ends[1]);
  std::string line;
  if (!collect(ends[0], line)) {
    ::kill(child, SIGKILL);
    complain("querying port 1 of", name, ETIMEDOUT);
    return kExitTimedOut;
  }
  // The pipe is closed, so the child has ended but for its last step.
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  const bool good = WIFEXITED(status) && WEXITSTATUS(status) == EXIT_SUCCESS;
  if (!good && line.empty()) return complain("querying port 1 of", name, ETIMEDOUT);
  std::fputs(line.c_str(), good ? stdout : stderr);
  return good ? EXIT_SUCCESS : EXIT_FAILURE;
}
