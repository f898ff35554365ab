// SPDX-License-Identifier: GPL-2.0-or-later
// The only file that includes toml11. It uses what versions 3.7 and 4 have in common; Value, read()
// and line_of() hide the differences. The text of a syntax error has the same layout in both, so it
// is parsed; the exceptions differ.
#include "agent/config/toml_tree.hpp"

#include <algorithm>
#include <charconv>
#include <exception>
#include <memory>
#include <sstream>
#include <stdexcept>
#include <string_view>
#include <toml.hpp>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include "agent/base/text.hpp"
#include "agent/config/toml_limits.hpp"

namespace pvrdma::toml_tree {
// An array whose back() throws if it is empty: toml11 3 calls back() where a key leads through an
// array ("a = []", then "a.b = 1").
template <typename Item, typename Allocator = std::allocator<Item>>
struct Checked : std::vector<Item, Allocator> {
  using Base = std::vector<Item, Allocator>;
  using Base::Base;
  Item& back() {
    if (this->empty()) throw std::out_of_range("a key leads through an empty array");
    return Base::back();
  }
};
}  // namespace pvrdma::toml_tree

#if TOML11_VERSION_MAJOR >= 4
namespace pvrdma::toml_tree {
struct FirstErrorOnly : toml::type_config {
  template <typename Item>
  using array_type = Checked<Item>;
};
using Value = toml::basic_value<FirstErrorOnly>;
}  // namespace pvrdma::toml_tree

// After an error toml11 4 searches for a place to go on, on some texts without end (seen with
// 4.4.0: a comment inside an array that is not closed; skip.hpp). So parsing ends at the first
// error.
namespace toml::detail {

using pvrdma::toml_tree::FirstErrorOnly;

[[noreturn]] static void end_at_error(const context<FirstErrorOnly>& context) {
  throw syntax_error(format_error(context.errors().front()), context.errors());
}
template <>
void skip_value(location&, const context<FirstErrorOnly>& context) {
  end_at_error(context);
}
template <>
void skip_key_value_pair(location&, const context<FirstErrorOnly>& context) {
  end_at_error(context);
}
template <>
void skip_comment_block(location&, const context<FirstErrorOnly>& context) {
  end_at_error(context);
}
template <>
void skip_until_next_table(location&, const context<FirstErrorOnly>& context) {
  end_at_error(context);
}

}  // namespace toml::detail

namespace pvrdma::toml_tree {
static Value read(std::istream& stream, const std::string& file) {
  return toml::parse<FirstErrorOnly>(stream, file);
}
static unsigned line_of(const Value& value) {
  return static_cast<unsigned>(value.location().first_line_number());
}
}  // namespace pvrdma::toml_tree
#else
namespace pvrdma::toml_tree {
using Value = toml::basic_value<toml::discard_comments, std::unordered_map, Checked>;
static Value read(std::istream& stream, const std::string& file) {
  return toml::parse<toml::discard_comments, std::unordered_map, Checked>(stream, file);
}
static unsigned line_of(const Value& value) {
  return static_cast<unsigned>(value.location().line());
}
}  // namespace pvrdma::toml_tree
#endif

namespace pvrdma::toml_tree {

namespace {

// toml11 3 needs 4 KiB of stack for each level.
constexpr toml_limits::Limits kLimits{.levels = 16, .values = 2000, .marks = 1000};
constexpr std::size_t kPrintedChars = 60;

tl::unexpected<Error> bad(const std::string& file, std::size_t line, const std::string& what) {
  return fail(0, file + ":" + std::to_string(line) + ": " + what, "");
}

// A message of toml11 is a title, the file, and an excerpt:
//   [error] toml::parse_key_value_pair: missing key-value separator `=`
//    --> FILE
//      |
//    3 | reload auto
//      |        ^- should be `=`
// -> line 3 and "missing key-value separator `=`".
tl::unexpected<Error> syntax_error(const std::string& file, std::string_view message) {
  std::string_view title = message.substr(0, message.find('\n'));
  if (title.substr(0, 8) == "[error] ") title.remove_prefix(8);
  if (title.substr(0, 6) == "toml::")
    title.remove_prefix(std::min(title.find(": ") + 2, title.size()));
  std::size_t line = 1;
  for (std::string_view rest = message; !rest.empty();) {
    std::string_view row = cut(rest, '\n');
    row.remove_prefix(std::min(row.find_first_not_of(' '), row.size()));
    const auto [end, code] = std::from_chars(row.data(), row.data() + row.size(), line);
    if (code == std::errc{} && std::string_view{end, row.data() + row.size()}.substr(0, 2) == " |")
      break;
    line = 1;
  }
  return bad(file, line, "is not TOML: " + pvrdma::printable(title, 200));
}

void put_scalar(const Value& value, Node& node) {
  if (value.is_string()) {
    node.kind = Node::Kind::String;
    node.text = toml::get<std::string>(value);
  } else if (value.is_integer()) {
    node.kind = Node::Kind::Integer;
    node.integer = value.as_integer();
  } else if (value.is_boolean()) {
    node.kind = Node::Kind::Boolean;
    node.boolean = value.as_boolean();
  } else {
    node.kind = Node::Kind::Other;
    node.text = value.is_floating() ? std::to_string(value.as_floating()) : "a date or time";
  }
}

// excess() has limited the depth of this recursion.
Node node_of(const Value& value, std::string key = {}) {
  Node node;
  node.key = std::move(key);
  node.line = line_of(value);
  if (value.is_table()) {
    node.kind = Node::Kind::Table;
    for (const auto& [name, member] : value.as_table()) node.items.push_back(node_of(member, name));
    std::sort(node.items.begin(), node.items.end(), [](const Node& a, const Node& b) {
      return std::tie(a.line, a.key) < std::tie(b.line, b.key);
    });
  } else if (value.is_array()) {
    node.kind = Node::Kind::Array;
    for (const auto& item : value.as_array()) node.items.push_back(node_of(item));
  } else {
    put_scalar(value, node);
  }
  return node;
}

}  // namespace

Result<Node> parse(std::string_view text, const std::string& file) {
  // Editors on Windows may start a file with a byte order mark.
  constexpr std::string_view kMark = "\xef\xbb\xbf";
  if (text.starts_with(kMark)) text.remove_prefix(kMark.size());
  auto fault = toml_limits::unfit(text);
  if (!fault) fault = toml_limits::excess(text, kLimits);
  if (fault) return bad(file, toml_limits::line_at(text, fault->offset), fault->what);
  // toml11 3 fails on an empty stream.
  if (text.find_first_not_of(" \t\r\n") == std::string_view::npos) return Node{};
  try {
    std::istringstream stream{std::string{text}};
    return node_of(read(stream, file));
  } catch (const std::exception& error) {
    return syntax_error(file, error.what());
  }
}

std::string printable(const Node& node) {
  switch (node.kind) {
    case Node::Kind::Table:
      return "{…}";
    case Node::Kind::Array:
      return node.items.empty() ? "[]" : "[…]";
    case Node::Kind::String:
      return '"' + pvrdma::printable(node.text, kPrintedChars) + '"';
    case Node::Kind::Integer:
      return std::to_string(node.integer);
    case Node::Kind::Boolean:
      return node.boolean ? "true" : "false";
    case Node::Kind::Other:
      break;
  }
  return node.text;
}

}  // namespace pvrdma::toml_tree
