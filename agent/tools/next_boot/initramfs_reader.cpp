// SPDX-License-Identifier: GPL-2.0-or-later
// Unpacks an initramfs image with libarchive, for the program initramfs-content alone.
#include <archive.h>
#include <archive_entry.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <map>
#include <optional>
#include <string_view>
#include <utility>

#include "agent/base/handle.hpp"
#include "agent/base/text.hpp"
#include "agent/model/snapshot.hpp"
#include "agent/tools/next_boot/initramfs_content.hpp"
#include "probes/modules.hpp"

namespace pvrdma::probes {

namespace {

using Archive = Handle<archive, archive_read_free>;

constexpr const char* kImage = "the image";  // used in messages: the caller knows its name
constexpr std::int64_t kMostBytes = std::int64_t{2} << 30U;
constexpr std::size_t kMostText = 1U << 20U;   // bytes of modprobe.d's files that name the driver
constexpr std::size_t kMostNames = 4U << 20U;  // bytes of modules' names; a kernel has 100 KiB
// A file that our hooks put only into images (packaging/initramfs/functions); the system does not
// have it.
constexpr std::string_view kImageOnly = "etc/modprobe.d/0-pvrdma-agent-image.conf";
constexpr std::size_t kBlock = 1U << 16U;

class ImageReader {
 public:
  explicit ImageReader(int fd) : fd_(fd) {}

  Result<InitramfsContent> read() {
    off_t begin = 0;
    // The next archive begins where this one ends.
    while (true) {
      const auto start = skip_zeros(begin);
      if (!start) return fail(start.error());
      if (!*start) break;
      const auto end = read_archive(**start);
      if (!end) return fail(end.error());
      if (!*end) break;
      begin = **end;
    }
    for (const auto& [name, text] : texts_) content_.configuration += text;
    return std::move(content_);
  }

 private:
  // The offset after the zeros. None: there are only zeros up to the end.
  Result<std::optional<off_t>> skip_zeros(off_t from) {
    std::array<char, 4096> block{};
    while (true) {
      const ssize_t got = ::pread(fd_, block.data(), block.size(), from);
      if (got < 0) return fail(errno, "reading", kImage);
      if (got == 0) return std::optional<off_t>{};
      const auto end = block.begin() + got;
      const auto found = std::find_if(block.begin(), end, [](char byte) { return byte != 0; });
      if (found != end) return std::optional<off_t>{from + (found - block.begin())};
      from += got;
    }
  }

  // The offset where the archive ends; none: it was compressed, and so the last one.
  Result<std::optional<off_t>> read_archive(off_t begin) {
    if (::lseek(fd_, begin, SEEK_SET) < 0) return fail(errno, "reading", kImage);
    const Archive source{archive_read_new()};
    archive_read_support_format_cpio(source.get());
    for (const auto support : {archive_read_support_filter_gzip, archive_read_support_filter_bzip2,
                               archive_read_support_filter_lzma, archive_read_support_filter_xz,
                               archive_read_support_filter_lz4, archive_read_support_filter_zstd})
      support(source.get());
    if (archive_read_open_fd(source.get(), fd_, kBlock) != ARCHIVE_OK) return failed(source.get());
    archive_entry* entry = nullptr;
    int code = ARCHIVE_OK;
    while ((code = archive_read_next_header(source.get(), &entry)) == ARCHIVE_OK ||
           code == ARCHIVE_WARN) {
      if (auto taken = take(source.get(), entry); !taken) return fail(taken.error());
      if (read_before_ + archive_filter_bytes(source.get(), 0) > kMostBytes)
        return fail(EFBIG, "unpacking", kImage);
    }
    if (code != ARCHIVE_EOF) return failed(source.get());
    if (archive_filter_code(source.get(), 0) != ARCHIVE_FILTER_NONE) return std::optional<off_t>{};
    read_before_ += archive_filter_bytes(source.get(), 0);
    return std::optional<off_t>{begin + archive_filter_bytes(source.get(), 0)};
  }

  [[nodiscard]] tl::unexpected<Error> failed(archive* source) const {
    const int code = archive_errno(source);
    // libarchive uses EILSEQ for a format that it does not know; its negative codes are no errno.
    return fail(code > 0 && code != EILSEQ ? code : EBADMSG, "unpacking", kImage);
  }

  Result<void> take(archive* source, archive_entry* entry) {
    const char* pathname = archive_entry_pathname(entry);
    if (pathname == nullptr || archive_entry_filetype(entry) != AE_IFREG) return {};
    std::string_view path{pathname};
    for (const std::string_view prefix : {"./", "/", "usr/"})
      if (path.starts_with(prefix)) path.remove_prefix(prefix.size());
    const std::string_view name = base_name(path);
    if (const auto suffix = name.find(".ko"); suffix != std::string_view::npos)
      names_bytes_ +=
          content_.modules.insert(with_underscores(name.substr(0, suffix))).second ? suffix : 0;
    if (names_bytes_ > kMostNames) return fail(EFBIG, "unpacking", "the modules' names");
    const bool ours = path.starts_with("etc/modprobe.d/") || path.starts_with("lib/modprobe.d/");
    if (!ours || name.starts_with('.') || !name.ends_with(".conf") || path == kImageOnly) return {};
    const auto size =
        static_cast<std::size_t>(std::max<std::int64_t>(archive_entry_size(entry), 0));
    if (size > kMostText) return fail(EFBIG, "unpacking", std::string{path});
    std::string text(size, '\0');
    if (archive_read_data(source, text.data(), size) != static_cast<ssize_t>(size))
      return failed(source);
    if (text.find(kDriverModule) == std::string::npos) return {};
    texts_bytes_ += size;
    if (texts_bytes_ > kMostText) return fail(EFBIG, "unpacking", std::string{path});
    texts_[std::string{path}] = std::move(text);
    return {};
  }

  int fd_;
  InitramfsContent content_;
  std::int64_t read_before_ = 0;
  std::size_t names_bytes_ = 0;
  std::size_t texts_bytes_ = 0;
  std::map<std::string, std::string> texts_;  // "etc/…" before "lib/…"
};

}  // namespace

Result<InitramfsContent> read_initramfs(int image) { return ImageReader{image}.read(); }

}  // namespace pvrdma::probes
