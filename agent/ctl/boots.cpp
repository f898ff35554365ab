// SPDX-License-Identifier: GPL-2.0-or-later
// `boots`: the steps of this boot and of earlier boots, side by side.
#include <algorithm>
#include <nlohmann/json.hpp>
#include <span>
#include <utility>

#include "agent/ctl/boots_journal.hpp"
#include "agent/ctl/commands.hpp"
#include "agent/ctl/json_text.hpp"
#include "agent/ctl/rendering.hpp"

namespace pvrdma::ctl {

namespace {

using Boots = std::vector<Timeline>;
constexpr const char* kGap = "  ";
constexpr const char* kNothing = "-";
constexpr const char* kLegend =
    "Seconds since the boot began, +seconds since the step before, (seconds in the kernel). <=: "
    "the agent's first look found the step reached; it was reached then or before.";

// A row's key.
using Row = std::pair<StepKind, std::string>;

Row row_of(const Step& step) { return {step.kind, step.subject}; }

// The steps of the newest boot in their order. A step that only other boots have comes after its
// predecessor there.
std::vector<Row> rows_of(const Boots& boots) {
  std::vector<Row> rows;
  for (const Timeline& boot : boots) {
    auto place = rows.begin();
    for (const Step& step : boot.steps) {
      const auto known = std::find(rows.begin(), rows.end(), row_of(step));
      place = (known != rows.end() ? known : rows.insert(place, row_of(step))) + 1;
    }
  }
  return rows;
}

std::string cell_of(const Timeline& boot, const Step& step) {
  if (step.at_or_before) return "<= " + in_seconds(step.at.time_since_epoch());
  return in_seconds(step.at.time_since_epoch()) +
         (step.took ? " (" + in_seconds(*step.took) + ")"
                    : " +" + in_seconds(own_duration(boot, step)));
}

// "2026-11-21T02:31:43Z" as a day and a time; a text of another form is printed unchanged.
std::pair<std::string, std::string> began(const Timeline& boot) {
  const std::string text = printable(boot.began);
  if (!boot_time_from(text, Moment{})) return {text, ""};
  return {text.substr(0, 10), text.substr(11, 8)};
}

struct Column {
  std::vector<std::string> cells;
  std::size_t width = 0;
  void put(std::string cell) {
    width = std::max(width, columns(cell));
    cells.push_back(std::move(cell));
  }
};

// The rows besides the steps.
struct Extras {
  bool kernel = false;        // shown where the kernels of the boots differ
  bool port_changes = false;  // shown where a boot has changes
};

Column labels(const std::vector<Row>& rows, Extras extras) {
  Column column;
  column.put("boot of");
  column.put("(UTC)");
  if (extras.kernel) column.put("kernel");
  for (const auto& [kind, subject] : rows) column.put(printable(in_words(kind, subject)));
  if (extras.port_changes) column.put("changes of a port before");
  return column;
}

Column column_of(const Timeline& boot, const std::vector<Row>& rows, Extras extras) {
  Column column;
  auto [day, time] = began(boot);
  column.put(std::move(day));
  column.put(std::move(time));
  if (extras.kernel) column.put(printable(boot.kernel));
  for (const auto& [kind, subject] : rows) {
    const Step* step = boot.find(kind, subject);
    column.put(step != nullptr ? cell_of(boot, *step) : kNothing);
  }
  if (extras.port_changes) column.put(std::to_string(boot.port_changes));
  return column;
}

std::string beside_each_other(const Column& left, std::span<const Column> block) {
  std::string out;
  for (std::size_t line = 0; line < left.cells.size(); ++line) {
    std::string text = padded(left.cells[line], left.width);
    for (const Column& column : block) text += kGap + padded(column.cells[line], column.width);
    out += text.substr(0, text.find_last_not_of(' ') + 1) + "\n";
  }
  return out;
}

// How many of `rest` fit beside `left`, at least one.
std::size_t fitting(const Column& left, std::span<const Column> rest, std::size_t width) {
  std::size_t used = left.width;
  std::size_t count = 0;
  for (const Column& column : rest) {
    used += columns(kGap) + column.width;
    if (used > width && count > 0) break;
    ++count;
  }
  return count;
}

constexpr int kBootsVersion = 1;

Json boot_json(const Timeline& boot) {
  Json steps = Json::array();
  for (const Step& step : boot.steps)
    steps.push_back({{"step", to_string(step.kind)},
                     {"subject", or_null(step.subject)},
                     {"at_ms", to_ms(step.at)},
                     {"took_ms", step.took ? Json(step.took->count()) : Json(nullptr)},
                     {"at_or_before", step.at_or_before}});
  return {{"boot_id", boot.boot_id},
          {"began", boot.began},
          {"kernel", boot.kernel},
          {"port_changes", boot.port_changes},
          {"steps", std::move(steps)}};
}

Json to_json(const Boots& boots) {
  Json list = Json::array();
  for (const Timeline& boot : boots) list.push_back(boot_json(boot));
  return {{"version", kBootsVersion}, {"boots", std::move(list)}};
}

}  // namespace

std::string render_boots(const Boots& boots, const Style& style) {
  const auto other_kernel = [&](const Timeline& boot) {
    return boot.kernel != boots.front().kernel;
  };
  const auto any_change = [](const Timeline& boot) { return boot.port_changes > 0; };
  const Extras extras{std::any_of(boots.begin(), boots.end(), other_kernel),
                      std::any_of(boots.begin(), boots.end(), any_change)};
  const auto rows = rows_of(boots);
  const Column left = labels(rows, extras);
  std::vector<Column> all;
  for (const Timeline& boot : boots) all.push_back(column_of(boot, rows, extras));
  std::string out;
  for (std::span<const Column> rest{all}; !rest.empty();) {
    const std::size_t count = fitting(left, rest, style.width);
    out += beside_each_other(left, rest.first(count)) + "\n";
    rest = rest.subspan(count);
  }
  if (!extras.kernel && !boots.front().kernel.empty())
    out += "Kernel: " + printable(boots.front().kernel) + "\n";
  return out + painted(wrapped(kLegend, style.width, 0), Colour::Dim, style) + "\n";
}

int boots(const Settings& settings, const Console& console, const Answered<JournalBoots>& found) {
  if (!found) return end_without(settings, console, found.error());
  if (found->is_volatile)
    console.complain(
        "the journal is lost at each shutdown, so no earlier boot is known; `mkdir "
        "/var/log/journal && journalctl --flush` keeps it (journald.conf(5), Storage=)");
  if (found->boots.empty())
    return end_without(
        settings, console,
        NoAnswer{"", "the journal has no boot with an adapter", "See: journalctl -u pvrdma-agent"});
  const bool printed = console.print(settings.json ? dumped(to_json(found->boots)) + "\n"
                                                   : render_boots(found->boots, console.style()));
  return printed ? 0 : kExitUnknown;
}

}  // namespace pvrdma::ctl
