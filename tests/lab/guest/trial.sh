# SPDX-License-Identifier: GPL-2.0-or-later
# summary: a guest boots, and loads the driver
# install: none
# timeout: 20
# Not a test: if it succeeds on KVM, labkit/accel.py trusts KVM.

scenario() {
  wait_until 30 "udev loads the driver" port_is 0 DOWN
}
