// SPDX-License-Identifier: GPL-2.0-or-later
// `mmio`: the settings a VM needs to map the memory of its GPUs. Asks neither agent nor network.
#include "agent/tools/mmio/command.hpp"

#include <bit>
#include <map>
#include <nlohmann/json.hpp>

#include "agent/base/text.hpp"
#include "agent/ctl/json_text.hpp"
#include "agent/tools/mmio/gpus.hpp"
#include "agent/tools/survey/machine.hpp"

namespace pvrdma::ctl {

namespace {

constexpr std::uint64_t kGiB = 1ULL << 30U;

struct Sum {
  std::uint64_t framebuffer_gb = 0;
  unsigned gpus = 0;
  Json details = Json::array();
  std::vector<std::string> doubts;  // reasons why the sum may be too small
};

Sum sum_of_given(const std::vector<std::string>& words) {
  Sum sum;
  for (const std::string& word : words) {
    const auto gpus = gpu::parse_gpus(word).value();  // checked by the command line
    sum.framebuffer_gb += std::uint64_t{gpus.count} * gpus.framebuffer_gb;
    sum.gpus += gpus.count;
    sum.details.push_back({{"count", gpus.count}, {"framebuffer_gb", gpus.framebuffer_gb}});
  }
  return sum;
}

// A BAR is a power of two, so it may be larger than the framebuffer behind it. The rule then never
// gives a smaller result.
Sum sum_of_seen(const std::vector<probes::Gpu>& gpus) {
  Sum sum;
  std::uint64_t bytes = 0;
  for (const probes::Gpu& one : gpus) {
    bytes += one.bar_bytes;
    sum.details.push_back({{"function", one.function}, {"bar_bytes", one.bar_bytes}});
    if (one.bar_bytes < kGiB)
      sum.doubts.push_back(one.function + " maps " + std::to_string(one.bar_bytes >> 20U) +
                           " MB here, less than its framebuffer: give the sizes instead, as 2x40");
  }
  sum.gpus = static_cast<unsigned>(gpus.size());
  sum.framebuffer_gb = (bytes + kGiB - 1) / kGiB;
  return sum;
}

std::map<std::string, std::string> settings_of(std::uint64_t size_gb) {
  return {{"pciPassthru.use64bitMMIO", "TRUE"},
          {"pciPassthru.64bitMMIOSizeGB", std::to_string(size_gb)}};
}

std::string render(const Sum& sum, std::uint64_t size_gb, bool given, const Field<bool>& efi) {
  std::string out = "# " + std::to_string(sum.gpus) + (sum.gpus == 1 ? " GPU, " : " GPUs, ") +
                    std::to_string(sum.framebuffer_gb) + " GB " +
                    (given ? "of framebuffer" : "mapped in this guest") +
                    ". VM options, advanced, configuration parameters; with the VM off:\n";
  for (const auto& [name, value] : settings_of(size_gb)) out += name + " = \"" + value + "\"\n";
  out += "# The VM must boot by EFI (VM options, boot options, firmware); ";
  if (!efi.is_known()) return out + "whether this machine does\n# is not known here.\n";
  return out + (efi.is(true) ? "this machine boots by EFI.\n"
                             : "this machine boots by BIOS, and a guest\n"
                               "# that was installed so does not start by EFI.\n");
}

}  // namespace

int mmio(const Settings& settings, const Console& console, const MmioOptions& options) {
  const bool given = !options.gpus.empty();
  Sum sum;
  if (given) {
    sum = sum_of_given(options.gpus);
  } else if (const auto seen = probes::find_gpus(options.root)) {
    sum = sum_of_seen(*seen);
  } else {
    return end_without(settings, console, seen.error());
  }
  if (sum.gpus == 0)
    return end_without(settings, console,
                       "there is no GPU in this guest. Give their sizes in GB, as 2x40 for two of "
                       "40");
  if (sum.framebuffer_gb == 0) return end_without(settings, console, joined(sum.doubts, "; "));
  for (const std::string& doubt : sum.doubts) console.complain(doubt);
  const auto efi = probes::booted_by_efi(options.root);
  const std::uint64_t size_gb = gpu::mmio_size_gb(sum.framebuffer_gb);
  const bool printed = console.print(
      settings.json
          ? dumped({{"version", 1},
                    {"gpus", sum.details},
                    {"framebuffer_gb", sum.framebuffer_gb},
                    {"mmio_size_gb", size_gb},
                    {"settings", settings_of(size_gb)},
                    {"boots_by_efi", efi.is_known() ? Json(efi.is(true)) : Json(nullptr)}}) +
                "\n"
          : render(sum, size_gb, given, efi));
  return printed && sum.doubts.empty() ? 0 : kExitUnknown;
}

std::optional<gpu::Gpus> gpu::parse_gpus(std::string_view text) {
  constexpr unsigned kMostGpus = 64, kMostGb = 1024;
  std::optional<unsigned> count = 1;
  if (const auto times = text.find_first_of("xX"); times != std::string_view::npos) {
    count = number_from<unsigned>(text.substr(0, times));
    text.remove_prefix(times + 1);
  }
  if (text.ends_with("GB") || text.ends_with("gb")) text.remove_suffix(2);
  const auto framebuffer = number_from<unsigned>(text);
  const auto fits = [](const std::optional<unsigned>& number, unsigned most) {
    return number && *number >= 1 && *number <= most;
  };
  if (!fits(count, kMostGpus) || !fits(framebuffer, kMostGb)) return std::nullopt;
  return Gpus{*count, *framebuffer};
}

std::uint64_t gpu::mmio_size_gb(std::uint64_t framebuffer_gb) {
  return std::bit_ceil(framebuffer_gb) * 2;
}

}  // namespace pvrdma::ctl
