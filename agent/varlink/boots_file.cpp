#include "agent/varlink/boots_file.hpp"

#include <algorithm>
#include <cerrno>
#include <utility>

#include "agent/base/file.hpp"
#include "agent/varlink/interface.hpp"
#include "agent/varlink/interfaces.hpp"
#include "agent/varlink/message.hpp"

namespace pvrdma::varlink {

namespace {

constexpr int kBootsVersion = 1;
// No name of ours is as long: what a file holds is printed, and sent to others.
constexpr std::size_t kNameAtMost = 128;

tl::unexpected<Error> bad_boots(const std::string& what) {
  return fail(EBADMSG, "reading the timelines of boots", what);
}

Json step_json(const Step& step) {
  return {{"step", to_string(step.kind)},
          {"subject", step.subject.empty() ? Json(nullptr) : Json(step.subject)},
          {"at_ms", to_ms(step.at)},
          {"took_ms", step.took ? Json(step.took->count()) : Json(nullptr)},
          {"at_or_before", step.at_or_before}};
}

Json boot_json(const Timeline& boot) {
  Json steps = Json::array();
  for (const Step& step : boot.steps) steps.push_back(step_json(step));
  return {{"boot_id", boot.boot_id},
          {"began", boot.began},
          {"kernel", boot.kernel},
          {"port_changes", boot.port_changes},
          {"steps", std::move(steps)}};
}

// None: it makes no sense.
std::optional<std::int64_t> count_of(const Json& object, const char* key) {
  constexpr std::int64_t kMost = std::int64_t{1} << 53U;  // what any reader of JSON takes
  const auto number = object.at(key).get<std::int64_t>();
  return number < 0 || number > kMost ? std::nullopt : std::optional{number};
}
std::optional<std::string> name_of(const Json& object, const char* key) {
  auto name = object.at(key).get<std::string>();
  return name.size() > kNameAtMost ? std::nullopt : std::optional{std::move(name)};
}
bool has(const Json& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && !found->is_null();
}

// `entry` has the types of the interface.
Result<Step> step_from(StepKind kind, const Json& entry) {
  auto subject = has(entry, "subject") ? name_of(entry, "subject") : "";
  const auto at = count_of(entry, "at_ms");
  const auto took = has(entry, "took_ms") ? count_of(entry, "took_ms") : 0;
  if (!subject) return bad_boots("subject");
  if (!at) return bad_boots("at_ms");
  if (!took) return bad_boots("took_ms");
  Step step{kind, std::move(*subject), from_ms(*at), std::nullopt,
            entry.at("at_or_before").get<bool>()};
  if (has(entry, "took_ms")) step.took = Milliseconds{*took};
  return step;
}

Result<Timeline> boot_from(const Json& entry) {
  Timeline boot;
  for (const auto& [key, text] : {std::pair{"boot_id", &boot.boot_id},
                                  std::pair{"began", &boot.began},
                                  {"kernel", &boot.kernel}}) {
    auto name = name_of(entry, key);
    if (!name) return bad_boots(key);
    *text = std::move(*name);
  }
  const auto changes = count_of(entry, "port_changes");
  if (!changes) return bad_boots("port_changes");
  boot.port_changes = static_cast<std::uint64_t>(*changes);
  for (const Json& one : entry.at("steps")) {
    const auto kind = step_kind_from(one.at("step").get<std::string>());
    if (!kind) continue;  // of a later version
    auto step = step_from(*kind, one);
    if (!step) return fail(std::move(step.error()));
    if (!boot.add(std::move(*step))) return bad_boots("steps");
  }
  return boot;
}

}  // namespace

Json to_json(const std::vector<Timeline>& boots) {
  Json list = Json::array();
  for (const Timeline& boot : boots) list.push_back(boot_json(boot));
  return {{"version", kBootsVersion}, {"boots", std::move(list)}};
}

std::string to_text(KeptBoots kept) {
  if (kept.boots.size() > kBootsAtMost) kept.boots.resize(kBootsAtMost);
  for (;;) {
    Json document = to_json(kept.boots);
    document["machine"] = kept.machine;
    std::string text = to_text(document) + '\n';
    if (text.size() <= kBootsBytesAtMost || kept.boots.empty()) return text;
    kept.boots.pop_back();
  }
}

Result<std::vector<Timeline>> timelines_from(const Json& boots) {
  const auto shape = parse_interface(kAgentInterface);
  if (!shape) return fail(shape.error());
  if (const auto wrong = mismatch(*shape, shape->types.at("Boots"), boots, Strictness::Reply))
    return bad_boots(*wrong);
  if (boots.at("version").get<std::int64_t>() != kBootsVersion) return bad_boots("version");
  if (boots.at("boots").size() > kBootsAtMost) return bad_boots("boots");
  std::vector<Timeline> timelines;
  for (const Json& entry : boots.at("boots")) {
    auto boot = boot_from(entry);
    if (!boot) return fail(std::move(boot.error()));
    timelines.push_back(std::move(*boot));
  }
  return timelines;
}

Result<KeptBoots> boots_from(const std::string& text) {
  const auto document = parse_object(text);
  if (!document) return bad_boots("it is not a JSON object");
  const auto machine = document->find("machine");
  if (machine == document->end() || !machine->is_string()) return bad_boots("machine");
  auto boots = timelines_from(*document);
  if (!boots) return fail(std::move(boots.error()));
  return KeptBoots{machine->get<std::string>(), std::move(*boots)};
}

Result<KeptBoots> read_boots(const std::filesystem::path& path) {
  auto text = read_file(path, kBootsBytesAtMost);
  if (!text && means_absent(text.error())) return KeptBoots{};
  if (!text) return fail(std::move(text.error()));
  return boots_from(*text);
}

std::vector<Timeline> with_newest(Timeline newest, std::vector<Timeline> earlier) {
  std::erase_if(earlier, [&](const Timeline& boot) { return boot.boot_id == newest.boot_id; });
  earlier.insert(earlier.begin(), std::move(newest));
  if (earlier.size() > kBootsAtMost) earlier.resize(kBootsAtMost);
  return earlier;
}

}  // namespace pvrdma::varlink
