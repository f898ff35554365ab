# SPDX-License-Identifier: GPL-2.0-or-later
# A cluster of real slurmctld and slurmd, for scenarios with `programs: slurmctld slurmd slurm-client`.
# shellcheck shell=bash

configure_slurm() { # <slurm.conf, its lines about nodes and whatever else the scenario is about
  local program
  # Debian's links between the variants of Slurm are made by its maintainers' scripts, which do not run here.
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
