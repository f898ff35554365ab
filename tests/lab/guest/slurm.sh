# SPDX-License-Identifier: GPL-2.0-or-later
# A cluster of real slurmctld and slurmd, for scenarios with `programs: slurmctld slurmd slurm-client`.
# shellcheck shell=bash

configure_slurm() { # <slurm.conf, the lines about nodes, and others that the scenario needs
  local program
  # Debian's maintainer scripts, which do not run here, would make the links between the variants of Slurm.
  for program in slurmctld slurmd slurmstepd; do ln -s "$program-wlm" "/usr/sbin/$program"; done
  mkdir -p /var/lib/slurm/controller /var/lib/slurm/node /etc/slurm
  cat - /dev/fd/3 >/etc/slurm/slurm.conf 3<<'CONF'
ClusterName=lab
AuthType=auth/none
CredType=cred/none
SlurmUser=root
StateSaveLocation=/var/lib/slurm/controller
SlurmdSpoolDir=/var/lib/slurm/node
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
MailProg=/bin/true
ReturnToService=2
MessageTimeout=60
PartitionName=all Nodes=ALL Default=YES
CONF
}
