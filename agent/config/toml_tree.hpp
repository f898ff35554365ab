// SPDX-License-Identifier: GPL-2.0-or-later
// TOML text -> a tree of our own, so that no other file depends on toml11, its two generations and
// its compile time.
//
// Nesting, the number of values, and the length of lines are limited before toml11 gets the text,
// as it has no limits of its own.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "agent/base/error.hpp"

namespace pvrdma::toml_tree {

struct Node {
  enum class Kind { Table, Array, String, Integer, Boolean, Other };
  Kind kind = Kind::Table;
  std::string key;    // of a table's member
  unsigned line = 1;  // of the value, or of a table's header
  std::string text;   // String: its value; Other (floats, dates): a text for messages
  std::int64_t integer = 0;
  bool boolean = false;
  // The items of an Array, or the members of a Table in the order of the file.
  std::vector<Node> items;
};

// The message() of an Error is a whole line: "FILE:3: is not TOML: …". `text` need not be UTF-8.
[[nodiscard]] Result<Node> parse(std::string_view text, const std::string& file);

// A value as written in a file, shortened, for messages: "\"auto\"", "9000", "[…]".
[[nodiscard]] std::string printable(const Node& node);

}  // namespace pvrdma::toml_tree
