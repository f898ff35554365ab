// SPDX-License-Identifier: GPL-2.0-or-later
// Seeded random values of the model, with random members of each type, for properties that all
// values must have, such as being written and read back unchanged.
#pragma once

#include <array>
#include <concepts>
#include <string>

#include "agent/model/fields.hpp"
#include "tests/unit/random_fields.hpp"

namespace pvrdma::test {

class Filler {
 public:
  // `hostile`: texts may have control characters.
  explicit Filler(Random& random, bool hostile = false) : random_(random), hostile_(hostile) {}

  void fill(std::string& text) {
    static constexpr std::array kTexts{"",        "ens10",      "0000:00:10.1", "ACTIVE",
                                       "a \"b\"", "unreadable", "\xc3\xa4\\n",  "10.0.0.1/24"};
    static constexpr std::array kHostile{"\x1b[2J", "\xff\xfe", "a\nb", "\xe2\x80\xae"};
    text = hostile_ && random_() % 2 == 0 ? kHostile[random_() % kHostile.size()]
                                          : kTexts[random_() % kTexts.size()];
  }
  void fill(bool& value) { value = random_() % 2 == 0; }
  void fill(BootTime& time) { time = from_ms(static_cast<std::int64_t>(random_())); }
  void fill(Milliseconds& time) { time = Milliseconds{random_() % 100'000}; }
  template <std::integral Number>
  void fill(Number& number) {
    number = static_cast<Number>(random_() % 0x7fffffffU);
  }
  template <has_words Enum>
  void fill(Enum& value) {
    value = kWordsOf<Enum>[random_() % kWordsOf<Enum>.size()].value;
    // A newer kernel's.
    if constexpr (numbered<Enum>)
      if (chance(random_, 20)) value = static_cast<Enum>(random_() % 256);
  }
  template <typename T>
  void fill(std::vector<T>& list) {
    list.resize(random_() % 3);
    for (T& one : list) fill(one);
  }
  template <typename T>
  void fill(std::optional<T>& value) {
    value.reset();
    if (random_() % 2 == 0) fill(value.emplace());
  }
  template <typename T>
  void fill(Field<T>& field) {
    T value{};
    fill(value);
    field = std::move(value);
    Error error;
    fill(error);
    if (chance(random_, 30)) field = Field<T>::absent();
    if (chance(random_, 20)) field = Field<T>::unreadable(std::move(error));
  }
  template <typename T>
  void fill(Result<T>& result) {
    result = T{};
    fill(*result);
    Error error;
    fill(error);
    if (random_() % 2 == 0) result = fail(std::move(error));
  }
  template <has_members Value>
  void fill(Value& value) {
    each_member(value, [&](const char*, auto& member) { fill(member); });
  }
  void fill(Operation& operation) {
    static const std::array<Operation, 5> kOperations{
        LoadModule{}, BindFunction{}, RebindFunction{}, ReloadDriver{}, ConfigureLink{}};
    operation = kOperations[random_() % kOperations.size()];
    std::visit([&](auto& one) { fill(one); }, operation);
  }
  template <std::size_t kAt = 0>
  void fill(Event& event, std::size_t kind) {
    if constexpr (kAt < std::variant_size_v<Event>) {
      if (kind != kAt) return fill<kAt + 1>(event, kind);
      fill(event.emplace<kAt>());
    }
  }

 private:
  Random& random_;
  bool hostile_;
};

}  // namespace pvrdma::test
