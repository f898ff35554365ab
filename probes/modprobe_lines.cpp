#include "probes/modprobe_lines.hpp"

#include <libkmod.h>

#include <array>
#include <cerrno>

#include "agent/base/handle.hpp"
#include "probes/kmod_log.hpp"

namespace pvrdma::probes {

namespace {

using Lines = Handle<kmod_config_iter, kmod_config_iter_free_iter>;

std::string lines_of(const std::string& keyword, kmod_config_iter* made) {
  const Lines lines{made};
  std::string text;
  while (lines && kmod_config_iter_next(lines.get())) {
    text += keyword + " " + kmod_config_iter_get_key(lines.get());
    if (const char* rest = kmod_config_iter_get_value(lines.get())) text += std::string{" "} + rest;
    text += "\n";
  }
  return text;
}

}  // namespace

Result<std::string> modprobe_lines(int file) {
  const std::string path = "/proc/self/fd/" + std::to_string(file);
  const std::array<const char*, 2> paths{path.c_str(), nullptr};
  // It reads them at once, and looks up no module.
  const Handle<kmod_ctx, kmod_unref> context{kmod_new("/lib/modules", paths.data())};
  if (!context) return fail(ENOMEM, "reading", "modprobe.d");
  take_over_log(context.get());
  return lines_of("blacklist", kmod_config_get_blacklists(context.get())) +
         lines_of("install", kmod_config_get_install_commands(context.get())) +
         lines_of("softdep", kmod_config_get_softdeps(context.get()));
}

}  // namespace pvrdma::probes
