// SPDX-License-Identifier: GPL-2.0-or-later
// Observer: looks at the system in its own thread, and hands snapshots to the event loop.
//
// A look blocks where the kernel does (a device command of a dead adapter waits ten seconds), but
// the loop must still answer. A look that sees nothing new does not wake the loop: on a quiet
// system only this thread wakes, once per interval.
#pragma once

#include <systemd/sd-event.h>

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "agent/base/clock.hpp"
#include "agent/base/error.hpp"
#include "agent/base/timer.hpp"
#include "agent/model/event.hpp"
#include "probes/observe.hpp"

namespace pvrdma {

class Observer {
 public:
  using OnLook = std::function<void(Looked)>;
  using Observe = std::function<Snapshot(const probes::Instruments&, const probes::Look&)>;

  // Starts the first look. `event` must outlive the observer. `on_look` is called from the loop,
  // `observe` from the thread. `modules`: those to report besides vmxnet3 and vmw_pvrdma.
  [[nodiscard]] static Result<std::unique_ptr<Observer>> start(sd_event* event,
                                                               std::vector<std::string> modules,
                                                               OnLook on_look,
                                                               Observe observe = probes::observe);
  // Waits for a look under way, for 25 s at most: the process must not exit during a device command
  // of its own. A look that is stuck for longer is left behind.
  ~Observer();
  Observer(const Observer&) = delete;
  Observer& operator=(const Observer&) = delete;
  Observer(Observer&&) = delete;
  Observer& operator=(Observer&&) = delete;

  // Sets the modules to report, the interval of looks, and the time by which a snapshot must be
  // handed over even if nothing has changed.
  void schedule(std::vector<std::string> modules, Milliseconds interval,
                std::optional<BootTime> deliver_by);
  // Looks as soon as possible, once more if a look is under way, and hands the snapshot over.
  void look();
  // When the last look ended. Zero: no look has ended, or one with news is about to be handed over.
  [[nodiscard]] BootTime last_look() const;
  // When the look under way began; none: no look is under way.
  [[nodiscard]] std::optional<BootTime> looking_since() const;

 private:
  struct Shared;
  Observer(std::shared_ptr<Shared> shared, OnLook on_look);
  static int on_wake(sd_event_source* source, int fd, unsigned events, void* self);

  std::shared_ptr<Shared> shared_;
  OnLook on_look_;
  EventSource source_;
};

}  // namespace pvrdma
