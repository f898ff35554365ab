// What single commands of the field's recipe do: the modules loaded in order, vmw_pvrdma unloaded
// and loaded again, the port polled, the link set up, the RDMA services restarted.
#pragma once

#include <string>
#include <vector>

#include "probes/recipe/shell.hpp"

namespace pvrdma::probes {

enum class RecipeStep {
  LoadModule,    // one that must precede vmw_pvrdma, or comes with it
  LoadDriver,    // vmw_pvrdma
  UnloadDriver,  // vmw_pvrdma, or a module it stands on
  WatchPort,     // shows or polls the devices
  BringLinkUp,   // of an adapter
  SetLink,       // its MTU or address, as the configuration has them
  RestartStack,  // the services that load RDMA modules: rdma, openibd
};

// What an administrator's configuration makes the agent do.
struct RecipeScope {
  std::vector<std::string> modules = {"mlx4_ib", "ib_umad", "rdma_cm", "rdma_ucm"};
  std::vector<std::string> netdevs;    // of PVRDMA adapters; a line about any other is not ours
  std::vector<std::string> addresses;  // "192.168.30.201/24"
  std::vector<unsigned> mtus;          // bytes
};

struct Judgement {
  enum class Kind {
    Recipe,  // only what `steps` says
    Filler,  // nothing, if what it stands beside goes: sleep, echo, true
    Other,   // something else, or not understood
  } kind = Kind::Other;
  std::vector<RecipeStep> steps;  // also of a command that does something else as well
  std::string script;             // Other: the path of a script that it runs
  std::string missing;            // Other: what the configuration lacks for it to be the agent's
};

[[nodiscard]] Judgement judge(const ShellCommand& command, const RecipeScope& scope);

// True where it takes vmw_pvrdma away or brings it in, so that a reload of the agent's would meet
// it.
[[nodiscard]] bool touches_driver(RecipeStep step);

}  // namespace pvrdma::probes
