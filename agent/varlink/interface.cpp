// SPDX-License-Identifier: GPL-2.0-or-later
// The parser: a recursive descent over tokens, bounded in depth. Below it: the check of values.
#include "agent/varlink/interface.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <limits>
#include <nlohmann/json.hpp>
#include <utility>

#include "agent/base/text.hpp"

namespace pvrdma::varlink {

namespace {

constexpr int kNestingAtMost = 16;

bool is_word(char c) { return is_alphanumeric(c) || c == '_' || c == '.' || c == '-'; }

// Tokens are words, "->", and single marks; comments and white space are skipped. An empty token is
// the end.
class Tokens {
 public:
  explicit Tokens(std::string_view text) : rest_(text) { skip(); }

  [[nodiscard]] std::string_view peek() const { return rest_.substr(0, length()); }
  std::string_view take() {
    const std::string_view token = peek();
    rest_.remove_prefix(token.size());
    skip();
    return token;
  }
  bool take_if(std::string_view token) {
    if (peek() != token) return false;
    take();
    return true;
  }
  [[nodiscard]] int line() const { return line_; }

 private:
  [[nodiscard]] std::size_t length() const {
    if (rest_.substr(0, 2) == "->") return 2;
    const auto end = std::find_if_not(rest_.begin(), rest_.end(), is_word) - rest_.begin();
    return end > 0 ? static_cast<std::size_t>(end) : std::min<std::size_t>(1, rest_.size());
  }
  void skip() {
    while (!rest_.empty()) {
      const char c = rest_.front();
      if (c == '#') {
        rest_.remove_prefix(std::min(rest_.find('\n'), rest_.size()));
        continue;
      }
      if (c != ' ' && c != '\t' && c != '\r' && c != '\n') return;
      if (c == '\n') ++line_;
      rest_.remove_prefix(1);
    }
  }

  std::string_view rest_;
  int line_ = 1;
};

// Parses by throwing Error within this file; parse_interface() turns it into a Result.
class Parser {
 public:
  explicit Parser(std::string_view text) : tokens_(text) {}

  Interface interface() {
    expect("interface");
    Interface result;
    result.name = word("the interface's name");
    while (!tokens_.peek().empty()) {
      const std::string_view what = tokens_.take();
      const std::string name = word("a name");
      if (what == "type") {
        add(result.types, name, aggregate(0));
      } else if (what == "error") {
        add(result.errors, name, tokens_.peek() == "(" ? aggregate(0) : Type{});
      } else if (what == "method") {
        Method method;
        method.in = aggregate(0);
        expect("->");
        method.out = aggregate(0);
        add(result.methods, name, std::move(method));
      } else {
        wrong("type, method or error");
      }
    }
    return result;
  }

 private:
  [[noreturn]] void wrong(const std::string& expected) const {
    throw Error{EINVAL, "parsing interface description",
                "line " + std::to_string(tokens_.line()) + ": expected " + expected};
  }
  void expect(std::string_view token) {
    if (!tokens_.take_if(token)) wrong(std::string{token});
  }
  std::string word(const char* meaning) {
    if (tokens_.peek().empty() || !is_word(tokens_.peek().front()) || tokens_.peek() == "->")
      wrong(meaning);
    return std::string{tokens_.take()};
  }
  template <typename T>
  void add(std::map<std::string, T, std::less<>>& into, const std::string& name, T value) {
    if (!into.emplace(name, std::move(value)).second) wrong("one " + name + " only");
  }

  // "(a: int, b: string)" or "(red, green)"; "()" is an empty struct.
  Type aggregate(int depth) {
    if (depth > kNestingAtMost) wrong("less nesting");
    expect("(");
    Type type;
    while (!tokens_.take_if(")")) {
      if (!type.names.empty()) expect(",");
      const bool first = type.names.empty();
      type.names.push_back(word("a member"));
      const bool has_type = tokens_.take_if(":");
      if (first && !has_type) type.kind = Type::Kind::Enum;
      if (has_type != (type.kind == Type::Kind::Struct)) wrong("either members or words");
      if (has_type) type.types.push_back(element(depth + 1));
    }
    return type;
  }

