#include "agent/tools/verify/advice.hpp"

#include <cerrno>

namespace pvrdma::ctl::selftest {

namespace {

constexpr const char* kGuest = "guest";
constexpr const char* kImage = "image";
constexpr const char* kHost = "host";

// The steps that lock pages: of the buffer, and of the queues.
bool locks_memory(Step step) {
  return step == Step::Memory || step == Step::Cq || step == Step::QueuePairs;
}

// A limit of 0 is not exceeded but forbids it (Linux drivers/infiniband/core/umem.c).
bool lacks_memory(const Report& report, int code) {
  return code == ENOMEM || code == EAGAIN || (code == EPERM && report.memlock_bytes == 0U);
}

Advice of_finding(int code) {
  if (code == ENOSYS) return {kGuest, "The kernel has no verbs devices: modprobe ib_uverbs"};
  return {kImage,
          "Install the library's PVRDMA part: ibverbs-providers (Debian, Ubuntu), libibverbs "
          "(Enterprise Linux). Or the device's node is missing: give a container /dev/infiniband."};
}

Advice of_opening(int code) {
  if (code == EACCES || code == EPERM)
    return {kGuest,
            "This process may not open the device's node in /dev/infiniband: look at its mode "
            "(rdma-core's is 0666), or give the container that device."};
  return {kGuest, "`pvrdma-agentctl health` and the kernel's log (dmesg) say more."};
}

Advice of_lacking_memory(const Report& report) {
  if (report.memlock_bytes)
    return {kGuest,
            "Raise the limit of locked memory: LimitMEMLOCK=infinity in a service's unit, `* - "
            "memlock unlimited` in /etc/security/limits.d for logins, --ulimit memlock=-1 for a "
            "container."};
  return {kGuest,
          "Memory, or the device's own resources, are used up: `rdma resource` shows who "
          "holds them."};
}

Advice of_traffic(const StepFailure& failure) {
  if (failure.code == ETIMEDOUT || failure.status != 0)
    return {kHost,
            "The device took the work and did not carry it out. The guest's log (dmesg) and the "
            "host's (/var/log/vmkernel.log, lines with pvrdma) say why."};
  if (failure.code == EBADMSG || failure.code == EMSGSIZE)
    return {kHost, "The device delivers wrong data: use it for nothing, and report it to VMware."};
  return {kGuest, "The kernel's log (dmesg) says more."};
}

}  // namespace

Advice advice_for(const Report& report) {
  const StepFailure failure = report.failure.value_or(StepFailure{});
  if (!failure.step) return {kGuest, "`pvrdma-agentctl health` says why."};
  const Step step = *failure.step;
  if (locks_memory(step) && lacks_memory(report, failure.code)) return of_lacking_memory(report);
  switch (step) {
    case Step::Find:
      return of_finding(failure.code);
    case Step::Open:
      return of_opening(failure.code);
    case Step::Port:
      return {kGuest,
              "`pvrdma-agentctl health` says why the port is not ACTIVE, and who can mend "
              "it; without an adapter's agent: bring its interface up."};
    case Step::Gid:
      return {kGuest, "Bring the device's interface up and give it an address."};
    case Step::Rtr:
      return {kGuest,
              "The way from the GID to itself is missing: has its interface the address "
              "still, and is it in this network namespace?"};
    case Step::Message:
    case Step::Rounds:
    case Step::Write:
      return of_traffic(failure);
    default:
      return {kGuest, "The driver refuses it: the kernel's log (dmesg) says more."};
  }
}

}  // namespace pvrdma::ctl::selftest
