#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Puts the agent into the template that Packer builds; runs in it, as root: provision.sh PACKAGE
#
# The package starts the agent, which is harmless: a template with an adapter has it brought up. What differs from clone
# to clone is not written here, so nothing has to be taken out again.
set -eu
package=${1:?PACKAGE}

case $package in
  *.deb) DEBIAN_FRONTEND=noninteractive apt-get install --yes --no-install-recommends "$package" ;;
  *.rpm) dnf install --assumeyes "$package" ;;
  *)
    echo "provision.sh: $package is neither a .deb nor a .rpm" >&2
    exit 1
    ;;
esac
rm -f "$package"

umask 022  # the agent is not root, and has to read it
mkdir -p /etc/pvrdma-agent
cat >/etc/pvrdma-agent/pvrdma-agent.toml <<'TOML'
# For all clones.
# Addresses come from vSphere (guestinfo.pvrdma-agent.config), which is off by default: every user of a clone can write
# guestinfo, and would set its addresses, MTU and readiness. It is on here as nobody but its administrators logs in there.
guestinfo.enabled = true
[readiness]
adapters = 1
TOML
pvrdma-agent --check-config
