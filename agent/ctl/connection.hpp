// Asking the agent: one question with a bounded wait, and what it means when no answer comes.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <tl/expected.hpp>

#include "agent/base/clock.hpp"
#include "agent/base/error.hpp"
#include "agent/model/catalogue.hpp"

namespace pvrdma::ctl {

using Json = nlohmann::json;

// Why there is no usable answer. An expected outcome, so a value of its own: it becomes a finding.
struct NoAnswer {
  std::string id;  // of a finding ("agent-not-running"), or a varlink error's name; may be empty
  std::string summary;  // one sentence without a full stop
  std::string remedy;   // what to type next
  [[nodiscard]] bool not_running() const { return id == to_string(FindingId::AgentNotRunning); }
  // Summary and remedy in one line.
  [[nodiscard]] std::string line() const { return summary + ". " + remedy; }
  friend bool operator==(const NoAnswer&, const NoAnswer&) = default;
};
template <typename T>
using Answered = tl::expected<T, NoAnswer>;

// An entry of the catalogue's.
[[nodiscard]] NoAnswer no_answer(FindingId id, std::string_view variant, const Values& values);
// What an Error of the varlink client says about the agent behind `socket`.
[[nodiscard]] NoAnswer explain(const Error& error, const std::string& socket);
// An answer that is none of the interface: `what` says in which way.
[[nodiscard]] NoAnswer bad_answer(const std::string& what);

// The member `key` of the answer to a method of io.pvrdma.Agent without parameters ("GetHealth",
// "health"). A reply that is a varlink error is a bad answer.
[[nodiscard]] Answered<Json> ask(const std::string& socket, const std::string& method,
                                 const char* key, Milliseconds timeout);

// The member `key` of a reply's parameters, which must be an object.
[[nodiscard]] Answered<Json> member(Json parameters, const char* key);

// A health object of state "unknown" with one finding, for programs that read the JSON.
[[nodiscard]] Json unknown_health(const NoAnswer& trouble);
// The same for a plan: no actions, and that finding.
[[nodiscard]] Json unknown_plan(const NoAnswer& trouble);

}  // namespace pvrdma::ctl
