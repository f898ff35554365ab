// Which files count, in which order, and how they are read. What they say is draft.cpp's.
#include "agent/config/config_files.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <map>
#include <optional>
#include <utility>

#include "agent/base/text.hpp"
#include "agent/config/draft.hpp"
#include "agent/config/item.hpp"
#include "agent/config/text.hpp"
#include "agent/config/toml_tree.hpp"

namespace pvrdma {

namespace {

namespace fs = std::filesystem;

// The first counts before the second, and so on.
constexpr std::array<const char*, 3> kDirectories = {"/etc/pvrdma-agent", "/run/pvrdma-agent",
                                                     "/usr/lib/pvrdma-agent"};
constexpr const char* kFile = "/pvrdma-agent.toml";
constexpr const char* kDropIns = "/pvrdma-agent.toml.d";
// What units/read-guestinfo leaves: one of the two, or none.
constexpr const char* kFetched = "/run/pvrdma-agent-guestinfo/config.toml";
constexpr const char* kNotFetched = "/run/pvrdma-agent-guestinfo/error";
constexpr const char* kFetchedDropIn = "50-guestinfo.toml";

tl::unexpected<Error> bad_file(const fs::path& path, const std::string& what) {
  return fail(0, path.string() + ": " + what, "");
}

std::string reason(const Error& error) { return Error{error.code, "", ""}.message(); }

// True where the directory has an entry of that name, were it a dangling link.
bool is_there(const fs::path& path) {
  std::error_code code;
  return fs::symlink_status(path, code).type() != fs::file_type::not_found;
}

Result<std::vector<fs::path>> drop_ins(const Root& root) {
  std::map<std::string, fs::path> by_name;
  for (const char* directory : kDirectories) {
    if (directory == kDirectories.back() && is_there(root / kFetched))
      by_name.emplace(kFetchedDropIn, root / kFetched);
    const fs::path path = root / (std::string{directory} + kDropIns);
    const auto names = list_directory(path);
    if (!names && means_absent(names.error())) continue;
    if (!names) return bad_file(path, "cannot be read: " + reason(names.error()));
    for (const std::string& name : *names)
      if (fs::path{name}.extension() == ".toml") by_name.emplace(name, path / name);
  }
  std::vector<fs::path> paths;
  paths.reserve(by_name.size());
  for (auto& [name, path] : by_name) paths.push_back(std::move(path));
  return paths;
}

Result<std::vector<fs::path>> find_files(const Root& root) {
  auto paths = drop_ins(root);
  if (!paths) return paths;
  for (const char* directory : kDirectories) {
    fs::path path = root / (std::string{directory} + kFile);
    if (!is_there(path)) continue;
    paths->insert(paths->begin(), std::move(path));
    break;
  }
  return paths;
}

// None: the file is masked by a link to /dev/null, as in systemd.unit(5).
Result<std::optional<std::string>> read_text(const fs::path& path) {
  std::error_code code;
  const fs::file_status status = fs::status(path, code);
  if (status.type() == fs::file_type::directory)
    return bad_file(path, "is a directory, not a file");
  if (status.type() == fs::file_type::character && fs::read_symlink(path, code) == "/dev/null")
    return std::nullopt;
  // A FIFO would make the open wait for a writer.
  if (fs::exists(status) && status.type() != fs::file_type::regular)
    return bad_file(path, "is not a regular file");
  auto text = read_file(path);
  if (text) return std::move(*text);
  if (text.error().code == EFBIG) return bad_file(path, "is larger than 1 MiB");
  return bad_file(path, "cannot be read: " + reason(text.error()));
}

// Which of the files may be used is the machine's to say, not that file's.
Result<void> check_fetched(const toml_tree::Node& tree) {
  const std::string name{kGuestinfo};
  const auto table = Item{tree, name, ""}.member("guestinfo");
  return table ? Result<void>{table->bad("may only be set in a file of this machine")}
               : Result<void>{};
}

Result<LoadedConfig> combine(const std::vector<fs::path>& paths, const fs::path& fetched) {
  Draft draft;
  LoadedConfig loaded;
  for (const fs::path& path : paths) {
    const auto text = read_text(path);
    if (!text) return fail(text.error());
    if (!*text) continue;
    const fs::path name = path == fetched ? fs::path{kGuestinfo} : path;
    const auto tree = toml_tree::parse(**text, name);
    if (!tree) return fail(tree.error());
    if (path == fetched)
      if (auto right = check_fetched(*tree); !right) return fail(std::move(right.error()));
    if (auto added = draft.add(*tree, name); !added) return fail(std::move(added.error()));
    loaded.files.push_back(name);
  }
  auto config = std::move(draft).finish();
  if (!config) return fail(std::move(config.error()));
  loaded.config = std::move(*config);
  return loaded;
}

// Why nothing could be fetched; empty: it could, or there is nothing to fetch.
std::string fetch_error(const Root& root) {
  constexpr std::size_t kLongest = 300;
  const auto reason = read_attribute(root / kNotFetched);
  return reason ? std::string{kGuestinfo} + ": " + printable(*reason, kLongest) : "";
}

}  // namespace

Result<LoadedConfig> load_config(const Root& root) {
  auto all = find_files(root);
  if (!all) return fail(std::move(all.error()));
  const fs::path fetched = root / kFetched;
  std::vector<fs::path> own = *all;
  own.erase(std::remove(own.begin(), own.end(), fetched), own.end());
  auto loaded = combine(own, fetched);
  if (!loaded || !loaded->config.guestinfo.enabled) return loaded;
  loaded->left_out = fetch_error(root);
  if (own.size() != all->size()) {
    auto with_fetched = combine(*all, fetched);
    if (with_fetched) return with_fetched;
    loaded->left_out = with_fetched.error().message();
  }
  loaded->config.complete = loaded->left_out.empty();
  return loaded;
}

}  // namespace pvrdma
