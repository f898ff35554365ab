#include "agent/ctl/doctor/finding_json.hpp"

#include <nlohmann/json.hpp>

#include "agent/base/text.hpp"
#include "agent/model/catalogue.hpp"
#include "agent/varlink/json.hpp"

namespace pvrdma::ctl {

Json with_commands(const Finding& finding) {
  Json json = varlink::to_json(finding);
  json["commands"] = Json::array();
  for (const Subject subject : kSubjects)
    for (const CatalogueEntry& entry : catalogue(subject)) {
      if (entry.id != finding.id || filled(entry.summary, finding.values) != finding.summary)
        continue;
      const std::string lines = filled(entry.commands, finding.values);
      std::string_view rest = lines;
      while (!rest.empty()) json["commands"].push_back(cut(rest, '\n'));
      return json;
    }
  return json;
}

}  // namespace pvrdma::ctl
