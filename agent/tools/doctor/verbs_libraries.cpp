// SPDX-License-Identifier: GPL-2.0-or-later
// Finds libibverbs, its provider for vmw_pvrdma, and traces of a vendor's OFED, which brings a
// libibverbs of its own without that provider. Reads files only: nothing is loaded or run.
#include <algorithm>
#include <array>
#include <set>

#include "agent/base/text.hpp"
#include "agent/tools/doctor/survey_probe.hpp"

namespace pvrdma::probes {

namespace {

constexpr const char* kLibrary = "libibverbs.so.1";
constexpr const char* kProviderFolder = "/libibverbs";
constexpr const char* kDriverFolder = "/etc/libibverbs.d";  // of distributions
constexpr const char* kDpkgStatus = "/var/lib/dpkg/status";
constexpr const char* kVendorFolder = "/opt/mellanox";
constexpr std::size_t kLibraryLimitBytes = 8U << 20U;
constexpr std::size_t kStatusLimitBytes = 64U << 20U;
constexpr unsigned kMostIncludes = 64;  // of ld.so.conf: a file may include itself

// The folders where dynamic linkers look last; Debian has one for each architecture.
constexpr std::array kDefaultFolders{"/lib/x86_64-linux-gnu",
                                     "/usr/lib/x86_64-linux-gnu",
                                     "/lib/aarch64-linux-gnu",
                                     "/usr/lib/aarch64-linux-gnu",
                                     "/lib64",
                                     "/usr/lib64",
                                     "/lib",
                                     "/usr/lib"};

bool is_vendors(std::string_view text) {
  const std::string word = lower(text);
  return word.find("mlnx") != std::string::npos || word.find("mellanox") != std::string::npos ||
         word.find("ofed") != std::string::npos;
}

std::string_view setting_in(std::string_view line) {
  return trimmed(line.substr(0, line.find('#')));
}

// A line of ld.so.conf, and the file that has it.
struct ConfiguredFolder {
  std::string folder;
  std::string file;
};

// ldconfig(8): each line has a folder, or "include PATTERN"; a relative pattern is below the file's
// folder.
Result<std::vector<ConfiguredFolder>> configured_folders(const Root& root) {
  std::vector<ConfiguredFolder> folders;
  std::vector<std::string> files{"/etc/ld.so.conf"};
  for (std::size_t at = 0; at < files.size() && at < kMostIncludes; ++at) {
    const std::string file = files[at];
    const auto text = read_file(root / file);
    if (!text && !means_absent(text.error())) return fail(text.error());
    std::string_view rest = text ? std::string_view{*text} : std::string_view{};
    while (!rest.empty()) {
      const std::string_view line = setting_in(cut(rest, '\n'));
      if (line.starts_with("include ") || line.starts_with("include\t")) {
        std::string pattern{trimmed(line.substr(8))};
        if (!pattern.starts_with('/')) pattern.insert(0, file.substr(0, file.rfind('/') + 1));
        for (std::string& more : paths_matching(root, pattern)) files.push_back(std::move(more));
      } else if (line.starts_with('/')) {
        folders.push_back({std::string{line}, file});
      }
    }
  }
  return folders;
}

// The text of libibverbs has the folder that it was built for (rdma-core: CONFIG_DIR), which for
// the prefix /usr/local is below that. A command to copy names the folder, so it has to be a plain
// path.
std::string driver_folder_in(std::string_view library) {
  constexpr std::string_view kName = "/libibverbs.d";
  const auto is_plain = [](char c) {
    return is_alphanumeric(c) || contains(std::string_view{"/._-+"}, c);
  };
  if (const std::size_t at = library.find(kName); at != std::string_view::npos) {
    const std::size_t start = library.rfind('\0', at) + 1;
    const std::string_view folder = library.substr(start, at + kName.size() - start);
    if (folder.starts_with('/') && std::ranges::all_of(folder, is_plain))
      return std::string{folder};
  }
  return kDriverFolder;
}

void add_library(const Root& root, const std::string& path, Libraries& libraries) {
  const auto content = read_file(root / path, kLibraryLimitBytes);
  if (libraries.verbs.empty()) libraries.driver_folder = driver_folder_in(content.value_or(""));
  libraries.verbs.push_back(
      {path, content ? private_abi_in(*content) : Field<unsigned>::unreadable(content.error())});
}

// Each file counts once, under whatever names it is found: in most systems /lib is a link to
// /usr/lib.
using Files = std::set<std::pair<dev_t, ino_t>>;
bool is_new(const RootedPath& place, Files& seen) {
  const auto status = status_of(place);
  return status && seen.emplace(status->st_dev, status->st_ino).second;
}

Field<std::string> driver_file(const Root& root, const std::string& folder) {
  const auto names = list_directory(root / folder);
  if (!names) return Field<std::string>::from(fail(names.error()));
  for (const std::string& name : *names) {
    const std::string path = folder + "/" + name;
    const auto text = read_file(root / path);
    if (!text) continue;
    std::string_view rest = *text;
    while (!rest.empty())
      if (setting_in(cut(rest, '\n')) == "driver vmw_pvrdma") return path;
  }
  return {};
}

struct VendorPackage {
  std::string name;
  std::string version;  // "51mlnx1-1.51258"
};

// Packages of RDMA libraries in dpkg's status file whose version is a vendor's.
std::vector<VendorPackage> vendor_packages(std::string_view dpkg_status) {
  std::vector<VendorPackage> packages;
  std::string_view name;
  bool installed = false;
  while (!dpkg_status.empty()) {
    const std::string_view line = cut(dpkg_status, '\n');
    if (line.starts_with("Package: ")) name = line.substr(9);
    if (line.starts_with("Status: ")) installed = line.ends_with(" installed");
    if (!line.starts_with("Version: ") || !installed || !is_vendors(line)) continue;
    if (name.find("ib") != std::string_view::npos || name.find("rdma") != std::string_view::npos ||
        is_vendors(name))
      packages.push_back({std::string{name}, std::string{line.substr(9)}});
  }
  return packages;
}

void look_for_vendor(const Root& root, const std::vector<ConfiguredFolder>& folders,
                     Libraries& libraries) {
  if (const auto status = read_file(root / kDpkgStatus, kStatusLimitBytes)) {
    std::vector<std::string> names;
    for (const VendorPackage& package : vendor_packages(*status)) {
      libraries.vendor.push_back("package " + package.name + " " + package.version);
      names.push_back(package.name);
    }
    libraries.vendor_packages = std::move(names);
  } else {
    libraries.vendor_packages = Field<std::vector<std::string>>::from(fail(status.error()));
  }
  for (const ConfiguredFolder& configured : folders)
    if (is_vendors(configured.folder))
      libraries.vendor.push_back(configured.file + ": " + configured.folder);
  if (list_directory(root / kVendorFolder)) libraries.vendor.emplace_back(kVendorFolder);
}

}  // namespace

Field<unsigned> private_abi_in(std::string_view library) {
  constexpr std::string_view kMark = "IBVERBS_PRIVATE_";
  Field<unsigned> found;
  for (std::size_t at = library.find(kMark); at != std::string_view::npos;
       at = library.find(kMark, at + 1)) {
    const std::string_view rest = library.substr(at + kMark.size());
    const std::size_t digits = rest.find_first_not_of("0123456789");
    const auto version = number_from<unsigned>(rest.substr(0, std::min<std::size_t>(digits, 9)));
    if (version && (!found.is_known() || *version > *found.get())) found = *version;
  }
  return found;
}

Field<unsigned> private_abi_of_provider(std::string_view file_name) {
  constexpr std::string_view kFront = "libvmw_pvrdma-rdmav";
  constexpr std::string_view kSuffix = ".so";
  if (!file_name.starts_with(kFront) || !file_name.ends_with(kSuffix)) return {};
  file_name.remove_prefix(kFront.size());
  file_name.remove_suffix(kSuffix.size());
  const auto version = number_from<unsigned>(file_name);
  return version ? Field<unsigned>{*version} : Field<unsigned>{};
}

Field<Libraries> look_at_verbs_libraries(const Root& root, std::string_view library_path) {
  const auto configured = configured_folders(root);
  if (!configured) return Field<Libraries>::unreadable(configured.error());
  std::vector<std::string> folders;
  while (!library_path.empty())
    if (const auto folder = cut(library_path, ':'); folder.starts_with('/'))
      folders.emplace_back(folder);
  for (const ConfiguredFolder& one : *configured) folders.push_back(one.folder);
  folders.insert(folders.end(), kDefaultFolders.begin(), kDefaultFolders.end());

  Libraries libraries;
  Files seen;
  for (const std::string& folder : folders) {
    const std::string path = folder + "/" + kLibrary;
    if (is_new(root / path, seen)) add_library(root, path, libraries);
    for (const std::string& name :
         list_directory(root / (folder + kProviderFolder)).value_or(std::vector<std::string>{})) {
      const auto abi = private_abi_of_provider(name);
      const std::string provider = folder + kProviderFolder + "/" + name;
      if (abi.is_known() && is_new(root / provider, seen))
        libraries.providers.push_back({provider, abi});
    }
  }
  libraries.driver_file = driver_file(root, libraries.driver_folder);
  look_for_vendor(root, *configured, libraries);
  return libraries;
}

}  // namespace pvrdma::probes
