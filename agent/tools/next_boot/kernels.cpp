// SPDX-License-Identifier: GPL-2.0-or-later
// Finds the installed kernels, and the one that the next boot takes.
#include <sys/stat.h>

#include <cerrno>

#include "agent/base/text.hpp"
#include "agent/tools/next_boot/boot_menu.hpp"
#include "agent/tools/next_boot/forecast.hpp"
#include "probes/initramfs.hpp"
#include "probes/modules.hpp"

namespace pvrdma::probes {

namespace {

// The path; absent: there is no such file.
Field<std::string> file_at(const Root& root, const std::string& path) {
  const auto there = is_there(root / path);
  if (!there) return Field<std::string>::unreadable(there.error());
  return *there ? Field<std::string>{path} : Field<std::string>{};
}

// Kernels in the layout of the Boot Loader Specification: /boot/MACHINE-ID/RELEASE/linux.
Field<std::string> image_by_spec(const Root& root, const std::string& release) {
  const auto id = read_attribute(root / "/etc/machine-id");
  if (!id || id->empty()) return {};
  for (const std::string folder : {"/efi/", "/boot/efi/", "/boot/"}) {
    auto image = file_at(root, folder + *id + "/" + release + "/linux");
    if (!image.is_absent()) return image;
  }
  return {};
}

Field<std::string> find_image(const Root& root, const std::string& release) {
  Field<std::string> doubtful;
  const auto boot = open_boot_folder(root);
  if (!boot && boot.error().code != ENOENT) {
    doubtful = Field<std::string>::unreadable(boot.error());
  } else if (boot) {
    for (const char* const name : {"vmlinuz-", "vmlinux-"}) {
      auto image = file_at(root, "/boot/" + std::string{name} + release);
      if (image.is_known()) return image;
      if (image.is_unreadable()) doubtful = std::move(image);
    }
    if (auto image = image_by_spec(root, release); !image.is_absent()) return image;
  }
  auto image = file_at(root, std::string{kModuleFolder} + "/" + release + "/vmlinuz");
  return image.is_absent() ? doubtful : image;
}

// The release of the kernel at a boot loader's path. `path` begins at the root of the loader's file
// system, which may be /boot or /.
std::string release_of(const Root& root, const std::string& path) {
  const auto of_name = [](const std::string& name) -> std::string {
    for (const std::string_view prefix : {"vmlinuz-", "vmlinux-"})
      if (name.starts_with(prefix)) return name.substr(prefix.size());
    return {};
  };
  const std::filesystem::path whole{path};
  if (std::string release = of_name(whole.filename()); !release.empty()) return release;
  if (whole.filename() == "linux") return whole.parent_path().filename();
  for (const std::string& link : {path, "/boot" + path})
    if (const auto target = resolve_rooted(root / link); target && target->inside() != link)
      return of_name(target->below().filename());
  return {};
}

class Chooser {
 public:
  Chooser(const Root& root, const std::vector<KernelForecast>& installed)
      : root_(root), installed_(installed) {}

  Field<NextKernel> run() {
    for (const std::string folder : {"/boot/grub2", "/boot/grub"}) {
      const auto text = read_file(root_ / (folder + "/grub.cfg"));
      if (text) return by_grub(folder, parse_grub_menu(*text));
      if (!means_absent(text.error())) return Field<NextKernel>::unreadable(text.error());
    }
    // Enterprise Linux 8 has its grub.cfg in the EFI partition, and the rest here.
    const BootMenu usual{{}, "${saved_entry}", true};
    if (file_at(root_, "/boot/grub2/grubenv").is_known()) return by_grub("/boot/grub2", usual);
    return by_link();
  }

 private:
  Field<NextKernel> by_grub(const std::string& folder, const BootMenu& menu) {
    const std::string file = folder + "/grubenv";
    const auto block = read_file(root_ / file);
    if (!block && !means_absent(block.error())) return Field<NextKernel>::unreadable(block.error());
    environment_ = parse_grub_environment(block.value_or(std::string{}));
    // Enterprise Linux falls back to another kernel after boots that have failed
    // (/etc/grub.d/08_fallback_counting), if a program has begun to count them.
    const std::string& left = environment_["boot_counter"];
    if ((left == "0" || left == "-1") && environment_["boot_success"] == "0") return only_one();
    // An administrator's custom.cfg may set another default.
    if (!file_at(root_, folder + "/custom.cfg").is_absent()) return only_one();
    if (const std::string& once = environment_["next_entry"]; !once.empty())
      return entry(menu, once, "next_entry in " + file);
    if (menu.chosen != "${saved_entry}" && menu.chosen != "$saved_entry")
      return entry(menu, menu.chosen.empty() ? "0" : menu.chosen,
                   "default in " + folder + "/grub.cfg");
    const std::string& saved = environment_["saved_entry"];
    if (!saved.empty()) return entry(menu, saved, "saved_entry in " + file);
    return entry(menu, "0", "default in " + folder + "/grub.cfg");
  }

