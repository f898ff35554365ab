#include "agent/ctl/doctor/rendering.hpp"

#include <nlohmann/json.hpp>
#include <optional>

#include "agent/ctl/fields.hpp"
#include "agent/ctl/rendering.hpp"
#include "agent/model/health.hpp"

namespace pvrdma::ctl {

namespace {

constexpr std::size_t kVerdictColumns = 9;
constexpr std::size_t kAreaColumns = 11;

struct Word {
  const char* text;
  Colour colour;
};

Word word_for(const std::string& usable) {
  if (usable == "yes") return {"USABLE", Colour::Green};
  if (usable == "with-warnings") return {"USABLE WITH WARNINGS", Colour::Yellow};
  if (usable == "no") return {"NOT USABLE", Colour::Red};
  return {"UNKNOWN", Colour::Red};
}

std::string mover(const std::optional<std::string>& actor) {
  if (!actor) return "nothing is to be done";
  if (*actor == to_string(Actor::Host))
    return "next move: the vSphere administrator's (`pvrdma-agentctl doctor --host-admin` prints "
           "what to forward)";
  if (*actor == to_string(Actor::Image)) return "next move: whoever builds the image";
  if (*actor == to_string(Actor::Agent)) return "the agent goes on by itself";
  return "next move: yours, in this guest";
}

std::string headline(const Json& examination, const Style& style) {
  const std::string usable = text(examination, "usable").value_or("unknown");
  const Word word = word_for(usable);
  // Degraded or converging without a finding of its own.
  std::string rest = mover(text(examination, "next_move"));
  const std::string state = state_of(examination);
  if (usable == "with-warnings" && !text(examination, "next_move")) rest = "the state is " + state;
  if (const auto container = text(examination, "container"))
    rest += "; in a container of " + *container;
  const std::size_t indent = columns(word.text) + 2;
  return painted(word.text, word.colour, style) + "  " + wrapped(rest, style.width, indent) + "\n";
}

Colour colour_of(const std::string& verdict) {
  if (verdict == "good") return Colour::Green;
  if (verdict == "error") return Colour::Red;
  return verdict == "info" ? Colour::Bold : Colour::Yellow;
}

std::string check_rows(const Json& check, const Style& style) {
  const std::string verdict = text(check, "verdict").value_or("unknown");
  const std::size_t indent = kVerdictColumns + kAreaColumns;
  std::string rows;
  const auto add = [&](const std::string& line) {
    const std::string front =
        rows.empty() ? painted(padded(verdict, kVerdictColumns), colour_of(verdict), style) +
                           padded(text(check, "area").value_or(""), kAreaColumns)
                     : std::string(indent, ' ');
    rows += front + wrapped(line, style.width, indent) + "\n";
  };
  for (const std::string& line : texts(check, "evidence")) add(line);
  for (const std::string& line : texts(check, "unreadable")) add("not known: " + line);
  return rows;
}

}  // namespace

std::string render_examination(const Json& examination, const Style& style) {
  std::string out = headline(examination, style);
  for (const Notes notes : {Notes::Without, Notes::Only})
    if (const std::string findings = render_findings(examination, notes, style); !findings.empty())
      out += "\n" + findings;
  out += "\n";
  for (const Json& check : list_of(examination, "checks")) out += check_rows(check, style);
  return out;
}

std::string render_ticket(const VmIdentity& vm, const std::vector<doctor::HostTrouble>& troubles,
                          std::size_t width) {
  if (troubles.empty()) return "nothing here is for the vSphere administrator\n";
  std::string out =
      "PVRDMA in VM " + printable(vm.host_name) + ": for the vSphere administrator\n\n";
  out += "Guest:    " + wrapped(printable(vm.system), width, 10) + "\n";
  if (!vm.uuid.empty()) out += "UUID:     " + printable(vm.uuid) + "\n";
  for (const std::string& adapter : vm.adapters) out += "Adapter:  " + printable(adapter) + "\n";
  for (const doctor::HostTrouble& trouble : troubles) {
    out += "\n" + wrapped(printable(trouble.what), width, 0) + "\n";
    if (trouble.causes.size() > 1) out += "The most likely cause first:\n";
    std::size_t rank = 0;
    for (const doctor::HostCause& cause : trouble.causes) {
      out += "\n" + padded(std::to_string(++rank) + ".", 3) +
             wrapped(printable(cause.what + " (" + cause.because + ")"), width, 3) + "\n";
      if (!cause.menu.empty()) out += "   vSphere Client: " + wrapped(cause.menu, width, 19) + "\n";
      for (const std::string& command : cause.commands) out += "   ESXi shell: " + command + "\n";
    }
  }
  return out;
}

Json ticket_json(const VmIdentity& vm, const std::vector<doctor::HostTrouble>& troubles) {
  Json list = Json::array();
  for (const doctor::HostTrouble& trouble : troubles) {
    Json causes = Json::array();
    for (const doctor::HostCause& cause : trouble.causes)
      causes.push_back({{"what", cause.what},
                        {"because", cause.because},
                        {"commands", cause.commands},
                        {"menu", cause.menu}});
    list.push_back({{"id", to_string(trouble.id)},
                    {"adapter", trouble.adapter ? Json(*trouble.adapter) : Json(nullptr)},
                    {"summary", trouble.what},
                    {"causes", std::move(causes)}});
  }
  return {{"vm",
           {{"host_name", vm.host_name},
            {"system", vm.system},
            {"uuid", vm.uuid},
            {"adapters", vm.adapters}}},
          {"troubles", std::move(list)}};
}

}  // namespace pvrdma::ctl
