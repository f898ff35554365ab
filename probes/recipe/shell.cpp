#include "probes/recipe/shell.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "probes/recipe/shell_tokens.hpp"

namespace pvrdma::probes {

namespace {

template <std::size_t N>
bool one_of(const std::array<const char*, N>& words, const std::string& word) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

constexpr std::array kOpens{"if", "while", "until", "for", "select", "case", "{"};
constexpr std::array kCloses{"fi", "done", "esac", "}"};
constexpr std::array kBetween{"then", "else", "elif", "do", "!", "time"};
// After these, a newline ends no statement.
constexpr std::array kContinues{"&&", "||", "|", "|&"};

class Parser {
 public:
  std::vector<ShellStatement> run(const std::vector<ShellToken>& tokens) {
    for (const ShellToken& token : tokens) take(token);
    end_statement();
    return std::move(statements_);
  }

 private:
  // What words at this place are.
  enum class Mode { Commands, ForHeader, CaseHeader, CasePattern };

  void take(const ShellToken& token) {
    if (token.kind == ShellToken::Kind::Newline && !in_statement_) return;
    begin_statement(token);
    statement_.last = std::max(statement_.last, token.to_line);
    if (token.kind == ShellToken::Kind::Newline)
      newline();
    else if (token.kind == ShellToken::Kind::Operator)
      take_operator(token.text);
    else
      take_word(token);
  }

  void begin_statement(const ShellToken& token) {
    if (in_statement_) return;
    in_statement_ = true;
    statement_ = {};
    statement_.first = token.line;
    statement_.depth = statement_.depth_least = depth();
    statement_.in_case = mode_ == Mode::CasePattern;
    operator_.clear();
  }

  void newline() {
    const bool continues = command_.empty() && one_of(kContinues, operator_) && !closed_;
    if (mode_ == Mode::ForHeader) mode_ = Mode::Commands;
    if (continues) return;
    end_statement();
  }

  void end_statement() {
    if (!in_statement_) return;
    end_command("");
    statement_.depth_after = depth();
    statements_.push_back(std::move(statement_));
    in_statement_ = false;
    closed_ = false;
  }

  void end_command(const std::string& by) {
    if (!command_.empty()) statement_.commands.push_back({std::move(command_), operator_});
    command_.clear();
    operator_ = by;
    closed_ = false;
  }

  void take_operator(const std::string& text) {
    if (text == "(") return open_parenthesis();
    if (text == ")") return close_parenthesis();
    if (text.starts_with(";;") || text == ";&") {
      end_command(";");
      statement_.in_case = true;
      mode_ = Mode::CasePattern;
      return;
    }
    if (mode_ == Mode::CasePattern) return;  // the | between two patterns
    if (mode_ == Mode::ForHeader) mode_ = Mode::Commands;
    end_command(text);
  }

  void open_parenthesis() {
    if (mode_ == Mode::CasePattern) return;  // before a pattern
    if (command_.size() == 1) {              // NAME(): a function, whose body follows
      command_.front() += "()";
      function_ = true;
      return;
    }
    end_command(";");
    push();
  }

  void close_parenthesis() {
    if (mode_ == Mode::CasePattern) {
      statement_.in_case = true;
      mode_ = Mode::Commands;
      return;
    }
    if (std::exchange(function_, false)) return end_command(";");
    end_command(";");
    pop();
    closed_ = true;
  }

  void take_word(const ShellToken& token) {
    const bool reserved = !token.quoted && command_.empty();
    switch (mode_) {
      case Mode::CaseHeader:
        if (!token.quoted && token.text == "in") mode_ = Mode::CasePattern;
        return;
      case Mode::CasePattern:
        statement_.in_case = true;
        if (reserved && token.text == "esac") {
          mode_ = Mode::Commands;
          pop();
          closed_ = true;
        }
        return;
      case Mode::ForHeader:
        if (!token.quoted && token.text == "do") mode_ = Mode::Commands;
        return;
      case Mode::Commands:
        break;
    }
    if (reserved && !closed_ && take_reserved(token.text)) return;
    // After `done` or `)` only redirections and operators follow; a word is not understood.
    command_.push_back(token.text);
  }

  bool take_reserved(const std::string& word) {
    if (one_of(kOpens, word)) {
      push();
      if (word == "for" || word == "select") mode_ = Mode::ForHeader;
      if (word == "case") mode_ = Mode::CaseHeader;
      return true;
    }
    if (one_of(kCloses, word)) {
      pop();
      closed_ = true;
      return true;
    }
    return one_of(kBetween, word);
  }

  [[nodiscard]] int depth() const { return depth_; }
  void push() { ++depth_; }
  void pop() {
    --depth_;
    statement_.depth_least = std::min(statement_.depth_least, depth_);
  }

  std::vector<ShellStatement> statements_;
  ShellStatement statement_;
  std::vector<std::string> command_;
  std::string operator_;
  Mode mode_ = Mode::Commands;
  int depth_ = 0;
  bool in_statement_ = false;
  bool function_ = false;
  bool closed_ = false;  // a block has just been closed
};

std::string interpreter_of(std::string_view text) {
  if (!text.starts_with("#!")) return "/bin/sh";
  const auto words = shell_words(text.substr(2, text.find('\n') - 2));
  if (words.empty()) return {};
  const bool by_env = words.front().ends_with("/env") && words.size() > 1;
  return by_env ? words[1] : words.front();
}

}  // namespace

ShellScript parse_shell(std::string_view text) {
  const ShellTokens tokens = shell_tokens(text);
  return {interpreter_of(text), Parser{}.run(tokens.list), tokens.trouble_line};
}

bool is_shell(const std::string& program) {
  constexpr std::array kShells{"sh", "bash", "dash", "ksh", "zsh"};
  return one_of(kShells, program.substr(program.find_last_of('/') + 1));
}

std::vector<std::string> shell_words(std::string_view text) {
  const ShellTokens tokens = shell_tokens(text);
  std::vector<std::string> words;
  if (tokens.trouble_line != 0) return words;
  for (const ShellToken& token : tokens.list)
    if (token.kind == ShellToken::Kind::Word) words.push_back(token.text);
  return words;
}

}  // namespace pvrdma::probes
