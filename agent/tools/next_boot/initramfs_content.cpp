// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/tools/next_boot/initramfs_content.hpp"

#include <fcntl.h>

#include <cerrno>

#include "agent/base/program.hpp"
#include "agent/base/text.hpp"

namespace pvrdma::probes {

namespace {

constexpr std::string_view kModule = "module ";
constexpr std::string_view kConfiguration = "configuration";
constexpr std::size_t kOutputLimitBytes = 4U << 20U;

}  // namespace

std::string print_initramfs_content(const InitramfsContent& content) {
  std::string text;
  for (const std::string& name : content.modules) text.append(kModule).append(name).append("\n");
  return text.append(kConfiguration).append("\n").append(content.configuration);
}

Result<InitramfsContent> parse_initramfs_content(std::string_view text) {
  InitramfsContent content;
  while (!text.empty()) {
    const std::string_view line = cut(text, '\n');
    if (line == kConfiguration) {
      content.configuration = text;
      return content;
    }
    if (!line.starts_with(kModule))
      return fail(EBADMSG, "reading the answer of initramfs-content", std::string{line});
    content.modules.emplace(line.substr(kModule.size()));
  }
  return fail(EBADMSG, "reading the answer of", "initramfs-content");
}

Result<InitramfsContent> run_initramfs_content(const std::string& program, const RootedPath& image,
                                               Milliseconds timeout) {
  const auto file = open_rooted(image, O_RDONLY);
  if (!file) return fail(file.error());
  auto result =
      run_program({{program}, std::vector<std::string>{}, timeout, kOutputLimitBytes, file->get()});
  if (!result) return fail(result.error());
  return output_of(std::move(*result), "unpacking", image.string())
      .and_then(parse_initramfs_content);
}

}  // namespace pvrdma::probes
