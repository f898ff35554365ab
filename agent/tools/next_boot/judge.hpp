// SPDX-License-Identifier: GPL-2.0-or-later
// Forecast -> what it means: for each installed kernel whether the driver will be there and in
// order, for the machine whether somebody takes care of links and limits, and the findings. Pure.
#pragma once

#include <string>
#include <vector>

#include "agent/model/config.hpp"
#include "agent/model/health.hpp"
#include "agent/tools/next_boot/forecast.hpp"

namespace pvrdma {

enum class Outlook { Yes, No, Unknown };

struct ForecastCheck {
  std::string name;  // "driver", "modules", "order", "initramfs", "agent", "link", …
  Outlook outlook = Outlook::Unknown;
  std::string says;  // for a person: what is so
};

struct KernelOutlook {
  std::string release;
  bool running = false;
  bool next = false;
  Outlook driver = Outlook::Unknown;  // will it be there
  std::vector<ForecastCheck> checks;
};

struct NextBoot {
  // Of the kernel that is next; where that is not known, of all kernels if they agree.
  Outlook driver = Outlook::Unknown;
  std::vector<KernelOutlook> kernels;  // the next one first, then the one that runs
  std::vector<ForecastCheck> machine;
  std::vector<Finding> findings;
  std::vector<std::string> unreadable;
};

[[nodiscard]] NextBoot judge(const Config& config, const Forecast& forecast);

// Parts of it, which add to `outcome`.

// The part that is about one kernel. `counts`: the next boot may take this kernel, so that what it
// lacks is a finding.
void judge_kernel(const Config& config, const Forecast& forecast, const KernelForecast& kernel,
                  bool counts, NextBoot& outcome);
// Says once what could not be read. Returns its text.
std::string note(NextBoot& outcome, const Error& error);

}  // namespace pvrdma
