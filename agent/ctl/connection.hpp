// SPDX-License-Identifier: GPL-2.0-or-later
// Asks the agent one question with a bounded wait, and explains a missing answer.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <tl/expected.hpp>

#include "agent/base/clock.hpp"
#include "agent/base/error.hpp"
#include "agent/model/catalogue.hpp"
#include "agent/varlink/message.hpp"

namespace pvrdma::ctl {

using Json = nlohmann::json;

// Why there is no usable answer. An expected outcome, so a value of its own: it becomes a finding.
struct NoAnswer {
  std::string id;  // of a finding ("agent-not-running"), or a varlink error's name; may be empty
  std::string summary;  // one sentence without a full stop
  std::string remedy;   // the command to type next
  [[nodiscard]] bool not_running() const { return id == to_string(FindingId::AgentNotRunning); }
  // Summary and remedy in one line.
  [[nodiscard]] std::string line() const { return summary + ". " + remedy; }
  friend bool operator==(const NoAnswer&, const NoAnswer&) = default;
};
template <typename T>
using Answered = tl::expected<T, NoAnswer>;

// From an entry of the catalogue.
[[nodiscard]] NoAnswer no_answer(FindingId id, std::string_view variant, const Values& values);
// The meaning of an Error of the varlink client for the agent behind `socket`.
[[nodiscard]] NoAnswer explain(const Error& error, const std::string& socket);
// An answer that does not fit the interface; `what` says why.
[[nodiscard]] NoAnswer bad_answer(const std::string& what);

// The agent's answer: as values, and as the original JSON, which may have members that this program
// does not know.
template <typename T>
struct WithJson {
  T value;
  Json json;
};

// The agent's health, or why there is none.
using HealthResult = Answered<WithJson<Health>>;

// Calls a method of io.pvrdma.Agent, with `adapter` as its parameter if given, and waits at most
// `answer_within` for connection and reply together. EAGAIN: the agent did not accept the
// connection within `connect_within`; ETIMEDOUT: it did not reply in time.
[[nodiscard]] Result<varlink::Reply> call_agent(const std::string& socket,
                                                const std::string& method,
                                                const std::optional<std::string>& adapter,
                                                Milliseconds connect_within,
                                                Milliseconds answer_within);
// Calls a method without parameters and returns the parameters of the reply. A varlink error is a
// bad answer.
[[nodiscard]] Answered<Json> ask(const std::string& socket, const std::string& method,
                                 Milliseconds timeout);
[[nodiscard]] HealthResult ask_health(const std::string& socket, Milliseconds timeout);
[[nodiscard]] Answered<WithJson<Plan>> ask_plan(const std::string& socket, Milliseconds timeout);

// The member "health" of a reply's parameters.
[[nodiscard]] HealthResult health_in(Json parameters);

// The value with its JSON in the form of an answer.
[[nodiscard]] WithJson<Health> with_json(Health health);
[[nodiscard]] WithJson<Plan> with_json(Plan plan);
// A health with state Unknown, or a plan without actions; each with finding_of(trouble).
[[nodiscard]] WithJson<Health> unknown_health(const NoAnswer& trouble);
[[nodiscard]] WithJson<Plan> unknown_plan(const NoAnswer& trouble);
// The finding of the catalogue with that id.
[[nodiscard]] Finding finding_of(const NoAnswer& trouble);

}  // namespace pvrdma::ctl
