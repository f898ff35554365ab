#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Installs the agent in the template that Packer builds; runs in the template, as root: provision.sh PACKAGE
#
# The package starts the agent, which does no harm: it brings up the adapter of the template, if there is one. The script
# writes nothing that differs from clone to clone, so nothing has to be removed again.
set -eu
package=${1:?PACKAGE}

case $package in
  *.deb)
    apt-get update # Images of clouds have no lists of packages, without which apt installs nothing that the package depends on.
    DEBIAN_FRONTEND=noninteractive apt-get install --yes "$package"
    ;;
  *.rpm) dnf install --assumeyes "$package" ;;
  *)
    echo "provision.sh: $package is neither a .deb nor a .rpm" >&2
    exit 1
    ;;
esac
rm -f "$package"

umask 022  # The agent is not root, and has to read the file.
mkdir -p /etc/pvrdma-agent
cat >/etc/pvrdma-agent/pvrdma-agent.toml <<'TOML'
# For all clones.
# Every user of a clone can write guestinfo, and so could set addresses, MTU and readiness. Take configuration of a single clone from
# it only where users do not log in, or cannot write guestinfo: README.md beside these templates.
#guestinfo.enabled = true
[readiness]
adapters = 1
TOML
pvrdma-agent --check-config
