// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/codec/ledger_file.hpp"

#include <cerrno>
#include <string_view>
#include <utility>

#include "agent/base/file.hpp"
#include "agent/codec/value_json.hpp"
#include "agent/varlink/interface.hpp"
#include "agent/varlink/message.hpp"

namespace pvrdma::codec {

namespace {

// The document's shape; times are milliseconds since boot (agent/base/clock.hpp). A ledger from an
// executor before an upgrade may lack the list of refusals; they are among its attempts. Attempts
// with verbs that no longer exist (BounceLink) are ignored. The words of outcomes are the model's.
constexpr std::string_view kShape = R"(
interface io.pvrdma.Ledger
type Attempt (verb: string, target: string, started_ms: int, finished_ms: ?int, outcome: string,
  detail: string)
type Ledger (reloads: int, rebinds: int, attempts: []Attempt, refusals: ?[]Attempt)
)";

tl::unexpected<Error> bad_ledger(const std::string& what) {
  return fail(EBADMSG, "reading the executor's ledger", what);
}

}  // namespace

std::string to_text(const Ledger& ledger) { return varlink::to_text(to_value(ledger)) + '\n'; }

Result<Ledger> ledger_from(const std::string& text) {
  const auto shape = varlink::parse_interface(kShape);
  if (!shape) return fail(shape.error());
  const auto document = varlink::parse_object(text);
  if (!document) return bad_ledger("it is not a JSON object");
  if (const auto wrong = varlink::mismatch(*shape, shape->types.at("Ledger"), *document,
                                           varlink::Strictness::Reply))
    return bad_ledger(*wrong);
  Ledger ledger;
  ValueReader reader;
  reader.read(document->at("reloads"), ledger.reloads);
  reader.read(document->at("rebinds"), ledger.rebinds);
  for (const char* list : {"attempts", "refusals"})
    for (const Json& entry : document->value(list, Json::array())) {
      if (!from_word<Verb>(entry.at("verb").get_ref<const std::string&>())) continue;
      Attempt attempt;
      reader.read(entry, attempt);
      add(ledger, std::move(attempt));
    }
  if (reader.wrong()) return bad_ledger("an impossible time, count or outcome");
  return ledger;
}

Result<Ledger> read_ledger(const std::filesystem::path& path) {
  auto text = read_file(path);
  if (!text && means_absent(text.error())) return Ledger{};
  if (!text) return fail(std::move(text.error()));
  return ledger_from(*text);
}

}  // namespace pvrdma::codec
