#include "probes/boot_folder.hpp"

#include <fcntl.h>
#include <linux/magic.h>
#include <sys/vfs.h>

#include <cerrno>

namespace pvrdma::probes {

Result<Fd> open_boot_folder(const Root& root) {
  const auto boot = root / "/boot";
  if (!boot.on_this_system()) return open_rooted(boot, O_PATH | O_DIRECTORY);
  // O_PATH does not trigger an automount (open(2)).
  Fd folder{::open(boot.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC)};
  struct statfs system {};
  if (!folder || ::fstatfs(folder.get(), &system) != 0) return fail(errno, "opening", boot);
  if (system.f_type == AUTOFS_SUPER_MAGIC)
    return fail(ENXIO, "looking into, as nobody has mounted it yet,", boot);
  return folder;
}

}  // namespace pvrdma::probes
