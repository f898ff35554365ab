// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/codec/ledger_file.hpp"

#include <cerrno>
#include <string_view>
#include <utility>

#include "agent/base/file.hpp"
#include "agent/model/action.hpp"
#include "agent/varlink/interface.hpp"
#include "agent/varlink/message.hpp"

namespace pvrdma::codec {

using Json = nlohmann::json;

namespace {

// The document's shape; times are milliseconds since boot (agent/base/clock.hpp). A ledger from an
// executor before an upgrade may lack the list of refusals; they are among its attempts. Attempts
// with verbs that no longer exist (BounceLink) are ignored.
constexpr std::string_view kShape = R"(
interface io.pvrdma.Ledger
type Attempt (verb: string, target: string, started_ms: int, finished_ms: ?int,
  outcome: (done, already_done, not_shipped, refused, in_use, not_allowed, failed), detail: string)
type Ledger (reloads: int, rebinds: int, attempts: []Attempt, refusals: ?[]Attempt)
)";

tl::unexpected<Error> bad_ledger(const std::string& what) {
  return fail(EBADMSG, "reading the executor's ledger", what);
}

Json attempts_json(const std::vector<Attempt>& attempts) {
  Json list = Json::array();
  for (const Attempt& attempt : attempts)
    list.push_back(
        {{"verb", to_string(attempt.verb)},
         {"target", attempt.target},
         {"started_ms", to_ms(attempt.started)},
         {"finished_ms", attempt.finished ? Json(to_ms(*attempt.finished)) : Json(nullptr)},
         {"outcome", to_string(attempt.outcome)},
         {"detail", attempt.detail}});
  return list;
}

// Whether the times are possible in one boot, so that arithmetic with them cannot overflow.
bool has_times(const Json& entry) {
  constexpr Milliseconds kLongest = std::chrono::hours{24 * 366 * 100};
  for (const char* key : {"started_ms", "finished_ms"})
    if (const auto time = entry.find(key); time != entry.end() && !time->is_null())
      if (const auto ms = time->get<std::int64_t>(); ms < 0 || ms > kLongest.count()) return false;
  return true;
}

// None: its verb no longer exists.
std::optional<Attempt> attempt_from(const Json& entry) {
  const auto verb = from_word<Verb>(entry.at("verb").get_ref<const std::string&>());
  if (!verb) return std::nullopt;
  Attempt attempt;
  attempt.verb = *verb;
  attempt.target = entry.at("target").get<std::string>();
  attempt.started = from_ms(entry.at("started_ms").get<std::int64_t>());
  if (const auto end = entry.find("finished_ms"); end != entry.end() && !end->is_null())
    attempt.finished = from_ms(end->get<std::int64_t>());
  attempt.outcome =
      from_word<Outcome>(entry.at("outcome").get<std::string>()).value_or(Outcome::Failed);
  attempt.detail = entry.at("detail").get<std::string>();
  return attempt;
}

}  // namespace

std::string to_text(const Ledger& ledger) {
  return varlink::to_text(Json{{"reloads", ledger.reloads},
                               {"rebinds", ledger.rebinds},
                               {"attempts", attempts_json(ledger.attempts)},
                               {"refusals", attempts_json(ledger.refusals)}}) +
         '\n';
}

Result<Ledger> ledger_from(const std::string& text) {
  const auto shape = varlink::parse_interface(kShape);
  if (!shape) return fail(shape.error());
  const auto document = varlink::parse_object(text);
  if (!document) return bad_ledger("it is not a JSON object");
  if (const auto wrong = varlink::mismatch(*shape, shape->types.at("Ledger"), *document,
                                           varlink::Strictness::Reply))
    return bad_ledger(*wrong);
  Ledger ledger;
  for (const auto& [key, count] :
       {std::pair{"reloads", &ledger.reloads}, std::pair{"rebinds", &ledger.rebinds}}) {
    const auto number = document->at(key).get<std::int64_t>();
    if (number < 0) return bad_ledger(key);
    *count = static_cast<std::uint64_t>(number);
  }
  for (const char* list : {"attempts", "refusals"})
    if (const auto entries = document->find(list); entries != document->end())
      for (const Json& entry : *entries) {
        if (!has_times(entry)) return bad_ledger("an impossible time");
        if (auto attempt = attempt_from(entry)) add(ledger, std::move(*attempt));
      }
  return ledger;
}

Result<Ledger> read_ledger(const std::filesystem::path& path) {
  auto text = read_file(path);
  if (!text && means_absent(text.error())) return Ledger{};
  if (!text) return fail(std::move(text.error()));
  return ledger_from(*text);
}

}  // namespace pvrdma::codec
