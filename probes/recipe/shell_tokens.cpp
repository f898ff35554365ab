#include "probes/recipe/shell_tokens.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace pvrdma::probes {

namespace {

constexpr std::string_view kShellBlanks = " \t\r";
constexpr std::string_view kEndsWord = " \t\r\n;&|<>()";
// The longer of two that begin alike comes first.
constexpr std::array kOperators{";;&", ";;", ";&", "&&", "||", "|&", ";", "&", "|", "(", ")"};
constexpr std::array kRedirections{"<<<", "<<-", "&>>", "<<", "<&", "<>",
                                   ">>",  ">&",  ">|",  "&>", "<",  ">"};

class Tokenizer {
 public:
  explicit Tokenizer(std::string_view text) : text_(text) {}

  ShellTokens run() {
    while (at_ < text_.size() && tokens_.trouble_line == 0) step();
    if (!documents_.empty() && tokens_.trouble_line == 0) tokens_.trouble_line = line_;
    return std::move(tokens_);
  }

 private:
  struct Document {
    std::string end;
    bool strip_tabs = false;
  };

  [[nodiscard]] bool here(std::string_view what) const {
    return text_.substr(at_, what.size()) == what;
  }
  [[nodiscard]] char now() const { return at_ < text_.size() ? text_[at_] : '\0'; }
  char take() {
    const char taken = text_[at_++];
    if (taken == '\n') ++line_;
    return taken;
  }
  void add(ShellToken::Kind kind, std::string text, unsigned line) {
    tokens_.list.push_back({kind, std::move(text), false, line, line_});
  }
  [[nodiscard]] bool in_test() const { return in_test_; }

  void step() {
    if (kShellBlanks.find(now()) != std::string_view::npos) {
      take();
    } else if (here("\\\n")) {
      at_ += 2;
      ++line_;
    } else if (now() == '#') {
      at_ = std::min(text_.find('\n', at_), text_.size());
    } else if (now() == '\n') {
      newline();
    } else if ((in_test() || !redirection()) && (opens_word() || !operators())) {
      word();
    }
  }

  // Arithmetic and process substitution begin with what is an operator elsewhere.
  [[nodiscard]] bool opens_word() const { return here("((") || here("<(") || here(">("); }

  void newline() {
    const unsigned line = line_;
    take();
    for (const Document& document : std::exchange(documents_, {})) skip(document, line);
    tokens_.list.push_back({ShellToken::Kind::Newline, "\n", false, line, line_ - 1});
  }

  // `begun`: the line that asks for it.
  void skip(const Document& document, unsigned begun) {
    while (at_ < text_.size()) {
      const auto end = std::min(text_.find('\n', at_), text_.size());
      std::string_view line = text_.substr(at_, end - at_);
      at_ = std::min(end + 1, text_.size());
      ++line_;
      if (document.strip_tabs)
        line.remove_prefix(std::min(line.find_first_not_of('\t'), line.size()));
      if (line == document.end) return;
    }
    tokens_.trouble_line = begun;
  }

  bool operators() {
    for (const std::string_view one : kOperators) {
      if (!here(one)) continue;
      at_ += one.size();
      // Inside [[ … ]] these compare and group.
      add(in_test() ? ShellToken::Kind::Word : ShellToken::Kind::Operator, std::string{one}, line_);
      return true;
    }
    return false;
  }

  // The operator and its target; a descriptor's number before it was read as a word.
  bool redirection() {
    if (here("<(") || here(">(")) return false;
    for (const std::string_view one : kRedirections) {
      if (!here(one)) continue;
      drop_descriptor();
      at_ += one.size();
      while (kShellBlanks.find(now()) != std::string_view::npos && at_ < text_.size()) take();
      if (kEndsWord.find(now()) != std::string_view::npos) return true;
      word();
      if (tokens_.trouble_line != 0) return true;
      if (one == "<<" || one == "<<-")
        documents_.push_back({tokens_.list.back().text, one == "<<-"});
      tokens_.list.pop_back();
      return true;
    }
    return false;
  }

