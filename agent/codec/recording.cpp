// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/codec/recording.hpp"

#include <cerrno>
#include <utility>
#include <variant>

#include "agent/base/text.hpp"
#include "agent/codec/event_json.hpp"
#include "agent/varlink/message.hpp"

namespace pvrdma::codec {

namespace {

constexpr int kVersion = 1;

tl::unexpected<Error> bad_recording(const std::string& what) {
  return fail(EBADMSG, "reading a recording", what);
}

// A null member in `changed` removes the member.
Json merged(Json before, const Json& changed) {
  for (const auto& [name, value] : changed.items())
    if (value.is_null())
      before.erase(name);
    else
      before[name] = value;
  return before;
}

Result<RecordedEvent> recorded_from(const Json& json, Json& snapshot) {
  if (!json.is_object()) return bad_recording("an event that is no object");
  const auto at = json.find("at_ms");
  if (at == json.end() || !at->is_number_unsigned()) return bad_recording("at_ms");
  Json whole = json;
  if (const auto seen = whole.find("snapshot"); seen != whole.end() && seen->is_object())
    *seen = snapshot = merged(std::move(snapshot), *seen);
  auto event = event_from(whole);
  if (!event) return fail(std::move(event.error()));
  return RecordedEvent{from_ms(at->get<std::int64_t>()), std::move(*event)};
}

}  // namespace

Recorder::Recorder(const Start& start, std::size_t bytes_at_most)
    : bytes_at_most_(bytes_at_most), start_(to_json(start)) {}

std::size_t Recorder::bytes_of(const Members& members) {
  std::size_t bytes = 0;
  for (const auto& [name, text] : members) bytes += name.size() + text.size();
  return bytes;
}
std::size_t Recorder::Entry::bytes() const {
  return head.size() + bytes_of(changed) + config.size();
}

Recorder::Entry Recorder::entry_of(const Looked& looked, BootTime now) {
  const Json snapshot = to_json(looked.snapshot);
  Members members;
  for (const auto& [name, value] : snapshot.items()) members[name] = varlink::to_text(value);
  Entry entry;
  entry.head = varlink::to_text(
      {{"at_ms", to_ms(now)}, {"kind", "looked"}, {"began_ms", to_ms(looked.began)}});
  entry.head.pop_back();
  for (const auto& [name, text] : members)
    if (const auto before = last_.find(name); before == last_.end() || before->second != text)
      entry.changed.emplace(name, text);
  for (const auto& [name, text] : last_)
    if (!members.contains(name)) entry.changed.emplace(name, "null");
  // A snapshot that needs more than half of the space is not kept; the next one is compared with
  // the snapshot before it.
  if (entry.bytes() > bytes_at_most_ / 2)
    entry.changed = {{"taken_at_ms", members["taken_at_ms"]}};
  else
    last_ = std::move(members);
  return entry;
}

void Recorder::add(const Event& event, BootTime now) {
  Entry entry;
  if (const auto* looked = std::get_if<Looked>(&event)) {
    entry = entry_of(*looked, now);
  } else {
    Json json = to_json(event);
    json["at_ms"] = to_ms(now);
    entry.head = varlink::to_text(json);
    entry.head.pop_back();
    if (const auto* loaded = std::get_if<ConfigLoaded>(&event); loaded && loaded->error.empty())
      entry.config = varlink::to_text(json["config"]);
  }
  bytes_ += entry.bytes();
  entries_.push_back(std::move(entry));
  while (entries_.size() > kEventsKept || (bytes_ > bytes_at_most_ && entries_.size() > 1))
    drop_first();
}

void Recorder::drop_first() {
  Entry& first = entries_.front();
  bytes_ -= first.bytes() + bytes_of(base_);
  for (auto& [name, text] : first.changed)
    if (text == "null")
      base_.erase(name);
    else
      base_[name] = std::move(text);
  bytes_ += bytes_of(base_);
  if (!first.config.empty()) start_["config"] = Json::parse(first.config);
  entries_.pop_front();
  ++dropped_;
}

std::string Recorder::text() const {
  const auto list = [](const Members& members) {
    std::string text;
    for (const auto& [name, value] : members)
      text += (text.empty() ? "\"" : ",\"") + name + "\":" + value;
    return text;
  };
  std::string text = "{\"version\":" + std::to_string(kVersion) +
                     ",\"dropped\":" + std::to_string(dropped_) +
                     ",\"start\":" + varlink::to_text(start_);
  if (!base_.empty()) text += ",\"base\":{" + list(base_) + "}";
  text += ",\"events\":[";
  bool first = true;
  for (const Entry& entry : entries_) {
    text += std::exchange(first, false) ? "\n" : ",\n";
    text += entry.head;
    if (!entry.changed.empty()) text += ",\"snapshot\":{" + list(entry.changed) + "}";
    text += "}";
  }
  return text + "]}";
}

Result<Recording> recording_from(const std::string& text) {
  auto document = varlink::parse_object(text);
  if (!document) return fail(std::move(document.error()));
  if (document->value("version", Json{}) != kVersion) return bad_recording("version");
  Recording recording;
  auto start = start_from(document->value("start", Json{}));
  if (!start) return fail(std::move(start.error()));
  recording.start = std::move(*start);
  if (const Json dropped = document->value("dropped", Json{}); dropped.is_number_unsigned())
    recording.dropped = dropped.get<std::size_t>();
  Json snapshot = document->value("base", Json::object());
  if (!snapshot.empty()) {
    auto base = snapshot_from(snapshot);
    if (!base) return fail(std::move(base.error()));
    recording.base = std::move(*base);
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

}  // namespace pvrdma::codec
