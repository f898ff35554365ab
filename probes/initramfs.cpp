// SPDX-License-Identifier: GPL-2.0-or-later
#include "probes/initramfs.hpp"

#include <fcntl.h>
#include <linux/magic.h>
#include <sys/stat.h>
#include <sys/vfs.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <vector>

namespace pvrdma::probes {

namespace {

using FileTime = std::chrono::nanoseconds;  // since the epoch

// The directories that both initramfs-tools and dracut copy into an image; the hooks read the same
// ones.
constexpr std::array kModprobeFolders{"/etc/modprobe.d", "/lib/modprobe.d"};
// An image that is older than these hooks was built without a note.
constexpr std::array kHooks{"/usr/share/initramfs-tools/hooks/pvrdma-agent",
                            "/usr/lib/dracut/modules.d/99pvrdma-agent/module-setup.sh"};

FileTime nanoseconds(const timespec& time) {
  return std::chrono::seconds{time.tv_sec} + std::chrono::nanoseconds{time.tv_nsec};
}

// The part of modprobe.d about the driver.
struct Configuration {
  std::string text;    // all files that name it, in the order of the hooks
  std::string newest;  // the file that changed last; empty: no file names it
  // The change time (ctime), as the modification time of a package's file is that of its build.
  FileTime changed{};
};

Result<void> take_newer(const RootedPath& place, Configuration& configuration) {
  const auto status = status_of(place);
  if (!status && means_absent(status.error())) return {};
  if (!status) return fail(status.error());
  const FileTime changed = nanoseconds(status->st_ctim);
  if (changed > configuration.changed) {
    configuration.changed = changed;
    configuration.newest = place.inside();
  }
  return {};
}

Result<void> take_file(const Root& root, const std::string& file, Configuration& configuration) {
  const auto place = root / file;
  const auto text = read_file(place);
  if (!text && means_absent(text.error())) return {};
  if (!text) return fail(text.error());
  if (text->find(kDriverModule) == std::string::npos) return {};
  configuration.text += *text;
  return take_newer(place, configuration);
}

Result<Configuration> read_configuration(const Root& root) {
  Configuration configuration;
  for (const std::string folder : kModprobeFolders) {
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

// The newest of the images that a boot loader may use for this kernel: the names of Debian, dracut
// and SUSE.
Field<Image> find_image(const Root& root, const std::string& release) {
  const auto folder = open_boot_folder(root);
  if (!folder) return Field<Image>::from(fail(folder.error()));
  Field<Image> image;
  for (const std::string& name :
       {"initrd.img-" + release, "initramfs-" + release + ".img", "initrd-" + release}) {
    const auto status = status_of(root / "/boot" / name);
    if (!status && means_absent(status.error())) continue;
    if (!status) return Field<Image>::unreadable(status.error());
    const FileTime built = nanoseconds(status->st_mtim);
    if (!image.is_known() || built > image.get()->built) image = Image{"/boot/" + name, built};
  }
  return image;
}

// The note is from the image of this boot, so it says nothing about the image of another kernel.
Result<std::string> note_of(const Root& root, const std::string& release) {
  const auto running = read_attribute(root / "/proc/sys/kernel/osrelease");
  if (running && *running != release) return fail(ENOENT, "reading the note of", release);
  return read_file(root / kInitramfsNote);
}

// The file for which `image` is too old; empty: none.
Result<std::string> outdated_by(const Root& root, const Image& image, const std::string& release) {
  auto configuration = read_configuration(root);
  if (!configuration) return fail(configuration.error());
  const auto note = note_of(root, release);
  // The image of this boot has the same configuration, or does not have the driver.
  if (note && (note->empty() || *note == configuration->text)) return std::string{};
  if (!note && !means_absent(note.error())) return fail(note.error());
  if (!note)
    for (const char* hook : kHooks)
      if (auto taken = take_newer(root / hook, *configuration); !taken) return fail(taken.error());
  return image.built < configuration->changed ? configuration->newest : std::string{};
}

}  // namespace

Result<Fd> open_boot_folder(const Root& root) {
  const auto boot = root / "/boot";
  if (!boot.on_this_system()) return open_rooted(boot, O_PATH | O_DIRECTORY);
  // O_PATH does not trigger an automount (open(2)).
  Fd folder{::open(boot.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC)};
  struct statfs system {};
  if (!folder || ::fstatfs(folder.get(), &system) != 0) return fail(errno, "opening", boot);
  if (system.f_type == AUTOFS_SUPER_MAGIC)
    return fail(ENXIO, "looking into, as it is an automount point that is not mounted yet,", boot);
  return folder;
}

Result<std::string> driver_configuration(const Root& root) {
  auto configuration = read_configuration(root);
  if (!configuration) return fail(configuration.error());
  return std::move(configuration->text);
}

Field<Initramfs> look_at_initramfs(const Root& root, const std::string& release) {
  const auto image = find_image(root, release);
  if (const Error* error = image.error()) return Field<Initramfs>::unreadable(*error);
  if (image.is_absent()) return {};
  auto newer = outdated_by(root, *image.get(), release);
  if (!newer) return Field<Initramfs>::unreadable(newer.error());
  return Initramfs{image.get()->path, std::move(*newer)};
}

}  // namespace pvrdma::probes
