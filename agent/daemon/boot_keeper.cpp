#include "agent/daemon/boot_keeper.hpp"

#include <cerrno>
#include <utility>

#include "agent/base/file.hpp"
#include "agent/base/log.hpp"
#include "agent/base/machine.hpp"
#include "agent/varlink/boots_file.hpp"

namespace pvrdma {

Result<std::string> keep_boot(const std::filesystem::path& this_boot,
                              const std::filesystem::path& kept, const std::string& machine) {
  if (machine.empty()) return fail(0, "keeping the boots of a machine without", "machine-id");
  auto now = varlink::read_boots(this_boot);
  if (!now) return fail(std::move(now.error()));
  if (now->boots.empty()) return std::string{};
  std::string dropped;
  auto before = varlink::read_boots(kept);
  if (!before)
    dropped = before.error().message();
  else if (!before->boots.empty() && before->machine != machine)
    dropped = kept.string() + ": they are another machine's";
  if (!before || before->machine != machine) before = varlink::KeptBoots{};
  const varlink::KeptBoots all{
      machine, varlink::with_newest(std::move(now->boots.front()), std::move(before->boots))};
  if (auto put = replace_file(kept, varlink::to_text(all)); !put)
    return fail(std::move(put.error()));
  return dropped;
}

void keep_this_boot() {
  const auto kept = keep_boot(varlink::kThisBootPath, varlink::kBootsPath, this_machine());
  if (!kept)
    log::notice("The timeline of this boot is not kept: {}", kept.error().message());
  else if (!kept->empty())
    log::notice("The timelines of earlier boots are dropped: {}", *kept);
}

}  // namespace pvrdma
