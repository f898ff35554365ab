// SPDX-License-Identifier: GPL-2.0-or-later
#include "tests/unit/codec/recording_reader.hpp"

#include <array>
#include <cerrno>
#include <utility>
#include <variant>

#include "agent/codec/recording.hpp"
#include "agent/codec/value_json.hpp"
#include "agent/varlink/message.hpp"

namespace pvrdma::test {

using codec::Json;
using codec::ValueReader;

namespace {

tl::unexpected<Error> bad_recording(const std::string& what) {
  return fail(EBADMSG, "reading a recording", what);
}

template <typename Value>
Result<Value> value_from(const Json& json) {
  Value value{};
  ValueReader reader;
  reader.read(json, value);
  if (reader.wrong()) return bad_recording(printable("." + *reader.wrong()));
  return value;
}

// One event of each kind, in the order of Event's alternatives.
template <std::size_t... kAt>
std::array<Event, sizeof...(kAt)> one_of_each(std::index_sequence<kAt...> /*all*/) {
  return {Event{std::in_place_index<kAt>}...};
}

Result<RecordedEvent> recorded_from(const Json& json, Json& snapshot) {
  if (!json.is_object()) return bad_recording("an event that is no object");
  const auto at = json.find("at_ms");
  if (at == json.end() || !at->is_number_unsigned()) return bad_recording("at_ms");
  Json whole = json;
  if (const auto changes = json.find(codec::kChanges); changes != json.end()) try {
      whole["snapshot"] = snapshot = snapshot.patch(*changes);
    } catch (const Json::exception&) {
      return bad_recording(codec::kChanges);
    }
  auto event = event_from(whole);
  if (!event) return fail(std::move(event.error()));
  return RecordedEvent{from_ms(at->get<std::int64_t>()), std::move(*event)};
}

}  // namespace

Result<Event> event_from(const Json& json) {
  const auto found = json.is_object() ? json.find("kind") : json.end();
  const auto* kind = found != json.end() ? found->get_ptr<const std::string*>() : nullptr;
  if (kind == nullptr) return bad_recording(".kind");
  for (Event& event : one_of_each(std::make_index_sequence<std::variant_size_v<Event>>{})) {
    if (*kind != kind_of(event)) continue;
    ValueReader reader;
    std::visit([&](auto& one) { reader.read(json, one); }, event);
    if (reader.wrong()) return bad_recording(printable(*kind + *reader.wrong()));
    return std::move(event);
  }
  return bad_recording(printable(".kind " + *kind));
}

Result<Recording> recording_from(const std::string& text) {
  auto document = varlink::parse_object(text);
  if (!document) return fail(std::move(document.error()));
  if (document->value("version", Json{}) != codec::kRecordingVersion)
    return bad_recording("version");
  Recording recording;
  auto start = value_from<Start>(document->value("start", Json{}));
  if (!start) return fail(std::move(start.error()));
  recording.start = std::move(*start);
  if (const Json dropped = document->value("dropped", Json{}); dropped.is_number_unsigned())
    recording.dropped = dropped.get<std::size_t>();
  Json snapshot = document->value("base", Json::object());
  if (!snapshot.empty()) {
    auto base = value_from<Snapshot>(snapshot);
    if (!base) return fail(std::move(base.error()));
    if (base->taken_at != BootTime{}) recording.base = std::move(*base);
  }
  const Json events = document->value("events", Json::array());
  if (!events.is_array()) return bad_recording("events");
  for (const Json& json : events) {
    auto event = recorded_from(json, snapshot);
    if (!event) return fail(std::move(event.error()));
    recording.events.push_back(std::move(*event));
  }
  return recording;
}

}  // namespace pvrdma::test
