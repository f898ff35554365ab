// Starting pvrdma-report in place of this process, with the same options.
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <string>
#include <vector>

#include "agent/ctl/commands.hpp"
#include "build_config.hpp"

namespace pvrdma::ctl {

int start_report(const Settings& settings, const Console& console, const ReportOptions& options) {
  std::error_code code;
  const std::string self = std::filesystem::read_symlink("/proc/self/exe", code).string();
  std::vector<std::string> words{PVRDMA_REPORT, "--socket", settings.socket};
  if (!code) words.insert(words.end(), {"--agentctl", self});
  if (settings.json) words.emplace_back("--json");
  if (options.redact) words.emplace_back("--redact");
  if (!options.output.empty()) words.insert(words.end(), {"--output", options.output});
  std::vector<char*> arguments;
  arguments.reserve(words.size() + 1);
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  ::execv(PVRDMA_REPORT, arguments.data());
  console.complain(printable(Error{errno, "starting", PVRDMA_REPORT}.message()));
  return kExitUnknown;
}

}  // namespace pvrdma::ctl
