// `report`: one file with all that helps to find a fault, to be handed to somebody else.
#include <fcntl.h>
#include <signal.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <ctime>
#include <nlohmann/json.hpp>

#include "agent/base/handle.hpp"
#include "agent/ctl/commands.hpp"
#include "agent/ctl/fields.hpp"
#include "agent/ctl/report/archive.hpp"
#include "agent/ctl/report/collect.hpp"
#include "agent/ctl/report/host.hpp"
#include "agent/ctl/report/manifest.hpp"
#include "agent/ctl/report/parts.hpp"
#include "build_config.hpp"

namespace pvrdma::ctl {

namespace {

using bundle::Entry;

// Where programs are that a user's own PATH may not name.
constexpr const char* kUsualPlaces = "/usr/sbin:/usr/bin:/sbin:/bin";

std::string variable(const char* name) {
  const char* value = std::getenv(name);  // NOLINT(concurrency-mt-unsafe): one thread
  return value != nullptr ? value : "";
}

// While it lives, the signals that end a program make an fd readable instead, so that whatever
// program runs is ended first. What came meanwhile takes effect afterwards.
class EndingSignals {
 public:
  EndingSignals() {
    sigset_t ending;
    sigemptyset(&ending);
    for (const int signal : {SIGINT, SIGTERM, SIGHUP}) sigaddset(&ending, signal);
    ::pthread_sigmask(SIG_BLOCK, &ending, &before_);
    fd_ = Fd{::signalfd(-1, &ending, SFD_CLOEXEC | SFD_NONBLOCK)};
  }
  ~EndingSignals() { ::pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  EndingSignals(const EndingSignals&) = delete;
  EndingSignals& operator=(const EndingSignals&) = delete;
  EndingSignals(EndingSignals&&) = delete;
  EndingSignals& operator=(EndingSignals&&) = delete;

  [[nodiscard]] int fd() const noexcept { return fd_.get(); }
  [[nodiscard]] bool came() const {
    sigset_t pending;
    sigpending(&pending);
    return sigismember(&pending, SIGINT) == 1 || sigismember(&pending, SIGTERM) == 1 ||
           sigismember(&pending, SIGHUP) == 1;
  }

 private:
  sigset_t before_{};
  Fd fd_;
};

// "pvrdma-agent-report-node7-20261121-023143"; without the host's name where that is masked.
std::string name_of_report(bool redacted, std::time_t now) {
  std::array<char, 256> host{};
  if (redacted || ::gethostname(host.data(), host.size() - 1) != 0) host[0] = '\0';
  std::string name = "pvrdma-agent-report-";
  for (const char c : std::string{host.data()})
    if (std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '-' || c == '.') name += c;
  if (name.back() != '-') name += '-';
  std::array<char, 32> date{};
  std::tm utc{};
  ::gmtime_r(&now, &utc);
  return name.append(date.data(), std::strftime(date.data(), date.size(), "%Y%m%d-%H%M%S", &utc));
}

// Before the work, what would make it useless after it.
Result<void> check_place(const std::string& path) {
  struct stat there {};
  if (::lstat(path.c_str(), &there) == 0) return fail(EEXIST, "creating", path);
  const std::string folder = std::filesystem::path{path}.parent_path().string();
  const std::string& asked = folder.empty() ? "." : folder;
  if (::access(asked.c_str(), W_OK | X_OK) != 0) return fail(errno, "creating a file in", asked);
  return {};
}

// Never in place of another file. What could not be written whole is removed.
Result<void> create(const std::string& path, const std::string& content) {
  const Fd fd{::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600)};
  if (!fd) return fail(errno, "creating", path);
  auto written = write_all(fd.get(), content, path);
  if (!written) ::unlink(path.c_str());
  return written;
}

std::vector<Entry> collect_all(const Settings& settings, const ReportOptions& options, int stop) {
  const auto devices = list_directory(options.root / "/sys/class/infiniband");
  bundle::Surroundings surroundings;
  surroundings.root = options.root;
  surroundings.path = (options.path.empty() ? variable("PATH") : options.path) + ":" + kUsualPlaces;
  surroundings.environment = {"LC_ALL=C.UTF-8"};
  // As it is where the fault was seen: other libraries than the system's are one.
  if (const std::string libraries = variable("LD_LIBRARY_PATH"); !libraries.empty())
    surroundings.environment.push_back("LD_LIBRARY_PATH=" + libraries);
  bundle::Bounds bounds;
  bounds.time = options.limit;
  bounds.stop_fd = stop;
  return bundle::collect(bundle::parts(options.agentctl, settings.socket,
                                       devices.value_or(std::vector<std::string>{})),
                         surroundings, bounds);
}

void redact(std::vector<Entry>& entries, const Root& root) {
  bundle::Redactor redactor;
  bundle::learn_host(redactor, root);
  for (const Entry& entry : entries) redactor.learn(entry.content);
  for (Entry& entry : entries)
    for (std::string* text : {&entry.name, &entry.source, &entry.reason, &entry.content})
      *text = redactor.mask(*text);
}

std::vector<bundle::ArchiveFile> files_of(std::vector<Entry> entries, const Json& manifest) {
  std::vector<bundle::ArchiveFile> files{{"manifest.json", dumped(manifest) + "\n"}};
  for (Entry& entry : entries)
    if (!entry.content.empty() || entry.outcome == bundle::Outcome::Good)
      files.push_back({std::move(entry.name), std::move(entry.content)});
  return files;
}

std::string rendered(const std::string& path, std::size_t bytes, const Json& manifest,
                     const std::string& missed) {
  const auto took = Milliseconds{manifest["took_ms"].get<std::int64_t>()};
  std::string text = printable(path) + ": " + std::to_string(manifest["parts"].size()) +
                     " parts, " + std::to_string((bytes + bundle::kKiB - 1) / bundle::kKiB) +
                     " KiB, made in " + span(took) + "\n";
  if (!manifest["as_root"].get<bool>())
    text += "not made as root, so that some parts have less to tell than they could\n";
  if (!manifest["redacted"].get<bool>())
    text += "it holds addresses and names of this machine; --redact masks them\n";
  return text + (missed.empty() ? "nothing is missing\n" : "missing: " + missed + "\n");
}

// What the command line may not ask for together; empty: it asks for nothing of the kind.
std::string objection(const Settings& settings, const Console& console, bool to_stdout) {
  if (!to_stdout) return {};
  if (settings.json) return "--json and --output - both want standard output";
  return ::isatty(::fileno(console.out)) != 0 ? "an archive is not written to a terminal" : "";
}

}  // namespace

int report(const Settings& settings, const Console& console, const ReportOptions& options) {
  const auto refuse = [&](const std::string& why) {
    console.complain(printable(why));
    return kExitUnknown;
  };
  const bool to_stdout = options.output == "-";
  if (const auto why = objection(settings, console, to_stdout); !why.empty()) return refuse(why);
  const std::time_t now = std::time(nullptr);
  const std::string name = name_of_report(options.redact, now);
  const std::string path = options.output.empty() ? name + ".tar.zst" : options.output;
  if (!to_stdout)
    if (const auto good = check_place(path); !good) return refuse(good.error().message());

  const EndingSignals signals;
  const BootTime start = BootClock::now();
  std::vector<Entry> entries = collect_all(settings, options, signals.fd());
  if (options.redact) redact(entries, options.root);
  const Json manifest =
      bundle::manifest(entries, {PVRDMA_VERSION, wall_time(start), ::geteuid() == 0, options.redact,
                                 BootClock::now() - start});
  const std::string missed = bundle::missed(entries);
  const auto archive = bundle::make_archive(name, files_of(std::move(entries), manifest), now);
  if (signals.came()) return refuse("interrupted, and nothing was written");
  if (!archive) return refuse(archive.error().message());

  if (to_stdout) {
    if (!console.print(*archive)) return refuse("standard output does not take the report");
  } else if (const auto created = create(path, *archive); !created) {
    return refuse(created.error().message());
  }
  std::string text =
      rendered(to_stdout ? "standard output" : path, archive->size(), manifest, missed);
  if (settings.json) {
    Json told = manifest;
    told["file"] = path;
    told["bytes"] = archive->size();
    text = dumped(told) + "\n";
  }
  std::FILE* const to = to_stdout ? console.err : console.out;
  const bool printed =
      std::fwrite(text.data(), 1, text.size(), to) == text.size() && std::fflush(to) == 0;
  return printed ? 0 : kExitUnknown;
}

}  // namespace pvrdma::ctl
