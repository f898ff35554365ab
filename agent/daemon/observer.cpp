// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/daemon/observer.hpp"

#include <sys/eventfd.h>

#include <cerrno>
#include <condition_variable>
#include <mutex>
#include <thread>

#include "agent/base/guarded.hpp"
#include "agent/base/handle.hpp"
#include "agent/codec/ledger_file.hpp"
#include "agent/daemon/reporter.hpp"
#include "build_config.hpp"
#include "probes/recipe/boot_scripts.hpp"

namespace pvrdma {

namespace {

// The initramfs changes only by hand or with a package.
constexpr Milliseconds kInitramfsEvery{30'000};
// An interrupted device command spoils a command of another process (agent/base/held_signals.hpp).
// The driver ends each command after ten seconds, and one look may send several. Must be less than
// the unit's TimeoutStopSec=.
constexpr Milliseconds kStopPatience{25'000};

}  // namespace

// The data that both threads use. Both own it, as a stuck look outlives the Observer.
struct Observer::Shared {
  std::mutex mutex;
  std::condition_variable wake;   // the observer thread waits here
  std::condition_variable ended;  // ~Observer waits here
  bool stop = false;
  bool stopped = false;
  bool requested = true;  // start() asks for the first look
  Observe observe;
  std::vector<std::string> modules;
  Milliseconds interval{1000};
  std::optional<BootTime> deliver_by;
  std::optional<Looked> mailbox;
  BootTime last_look{};
  std::optional<BootTime> looking_since;
  Fd event_fd;

  void run();
  bool wait_for_work(std::unique_lock<std::mutex>& lock);
};

// Sleeps until the next look is due or asked for. False: stop.
bool Observer::Shared::wait_for_work(std::unique_lock<std::mutex>& lock) {
  const auto begin = BootClock::now();
  BootTime due = begin + interval;
  while (!stop && !requested) {
    BootTime next = begin + interval;
    if (deliver_by && *deliver_by < next) next = *deliver_by;
    const auto left = next - BootClock::now();
    if (left <= Milliseconds{0}) break;
    due = next;  // a shorter interval that is set later does not make this wait late
    wake.wait_for(lock, left);
  }
  if (!stop) Reporter::woke_late(BootClock::now() - due);
  return !stop;
}

void Observer::Shared::run() {
  std::optional<Snapshot> previous;
  probes::BootScriptWatch boot_scripts{Root{}};
  probes::PortQuery port_query{PVRDMA_PORT_QUERY};
  probes::Instruments with;
  with.port_query = &port_query;
  probes::ask_module_lookup(with, PVRDMA_MODULE_LOOKUP);
  with.boot_scripts = &boot_scripts;
  with.read_ledger = [] { return codec::read_ledger(); };
  BootTime initramfs_looked{};
  std::unique_lock lock{mutex};
  while (wait_for_work(lock)) {
    const bool asked = std::exchange(requested, false);
    const probes::Look look{modules, previous ? &*previous : nullptr, asked,
                            asked || last_look - initramfs_looked >= kInitramfsEvery};
    if (look.initramfs) initramfs_looked = last_look;
    Looked seen;
    seen.began = BootClock::now();
    looking_since = seen.began;
    lock.unlock();
    const int code = guarded([&] { seen.snapshot = observe(with, look); });
    // A look that was cut short by an exception reports that it saw nothing.
    if (code < 0) {
      seen.began = seen.snapshot.taken_at = BootClock::now();
      seen.snapshot.adapters =
          Field<std::vector<Adapter>>::unreadable({-code, "looking at", "the system"});
    }
    lock.lock();
    looking_since.reset();
    const BootTime now = seen.snapshot.taken_at;
    last_look = now;
    const bool due = deliver_by && *deliver_by <= now;
    if (due) deliver_by.reset();
    const bool news = !previous || *previous != seen.snapshot;
    if (asked || due || news) {
      previous = seen.snapshot;
      mailbox = std::move(seen);
      // Without the lock, as the write wakes the loop, which takes the lock.
      lock.unlock();
      eventfd_write(event_fd.get(), 1);  // cannot fail: the counter has 64 bits
      lock.lock();
    }
  }
  stopped = true;
  ended.notify_all();
}

Observer::Observer(std::shared_ptr<Shared> shared, OnLook on_look)
    : shared_(std::move(shared)), on_look_(std::move(on_look)) {}

Result<std::unique_ptr<Observer>> Observer::start(sd_event* event, std::vector<std::string> modules,
                                                  OnLook on_look, Observe observe) {
  auto shared = std::make_shared<Shared>();
  shared->observe = std::move(observe);
  shared->modules = std::move(modules);
  shared->event_fd = Fd{::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)};
  if (!shared->event_fd) return fail(errno, "creating", "an eventfd");
  std::unique_ptr<Observer> observer{new Observer(shared, std::move(on_look))};
  auto source =
      call_on(event, shared->event_fd.get(), EPOLLIN, on_wake, observer.get(), "an eventfd");
  if (!source) return fail(source.error());
  observer->source_ = std::move(*source);
  const int code =
      guarded([&] { std::thread([shared] { guarded_thread([&] { shared->run(); }); }).detach(); });
  if (code < 0) return fail(-code, "starting", "the thread that looks at the system");
  return observer;
}

Observer::~Observer() {
  source_.reset();
  std::unique_lock lock{shared_->mutex};
  shared_->stop = true;
  shared_->wake.notify_all();
  shared_->ended.wait_for(lock, kStopPatience, [this] { return shared_->stopped; });
}

void Observer::schedule(std::vector<std::string> modules, Milliseconds interval,
                        std::optional<BootTime> deliver_by) {
  const std::lock_guard lock{shared_->mutex};
  shared_->modules = std::move(modules);
  // The thread is woken only if it would sleep too long.
  const bool sooner = interval < shared_->interval ||
                      (deliver_by && (!shared_->deliver_by || *deliver_by < *shared_->deliver_by));
  shared_->interval = interval;
  shared_->deliver_by = deliver_by;
  if (sooner) shared_->wake.notify_all();
}

void Observer::look() {
  const std::lock_guard lock{shared_->mutex};
  shared_->requested = true;
  shared_->wake.notify_all();
}

BootTime Observer::last_look() const {
  const std::lock_guard lock{shared_->mutex};
  return shared_->mailbox ? BootTime{} : shared_->last_look;
}

std::optional<BootTime> Observer::looking_since() const {
  const std::lock_guard lock{shared_->mutex};
  return shared_->looking_since;
}

int Observer::on_wake(sd_event_source* source, int fd, unsigned /*events*/, void* self) {
  return guarded_callback(source, [fd, observer = static_cast<Observer*>(self)] {
    eventfd_t count = 0;
    eventfd_read(fd, &count);
    std::optional<Looked> seen;
    {
      const std::lock_guard lock{observer->shared_->mutex};
      seen = std::exchange(observer->shared_->mailbox, std::nullopt);
    }
    if (seen) observer->on_look_(std::move(*seen));
  });
}

}  // namespace pvrdma
