// The parts of the catalogue, each in a file of its own.
#pragma once

#include <span>

#include "agent/model/catalogue.hpp"

namespace pvrdma {

[[nodiscard]] std::span<const CatalogueEntry> machine_findings();
[[nodiscard]] std::span<const CatalogueEntry> adapter_findings();
[[nodiscard]] std::span<const CatalogueEntry> doctor_findings();
[[nodiscard]] std::span<const CatalogueEntry> answer_findings();

}  // namespace pvrdma
