// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/config/item.hpp"

#include "agent/base/text.hpp"

namespace pvrdma {

using toml_tree::Node;

tl::unexpected<Error> bad_value(const SourceValue& said, const std::string& rule) {
  return fail(0, said.place + ": " + said.key + " = " + said.value + ": " + rule, "");
}

const std::string* Item::string() const { return is(Node::Kind::String) ? &node_->text : nullptr; }

std::optional<std::int64_t> Item::integer() const {
  return is(Node::Kind::Integer) ? std::optional{node_->integer} : std::nullopt;
}

std::optional<bool> Item::boolean() const {
  return is(Node::Kind::Boolean) ? std::optional{node_->boolean} : std::nullopt;
}

std::vector<Item> Item::items() const {
  std::vector<Item> result;
  for (const Node& node : node_->items) result.emplace_back(node, *file_, key_);
  return result;
}

std::optional<Item> Item::member(const std::string& name) const {
  for (const Node& node : node_->items)
    if (node.key == name) return Item{node, *file_, key_of(name)};
  return std::nullopt;
}

Result<void> Item::expect_table(const std::vector<std::string>& keys) const {
  if (!is(Node::Kind::Table)) return bad("must be a table with " + joined(keys));
  for (const Node& node : node_->items) {
    if (contains(keys, node.key)) continue;
    const auto meant = closest(node.key, keys);
    return Item{node, *file_, key_of(printable(node.key, 60))}.bad(
        "unknown key" + (meant ? ", did you mean \"" + *meant + "\"?" : "") +
        " (allowed: " + joined(keys) + ")");
  }
  return {};
}

std::string Item::key_of(const std::string& name) const {
  return key_.empty() ? name : key_ + "." + name;
}

Result<void> read_members(const Item& table, const std::vector<Member>& members) {
  for (const Member& member : members)
    if (const auto item = table.member(member.key))
      if (auto read = member.read(*item); !read) return read;
  return {};
}

Result<void> read_table(const Item& table, const std::vector<Member>& members) {
  std::vector<std::string> keys;
  keys.reserve(members.size());
  for (const Member& member : members) keys.emplace_back(member.key);
  if (auto right = table.expect_table(keys); !right) return right;
  return read_members(table, members);
}

}  // namespace pvrdma
