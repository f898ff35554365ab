// SPDX-License-Identifier: GPL-2.0-or-later
#include "probes/module_lookup.hpp"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>

#include "agent/base/program.hpp"
#include "agent/base/rooted_path.hpp"
#include "agent/base/text.hpp"

namespace pvrdma::probes {

namespace {

constexpr int kNoInput = -1;
constexpr std::size_t kLookupOutputBytes = 2U << 20U;  // enough for a long modprobe.d
constexpr std::string_view kError = "error ";

std::optional<IndexEntry> entry_from(std::string_view line, const std::string& name) {
  if (line.starts_with(kError)) {
    const auto code = number_from<int>(line.substr(kError.size()));
    if (!code || *code <= 0) return std::nullopt;
    return IndexEntry{Field<Shipped>::unreadable({*code, "looking up module", name})};
  }
  const auto shipped = from_word<Shipped>(cut(line, ' '));
  if (!shipped) return std::nullopt;
  IndexEntry entry{*shipped};
  while (!line.empty()) entry.needs.emplace_back(cut(line, ' '));
  return entry;
}

// Whether a file that libkmod would open there is not a regular file.
bool has_odd_index(const RootedPath& directory) {
  if (directory.on_this_system()) return false;
  const auto names = list_directory(directory).value_or(std::vector<std::string>{});
  return std::any_of(names.begin(), names.end(), [&](const std::string& name) {
    const auto status = status_of(directory / name, FinalLink::Shown);
    return name.starts_with("modules.") && (!status || !S_ISREG(status->st_mode));
  });
}

}  // namespace

std::string lookup_line(const IndexEntry& entry) {
  const Field<Shipped>& shipped = entry.shipped;
  if (const Shipped* known = shipped.get()) {
    std::string line = to_string(*known);
    for (const std::string& name : entry.needs) line += " " + name;
    return line + "\n";
  }
  const int code = shipped.is_unreadable() ? shipped.error()->code : ENOENT;
  return std::string{kError} + std::to_string(code != 0 ? code : EIO) + "\n";
}

Result<std::vector<IndexEntry>> parse_lookup(std::string_view lines,
                                             const std::vector<std::string>& names) {
  const auto bad = [&] { return fail(EBADMSG, "reading the answer of", "module-lookup"); };
  std::vector<IndexEntry> found;
  for (const std::string& name : names) {
    auto entry = entry_from(cut(lines, '\n'), name);
    if (!entry) return bad();
    found.push_back(std::move(*entry));
  }
  if (!lines.empty()) return bad();
  return found;
}

std::vector<IndexEntry> all_unreadable(const std::vector<std::string>& names, const Error& why) {
  return std::vector<IndexEntry>(names.size(), IndexEntry{Field<Shipped>::unreadable(why)});
}

Result<Fd> open_modules_of(const Root& root, const std::string& release) {
  const auto directory = root / kModuleFolder / release;
  if (const auto index = open_rooted(directory / kModuleIndex, O_RDONLY); !index)
    return fail(index.error().code, "reading the module index of", directory);
  if (has_odd_index(directory)) return fail(EINVAL, "reading the module index of", directory);
  return open_rooted(directory, O_PATH | O_DIRECTORY);
}

Result<std::string> run_module_lookup(const std::string& program, std::vector<std::string> words,
                                      int input, Milliseconds timeout) {
  words.insert(words.begin(), program);
  // Keeps libkmod from printing messages about bad lines (kmod_new(), libkmod.c of kmod 30).
  const std::vector<std::string> environment{"KMOD_LOG=0"};
  auto result = run_program({std::move(words), environment, timeout, kLookupOutputBytes, input});
  if (!result) return fail(result.error());
  return output_of(std::move(*result), "running", program);
}

std::vector<IndexEntry> look_up_shipped(const std::string& program, const Root& root,
                                        const std::string& release,
                                        const std::vector<std::string>& names,
                                        Milliseconds timeout) {
  const auto folder = open_modules_of(root, release);
  if (!folder) return all_unreadable(names, folder.error());
  const bool ours = root.is_this_system();
  std::vector<std::string> words{kLookUpShipped, ours ? release : kFolderIsInput};
  words.insert(words.end(), names.begin(), names.end());
  const auto answer =
      run_module_lookup(program, std::move(words), ours ? kNoInput : folder->get(), timeout);
  auto found = answer ? parse_lookup(*answer, names) : fail(answer.error());
  return found ? std::move(*found) : all_unreadable(names, found.error());
}

Field<std::string> look_up_signer(const std::string& program, const Root& root,
                                  const std::string& release, const std::string& module) {
  // libkmod would open any path that the image's index names, such as a device of this machine.
  if (!root.is_this_system())
    return Field<std::string>::unreadable(
        {EPERM, "reading from an image the signature of module", module});
  const auto folder = open_modules_of(root, release);
  if (!folder) return Field<std::string>::from(fail(folder.error()));
  const auto answer = run_module_lookup(program, {kLookUpSigner, module}, folder->get());
  if (!answer) return Field<std::string>::unreadable(answer.error());
  std::string signer = first_line(*answer);
  return signer.empty() ? Field<std::string>{} : Field<std::string>{std::move(signer)};
}

}  // namespace pvrdma::probes
