// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/codec/event_json.hpp"

#include <array>
#include <cerrno>
#include <utility>

#include "agent/codec/value_json.hpp"

namespace pvrdma::codec {

namespace {

tl::unexpected<Error> bad_event(const std::string& what) {
  return fail(EBADMSG, "reading a recording", what);
}

template <typename Value>
Result<Value> value_from(const Json& json) {
  Value value{};
  ValueReader reader;
  reader.read(json, value);
  if (reader.wrong()) return bad_event(printable("." + *reader.wrong()));
  return value;
}

// One event of each kind, in the order of Event's alternatives.
template <std::size_t... kAt>
std::array<Event, sizeof...(kAt)> one_of_each(std::index_sequence<kAt...> /*all*/) {
  return {Event{std::in_place_index<kAt>}...};
}

}  // namespace

Json to_json(const Event& event) {
  Json json = std::visit([](const auto& one) { return to_value(one); }, event);
  json["kind"] = kind_of(event);
  return json;
}
Json to_json(const Snapshot& snapshot) { return to_value(snapshot); }
Json to_json(const Start& start) { return to_value(start); }

Result<Event> event_from(const Json& json) {
  const auto found = json.is_object() ? json.find("kind") : json.end();
  const auto* kind = found != json.end() ? found->get_ptr<const std::string*>() : nullptr;
  if (kind == nullptr) return bad_event(".kind");
  for (Event& event : one_of_each(std::make_index_sequence<std::variant_size_v<Event>>{})) {
    if (*kind != kind_of(event)) continue;
    ValueReader reader;
    std::visit([&](auto& one) { reader.read(json, one); }, event);
    if (reader.wrong()) return bad_event(printable(*kind + *reader.wrong()));
    return std::move(event);
  }
  return bad_event(printable(".kind " + *kind));
}
Result<Snapshot> snapshot_from(const Json& json) { return value_from<Snapshot>(json); }
Result<Start> start_from(const Json& json) { return value_from<Start>(json); }

}  // namespace pvrdma::codec
