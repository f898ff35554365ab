// SPDX-License-Identifier: GPL-2.0-or-later
// initramfs-content <IMAGE: prints the modules in an initramfs image, and the lines about
// vmw_pvrdma in its modprobe.d. It is a program of its own because it unpacks untrusted input with
// libarchive.
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <exception>

#include "agent/tools/next_boot/initramfs_content.hpp"
#include "probes/rights.hpp"

namespace {

using namespace pvrdma;

Result<probes::InitramfsContent> content_of(int image) {
  if (auto given_up = probes::give_up_rights(); !given_up) return fail(given_up.error());
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
