// SPDX-License-Identifier: GPL-2.0-or-later
// initramfs-content <IMAGE: prints which modules an initramfs image holds and what modprobe.d in it
// says about vmw_pvrdma. A program of its own, as it unpacks what it is given with libarchive.
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
    // At once: a sanitizer that looks for leaks at the end would need rights.
    std::_Exit(content && printed ? EXIT_SUCCESS : EXIT_FAILURE);
  } catch (const std::exception& surprise) {
    std::fprintf(stderr, "%s\n", surprise.what());
    return 1;
  }
}
