// io.pvrdma.Executor: operations and answers <-> JSON. What is read is checked against the
// interface description first, so its types are declared in one place only.
#include <cerrno>
#include <limits>
#include <utility>

#include "agent/varlink/interface.hpp"
#include "agent/varlink/interfaces.hpp"
#include "agent/varlink/json.hpp"

namespace pvrdma::varlink {

namespace {

struct ToParameters {
  Json operator()(const LoadModule& load) const { return {{"module", load.module}}; }
  Json operator()(const BindFunction& bind) const { return {{"function", bind.function}}; }
  Json operator()(const RebindFunction& rebind) const { return {{"function", rebind.function}}; }
  Json operator()(const ReloadDriver&) const { return Json::object(); }
  Json operator()(const ConfigureLink& link) const {
    return {{"function", link.function},
            {"netdev", link.netdev},
            {"mtu", link.mtu ? Json(*link.mtu) : Json(nullptr)},
            {"addresses", link.addresses}};
  }
  Json operator()(const BounceLink& link) const {
    return {{"function", link.function}, {"netdev", link.netdev}};
  }
};

std::string text(const Json& object, const char* key) { return object.at(key).get<std::string>(); }

Result<Operation> configure_link_from(const Json& parameters) {
  ConfigureLink link{text(parameters, "function"), text(parameters, "netdev"), std::nullopt,
                     parameters.at("addresses").get<std::vector<std::string>>()};
  if (const auto mtu = parameters.find("mtu"); mtu != parameters.end() && !mtu->is_null()) {
    const auto bytes = mtu->get<std::int64_t>();
    if (bytes < 0 || bytes > std::numeric_limits<unsigned>::max())
      return fail(EINVAL, "reading parameter", "mtu");
    link.mtu = static_cast<unsigned>(bytes);
  }
  return link;
}

// None where the number does not fit: no errno and no PID is that large.
std::optional<int> small_number(const Json& object, const char* key) {
  const auto number = object.at(key).get<std::int64_t>();
  if (number < 0 || number > std::numeric_limits<int>::max()) return std::nullopt;
  return static_cast<int>(number);
}

tl::unexpected<Error> bad_answer(const std::string& what) {
  return fail(EBADMSG, "reading the executor's answer", what);
}

}  // namespace

Json to_parameters(const Operation& operation) { return std::visit(ToParameters{}, operation); }

Result<Operation> operation_from(const std::string& verb, const Json& parameters) {
  const auto interface = parse_interface(kExecutorInterface);
  if (!interface) return fail(interface.error());
  const auto method = interface->methods.find(verb);
  if (method == interface->methods.end()) return fail(EINVAL, "reading verb", verb);
  if (const auto wrong = mismatch(*interface, method->second.in, parameters, Strictness::Request))
    return fail(EINVAL, "reading parameter", *wrong);

  if (verb == "LoadModule") return LoadModule{text(parameters, "module")};
  if (verb == "BindFunction") return BindFunction{text(parameters, "function")};
  if (verb == "RebindFunction") return RebindFunction{text(parameters, "function")};
  if (verb == "ReloadDriver") return ReloadDriver{};
  if (verb == "ConfigureLink") return configure_link_from(parameters);
  if (verb == "BounceLink")
    return BounceLink{text(parameters, "function"), text(parameters, "netdev")};
  return fail(EINVAL, "reading verb", verb);
}

Json to_json(const Answer& answer) {
  return {{"outcome", to_string(answer.outcome)},
          {"detail", answer.detail},
          {"errno", answer.code},
          {"holders", to_json(answer.holders)}};
}

Result<Answer> answer_from(const Json& result) {
  const auto interface = parse_interface(kExecutorInterface);
  if (!interface) return fail(interface.error());
  if (const auto wrong =
          mismatch(*interface, interface->types.at("Result"), result, Strictness::Reply))
    return bad_answer(*wrong);
  Answer answer;
  answer.outcome = outcome_from(text(result, "outcome")).value_or(Outcome::Failed);
  answer.detail = text(result, "detail");
  const auto code = small_number(result, "errno");
  if (!code) return bad_answer("errno");
  answer.code = *code;
  for (const Json& entry : result.at("holders")) {
    const auto pid = small_number(entry, "pid");
    if (!pid) return bad_answer("holders");
    answer.holders.push_back({*pid, text(entry, "command"), text(entry, "rdma_device")});
  }
  return answer;
}

}  // namespace pvrdma::varlink
