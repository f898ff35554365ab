#include "probes/module_lookup.hpp"

#include <array>
#include <cerrno>

#include "agent/base/program.hpp"
#include "agent/base/text.hpp"

namespace pvrdma::probes {

namespace {

constexpr std::size_t kLookupOutputBytes = 4096;
constexpr std::string_view kError = "error ";
constexpr std::array kAnswers{Shipped::Loadable, Shipped::BuiltIn, Shipped::Missing};

std::optional<Field<Shipped>> shipped_from(std::string_view line, const std::string& name) {
  for (const Shipped shipped : kAnswers)
    if (line == to_string(shipped)) return shipped;
  if (!line.starts_with(kError)) return std::nullopt;
  const auto code = number_from<int>(line.substr(kError.size()));
  if (!code || *code <= 0) return std::nullopt;
  return Field<Shipped>::unreadable({*code, "looking up module", name});
}

Result<std::vector<Field<Shipped>>> ask(const std::string& program, const std::string& release,
                                        const std::vector<std::string>& names,
                                        Milliseconds timeout) {
  std::vector<std::string> words{program, release};
  words.insert(words.end(), names.begin(), names.end());
  const auto result =
      run_program({std::move(words), std::vector<std::string>{}, timeout, kLookupOutputBytes});
  if (!result) return fail(result.error());
  if (result->ended == Ended::TimedOut) return fail(ETIMEDOUT, "waiting for", program);
  if (result->ended != Ended::Exited || result->status != 0)
    return fail(EREMOTEIO, "running " + program, "(" + first_line(result->output) + ")");
  return parse_lookup(result->output, names);
}

}  // namespace

std::string lookup_line(const Field<Shipped>& shipped) {
  if (const Shipped* known = shipped.get()) return std::string{to_string(*known)} + "\n";
  const int code = shipped.is_unreadable() ? shipped.error()->code : ENOENT;
  return std::string{kError} + std::to_string(code != 0 ? code : EIO) + "\n";
}

Result<std::vector<Field<Shipped>>> parse_lookup(std::string_view lines,
                                                 const std::vector<std::string>& names) {
  const auto bad = [&] { return fail(EBADMSG, "reading the answer of", "module-lookup"); };
  std::vector<Field<Shipped>> found;
  for (const std::string& name : names) {
    auto shipped = shipped_from(cut(lines, '\n'), name);
    if (!shipped) return bad();
    found.push_back(std::move(*shipped));
  }
  if (!lines.empty()) return bad();
  return found;
}

std::vector<Field<Shipped>> run_module_lookup(const std::string& program,
                                              const std::string& release,
                                              const std::vector<std::string>& names,
                                              Milliseconds timeout) {
  auto found = ask(program, release, names, timeout);
  if (found) return std::move(*found);
  return std::vector<Field<Shipped>>(names.size(),
                                     Field<Shipped>::unreadable(std::move(found.error())));
}

}  // namespace pvrdma::probes
