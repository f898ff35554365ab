// SPDX-License-Identifier: GPL-2.0-or-later
// Targets that give a text to one reader: the result is shown, and must be unchanged after writing
// and reading it again.
#include <nlohmann/json.hpp>

#include "agent/base/file.hpp"
#include "agent/codec/json.hpp"
#include "agent/codec/ledger_file.hpp"
#include "agent/config/draft.hpp"
#include "agent/config/toml_tree.hpp"
#include "agent/ctl/rendering.hpp"
#include "agent/model/attempt.hpp"
#include "agent/tools/doctor/host_output/command.hpp"
#include "agent/tools/export/formats.hpp"
#include "agent/tools/metrics/rendering.hpp"
#include "agent/varlink/interface.hpp"
#include "agent/varlink/interfaces.hpp"
#include "agent/varlink/message.hpp"
#include "tests/fuzz/target.hpp"

namespace pvrdma::fuzz {

namespace {

const Moment& moment() {
  static const Moment kMoment{from_ms(5'000'000), Milliseconds{1'790'000'000'000}};
  return kMoment;
}

void require_complaint(const Error& error) {
  require_line(error.message());
  require(error.message().starts_with("file"), "a complaint begins with its file's name");
  require(error.message().size() < 600, "a complaint is short");
}

}  // namespace

// Up to three files, separated by a line "%%%%".
void config(std::string_view bytes) {
  constexpr std::string_view kPart = "\n%%%%\n";
  ConfigDraft draft;
  for (int number = 0; number < 3; ++number) {
    const std::string file = "file" + std::to_string(number);
    const std::size_t end = bytes.find(kPart);
    const auto tree = toml_tree::parse(bytes.substr(0, end), file);
    if (!tree) return require_complaint(tree.error());
    if (auto added = draft.add(*tree, file); !added) return require_complaint(added.error());
    if (end == std::string_view::npos) break;
    bytes.remove_prefix(end + kPart.size());
  }
  if (auto whole = std::move(draft).finish(); !whole) require_complaint(whole.error());
}

void executor_json(std::string_view bytes) {
  if (const auto request = varlink::request_from(bytes); !request)
    require(request.error().code == EBADMSG, "what is no request is a bad message");
  const auto object = varlink::parse_object(bytes);
  if (!object) return;
  static const auto interface = varlink::parse_interface(varlink::kExecutorInterface);
  for (const Verb verb : {Verb::LoadModule, Verb::BindFunction, Verb::RebindFunction,
                          Verb::ReloadDriver, Verb::ConfigureLink}) {
    // The service's part.
    if (varlink::mismatch(*interface, interface->methods.at(to_string(verb)).in, *object,
                          varlink::Strictness::Request))
      continue;
    const auto operation = codec::operation_from(verb, *object);
    if (!operation) {
      require(operation.error().code == EINVAL, "a refused operation is an invalid argument");
      continue;
    }
    const auto parameters = codec::to_parameters(*operation);
    require(varlink::to_text(parameters).find("\\u") == std::string::npos,
            "nothing odd gets further");
    const auto again = codec::operation_from(verb, parameters);
    require(again && codec::to_parameters(*again) == parameters, "an operation comes back");
  }
  if (const auto result = codec::result_from(*object))
    require(codec::result_from(codec::to_json(*result)).has_value(), "a result comes back");
}

void host_output(std::string_view bytes) {
  const doctor::GuestVm guest{
      {{"ens161", 1500}, {"ens224f0", 9000, "02:00:5e:20:00:01", false, true}}};
  const auto reading = doctor::judge_host_output(bytes, guest);
  require_tame(ctl::render_host_output(reading, {}));
  const int code = ctl::code_of(reading);
  require(code == 0 || code == 1 || code == 3, "the exit status is one of the manual's");
  require(nlohmann::json::accept(ctl::host_output_json(reading, guest).dump(-1, ' ', true)),
          "it is JSON");
}

void ledger(std::string_view bytes) {
  const auto read = codec::ledger_from(std::string{bytes});
  if (!read) return;
  const std::string text = codec::to_text(*read);
  require(text.size() < kReadLimitBytes, "a ledger can be read again");
  const auto again = codec::ledger_from(text);
  require(again && *again == *read, "a ledger comes back");
  const Milliseconds pauses[] = {Milliseconds{0}, Milliseconds{1000}, Milliseconds{60'000}};
  for (const auto watched : {std::optional<BootTime>{}, std::optional{from_ms(1000)}})
    static_cast<void>(allowance(*read, {Verb::LoadModule, Verb::RebindFunction, Verb::ReloadDriver},
                                "", pauses, from_ms(10), moment().boot, watched));
  static_cast<void>(limited_until(*read, ReloadDriver{}, moment().boot));
}

void health(std::string_view bytes) {
  const auto object = varlink::parse_object(bytes);
  if (!object) return;
  ctl::Style style;
  style.now = moment();
  if (const auto read = codec::health_from(*object, moment())) {
    const auto again = codec::health_from(codec::to_json(*read, moment().boot), moment());
    require(again.has_value(), "health comes back");
    require_tame(ctl::render_health(*read, style));
    require_tame(ctl::render_status(*read, style));
    for (const auto& line : ctl::changes(nullptr, *read)) require_tame(line);
    for (const auto& line : ctl::changes(&*again, *read)) require_tame(line);
    require_tame(exports::node_features(*read, moment(), Milliseconds{60'000}));
    if (const auto cdi = exports::cdi(
            *read, [](auto&&...) { return true; }, true))
      require(nlohmann::json::accept(*cdi), "CDI is JSON");
    const auto value = exports::guestinfo(*read, {"0123456789abcdef", 3, moment()});
    require(value.size() <= exports::kGuestinfoLimitBytes && nlohmann::json::accept(value),
            "guestinfo is short, and JSON");
    require_tame(metrics::prometheus_text({&*read, nullptr, moment(), "1"}));
  }
  if (const auto plan = codec::plan_from(*object, moment()))
    require_tame(ctl::render_plan(*plan, style));
}

}  // namespace pvrdma::fuzz