  void drop_descriptor() {
    if (tokens_.list.empty() || at_ == 0) return;
    const ShellToken& last = tokens_.list.back();
    const bool number = last.kind == ShellToken::Kind::Word && !last.quoted &&
                        last.text.find_first_not_of("0123456789") == std::string::npos;
    if (number && word_end_ == at_) tokens_.list.pop_back();
  }

  void word() {
    const unsigned begun = line_;
    std::string text;
    bool quoted = false;
    // Of arithmetic and process substitution, which begin with what would end a word.
    if (opens_word()) {
      text += take();
      if (text != "(") text += take();
      copy_to(')', text);
    }
    while (at_ < text_.size() && tokens_.trouble_line == 0 &&
           kEndsWord.find(now()) == std::string_view::npos) {
      if (now() == '\'' || now() == '"' || now() == '\\') quoted = true;
      piece(text);
    }
    // Inside [[ … ]] these compare.
    if (text.empty() && !quoted && at_ < text_.size()) text += take();
    word_end_ = at_;
    if (tokens_.trouble_line != 0) {
      tokens_.trouble_line = begun;
      return;
    }
    if (!quoted && text == "[[") in_test_ = true;
    if (!quoted && text == "]]") in_test_ = false;
    tokens_.list.push_back({ShellToken::Kind::Word, std::move(text), quoted, begun, line_});
  }

  // One character of a word, or the quoted text or expansion that begins here.
  void piece(std::string& into) {
    if (here("\\\n")) {
      at_ += 2;
      ++line_;
    } else if (now() == '\\' && at_ + 1 < text_.size()) {
      take();
      into += take();
    } else if (now() == '\'') {
      take();
      copy_plain('\'', into);
    } else if (now() == '"') {
      take();
      double_quoted(into);
    } else {
      expansion_or_character(into);
    }
  }

  void expansion_or_character(std::string& into) {
    if (here("$(") || here("${")) {
      into += take();
      const char close = now() == '(' ? ')' : '}';
      into += take();
      copy_to(close, into);
    } else if (now() == '`') {
      into += take();
      copy_plain('`', into);
      into += '`';
    } else {
      into += take();
    }
  }

  void copy_plain(char end, std::string& into) {
    while (at_ < text_.size()) {
      const char taken = take();
      if (taken == end) return;
      into += taken;
    }
    tokens_.trouble_line = line_;
  }

  void double_quoted(std::string& into) {
    while (at_ < text_.size() && tokens_.trouble_line == 0) {
      if (now() == '"') {
        take();
        return;
      }
      if (now() == '\\' && at_ + 1 < text_.size())
        take();
      else if (here("$(") || here("${") || now() == '`') {
        expansion_or_character(into);
        continue;
      }
      into += take();
    }
    tokens_.trouble_line = line_;
  }

  // Up to the bracket that closes what was opened, which is copied too.
  void copy_to(char close, std::string& into) {
    const char open = close == ')' ? '(' : '{';
    unsigned depth = 1;
    while (at_ < text_.size() && tokens_.trouble_line == 0) {
      if (now() == '\\' && at_ + 1 < text_.size()) {
        into += take();
      } else if (now() == '\'' || now() == '"') {
        const char quote = take();
        into += quote;
        quote == '"' ? double_quoted(into) : copy_plain(quote, into);
        into += quote;
        continue;
      } else if (now() == open) {
        ++depth;
      } else if (now() == close && --depth == 0) {
        into += take();
        return;
      }
      into += take();
    }
    tokens_.trouble_line = line_;
  }

  std::string_view text_;
  std::size_t at_ = 0;
  std::size_t word_end_ = 0;
  unsigned line_ = 1;
  bool in_test_ = false;
  std::vector<Document> documents_;
  ShellTokens tokens_;
};

}  // namespace

ShellTokens shell_tokens(std::string_view text) { return Tokenizer{text}.run(); }

}  // namespace pvrdma::probes
