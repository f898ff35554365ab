// SPDX-License-Identifier: GPL-2.0-or-later
#include "probes/udev.hpp"

#include <libudev.h>

#include <cerrno>
#include <string>

#include "agent/base/handle.hpp"

namespace pvrdma::probes {

Field<bool> udev_settled(const Root& root, int interface_index) {
  const auto control = root / "/run/udev/control";
  const auto runs = is_there(control);
  if (!runs) return Field<bool>::unreadable(runs.error());
  if (!*runs) return true;
  const Handle<udev, udev_unref> context{udev_new()};
  if (!context) return Field<bool>::unreadable({ENOMEM, "opening", "the udev database"});
  const std::string id = "n" + std::to_string(interface_index);
  errno = 0;
  const Handle<udev_device, udev_device_unref> device{
      udev_device_new_from_device_id(context.get(), id.c_str())};
  if (!device)
    return Field<bool>::from(fail(errno != 0 ? errno : EIO, "asking udev about interface", id));
  const int answer = udev_device_get_is_initialized(device.get());
  if (answer < 0) return Field<bool>::from(fail(-answer, "asking udev about interface", id));
  const bool renaming = udev_device_get_property_value(device.get(), "ID_RENAMING") != nullptr;
  return answer > 0 && !renaming;
}

bool was_renamed(const RootedPath& netdev) {
  constexpr const char* kRenamed = "4";  // NET_NAME_RENAMED, Linux include/uapi/linux/netdevice.h
  const auto how = read_attribute(netdev / "name_assign_type");
  return how && *how == kRenamed;
}

}  // namespace pvrdma::probes
