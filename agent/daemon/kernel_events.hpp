// SPDX-License-Identifier: GPL-2.0-or-later
// Kernel events that are a reason for a look: rtnetlink for links and addresses, udev for devices,
// kernel uevents for modules. Also the setting of the clock: it happens when the machine wakes up,
// and when the host resumes the VM or reverts it to a snapshot.
//
// An event only tells whether it may concern a PVRDMA adapter; the next look reads the state. On a
// host with many other interfaces (containers) their events are dropped here.
#pragma once

#include <libudev.h>
#include <systemd/sd-event.h>

#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>

#include "agent/base/error.hpp"
#include "agent/base/handle.hpp"
#include "agent/base/netlink.hpp"
#include "agent/base/timer.hpp"
#include "agent/model/snapshot.hpp"

namespace pvrdma {

class KernelEvents {
 public:
  using OnEvent = std::function<void()>;

  // Events count from the moment this returns. `event` must outlive the object.
  [[nodiscard]] static Result<std::unique_ptr<KernelEvents>> subscribe(sd_event* event,
                                                                       OnEvent on_event);
  ~KernelEvents() = default;
  KernelEvents(const KernelEvents&) = delete;
  KernelEvents& operator=(const KernelEvents&) = delete;
  KernelEvents(KernelEvents&&) = delete;
  KernelEvents& operator=(KernelEvents&&) = delete;

  // Sets the links, functions and modules whose events matter, from the last look; what the look
  // could not see is kept. The first call also reports events that came during the first look,
  // which may have read the state before them.
  void set_filter(const Snapshot& snapshot);

 private:
  explicit KernelEvents(OnEvent on_event);
  [[nodiscard]] Result<void> open_rtnetlink(sd_event* event);
  [[nodiscard]] Result<void> open_udev(sd_event* event);
  [[nodiscard]] Result<void> open_clock(sd_event* event);
  [[nodiscard]] bool concerns_us(udev_device* device);
  static int on_rtnetlink(sd_event_source* source, int fd, unsigned events, void* self);
  static int on_clock_set(sd_event_source* source, int fd, unsigned events, void* self);
  static int on_uevent(sd_event_source* source, int fd, unsigned events, void* self);

  OnEvent on_event_;
  // Until the first look has ended, links_ and functions_ hold those of all events.
  bool looked_ = false;
  std::set<int> links_;                           // ifindex of every adapter's netdev
  std::set<std::string, std::less<>> functions_;  // PCI addresses, both of each adapter
  std::set<std::string, std::less<>> modules_;
  std::optional<NetlinkSocket> socket_;
  Handle<udev, udev_unref> udev_;
  Handle<udev_monitor, udev_monitor_unref> processed_;  // after udevd's rules, so renames are done
  Handle<udev_monitor, udev_monitor_unref> raw_;        // from the kernel, also where no udevd runs
  Fd clock_;
  EventSource rtnetlink_source_, processed_source_, raw_source_, clock_source_;
};

}  // namespace pvrdma
