#include "agent/ctl/report/archive.hpp"

#include <archive.h>
#include <archive_entry.h>

#include "agent/base/handle.hpp"

namespace pvrdma::ctl::bundle {

namespace {

using Archive = Handle<archive, ::archive_write_free>;

// libarchive's way to hand on what it has written.
la_ssize_t append(archive* /*from*/, void* to, const void* bytes, std::size_t size) {
  static_cast<std::string*>(to)->append(static_cast<const char*>(bytes), size);
  return static_cast<la_ssize_t>(size);
}

tl::unexpected<Error> failure(const Archive& archive, const std::string& what) {
  const char* said = ::archive_error_string(archive.get());
  return fail(0, "writing an archive: " + what, said != nullptr ? said : "");
}

bool add(const Archive& archive, const std::string& name, const std::string& content,
         std::time_t time) {
  const Handle<archive_entry, ::archive_entry_free> entry{::archive_entry_new()};
  ::archive_entry_set_pathname(entry.get(), name.c_str());
  ::archive_entry_set_size(entry.get(), static_cast<la_int64_t>(content.size()));
  ::archive_entry_set_filetype(entry.get(), AE_IFREG);
  ::archive_entry_set_perm(entry.get(), 0600);
  ::archive_entry_set_mtime(entry.get(), time, 0);
  if (::archive_write_header(archive.get(), entry.get()) != ARCHIVE_OK) return false;
  return ::archive_write_data(archive.get(), content.data(), content.size()) ==
         static_cast<la_ssize_t>(content.size());
}

}  // namespace

Result<std::string> make_archive(const std::string& folder, const std::vector<ArchiveFile>& files,
                                 std::time_t time) {
  std::string bytes;
  const Archive archive{::archive_write_new()};
  // Without a block size the end is not filled up, which is for tapes.
  if (!archive || ::archive_write_set_format_pax_restricted(archive.get()) != ARCHIVE_OK ||
      ::archive_write_add_filter_zstd(archive.get()) != ARCHIVE_OK ||
      ::archive_write_set_bytes_in_last_block(archive.get(), 1) != ARCHIVE_OK ||
      ::archive_write_open(archive.get(), &bytes, nullptr, append, nullptr) != ARCHIVE_OK)
    return failure(archive, folder);
  for (const ArchiveFile& file : files)
    if (!add(archive, folder + "/" + file.name, file.content, time))
      return failure(archive, file.name);
  if (::archive_write_close(archive.get()) != ARCHIVE_OK) return failure(archive, folder);
  return bytes;
}

}  // namespace pvrdma::ctl::bundle
