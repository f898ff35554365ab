// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/codec/recording.hpp"

#include <cerrno>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>

#include "agent/base/format.hpp"
#include "agent/codec/value_json.hpp"
#include "agent/varlink/message.hpp"

namespace pvrdma::codec {

namespace {

constexpr std::string_view kEventEnd = ",\n";  // JSON text has no raw newline

// Removes from the lists of `from` the entries that `to` no longer has, and adds this to the patch.
// A full ledger drops an old entry for each new one: compared place by place, all entries after it
// would differ.
void remove_gone(Json& from, const Json& to, const std::string& path, Json& found) {
  if (from.is_object() && to.is_object())
    for (const auto& [name, value] : from.items())
      if (const auto now = to.find(name); now != to.end())
        remove_gone(value, *now, path + "/" + name, found);
  if (!from.is_array() || !to.is_array()) return;
  std::size_t same = 0;  // entries at the front of both
  for (std::size_t i = 0; i < from.size() && same < to.size(); ++i) {
    if (from[i] != to[same]) continue;
    for (; i > same; --i) {
      found.push_back({{"op", "remove"}, {"path", formatted("{}/{}", path, same)}});
      from.erase(same);
    }
    ++same;
  }
}

// The JSON Patch that makes one snapshot of the other. JSON is made only of members that differ:
// most looks differ in the time alone.
Json changes(const Snapshot& before, const Snapshot& after) {
  Json found = Json::array();
  each_member(after, [&](const std::string_view name, const auto& now) {
    each_member(before, [&](const std::string_view other, const auto& was) {
      if constexpr (std::is_same_v<decltype(was), decltype(now)>) {
        if (name != other || was == now) return;
        Json from = Json::object();
        Json to = Json::object();
        if (Json value = to_value(was); !value.is_null())
          from[std::string{name}] = std::move(value);
        if (Json value = to_value(now); !value.is_null()) to[std::string{name}] = std::move(value);
        remove_gone(from, to, "", found);
        for (Json& change : Json::diff(from, to)) found.push_back(std::move(change));
      }
    });
  });
  return found;
}

}  // namespace

Recorder::Recorder(const Start& start, std::size_t bytes_at_most)
    : bytes_at_most_(bytes_at_most),
      start_(to_value(start)),
      base_(varlink::to_text(to_value(last_))) {}

std::string Recorder::text_of(const Looked& looked, BootTime now) {
  Json json{{"at_ms", to_ms(now)}, {"kind", "looked"}, {"began_ms", to_ms(looked.began)}};
  json[kChanges] = changes(last_, looked.snapshot);
  std::string text = varlink::to_text(json);
  // A snapshot that needs more than half of the space is not kept; the next one is compared with
  // the snapshot before it.
  if (text.size() <= bytes_at_most_ / 2) {
    last_ = looked.snapshot;
    return text;
  }
  json[kChanges] = {
      {{"op", "add"}, {"path", "/taken_at_ms"}, {"value", to_ms(looked.snapshot.taken_at)}}};
  return varlink::to_text(json);
}

void Recorder::add(const Event& event, BootTime now) {
  std::string text;
  if (const auto* looked = std::get_if<Looked>(&event)) {
    text = text_of(*looked, now);
  } else {
    Json json = to_value(event);
    json["at_ms"] = to_ms(now);
    text = varlink::to_text(json);
  }
  text += kEventEnd;
  while (count_ == kEventsKept || (count_ != 0 && bytes() + text.size() > bytes_at_most_))
    drop_first();
  events_.reserve(bytes_at_most_);
  events_ += text;
  ++count_;
}

void Recorder::drop_first() {
  const std::size_t end = events_.find(kEventEnd);
  const Json first = Json::parse(std::string_view{events_}.substr(0, end));
  if (const auto changes = first.find(kChanges); changes != first.end())
    base_ = varlink::to_text(Json::parse(base_).patch(*changes));
  if (const auto config = first.find("config");
      config != first.end() && first["error"].get<std::string>().empty()) {
    start_["config"] = *config;
    start_["left_out"] = first["left_out"];
    start_["error"] = "";
  }
  events_.erase(0, end + kEventEnd.size());
  --count_;
  ++dropped_;
}

std::string Recorder::text() const {
  std::string text =
      formatted("{{\"version\":{},\"dropped\":{},\"start\":{},\"base\":{},\"events\":[",
                kRecordingVersion, dropped_, varlink::to_text(start_), base_);
  if (count_ != 0) text.append("\n").append(events_, 0, events_.size() - kEventEnd.size());
  return text + "]}";
}

}  // namespace pvrdma::codec
