#include "probes/recipe/script.hpp"

#include <algorithm>
#include <optional>
#include <span>

#include "agent/base/text.hpp"

namespace pvrdma::probes {

namespace {

using Kind = Judgement::Kind;
using Statements = std::span<const ShellStatement>;

// What the commands of some statements come to.
struct Sum {
  std::vector<RecipeStep> steps;
  std::string other;  // the first command that is something else
  std::string missing;
  bool recipe = false;
};

Sum sum_of(Statements statements, const RecipeScope& scope) {
  Sum sum;
  for (const ShellStatement& statement : statements) {
    for (const ShellCommand& command : statement.commands) {
      const Judgement one = judge(command, scope);
      sum.steps.insert(sum.steps.end(), one.steps.begin(), one.steps.end());
      if (one.kind == Kind::Recipe) sum.recipe = true;
      if (one.kind != Kind::Other) continue;
      if (sum.other.empty()) sum.other = command.words.front();
      if (!one.missing.empty()) sum.missing = one.missing;
    }
  }
  return sum;
}

class Reader {
 public:
  Reader(std::string_view text, const RecipeScope& scope) : scope_(scope) {
    while (!text.empty()) physical_.push_back(cut(text, '\n'));
  }

  void read(Statements statements) {
    for (std::size_t at = 0; at < statements.size();) at += read_at(statements.subspan(at));
  }

  std::vector<RecipeLines> lines;

 private:
  // How many statements from the front have been dealt with.
  std::size_t read_at(Statements statements) {
    const ShellStatement& front = statements.front();
    if (front.is_whole()) {
      note(statements.first(1), {});
      return 1;
    }
    // A block of nothing but the recipe goes as one.
    if (const std::size_t length = block_length(statements); length > 1 && !front.in_case) {
      const Statements block = statements.first(length);
      const Sum sum = sum_of(block, scope_);
      if (sum.recipe && sum.other.empty()) {
        note(block, {});
        return length;
      }
    }
    note(statements.first(1), front.in_case
                                  ? "it is a part of a case, which is not taken apart"
                                  : "it is a part of an if, a loop or a function that does more");
    return 1;
  }

  // The statements from one that opens a block to the one that closes it; 0: none does.
  static std::size_t block_length(Statements statements) {
    const int depth = statements.front().depth;
    if (statements.front().depth_least < depth) return 0;
    for (std::size_t at = 0; at < statements.size(); ++at) {
      const ShellStatement& one = statements[at];
      if (one.depth_least < depth) return 0;
      if (one.depth_after == depth) return at + 1;
    }
    return 0;
  }

  void note(Statements statements, std::string left) {
    const Sum sum = sum_of(statements, scope_);
    if (sum.steps.empty()) return;
    const ShellStatement& front = statements.front();
    RecipeLines found{front.first, statements.back().last, {},
                      sum.steps,   std::move(left),        front.depth > 0};
    if (found.left.empty() && !sum.missing.empty())
      found.left = "the agent does this once its configuration has " + sum.missing;
    else if (found.left.empty() && !sum.other.empty())
      found.left = "it also runs " + sum.other;
    for (unsigned line = found.first; line <= found.last && line <= physical_.size(); ++line)
      found.text += (line == found.first ? "" : "\n") + std::string{physical_[line - 1]};
    lines.push_back(std::move(found));
  }

  const RecipeScope& scope_;
  std::vector<std::string_view> physical_;
};

}  // namespace

RecipeReading read_recipe(std::string_view text, const RecipeScope& scope) {
  const ShellScript script = parse_shell(text);
  if (!is_shell(script.interpreter)) return {};
  Reader reader{text, scope};
  reader.read(script.statements);
  RecipeReading result{std::move(reader.lines), {}, script.interpreter, script.trouble_line, true};
  for (const ShellStatement& statement : script.statements) {
    for (const ShellCommand& command : statement.commands) {
      const Judgement one = judge(command, scope);
      if (!one.script.empty()) result.scripts.push_back(one.script);
      const std::string& name = command.words.front();
      if (one.kind == Kind::Other && name != "exit" && name != "set") result.nothing_else = false;
    }
  }
  if (result.lines.empty()) result.nothing_else = false;
  return result;
}

}  // namespace pvrdma::probes
