// SPDX-License-Identifier: GPL-2.0-or-later
// Asking the agent: one question with a bounded wait, and what it means when no answer comes.
#pragma once

#include <nlohmann/json.hpp>
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

// What the agent answered: as values, and its JSON as it came, which may tell more than this
// program knows.
template <typename T>
struct Answer {
  T value;
  Json json;
};

// The agent's health, or why it cannot be had.
using News = Answered<Answer<Health>>;

// The parameters of the reply to a method of io.pvrdma.Agent without parameters: one question with
// a bounded wait. A reply that is a varlink error is a bad answer.
[[nodiscard]] Answered<Json> ask(const std::string& socket, const std::string& method,
                                 Milliseconds timeout);
[[nodiscard]] News ask_health(const std::string& socket, Milliseconds timeout);
[[nodiscard]] Answered<Answer<Plan>> ask_plan(const std::string& socket, Milliseconds timeout);

// The member "health" of a reply's parameters.
[[nodiscard]] News health_in(Json parameters);

// In the form of an answer, for programs that read the JSON.
[[nodiscard]] Answer<Health> as_answer(Health health);
[[nodiscard]] Answer<Plan> as_answer(Plan plan);
// A health of state Unknown with one finding; a plan without actions, and that finding.
[[nodiscard]] Answer<Health> unknown_health(const NoAnswer& trouble);
[[nodiscard]] Answer<Plan> unknown_plan(const NoAnswer& trouble);
// The finding.
[[nodiscard]] Finding finding_of(const NoAnswer& trouble);

}  // namespace pvrdma::ctl