  Field<NextKernel> entry(const BootMenu& menu, const std::string& selection,
                          const std::string& by) {
    if (menu.by_spec) return entry_by_spec(selection, by);
    const MenuEntry* found = find_entry(menu.entries, selection);
    if (found == nullptr) return only_one();
    // Photon's menu has a variable for the kernel; photon.cfg, a link, leads to the file that sets
    // it.
    if (found->kernel.find('$') != std::string::npos) return by_photon();
    return made(*found, by);
  }

  // GRUB sorts these entries by its own rules, so a number is clear only where there is one entry.
  Field<NextKernel> entry_by_spec(const std::string& selection, const std::string& by) {
    const std::string folder = "/boot/loader/entries";
    const auto names = list_directory(root_ / folder);
    if (!names && !means_absent(names.error())) return Field<NextKernel>::unreadable(names.error());
    std::vector<MenuEntry> entries;
    for (const std::string& name : names.value_or(std::vector<std::string>{})) {
      if (!name.ends_with(".conf")) continue;
      const auto text = read_file(root_ / (folder + "/" + name));
      if (!text) return Field<NextKernel>::unreadable(text.error());
      entries.push_back(parse_loader_entry(name.substr(0, name.size() - 5), *text));
    }
    if (entries.size() != 1 && number_from<unsigned>(selection)) return only_one();
    const MenuEntry* found = find_entry(entries, selection);
    return found == nullptr ? only_one() : made(*found, by);
  }

  Field<NextKernel> by_photon() {
    const std::string file = "/boot/photon.cfg";
    const auto text = read_file(root_ / file);
    if (!text) return Field<NextKernel>::from(fail(text.error()));
    const auto values = parse_grub_environment(*text);
    const auto kernel = values.find("photon_linux");
    if (kernel == values.end()) return only_one();
    const auto options = values.find("photon_cmdline");
    return made({{}, {}, kernel->second, options == values.end() ? "" : options->second, {}},
                "photon_linux in " + file);
  }

  Field<NextKernel> made(const MenuEntry& found, const std::string& by) {
    NextKernel next{release_of(root_, found.kernel), by, found.options};
    if (next.release.empty()) return only_one();
    constexpr std::string_view kVariable = "$kernelopts";  // Enterprise Linux 8
    if (const auto at = next.options.find(kVariable); at != std::string::npos)
      next.options.replace(at, kVariable.size(), environment_["kernelopts"]);
    return next;
  }

  // /vmlinuz on Debian, and /boot/vmlinuz elsewhere, are links to the kernel that should be booted.
  Field<NextKernel> by_link() {
    for (const std::string link : {"/vmlinuz", "/boot/vmlinuz"}) {
      const auto status = status_of(root_ / link, FinalLink::Shown);
      if (!status || !S_ISLNK(status->st_mode)) continue;
      if (std::string release = release_of(root_, link); !release.empty())
        return NextKernel{std::move(release), "the link " + link};
    }
    return only_one();
  }

  Field<NextKernel> only_one() {
    if (installed_.size() != 1) return {};
    return NextKernel{installed_.front().release, "the only one installed"};
  }

  const Root& root_;
  const std::vector<KernelForecast>& installed_;
  std::map<std::string, std::string> environment_;
};

}  // namespace

Result<std::vector<KernelForecast>> installed_kernels(const Root& root,
                                                      const std::string& running) {
  std::vector<KernelForecast> kernels;
  const auto names = list_directory(root / kModuleFolder);
  if (!names && means_absent(names.error())) return kernels;
  if (!names) return fail(names.error());
  for (const std::string& release : *names) {
    if (file_at(root, std::string{kModuleFolder} + "/" + release + "/" + kModuleIndex).is_absent())
      continue;
    auto image = find_image(root, release);
    const bool runs = release == running;
    if (!image.is_absent() || runs) kernels.push_back({release, std::move(image), runs});
  }
  return kernels;
}

Field<NextKernel> next_kernel(const Root& root, const std::vector<KernelForecast>& installed) {
  return Chooser{root, installed}.run();
}

}  // namespace pvrdma::probes
