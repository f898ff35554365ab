#include "agent/ctl/finding_json.hpp"

#include <nlohmann/json.hpp>

#include "agent/codec/json.hpp"
#include "agent/model/catalogue.hpp"

namespace pvrdma::ctl {

Json with_commands(const Finding& finding) {
  Json json = codec::to_json(finding);
  json["commands"] = commands_of(finding);
  return json;
}

}  // namespace pvrdma::ctl