  Type element(int depth) {
    if (depth > kNestingAtMost) wrong("less nesting");
    if (tokens_.take_if("?")) return wrap(Type::Kind::Optional, depth);
    if (tokens_.take_if("[")) {
      const bool map = tokens_.take_if("string");
      expect("]");
      return wrap(map ? Type::Kind::Map : Type::Kind::Array, depth);
    }
    if (tokens_.peek() == "(") return aggregate(depth);
    Type type;
    type.name = word("a type");
    static constexpr std::pair<const char*, Type::Kind> kBuiltIn[] = {
        {"bool", Type::Kind::Bool},
        {"int", Type::Kind::Int},
        {"float", Type::Kind::Float},
        {"string", Type::Kind::String},
        {"object", Type::Kind::Object}};
    const auto* found = std::find_if(std::begin(kBuiltIn), std::end(kBuiltIn),
                                     [&](const auto& entry) { return type.name == entry.first; });
    type.kind = found == std::end(kBuiltIn) ? Type::Kind::Named : found->second;
    return type;
  }
  Type wrap(Type::Kind kind, int depth) {
    Type type;
    type.kind = kind;
    type.types.push_back(element(depth + 1));
    return type;
  }

  Tokens tokens_;
};

void check_names(const Interface& interface, const Type& type) {
  if (type.kind == Type::Kind::Named && interface.types.count(type.name) == 0)
    throw Error{EINVAL, "parsing interface description", "no type " + type.name};
  for (const Type& inner : type.types) check_names(interface, inner);
}

using Json = nlohmann::json;
using Kind = Type::Kind;

// The path of the wrong member, or none; the path is built on the way back.
using Wrong = std::optional<std::string>;

Wrong inside(const std::string& outer, Wrong wrong) {
  if (!wrong) return wrong;
  const bool direct = wrong->empty() || wrong->front() == '[';
  return outer + (direct ? "" : ".") + *wrong;
}

bool fits_int(const Json& value) {
  if (value.is_number_unsigned())
    return value.get<std::uint64_t>() <=
           static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
  return value.is_number_integer();
}

Wrong simple(bool right) { return right ? std::nullopt : Wrong{""}; }

// The depth of the value bounds the recursion; message.cpp limits that depth for all received JSON.
struct Checker {
  const Interface& interface;
  Strictness strictness;

  [[nodiscard]] Wrong check(const Type& type, const Json& value) const {
    switch (type.kind) {
      case Kind::Bool:
        return simple(value.is_boolean());
      case Kind::Int:
        return simple(fits_int(value));
      case Kind::Float:
        return simple(value.is_number());
      case Kind::String:
        return simple(value.is_string());
      case Kind::Object:
        return simple(value.is_object());
      case Kind::Enum:
        return simple(value.is_string() && std::count(type.names.begin(), type.names.end(),
                                                      value.get_ref<const std::string&>()) > 0);
      case Kind::Named:
        return check(interface.types.at(type.name), value);
      case Kind::Optional:
        return value.is_null() ? std::nullopt : check(type.types.front(), value);
      case Kind::Array:
        return array(type.types.front(), value);
      case Kind::Map:
        return map(type.types.front(), value);
      case Kind::Struct:
        return members(type, value);
    }
    return "";
  }

  [[nodiscard]] Wrong array(const Type& of, const Json& value) const {
    if (!value.is_array()) return "";
    for (std::size_t i = 0; i < value.size(); ++i)
      if (auto wrong = check(of, value[i]))
        return inside("[" + std::to_string(i) + "]", std::move(wrong));
    return std::nullopt;
  }

  [[nodiscard]] Wrong map(const Type& of, const Json& value) const {
    if (!value.is_object()) return "";
    for (const auto& [key, entry] : value.items())
      if (auto wrong = check(of, entry)) return inside(key, std::move(wrong));
    return std::nullopt;
  }

  [[nodiscard]] Wrong members(const Type& type, const Json& value) const {
    if (!value.is_object()) return "";
    for (std::size_t i = 0; i < type.names.size(); ++i) {
      const auto found = value.find(type.names[i]);
      if (found == value.end()) {
        const bool optional = type.types[i].kind == Kind::Optional;
        if (!optional || strictness == Strictness::Complete) return type.names[i];
      } else if (auto wrong = check(type.types[i], *found)) {
        return inside(type.names[i], std::move(wrong));
      }
    }
    if (strictness == Strictness::Reply) return std::nullopt;
    for (const auto& [key, entry] : value.items())
      if (!contains(type.names, key)) return key;
    return std::nullopt;
  }
};

}  // namespace

Result<Interface> parse_interface(std::string_view text) try {
  Interface interface = Parser{text}.interface();
  for (const auto& [name, type] : interface.types) check_names(interface, type);
  for (const auto& [name, type] : interface.errors) check_names(interface, type);
  for (const auto& [name, method] : interface.methods) {
    check_names(interface, method.in);
    check_names(interface, method.out);
  }
  return interface;
} catch (const Error& error) {
  return fail(error);
}

std::optional<std::string> mismatch(const Interface& interface, const Type& type,
                                    const nlohmann::json& value, Strictness strictness) {
  return Checker{interface, strictness}.check(type, value);
}

}  // namespace pvrdma::varlink
