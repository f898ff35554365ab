// SPDX-License-Identifier: GPL-2.0-or-later
// Values of the model -> JSON and back, by their members (agent/model/members.hpp): reading yields
// the written value again. For recordings, the ledger and the executor's interface; json.hpp has
// the JSON of the agent's.
//
// Every text is written printable (agent/base/text.hpp). An absent member is left out; an
// unreadable one is {"unreadable": {errno, doing, what}}.
#pragma once

#include <concepts>
#include <cstdint>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "agent/base/text.hpp"
#include "agent/codec/json.hpp"
#include "agent/model/fields.hpp"

namespace pvrdma::codec {

// The latest time, 126 years, so that arithmetic with it cannot overflow.
inline constexpr std::int64_t kLatestMs = 4'000'000'000'000;

[[nodiscard]] inline Json to_value(const std::string& text) { return printable(text); }
[[nodiscard]] inline Json to_value(bool value) { return value; }
[[nodiscard]] inline Json to_value(BootTime time) { return to_ms(time); }
[[nodiscard]] inline Json to_value(Milliseconds time) { return time.count(); }
template <std::integral Number>
[[nodiscard]] Json to_value(Number number) {
  return number;
}
template <has_words Enum>
[[nodiscard]] Json to_value(Enum value) {
  return to_string(value);
}
template <typename T>
[[nodiscard]] Json to_value(const std::vector<T>& list);
template <typename T>
[[nodiscard]] Json to_value(const std::optional<T>& value);
template <typename T>
[[nodiscard]] Json to_value(const Field<T>& field);
template <typename T>
[[nodiscard]] Json to_value(const Result<T>& result);
template <has_members Value>
[[nodiscard]] Json to_value(const Value& value);
// {"verb": …, and its members}
[[nodiscard]] inline Json to_value(const Operation& operation);
// {"kind": "looked", …, and its members}
[[nodiscard]] inline Json to_value(const Event& event);
// At most kHoldersAtMost of them.
[[nodiscard]] inline Json to_value(const std::vector<Holder>& holders);

template <typename T>
Json to_value(const std::vector<T>& list) {
  Json array = Json::array();
  for (const T& one : list) array.push_back(to_value(one));
  return array;
}
// None becomes null; as a member it is left out.
template <typename T>
Json to_value(const std::optional<T>& value) {
  return value ? to_value(*value) : Json(nullptr);
}
template <typename T>
Json to_value(const Field<T>& field) {
  if (const Error* error = field.error()) return {{"unreadable", to_value(*error)}};
  return field.is_known() ? to_value(*field.get()) : Json(nullptr);
}
template <typename T>
Json to_value(const Result<T>& result) {
  if (!result) return {{"error", to_value(result.error())}};
  return {{"value", to_value(*result)}};
}
template <has_members Value>
Json to_value(const Value& value) {
  Json object = Json::object();
  each_member(value, [&](const char* name, const auto& member) {
    if (Json json = to_value(member); !json.is_null()) object[name] = std::move(json);
  });
  return object;
}
inline Json to_value(const std::vector<Holder>& holders) {
  Json array = Json::array();
  for (const Holder& holder : holders)
    if (array.size() < kHoldersAtMost) array.push_back(to_value(holder));
  return array;
}
inline Json to_value(const Operation& operation) {
  Json object = std::visit([](const auto& one) { return to_value(one); }, operation);
  object["verb"] = to_string(verb(operation));
  return object;
}
inline Json to_value(const Event& event) {
  Json object = std::visit([](const auto& one) { return to_value(one); }, event);
  object["kind"] = kind_of(event);
  return object;
}

// Reads JSON into values, and remembers the place of the first invalid one.
class ValueReader {
 public:
  // "snapshot.adapters[0].netdev"; none: all values were valid.
  [[nodiscard]] const std::optional<std::string>& wrong() const { return wrong_; }

  void read(const Json& json, std::string& into) {
    if (const auto* text = json.get_ptr<const std::string*>())
      into = printable(*text);
    else
      refuse();
  }
  void read(const Json& json, bool& into) {
    if (json.is_boolean())
      into = json.get<bool>();
    else
      refuse();
  }
  void read(const Json& json, BootTime& into) { into = from_ms(milliseconds(json)); }
  void read(const Json& json, Milliseconds& into) { into = Milliseconds{milliseconds(json)}; }
  template <std::integral Number>
  void read(const Json& json, Number& into) {
    // No number in a recording needs more than 63 bits.
    const auto number = json.is_number_integer() ? json.get<std::int64_t>() : -1;
    if (number < 0 || !std::in_range<Number>(number)) return refuse();
    into = static_cast<Number>(number);
  }
  template <has_words Enum>
  void read(const Json& json, Enum& into) {
    const auto* word = json.get_ptr<const std::string*>();
    const auto value = word != nullptr ? from_word<Enum>(*word) : std::nullopt;
    if (!value) return refuse();
    into = *value;
  }
  template <typename T>
  void read(const Json& json, std::vector<T>& into) {
    if (!json.is_array()) return refuse();
    into.clear();
    for (const Json& one : json) {
      const Place place{*this, "[" + std::to_string(into.size()) + "]"};
      read(one, into.emplace_back());
    }
  }
  template <typename T>
  void read(const Json& json, std::optional<T>& into) {
    read(json, into.emplace());
  }
  template <typename T>
  void read(const Json& json, Field<T>& into) {
    if (const auto found = json.is_object() ? json.find("unreadable") : json.end();
        found != json.end()) {
      Error error;
      read(*found, error);
      into = Field<T>::unreadable(std::move(error));
    } else {
      T value{};
      read(json, value);
      into = std::move(value);
    }
  }
  template <typename T>
  void read(const Json& json, Result<T>& into) {
    if (!json.is_object() || json.size() != 1) return refuse();
    if (const auto found = json.find("error"); found != json.end()) {
      Error error;
      read(*found, error);
      into = fail(std::move(error));
    } else if (const auto value = json.find("value"); value != json.end()) {
      into = T{};
      read(*value, *into);
    } else {
      refuse();
    }
  }
  template <has_members Value>
  void read(const Json& json, Value& into) {
    if (!json.is_object()) return refuse();
    each_member(into, [&](const char* name, auto& member) {
      const auto found = json.find(name);
      if (found == json.end() || found->is_null()) return;
      const Place place{*this, std::string{"."} + name};
      read(*found, member);
    });
  }
  void read(const Json& json, Operation& into) {
    const auto found = json.is_object() ? json.find("verb") : json.end();
    Verb verb{};
    if (found == json.end()) return refuse();
    read(*found, verb);
    into = operation_on(verb, {});
    std::visit([&](auto& one) { read(json, one); }, into);
  }

 private:
  class Place {
   public:
    Place(ValueReader& reader, const std::string& step)
        : reader_(reader), before_(reader.place_.size()) {
      reader_.place_ += step;
    }
    ~Place() { reader_.place_.resize(before_); }
    Place(const Place&) = delete;
    Place& operator=(const Place&) = delete;

   private:
    ValueReader& reader_;
    std::size_t before_;
  };

  void refuse() {
    if (!wrong_) wrong_ = place_;
  }
  std::int64_t milliseconds(const Json& json) {
    std::int64_t number = 0;
    read(json, number);
    if (number > kLatestMs) refuse();
    return number > kLatestMs ? 0 : number;
  }

  std::string place_;
  std::optional<std::string> wrong_;
};

}  // namespace pvrdma::codec
