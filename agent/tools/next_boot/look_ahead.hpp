// Reads a Forecast below a root: what the next boot of this machine, or of an image, will find.
// Read-only, asks no service, and needs no root: what may not be read is said to be unreadable.
#pragma once

#include <string>
#include <vector>

#include "agent/base/file.hpp"
#include "agent/tools/next_boot/forecast.hpp"

namespace pvrdma::probes {

struct ForecastOptions {
  Root root;
  Config config;                   // of that system
  std::vector<std::string> units;  // whose memlock limit is wanted: "slurmd"
  std::string module_lookup;       // path of the program that asks libkmod
  std::string initramfs_content;   // path of the one that looks into initramfs images
};

[[nodiscard]] Forecast look_ahead(const ForecastOptions& options);

}  // namespace pvrdma::probes
