# SPDX-License-Identifier: GPL-2.0-or-later
# Installs the agent in a template, by the package and packer/provision.sh. Replace the source by your own (vsphere-iso,
# vsphere-clone); this one logs in to an existing machine.
#
#   packer build -var package=pvrdma-agent.deb -var host=192.168.1.10 pvrdma-agent.pkr.hcl

variable "package" {
  type        = string
  description = "The .deb or .rpm that packaging/build-deb or packaging/build-rpm makes."
}

variable "host" {
  type = string
}

variable "user" {
  type    = string
  default = "root"
}

source "null" "template" {
  ssh_host       = var.host
  ssh_username   = var.user
  ssh_agent_auth = true
}

build {
  sources = ["source.null.template"]

  provisioner "file" {
    source      = var.package
    destination = "/var/tmp/${basename(var.package)}"
  }

  provisioner "shell" {
    script = "${path.root}/provision.sh"
    # Debian's installer installs no sudo where root has a password.
    execute_command = "$([ $(id -u) = 0 ] || echo sudo) env {{ .Vars }} sh {{ .Path }} /var/tmp/${basename(var.package)}"
  }
}
