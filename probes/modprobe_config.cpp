#include "probes/modprobe_config.hpp"

#include <cerrno>
#include <string_view>

namespace pvrdma::probes {

std::vector<std::string> modprobe_folders(const Root& root, ModprobeOf which) {
  std::vector<std::string> folders;
  for (const std::string_view folder :
       {"/etc/modprobe.d", "/run/modprobe.d", "/usr/local/lib/modprobe.d", "/usr/lib/modprobe.d",
        "/lib/modprobe.d"})
    if (which == ModprobeOf::ThisBoot || !folder.starts_with("/run/"))
      folders.push_back(root / folder);
  return folders;
}

Result<Handle<kmod_ctx, kmod_unref>> open_modprobe_config(const Root& root, ModprobeOf which) {
  const std::vector<std::string> folders = modprobe_folders(root, which);
  std::vector<const char*> paths;
  paths.reserve(folders.size() + 1);
  for (const std::string& folder : folders) paths.push_back(folder.c_str());
  paths.push_back(nullptr);
  Handle<kmod_ctx, kmod_unref> context{kmod_new((root / "/lib/modules").c_str(), paths.data())};
  if (!context) return fail(ENOMEM, "reading", "modprobe.d");
  return context;
}

}  // namespace pvrdma::probes
