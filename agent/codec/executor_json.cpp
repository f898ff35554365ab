// SPDX-License-Identifier: GPL-2.0-or-later
// io.pvrdma.Executor: operations and answers <-> JSON. varlink::Service has checked parameters
// against the interface description, so types are declared and checked only there. Names that no
// module, function or link can have are refused, so that names of excessive length and control
// characters get no further.
#include <algorithm>
#include <cerrno>
#include <limits>
#include <utility>

#include "agent/codec/value_json.hpp"
#include "agent/model/identifiers.hpp"
#include "agent/varlink/interface.hpp"
#include "agent/varlink/interfaces.hpp"

namespace pvrdma::codec {

namespace {

// The parameter's normal form.
Result<std::string> name(const Json& parameters, const char* key,
                         std::optional<std::string> (*normal)(std::string_view)) {
  auto value = normal(parameters.at(key).get_ref<const std::string&>());
  if (!value) return fail(EINVAL, "reading parameter", key);
  return std::move(*value);
}

Result<std::string> function_of(const Json& parameters) {
  return name(parameters, "function", pci_address);
}

// netdev_name() refuses the control characters of ASCII. Here bytes beyond ASCII are refused
// too, as U+0080 to U+009F also control a terminal.
std::optional<std::string> printable_netdev(std::string_view text) {
  const bool printable =
      std::all_of(text.begin(), text.end(), [](char c) { return c > ' ' && c <= '~'; });
  return printable ? netdev_name(text) : std::nullopt;
}

Result<Operation> configure_link_from(const Json& parameters) {
  auto function = function_of(parameters);
  if (!function) return fail(std::move(function.error()));
  auto netdev = name(parameters, "netdev", printable_netdev);
  if (!netdev) return fail(std::move(netdev.error()));
  ConfigureLink link{std::move(*function), std::move(*netdev), std::nullopt, {}};
  for (const Json& entry : parameters.at("addresses")) {
    auto address = parse_interface_address(entry.get_ref<const std::string&>());
    if (!address) return fail(EINVAL, "reading parameter", "addresses");
    link.addresses.push_back(std::move(address->text));
  }
  if (const auto mtu = parameters.find("mtu"); mtu != parameters.end() && !mtu->is_null()) {
    const auto bytes = mtu->get<std::int64_t>();
    if (bytes < 0 || bytes > std::numeric_limits<unsigned>::max())
      return fail(EINVAL, "reading parameter", "mtu");
    link.mtu = static_cast<unsigned>(bytes);
  }
  link.removes = parameters.value("removes", Json{}) == Json(true);
  return link;
}

tl::unexpected<Error> bad_answer(const std::string& what) {
  return fail(EBADMSG, "reading the executor's answer", what);
}

}  // namespace

Json to_parameters(const Operation& operation) {
  Json parameters = std::visit([](const auto& one) { return to_value(one); }, operation);
  // Executors of earlier versions refuse this parameter, as they do not know it.
  if (!parameters.value("removes", true)) parameters.erase("removes");
  return parameters;
}

Result<Operation> operation_from(Verb verb, const Json& parameters) {
  if (verb == Verb::ConfigureLink) return configure_link_from(parameters);
  if (verb == Verb::ReloadDriver) return ReloadDriver{};
  auto target =
      verb == Verb::LoadModule ? name(parameters, "module", module_name) : function_of(parameters);
  if (!target) return fail(std::move(target.error()));
  return operation_on(verb, std::move(*target));
}

Json to_json(const OperationResult& result) { return to_value(result); }

Result<OperationResult> result_from(const Json& answer) {
  static const auto interface = varlink::parse_interface(varlink::kExecutorInterface);
  if (!interface) return fail(interface.error());
  if (const auto wrong = varlink::mismatch(*interface, interface->types.at("Result"), answer,
                                           varlink::Strictness::Reply))
    return bad_answer(*wrong);
  OperationResult result;
  ValueReader reader;
  reader.read(answer, result);
  if (reader.wrong()) return bad_answer(*reader.wrong());
  return result;
}

}  // namespace pvrdma::codec
