#include "probes/initramfs.hpp"

#include <fcntl.h>
#include <linux/magic.h>
#include <sys/stat.h>
#include <sys/vfs.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <optional>
#include <vector>

#include "agent/base/handle.hpp"

namespace pvrdma::probes {

namespace {

using FileTime = std::chrono::nanoseconds;  // since the epoch

// The directories that both initramfs-tools and dracut copy into an image; the hooks read the same.
constexpr std::array kModprobeFolders{"/etc/modprobe.d", "/lib/modprobe.d"};
// An image older than these was built without a note.
constexpr std::array kHooks{"/usr/share/initramfs-tools/hooks/pvrdma-agent",
                            "/usr/lib/dracut/modules.d/99pvrdma-agent/module-setup.sh"};

FileTime nanoseconds(const timespec& time) {
  return std::chrono::seconds{time.tv_sec} + std::chrono::nanoseconds{time.tv_nsec};
}

// What modprobe.d says about the driver.
struct Configuration {
  std::string text;    // all files that name it, in the order the hooks take
  std::string newest;  // the last one changed; empty: none names it
  // A change time: the modification time of a package's file is that of its build.
  FileTime changed{};
};

Result<void> take_newer(const std::filesystem::path& path, std::string shown,
                        Configuration& configuration) {
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0) {
    const int code = errno;
    if (means_absent({code, {}, {}})) return {};
    return fail(code, "looking at", path);
  }
  const FileTime changed = nanoseconds(status.st_ctim);
  if (changed > configuration.changed) {
    configuration.changed = changed;
    configuration.newest = std::move(shown);
  }
  return {};
}

Result<void> take_file(const Root& root, const std::string& file, Configuration& configuration) {
  const auto path = root / file;
  const auto text = read_file(path);
  if (!text) {
    if (means_absent(text.error())) return {};
    return fail(text.error());
  }
  if (text->find(kDriverModule) == std::string::npos) return {};
  configuration.text += *text;
  return take_newer(path, file, configuration);
}

Result<Configuration> read_configuration(const Root& root) {
  Configuration configuration;
  for (const char* const path : kModprobeFolders) {
    const std::string folder = path;
    const auto names = list_directory(root / folder);
    if (!names && !means_absent(names.error())) return fail(names.error());
    for (const std::string& name : names.value_or(std::vector<std::string>{}))
      if (name.front() != '.' && name.ends_with(".conf"))
        if (auto taken = take_file(root, folder + "/" + name, configuration); !taken)
          return fail(taken.error());
  }
  return configuration;
}

struct Image {
  std::string path;
  FileTime built;  // its modification time
};

// The latest built of those that a boot loader may have for this kernel: Debian's name, and that of
// dracut everywhere else.
Result<std::optional<Image>> find_image(const Root& root, const std::string& release) {
  const auto boot = root / "/boot";
  // O_PATH does not trigger an automount (open(2)), which would keep /boot mounted for ever.
  const Fd folder{::open(boot.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC)};
  struct statfs system {};
  if (!folder || ::fstatfs(folder.get(), &system) != 0) {
    const Error error{errno, "opening", boot};
    if (means_absent(error)) return std::optional<Image>{};
    return fail(error);
  }
  std::optional<Image> image;
  if (system.f_type == AUTOFS_SUPER_MAGIC) return image;
  for (const std::string& name : {"initrd.img-" + release, "initramfs-" + release + ".img"}) {
    struct stat status {};
    if (::fstatat(folder.get(), name.c_str(), &status, 0) != 0) {
      const Error error{errno, "looking at", boot / name};
      if (means_absent(error)) continue;
      return fail(error);
    }
    const FileTime built = nanoseconds(status.st_mtim);
    if (!image || built > image->built) image = Image{"/boot/" + name, built};
  }
  return image;
}

// What `image` is too old for; empty: nothing.
Result<std::string> outdated_by(const Root& root, const Image& image) {
  auto configuration = read_configuration(root);
  if (!configuration) return fail(configuration.error());
  const auto note = read_file(root / kInitramfsNote);
  // The image this boot came from goes by the same configuration, or does not have the driver.
  if (note && (note->empty() || *note == configuration->text)) return std::string{};
  if (!note && !means_absent(note.error())) return fail(note.error());
  if (!note)
    for (const char* hook : kHooks)
      if (auto taken = take_newer(root / hook, hook, *configuration); !taken)
        return fail(taken.error());
  return image.built < configuration->changed ? configuration->newest : std::string{};
}

}  // namespace

Field<Initramfs> look_at_initramfs(const Root& root, const std::string& release) {
  const auto image = find_image(root, release);
  if (!image) return Field<Initramfs>::unreadable(image.error());
  if (!*image) return Field<Initramfs>::absent();
  auto newer = outdated_by(root, **image);
  if (!newer) return Field<Initramfs>::unreadable(newer.error());
  return Initramfs{(*image)->path, std::move(*newer)};
}

}  // namespace pvrdma::probes
