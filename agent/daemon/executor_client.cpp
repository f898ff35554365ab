// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/daemon/executor_client.hpp"

#include <cerrno>
#include <utility>

#include "agent/codec/json.hpp"

namespace pvrdma {

namespace {

// The only error with which the executor answers a call that it understood.
constexpr const char* kNotAllowed = "io.pvrdma.Executor.NotAllowed";

// Error: the executor did not understand the call, closed the connection, or died.
Result<OperationResult> answer_of(const Operation& operation, const Result<varlink::Reply>& reply) {
  if (!reply) return fail(reply.error());
  if (reply->error == kNotAllowed) {
    OperationResult refusal;
    refusal.outcome = Outcome::NotAllowed;
    refusal.detail = reply->parameters.value("reason", reply->error);
    return refusal;
  }
  if (!reply->error.empty())
    return fail(0, "the executor answered",
                reply->error + " " + varlink::to_text(reply->parameters));
  const auto result = reply->parameters.find("result");
  if (result == reply->parameters.end())
    return fail(EBADMSG, "reading the executor's answer to", describe(operation));
  return codec::result_from(*result);
}

}  // namespace

ExecutorClient::ExecutorClient(sd_event* event, std::string socket, Post post)
    : client_(event, std::move(socket)), post_(std::move(post)) {}

void ExecutorClient::call(const Operation& operation) {
  client_.call(std::string{"io.pvrdma.Executor."} + to_string(verb(operation)),
               codec::to_parameters(operation),
               [this, operation](const Result<varlink::Reply>& reply) {
                 if (client_.connected())
                   post_(CallEnded{operation, answer_of(operation, reply)});
                 else
                   post_(ExecutorUnreachable{operation, reply.error()});
               });
}

}  // namespace pvrdma
