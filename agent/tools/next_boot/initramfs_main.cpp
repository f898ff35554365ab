// SPDX-License-Identifier: GPL-2.0-or-later
// initramfs-content <IMAGE: prints the modules in an initramfs image, and the lines about
// vmw_pvrdma in its modprobe.d. It is a program of its own because it unpacks untrusted input with
// libarchive.
#include <sys/resource.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <string_view>

#include "agent/base/file.hpp"
#include "agent/base/program.hpp"
#include "agent/base/text.hpp"
#include "agent/tools/next_boot/initramfs_content.hpp"

namespace {

using namespace pvrdma;

// libarchive (3.6) takes as much memory as an entry says that its name has bytes, up to 4 GiB, and
// a compressed image can fill that. To unpack takes some 100 MiB at most, the window of zstd.
Result<void> limit_memory() {
  constexpr rlim_t kMore = rlim_t{512} << 20U;  // bytes beyond those of the program itself
  const auto sizes = read_attribute("/proc/self/statm");
  if (!sizes) return fail(sizes.error());
  std::string_view pages = *sizes;
  const auto total = number_from<rlim_t>(cut(pages, ' ')).value_or(0);
  const rlim_t most = total * static_cast<rlim_t>(::sysconf(_SC_PAGESIZE)) + kMore;
  const rlimit limit{most, most};
  if (::setrlimit(RLIMIT_AS, &limit) != 0) return fail(errno, "limiting", "memory");
  return {};
}

Result<probes::InitramfsContent> content_of(int image) {
  if (auto limited = limit_memory(); !limited) return fail(limited.error());
  if (auto given_up = give_up_rights(); !given_up) return fail(given_up.error());
  return probes::read_initramfs(image);
}

}  // namespace

int main(int argc, char** /*argv*/) {
  if (argc != 1) {
    std::fputs("usage: initramfs-content <IMAGE\n", stderr);
    return 2;
  }
  try {
    const auto content = content_of(STDIN_FILENO);
    const std::string text =
        content ? print_initramfs_content(*content) : content.error().message() + "\n";
    std::FILE* const to = content ? stdout : stderr;
    const bool printed =
        std::fwrite(text.data(), 1, text.size(), to) == text.size() && std::fflush(to) == 0;
    // Ends without exit handlers: a leak sanitizer would need rights that are gone by now.
    std::_Exit(content && printed ? EXIT_SUCCESS : EXIT_FAILURE);
  } catch (const std::exception& surprise) {
    std::fprintf(stderr, "%s\n", surprise.what());
    return 1;
  }
}
