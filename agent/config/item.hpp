// SPDX-License-Identifier: GPL-2.0-or-later
// One value of a configuration file together with its place, and the checks that every value needs.
// All errors of this layer are made here, in this form: "FILE:LINE: KEY = VALUE: what is allowed".
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "agent/base/error.hpp"
#include "agent/config/toml_tree.hpp"
#include "agent/model/config.hpp"

namespace pvrdma {

// The place, the key and the value, for an error line.
struct SourceValue {
  std::string place;  // "FILE:3"
  std::string key;    // "modules.reload"
  std::string value;  // printable, "\"auto\""
};

[[nodiscard]] tl::unexpected<Error> bad_value(const SourceValue& said, const std::string& rule);

// A view: the tree and the file's name must outlive it.
class Item {
 public:
  Item(const toml_tree::Node& node, const std::string& file, std::string key)
      : node_(&node), file_(&file), key_(std::move(key)) {}

  [[nodiscard]] std::string place() const { return *file_ + ":" + std::to_string(node_->line); }
  [[nodiscard]] SourceValue said() const { return {place(), key_, toml_tree::printable(*node_)}; }
  [[nodiscard]] tl::unexpected<Error> bad(const std::string& rule) const {
    return bad_value(said(), rule);
  }

  [[nodiscard]] bool is(toml_tree::Node::Kind kind) const { return node_->kind == kind; }
  // The value if it is of that kind, else null or none.
  [[nodiscard]] const std::string* string() const;
  [[nodiscard]] std::optional<std::int64_t> integer() const;
  [[nodiscard]] std::optional<bool> boolean() const;
  // The items of an array, all with the array's key; the member of a table, if it exists.
  [[nodiscard]] std::vector<Item> items() const;
  [[nodiscard]] std::optional<Item> member(const std::string& name) const;

  // An Error unless this is a table with no other keys than these.
  [[nodiscard]] Result<void> expect_table(const std::vector<std::string>& keys) const;

 private:
  [[nodiscard]] std::string key_of(const std::string& name) const;

  const toml_tree::Node* node_;
  const std::string* file_;
  std::string key_;  // "" for the whole file
};

// A key that a table may have, and the function that reads its value.
struct Member {
  const char* key;
  std::function<Result<void>(const Item&)> read;
};
// Reads the members that exist, in this order, up to the first error.
[[nodiscard]] Result<void> read_members(const Item& table, const std::vector<Member>& members);
// The same, but `table` must be a table with no other keys than these.
[[nodiscard]] Result<void> read_table(const Item& table, const std::vector<Member>& members);

template <has_words Value>
[[nodiscard]] Result<void> read_word(const Item& item, Value& into) {
  std::string rule;
  for (const auto& [value, word] : kWordsOf<Value>) {
    if (item.string() != nullptr && *item.string() == word) {
      into = value;
      return {};
    }
    rule += (rule.empty() ? "must be one of " : ", ") + std::string{word};
  }
  return item.bad(rule);
}

}  // namespace pvrdma
