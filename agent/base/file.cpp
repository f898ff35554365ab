// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/base/file.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>

#include "agent/base/handle.hpp"
#include "agent/base/text.hpp"

namespace pvrdma {

namespace {

Result<Fd> open_plain(const std::filesystem::path& path) {
  Fd fd{::open(path.c_str(), O_RDONLY | O_CLOEXEC)};
  if (!fd) return fail(errno, "opening", path);
  return fd;
}

// On the running system links cannot leave the root, so the kernel follows them at less cost.
Result<Fd> open_to_read(const RootedPath& place, const Trust& trust) {
  const bool plain =
      place.on_this_system() && trust.writers == Writers::Anyone && trust.links == Links::Follow;
  return plain ? open_plain(place.path()) : open_rooted(place, O_RDONLY, trust);
}

Result<std::string> read_page(const Fd& fd, const std::filesystem::path& path) {
  std::array<char, 4096> page{};
  ssize_t got = 0;
  do got = ::read(fd.get(), page.data(), page.size());
  while (got < 0 && errno == EINTR);
  if (got < 0) return fail(errno, "reading", path);
  std::string_view content{page.data(), static_cast<std::size_t>(got)};
  content = content.substr(0, content.find_last_not_of(" \t\r\n") + 1);
  return std::string{content};
}

Result<std::vector<std::string>> list(Fd fd, const std::filesystem::path& path) {
  const Handle<DIR, ::closedir> directory{::fdopendir(fd.get())};
  if (!directory) return fail(errno, "opening", path);
  static_cast<void>(fd.release());  // the DIR owns it now
  std::vector<std::string> names;
  for (;;) {
    errno = 0;
    const dirent* entry = ::readdir(directory.get());  // one DIR, one thread: safe
    if (entry == nullptr) break;
    const std::string_view name{static_cast<const char*>(entry->d_name)};
    if (name != "." && name != "..") names.emplace_back(name);
  }
  if (errno != 0) return fail(errno, "reading", path);
  std::sort(names.begin(), names.end());
  return names;
}

std::string last_part(const std::string& path) {
  return std::filesystem::path{path}.filename().string();
}

}  // namespace

Result<std::string> read_file(const Fd& fd, const std::filesystem::path& path,
                              std::size_t limit_bytes) {
  std::string content;
  std::array<char, 4096> chunk{};
  for (;;) {
    const ssize_t got = ::read(fd.get(), chunk.data(), chunk.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return fail(errno, "reading", path);
    if (got == 0) return content;
    content.append(chunk.data(), static_cast<std::size_t>(got));
    if (content.size() > limit_bytes) return fail(EFBIG, "reading", path);
  }
}

Result<std::string> read_file(const std::filesystem::path& path, std::size_t limit_bytes) {
  return open_plain(path).and_then([&](const Fd& fd) { return read_file(fd, path, limit_bytes); });
}

Result<std::string> read_file(const RootedPath& place, std::size_t limit_bytes,
                              const Trust& trust) {
  return open_to_read(place, trust).and_then([&](const Fd& fd) {
    return read_file(fd, place.path(), limit_bytes);
  });
}

Result<std::string> read_attribute(const std::filesystem::path& path) {
  return open_plain(path).and_then([&](const Fd& fd) { return read_page(fd, path); });
}

Result<std::string> read_attribute(const RootedPath& place) {
  return open_to_read(place, {}).and_then([&](const Fd& fd) { return read_page(fd, place); });
}

Result<std::vector<std::string>> list_directory(const std::filesystem::path& path) {
  return open_plain(path).and_then([&](Fd fd) { return list(std::move(fd), path); });
}

Result<std::vector<std::string>> list_directory(const RootedPath& place, const Trust& trust) {
  return open_to_read(place, trust).and_then([&](Fd fd) { return list(std::move(fd), place); });
}

Result<std::vector<pid_t>> list_processes(const Root& root) {
  const auto names = list_directory(root / "/proc");
  if (!names) return fail(names.error());
  std::vector<pid_t> processes;
  for (const std::string& name : *names)
    if (const auto pid = number_from<pid_t>(name)) processes.push_back(*pid);
  std::sort(processes.begin(), processes.end());
  return processes;
}

Result<ProcessStat> process_stat(const Root& root, pid_t pid) {
  const RootedPath place = root / ("/proc/" + std::to_string(pid) + "/stat");
  const auto text = read_attribute(place);
  if (!text) return fail(text.error());
  // "31 (kworker/u4:2-pvrdma_event_wq) I 2 0 0 0 -1 69238880 …": PID, name, state, parent, group,
  // session, terminal, its group, flags.
  const std::size_t begin = text->find('(');
  const std::size_t end = text->rfind(") ");
  if (begin == std::string::npos || end == std::string::npos || end + 2 >= text->size())
    return fail(EBADMSG, "reading", place.string());
  std::string_view rest = std::string_view{*text}.substr(end + 2);
  const char state = rest.front();
  constexpr int kBeforeFlags = 6;
  for (int field = 0; field < kBeforeFlags; ++field) cut(rest, ' ');
  const auto flags = number_from<unsigned>(cut(rest, ' '));
  if (!flags) return fail(EBADMSG, "reading", place.string());
  return ProcessStat{text->substr(begin + 1, end - begin - 1), state, *flags};
}

Result<std::string> link_target_name(const std::filesystem::path& path) {
  return read_link(AT_FDCWD, path).map(last_part);
}

Result<std::string> link_target_name(const RootedPath& place) {
  if (place.on_this_system()) return link_target_name(place.path());
  const auto parent = open_rooted_parent(place);
  if (!parent) return fail(parent.error());
  const auto target = read_link(parent->folder.get(), parent->name);
  if (!target) return fail(target.error().code, "reading link", place.string());
  return last_part(*target);
}

Result<struct stat> status_of(const RootedPath& place, FinalLink final_link) {
  const bool shown = final_link == FinalLink::Shown;
  struct stat status {};
  const auto answer = [&](int result) -> Result<struct stat> {
    if (result != 0) return fail(errno, "looking at", place.string());
    return status;
  };
  if (place.on_this_system()) return answer((shown ? ::lstat : ::stat)(place.c_str(), &status));
  if (!shown)
    return open_rooted(place, O_PATH).and_then([&](const Fd& fd) {
      return answer(::fstat(fd.get(), &status));
    });
  return open_rooted_parent(place).and_then([&](const Parent& in) {
    return answer(::fstatat(in.folder.get(), in.name.c_str(), &status, AT_SYMLINK_NOFOLLOW));
  });
}

Result<bool> is_there(const RootedPath& place, FinalLink final_link) {
  const auto status = status_of(place, final_link);
  if (!status && !means_absent(status.error())) return fail(status.error());
  return status.has_value();
}

std::vector<std::string> paths_matching(const Root& root, const std::string& pattern) {
  constexpr std::size_t kMost = 1000;
  std::vector<std::string> paths{""};
  for (const auto& part : std::filesystem::path{pattern}.relative_path()) {
    const std::string wanted = part.string();
    std::vector<std::string> next;
    for (const std::string& path : paths) {
      const bool plain = wanted.find_first_of("*?[\\") == std::string::npos;
      auto names = plain ? std::vector{wanted}
                         : list_directory(root / path).value_or(std::vector<std::string>{});
      for (const std::string& name : names)
        if (plain || ::fnmatch(wanted.c_str(), name.c_str(), FNM_PERIOD) == 0)
          next.push_back(path + "/" + name);
    }
    next.resize(std::min(next.size(), kMost));
    paths = std::move(next);
  }
  std::erase_if(paths, [&](const std::string& path) {
    return !is_there(root / path, FinalLink::Shown).value_or(false);
  });
  return paths;
}

Result<void> write_all(int fd, std::string_view content, const std::filesystem::path& path) {
  while (!content.empty()) {
    const ssize_t put = ::write(fd, content.data(), content.size());
    if (put < 0 && errno == EINTR) continue;
    if (put < 0) return fail(errno, "writing", path);
    content.remove_prefix(static_cast<std::size_t>(put));
  }
  return {};
}

Result<void> make_directories(const std::filesystem::path& path) {
  std::error_code error;
  if (!std::filesystem::is_directory(path, error)) std::filesystem::create_directories(path, error);
  if (error) return fail(error.value(), "making", path);
  return {};
}

namespace {

// Errors name the file that the draft is for.
Result<void> write_draft(int fd, std::string_view content, unsigned mode,
                         const std::filesystem::path& path) {
  if (auto written = write_all(fd, content, path); !written) return written;
  if (::fchmod(fd, mode) != 0) return fail(errno, "setting the mode of", path);
  // Without this, some file systems (XFS) have the new name without the content after a power cut.
  if (::fdatasync(fd) != 0) return fail(errno, "syncing", path);
  return {};
}

}  // namespace

Result<void> replace_file(const std::filesystem::path& path, std::string_view content,
                          unsigned mode) {
  // A name of its own, as the folder may be another user's, and two programs may replace the file.
  std::string draft = path.parent_path() / ("." + path.filename().string() + ".XXXXXX");
  const Fd fd{::mkostemp(draft.data(), O_CLOEXEC)};
  if (!fd) return fail(errno, "creating a new", path);
  auto written = write_draft(fd.get(), content, mode, path);
  if (written && std::rename(draft.c_str(), path.c_str()) != 0)
    written = fail(errno, "replacing", path);
  if (!written) ::unlink(draft.c_str());
  return written;
}

bool means_absent(const Error& error) noexcept {
  return error.code == ENOENT || error.code == ENODEV || error.code == ENXIO ||
         error.code == ENOTDIR;
}

}  // namespace pvrdma
