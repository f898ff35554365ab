#include "agent/ctl/report/files.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>

#include "agent/base/handle.hpp"

namespace pvrdma::ctl::bundle {

namespace {

constexpr std::array kPlaces{"/etc/", "/run/", "/usr/", "/lib/"};

std::string link_of(const Fd& fd) { return "/proc/self/fd/" + std::to_string(fd.get()); }

// Where it really lies, told by the open file itself, so that nobody can put a link there between.
bool is_where_it_belongs(const Root& root, const Fd& fd) {
  std::error_code code;
  const std::string real = std::filesystem::read_symlink(link_of(fd), code).string();
  const std::filesystem::path top = std::filesystem::canonical(root / "/", code);
  return !code && std::any_of(kPlaces.begin(), kPlaces.end(), [&](const char* place) {
    return real.starts_with((Root{top} / place).string());
  });
}

}  // namespace

Result<FileContent> read_known_file(const Root& root, const std::string& path,
                                    std::size_t limit_bytes) {
  // O_PATH opens nothing yet: a device would notice, a FIFO would wait.
  const Fd place{::open((root / path).c_str(), O_PATH | O_CLOEXEC)};
  if (!place) return fail(errno, "opening", path);
  struct stat status {};
  if (::fstat(place.get(), &status) != 0) return fail(errno, "looking at", path);
  if (!S_ISREG(status.st_mode)) return fail(EINVAL, "reading what is no file,", path);
  if (!is_where_it_belongs(root, place)) return fail(ELOOP, "reading what lies elsewhere,", path);
  const Fd file{::open(link_of(place).c_str(), O_RDONLY | O_CLOEXEC)};
  if (!file) return fail(errno, "opening", path);
  FileContent read;
  std::array<char, 4096> chunk{};
  while (!read.truncated) {
    const ssize_t got = ::read(file.get(), chunk.data(), chunk.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return fail(errno, "reading", path);
    if (got == 0) break;
    const auto size = static_cast<std::size_t>(got);
    const std::size_t room = limit_bytes - read.content.size();
    read.content.append(chunk.data(), std::min(size, room));
    read.truncated = size > room;
  }
  return read;
}

Result<std::vector<std::string>> list_files(const Root& root, const std::string& path,
                                            const std::vector<std::string>& endings) {
  const auto names = list_directory(root / path);
  if (!names && names.error().code == ENOTDIR) return std::vector{path};
  if (!names && names.error().code == ENOENT) return std::vector<std::string>{};
  if (!names) return fail(names.error().code, "listing", path);
  std::vector<std::string> found;
  for (const std::string& name : *names)
    if (std::any_of(endings.begin(), endings.end(),
                    [&](const std::string& ending) { return name.ends_with(ending); }))
      found.push_back((std::filesystem::path{path} / name).string());
  return found;
}

}  // namespace pvrdma::ctl::bundle
