#include "agent/ctl/failure.hpp"

#include <nlohmann/json.hpp>

#include "agent/ctl/fields.hpp"

namespace pvrdma::ctl {

int end_without(const Settings& settings, const Console& console, const NoAnswer& why, int code) {
  if (!settings.json) {
    console.complain(why.remedy.empty() ? why.summary : why.line());
    return code;
  }
  Json error = {{"message", why.summary}};
  if (!why.id.empty()) error["id"] = why.id;
  if (!why.remedy.empty()) error["remedy"] = why.remedy;
  console.print(dumped({{"error", std::move(error)}}) + "\n");
  return code;
}

int end_without(const Settings& settings, const Console& console, const std::string& why,
                int code) {
  return end_without(settings, console, NoAnswer{"", why, ""}, code);
}

}  // namespace pvrdma::ctl
