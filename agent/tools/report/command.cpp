// SPDX-License-Identifier: GPL-2.0-or-later
// `report`: one JSON document with all that the agent and this program know, for a support case.
#include "agent/tools/report/command.hpp"

#include <fcntl.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <nlohmann/json.hpp>
#include <utility>

#include "agent/base/handle.hpp"
#include "agent/base/program.hpp"
#include "agent/base/text.hpp"
#include "agent/ctl/connection.hpp"
#include "agent/ctl/json_text.hpp"
#include "agent/ctl/text.hpp"
#include "agent/tools/survey/machine.hpp"
#include "build_config.hpp"

namespace pvrdma::ctl {

namespace {

constexpr int kReportVersion = 1;

constexpr const char* kNoRedaction =
    "report masks nothing. For a support case use `sos report`, and `sos clean` to mask what it "
    "collects";

// Null where the part failed; `errors` then has the reason.
void put(Json& document, const char* name, Result<Json> part) {
  document[name] = part ? std::move(*part) : Json(nullptr);
  if (!part) document["errors"][name] = part.error().message();
}

Result<Json> system_part(const Root& root) {
  utsname names{};
  if (::uname(&names) != 0) return fail(errno, "asking for", "the kernel's release");
  const auto os = probes::os_release(root);
  return Json{{"kernel", std::string{names.sysname} + " " + names.release},
              {"architecture", names.machine},
              {"os", os.is_known() ? Json(os.get()->name) : Json(nullptr)}};
}

// The daemon's last events (io.pvrdma.Agent.GetRecording); only root may read them.
Result<Json> recording_part(const Settings& settings, Milliseconds limit) {
  auto answer = ask(settings.socket, "GetRecording", limit);
  if (!answer) return fail(0, answer.error().summary, "");
  const auto found = answer->find("recording");
  if (found == answer->end() || !found->is_object())
    return fail(EBADMSG, "reading the agent's answer", "recording");
  return std::move(*found);
}

Json document_of(const Settings& settings, const ReportOptions& options) {
  // The names in the report, and the commands whose answers they hold.
  const std::vector<std::pair<const char*, std::vector<std::string>>> parts{
      {"health", {"health"}},
      {"plan", {"plan"}},
      {"boots", {"boots"}},
      {"doctor", {"doctor"}},
      {"next_boot", {"doctor", "--next-boot"}}};
  const BootTime start = BootClock::now();
  const BootTime deadline = start + options.limit;
  Json document{{"version", kReportVersion},
                {"program", std::string{"pvrdma-agentctl "} + PVRDMA_VERSION},
                {"made", wall_time(start)},
                {"as_root", ::geteuid() == 0},
                {"errors", Json::object()}};
  put(document, "system", system_part(options.root));
  put(document, "configuration", configuration_part(options.root));
  const auto put_in_time = [&](const char* name, Milliseconds limit, const auto& make) {
    const auto left = std::min(deadline - BootClock::now(), limit);
    put(document, name,
        left > Milliseconds{0} ? make(left) : fail(0, "the time for all parts was over", ""));
  };
  for (const auto& part : parts)
    put_in_time(part.first, options.part_limit, [&](Milliseconds left) {
      std::vector<std::string> words{options.agentctl, "--json", "--socket", settings.socket};
      words.insert(words.end(), part.second.begin(), part.second.end());
      return run_part(words, left);
    });
  put_in_time("recording", options.recording_limit,
              [&](Milliseconds left) { return recording_part(settings, left); });
  document["took_ms"] = (BootClock::now() - start).count();
  return document;
}

// Never replaces a file. A file that could not be written whole is removed.
Result<void> create(const std::string& path, const std::string& content) {
  const Fd fd{::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600)};
  if (!fd) return fail(errno, "creating", path);
  auto written = write_all(fd.get(), content, path);
  if (!written) ::unlink(path.c_str());
  return written;
}

constexpr std::size_t kComplaintColumns = 300;
constexpr std::size_t kBytesAtMost = std::size_t{1} << 20U;
constexpr int kDepthAtMost = 32;  // nested objects and arrays

// The lines of the JSON object, and the lines around it.
struct Said {
  std::string object;
  std::string complaint;  // the first line around the object
};

Said separate(std::string_view output) {
  Said said;
  bool inside = false;
  while (!output.empty()) {
    const std::string_view line = cut(output, '\n');
    if (said.object.empty() && line == "{") inside = true;
    if (inside)
      said.object.append(line) += '\n';
    else if (said.complaint.empty())
      said.complaint = shortened(printable(line), kComplaintColumns);
    if (line == "}") inside = false;
  }
  return said;
}

// Discarded: the text is no JSON, or nests deeper than dumped() should follow.
Json parse(const std::string& text) {
  bool is_deep = false;
  const auto bounded = [&](int depth, Json::parse_event_t, Json&) {
    is_deep = is_deep || depth > kDepthAtMost;
    return depth <= kDepthAtMost;
  };
  Json value = Json::parse(text, bounded, /*allow_exceptions=*/false);
  return is_deep ? Json(Json::value_t::discarded) : value;
}

std::string how_it_ended(const ProgramResult& result) {
  switch (result.ended) {
    case Ended::Exited:
      return "exit status " + std::to_string(result.status);
    case Ended::Signalled:
      return "ended by signal " + std::to_string(result.status);
    case Ended::TimedOut:
      return "not done in its time";
    case Ended::Flooded:
      break;
  }
  return "more than " + std::to_string(kBytesAtMost) + " bytes";
}

}  // namespace

int report(const Settings& settings, const Console& console, const ReportOptions& options) {
  if (options.redact) return end_without(settings, console, kNoRedaction);
  Json document;
  if (options.recording) {
    auto recording = recording_part(settings, options.recording_limit);
    if (!recording) return end_without(settings, console, recording.error());
    document = std::move(*recording);
  } else {
    document = document_of(settings, options);
  }
  const std::string text = dumped(document) + "\n";
  if (options.output.empty() || options.output == "-")
    return console.print(text) ? 0 : kExitUnknown;
  if (const auto created = create(options.output, text); !created)
    return end_without(settings, console, created.error());
  return 0;
}

Result<Json> run_part(const std::vector<std::string>& words, Milliseconds limit) {
  Program program;
  program.words = words;
  program.timeout = limit;
  program.output_limit_bytes = kBytesAtMost;
  program.end_signal = SIGTERM;  // it may wait for a device
  const auto result = run_program(program);
  if (!result) return fail(result.error());
  const Said said = separate(result->output);
  if (result->ended == Ended::Exited) {
    Json value = parse(said.object);
    if (const auto error = value.is_object() ? value.find("error") : value.end();
        value.size() == 1 && error != value.end() && error->is_object())
      return fail(0, how_it_ended(*result) + ", " + text(*error, "message").value_or("no reason"),
                  "");
    if (value.is_object()) return value;
  }
  return fail(0, how_it_ended(*result) + (said.complaint.empty() ? "" : ", " + said.complaint), "");
}

}  // namespace pvrdma::ctl
