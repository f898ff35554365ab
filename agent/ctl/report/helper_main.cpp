// pvrdma-report: what `pvrdma-agentctl report` becomes. A program of its own, so that no other
// command needs libarchive and what that brings, as in a container that has none of it.
#include <CLI/CLI.hpp>
#include <exception>

#include "agent/ctl/commands.hpp"
#include "agent/ctl/system_options.hpp"

namespace {

using namespace pvrdma::ctl;

int run(int argc, char** argv) {
  Settings settings;
  ReportOptions options;
  CLI::App app{"To be started by `pvrdma-agentctl report`.", "pvrdma-report"};
  app.add_flag("--json", settings.json, "Print the manifest as JSON");
  app.add_option("--socket", settings.socket, "Where the agent listens");
  app.add_option("--agentctl", options.agentctl, "The program whose answers are collected");
  add_report_options(app, options);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return error.get_exit_code() == 0 ? app.exit(error) : (app.exit(error), kExitUnknown);
  }
  return report(settings, Console::of_process(), options);
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return run(argc, argv);
  } catch (const std::exception& surprise) {
    Console::of_process().complain(printable(surprise.what()));
    return kExitUnknown;
  }
}
