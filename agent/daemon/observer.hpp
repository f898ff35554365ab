// SPDX-License-Identifier: GPL-2.0-or-later
// Observer: looks at the system in a thread of its own, and hands snapshots to the event loop.
//
// A look blocks where the kernel does (a device command of a dead adapter waits ten seconds), and
// the loop must answer all the same. A look that sees nothing new wakes nobody: on a quiet system
// only this thread wakes, once per interval.
#pragma once

#include <systemd/sd-event.h>

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "agent/base/clock.hpp"
#include "agent/base/error.hpp"
#include "agent/model/event.hpp"
#include "probes/observe.hpp"

namespace pvrdma {

class Observer {
 public:
  using OnLook = std::function<void(Looked)>;
  using Observe = std::function<Snapshot(const probes::ObserveOptions&)>;

  // Begins with the first look. `event` must outlive the observer. `on_look` is called from the
  // loop, `observe` from the thread. `modules`: which to report beside vmxnet3 and vmw_pvrdma.
  [[nodiscard]] static Result<std::unique_ptr<Observer>> start(sd_event* event,
                                                               std::vector<std::string> modules,
                                                               OnLook on_look,
                                                               Observe observe = probes::observe);
  // Waits for a look under way, for 25 s at most: the process must not exit while a device command
  // of its is out. One stuck for longer is left behind.
  ~Observer();
  Observer(const Observer&) = delete;
  Observer& operator=(const Observer&) = delete;
  Observer(Observer&&) = delete;
  Observer& operator=(Observer&&) = delete;

  // From now on: which modules to report, how often to look without being asked, and by when a
  // snapshot must be handed over even if nothing has changed.
  void schedule(std::vector<std::string> modules, Milliseconds interval,
                std::optional<BootTime> deliver_by);
  // Looks as soon as possible, once more if a look is under way, and hands the snapshot over.
  void look();
  // When the last look ended, handed over or not; zero: none has.
  [[nodiscard]] BootTime last_look() const;
  // When the look that is under way began; none: none is.
  [[nodiscard]] std::optional<BootTime> looking_since() const;

 private:
  struct Shared;
  Observer(std::shared_ptr<Shared> shared, OnLook on_look);
  static int on_wake(sd_event_source* source, int fd, unsigned events, void* self);

  std::shared_ptr<Shared> shared_;
  OnLook on_look_;
  sd_event_source* source_ = nullptr;
};

}  // namespace pvrdma
