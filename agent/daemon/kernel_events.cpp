// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/daemon/kernel_events.hpp"

#include <linux/if_addr.h>
#include <linux/rtnetlink.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <limits>
#include <string_view>
#include <utility>

#include "agent/base/guarded.hpp"

namespace pvrdma {

namespace {

constexpr std::array kSubsystems{"module", "pci", "net", "infiniband"};

std::string_view view(const char* text) {
  return text == nullptr ? std::string_view{} : std::string_view{text};
}

// The index of the link that a message is about; 0: none.
int link_in(nlmsghdr& message) {
  if (message.nlmsg_type == RTM_NEWLINK || message.nlmsg_type == RTM_DELLINK) {
    if (nlmsg_datalen(&message) >= static_cast<int>(sizeof(ifinfomsg)))
      return static_cast<const ifinfomsg*>(nlmsg_data(&message))->ifi_index;
  } else if (message.nlmsg_type == RTM_NEWADDR || message.nlmsg_type == RTM_DELADDR) {
    if (nlmsg_datalen(&message) >= static_cast<int>(sizeof(ifaddrmsg)))
      return static_cast<int>(static_cast<const ifaddrmsg*>(nlmsg_data(&message))->ifa_index);
  }
  return 0;
}

// Whether the key belongs to an adapter. Where that is not known yet, the key is remembered.
template <typename Ours, typename Key>
bool is_ours(bool known, Ours& ours, Key key) {
  if (known) return ours.find(key) != ours.end();
  ours.emplace(key);
  return false;
}

template <typename Set>
bool overlap(const Set& left, const Set& right) {
  return std::any_of(left.begin(), left.end(),
                     [&](const auto& key) { return right.contains(key); });
}

}  // namespace

KernelEvents::KernelEvents(OnEvent on_event)
    : on_event_(std::move(on_event)), modules_{kDriverModule, kNetModule} {}

Result<std::unique_ptr<KernelEvents>> KernelEvents::subscribe(sd_event* event, OnEvent on_event) {
  std::unique_ptr<KernelEvents> events{new KernelEvents(std::move(on_event))};
  if (auto opened = events->open_rtnetlink(event); !opened) return fail(opened.error());
  if (auto opened = events->open_udev(event); !opened) return fail(opened.error());
  if (auto opened = events->open_clock(event); !opened) return fail(opened.error());
  return events;
}

Result<void> KernelEvents::open_rtnetlink(sd_event* event) {
  auto subscribed = NetlinkSocket::subscribe(
      NETLINK_ROUTE, {RTNLGRP_LINK, RTNLGRP_IPV4_IFADDR, RTNLGRP_IPV6_IFADDR});
  if (!subscribed) return fail(subscribed.error());
  socket_ = std::move(*subscribed);
  return call_on(event, socket_->fd(), EPOLLIN, on_rtnetlink, this, "rtnetlink")
      .map([&](EventSource source) { rtnetlink_source_ = std::move(source); });
}

Result<void> KernelEvents::open_udev(sd_event* event) {
  udev_.reset(udev_new());
  if (!udev_) return fail(errno, "creating", "a udev context");
  const auto open = [&](const char* name, Handle<udev_monitor, udev_monitor_unref>& monitor,
                        EventSource& into) -> Result<void> {
    monitor.reset(udev_monitor_new_from_netlink(udev_.get(), name));
    if (!monitor) return fail(errno, "creating a monitor of", name);
    for (const char* subsystem : kSubsystems)
      udev_monitor_filter_add_match_subsystem_devtype(monitor.get(), subsystem, nullptr);
    if (const int error = udev_monitor_enable_receiving(monitor.get()); error < 0)
      return fail(-error, "listening to", name);
    return call_on(event, udev_monitor_get_fd(monitor.get()), EPOLLIN, on_uevent, this, name)
        .map([&](EventSource source) { into = std::move(source); });
  };
  if (auto opened = open("udev", processed_, processed_source_); !opened) return opened;
  return open("kernel", raw_, raw_source_);
}

// A timer that never expires, but is cancelled when the clock is set (timerfd_create(2)). A resume
// sets the clock too (Linux kernel/time/timekeeping.c, timekeeping_resume()).
Result<void> KernelEvents::open_clock(sd_event* event) {
  constexpr const char* kClock = "the clock";
  itimerspec never{};
  never.it_value.tv_sec = std::numeric_limits<time_t>::max();
  clock_ = Fd{::timerfd_create(CLOCK_REALTIME, TFD_CLOEXEC | TFD_NONBLOCK)};
  if (!clock_ || ::timerfd_settime(clock_.get(), TFD_TIMER_ABSTIME | TFD_TIMER_CANCEL_ON_SET,
                                   &never, nullptr) != 0)
    return fail(errno, "watching", kClock);
  return call_on(event, clock_.get(), EPOLLIN, on_clock_set, this, kClock)
      .map([&](EventSource source) { clock_source_ = std::move(source); });
}

void KernelEvents::set_filter(const Snapshot& snapshot) {
  modules_.clear();
  for (const Module& module : snapshot.modules) modules_.insert(module.name);
  if (looked_ && snapshot.adapters.is_unreadable()) return;
  const bool first = !std::exchange(looked_, true);
  const auto links = std::exchange(links_, {});
  const auto functions = std::exchange(functions_, {});
  if (!snapshot.adapters.is_known()) return;
  bool link_unknown = false;
  for (const Adapter& adapter : *snapshot.adapters.get()) {
    functions_.insert(adapter.function);
    functions_.insert(adapter.net_function);
    if (adapter.netdev.is_known())
      links_.insert(adapter.netdev.get()->index);
    else
      link_unknown = true;
  }
  if (first && (overlap(links, links_) || overlap(functions, functions_))) on_event_();
  // A look in the middle of a rename may find no netdev. The event at the end of the rename would
  // then count as another link's, and the next event comes when udev's programs have ended.
  if (!first && link_unknown) links_.insert(links.begin(), links.end());
}

int KernelEvents::on_rtnetlink(sd_event_source* source, int /*fd*/, unsigned /*events*/,
                               void* self) {
  return guarded_callback(source, [events = static_cast<KernelEvents*>(self)] {
    bool ours = false;
    const auto read = events->socket_->read_events([&](nlmsghdr& message) {
      ours = ours || is_ours(events->looked_, events->links_, link_in(message));
    });
    // Events were lost, and they may have been about an adapter.
    if (!read && read.error().code != EAGAIN) ours = true;
    if (ours) events->on_event_();
  });
}

int KernelEvents::on_clock_set(sd_event_source* source, int fd, unsigned /*events*/, void* self) {
  return guarded_callback(source, [fd, events = static_cast<KernelEvents*>(self)] {
    std::uint64_t expirations = 0;
    if (::read(fd, &expirations, sizeof expirations) < 0 && errno == ECANCELED) events->on_event_();
  });
}

bool KernelEvents::concerns_us(udev_device* device) {
  const std::string_view subsystem = view(udev_device_get_subsystem(device));
  if (subsystem == "infiniband") return true;
  if (subsystem == "module") return modules_.contains(view(udev_device_get_sysname(device)));
  if (subsystem == "pci") {
    // A hot-plugged function is recognised by its id, a known function by its address.
    const std::string_view id = view(udev_device_get_property_value(device, "PCI_ID"));
    return id == "15AD:0820" || is_ours(looked_, functions_, view(udev_device_get_sysname(device)));
  }
  udev_device* parent =
      udev_device_get_parent_with_subsystem_devtype(device, "pci", nullptr);  // must not be freed
  return parent != nullptr && is_ours(looked_, functions_, view(udev_device_get_sysname(parent)));
}

int KernelEvents::on_uevent(sd_event_source* source, int fd, unsigned /*events*/, void* self) {
  return guarded_callback(source, [fd, events = static_cast<KernelEvents*>(self)] {
    const bool raw = fd == udev_monitor_get_fd(events->raw_.get());
    udev_monitor* monitor = raw ? events->raw_.get() : events->processed_.get();
    bool ours = false;
    for (;;) {
      errno = 0;
      const Handle<udev_device, udev_device_unref> device{udev_monitor_receive_device(monitor)};
      if (!device) {
        ours = ours || errno == ENOBUFS;
        break;
      }
      ours = ours || events->concerns_us(device.get());
    }
    if (ours) events->on_event_();
  });
}

}  // namespace pvrdma
