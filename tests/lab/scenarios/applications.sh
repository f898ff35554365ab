# SPDX-License-Identifier: GPL-2.0-or-later
# summary: real UCX, Open MPI and libfabric between two guests use the adapters with the variables of env, and TCP with those of env --tcp
# guests: 2
# soak: yes
# programs: ucx-utils openmpi-bin netpipe-openmpi libfabric-bin
# timeout: 900
#
# QEMU's device has sends only, and the stand-in refuses shared receive queues although the device announces them. So UCX's
# rc_verbs fails here, and ud_verbs is asked for; on vSphere UCX chooses. Debian's openib cannot connect RoCE ports.

# shellcheck source=tests/lab/guest/pair.sh
. /run/lab/pair.sh

lab_tls=ud_verbs,self,sm

prepare() { # NUMBER
  configure "$1"
  use_programs
  ldconfig
  # mpirun tells machines apart by their names.
  printf '192.168.30.1 lab1\n192.168.30.2 lab2\n' >>/etc/hosts
  hostname "lab$1"
  # Maintainer scripts would make these links.
  ln -sf mpirun.openmpi /usr/bin/mpirun
  ln -sf ../libpsm1/libpsm_infinipath.so.1.16 /usr/lib/x86_64-linux-gnu/libpsm_infinipath.so.1
  remote_shell
}

# --- the evidence: bytes that the lab has carried between the guests, by RDMA and as frames -------------------------------

measured() { # COMMAND…: prints the bytes by RDMA and by the network
  local rdma net
  rdma=$(host carried rdma) net=$(host carried net)
  "$@" >&2 || return # errexit is off in a $(…)
  echo "$(($(host carried rdma) - rdma)) $(($(host carried net) - net))"
}
# mpirun itself speaks TCP, about 15 kB.
by_rdma() { local rdma net; read -r rdma net <<<"$1"; [[ $rdma -gt 4000000 && $net -lt 400000 ]]; } # BYTES BY RDMA AND BY THE NETWORK
by_tcp() { local rdma net; read -r rdma net <<<"$1"; [[ $rdma == 0 && $net -gt 4000000 ]]; }

# --- mpirun -------------------------------------------------------------------------------------------------------------

# mpirun starts its daemon on guest 2 by a shell behind a socket, instead of by ssh. The daemon wants the agent, too.
remote_shell() { # AGENT HOST COMMAND…
  # shellcheck disable=SC2016  # The script's own shell expands it.
  printf '%s\n' '#!/bin/sh' 'host=$1' shift 'echo "$@" | socat -t 60 - "TCP:$host:10514"' | install -m 755 /dev/stdin /usr/local/bin/lab-rsh
}
serve_shell() {
  socat -t 60 TCP-LISTEN:10514,reuseaddr,fork EXEC:/bin/sh,stderr >/dev/null 2>&1 &
  wait_until 20 "a shell listens" sh -c "ss -ltn | grep -q :10514"
}
mpi() { # OPTION… PROGRAM…: a process on each guest; the output is in ./mpi.out
  local rsh=(--mca plm_rsh_agent /usr/local/bin/lab-rsh --mca plm_rsh_no_tree_spawn 1)
  timeout 120 mpirun --allow-run-as-root "${rsh[@]}" --host lab1,lab2 -n 2 --mca pml_base_verbose 10 "$@" \
    >mpi.out 2>&1 || { tail -n 40 mpi.out; return 1; }
}

# --- UCX ------------------------------------------------------------------------------------------------------------------

ucx_test() { # VARIABLES OF env: a hundred messages of 20 kB from guest 1 to guest 2, and back
  local test=(ucx_perftest -t tag_lat -n 100 -w 2 -s 20000) words
  if is_of_mpi ucx_perftest; then
    printf -v words -- '-x %s ' "$@"
    # shellcheck disable=SC2086  # Options are meant to be several words.
    mpi --mca pml ob1 --mca btl ^openib,uct,ofi $words "${test[@]}" || die "UCX"
    cp mpi.out ucx.out
    return
  fi
  on 2 start_ucx "$@"
  env "$@" timeout 60 "${test[@]}" 192.168.30.2 >ucx.out 2>&1 || { cat ucx.out; die "the client of UCX"; }
  on 2 served
}
# Debian 13's ucx_perftest is a program of MPI.
is_of_mpi() { ldd "$(command -v "$1")" | grep -q libmpi; } # PROGRAM
start_ucx() { serve 13337 env "$@" ucx_perftest; } # VARIABLES OF env

ucx() {
  local bytes variables
  ucx_info -d >devices 2>/dev/null
  expect "UCX sees the adapter with ud_verbs" sh -c "grep -A1 'Transport: ud_verbs' devices | grep -q 'Device: rocep0s16f1:1'"
  expect "and rc_verbs, which the stand-in then refuses" sh -c "grep -A1 'Transport: rc_verbs' devices | grep -q 'Device: rocep0s16f1:1'"

  mapfile -t variables < <(pvrdma-agentctl env --format systemd | tr -d '"' | grep ^UCX_)
  bytes=$(measured ucx_test "${variables[@]}" UCX_LOG_LEVEL=info UCX_TLS=$lab_tls)
  expect "UCX with env: the messages go by RDMA ($bytes)" by_rdma "$bytes"
  expect "UCX says so" grep -aq "tag(.*ud_verbs/rocep0s16f1:1" ucx.out
  mapfile -t variables < <(pvrdma-agentctl env --tcp --format systemd | tr -d '"' | grep ^UCX_)
  bytes=$(measured ucx_test "${variables[@]}" UCX_LOG_LEVEL=info)
  expect "UCX with env --tcp: the messages go by TCP ($bytes)" by_tcp "$bytes"
  expect "UCX says so" grep -aq "tag(tcp/ens16f0" ucx.out
}

# --- libfabric --------------------------------------------------------------------------------------------------------------

# Only which device libfabric takes: fi_pingpong does not end, as the device wakes no process that waits for a completion.
domains() { env "$@" fi_info | sed -n 's/^ *domain: //p' | sort -u | tr '\n' ' '; } # VARIABLE…
libfabric() {
  local variables
  mapfile -t variables < <(pvrdma-agentctl env --format systemd | tr -d '"' | grep ^FI_)
  expect_equal "libfabric with env: the adapter" "rocep0s16f1 rocep0s16f1-dgram " "$(domains "${variables[@]}")"
  expect_equal "with another interface: no connections by the adapter" "rocep0s16f1-dgram " "$(domains "${variables[@]}" FI_VERBS_IFACE=other0)"
  mapfile -t variables < <(pvrdma-agentctl env --tcp --format systemd | tr -d '"' | grep ^FI_)
  # libfabric 1.17 adds lo.
  expect_equal "with env --tcp: the interface" "ens16f0 " "$(domains "${variables[@]}" | sed 's/lo $//')"
}

# --- Open MPI -------------------------------------------------------------------------------------------------------------

pipe=(NPopenmpi -l 20000 -u 24000 -n 10 -p 0) # messages of 20 to 24 kB, there and back

open_mpi() {
  local bytes
  # shellcheck disable=SC2046  # Options are meant to be several words.
  {
    expect "mpirun forwards env --mpirun to the other guest" mpi $(pvrdma-agentctl env --mpirun) -x UCX_TLS=$lab_tls sh -c 'hostname; env'
    expect_equal "with their values" 2 "$(grep -ac '^NCCL_IB_HCA==rocep0s16f1:1$' mpi.out)"

    # Without env Open MPI has UCX, and takes TCP all the same.
    bytes=$(measured mpi "${pipe[@]}")
    expect "without variables: TCP, although UCX and the adapter are there ($bytes)" by_tcp "$bytes"
    bytes=$(measured mpi $(pvrdma-agentctl env --mpirun) -x UCX_TLS=$lab_tls "${pipe[@]}")
    expect "env --mpirun: the messages go by RDMA ($bytes)" by_rdma "$bytes"
    expect "Open MPI has selected UCX" grep -aq "component ucx selected" mpi.out
    bytes=$(measured mpi $(pvrdma-agentctl env --mpirun --tcp) "${pipe[@]}")
    expect "env --mpirun --tcp: the messages go by TCP ($bytes)" by_tcp "$bytes"

    # A transport that fails ends the job instead of falling back to TCP.
    expect_not "rc_verbs alone, which the stand-in refuses: the job ends" mpi $(pvrdma-agentctl env --mpirun) -x UCX_TLS=rc_verbs,self "${pipe[@]}"
    expect "Open MPI says why" grep -aq "Failed to create UCP worker" mpi.out
  }
}

# The GID of guest 2 gets another index: a second address comes, the first goes and comes back.
other_index() {
  ip address add 192.168.30.99/24 dev ens16f0
  ip address del 192.168.30.2/24 dev ens16f0
  ip address add 192.168.30.98/24 dev ens16f0
  configure 2
}
index() { pvrdma-agentctl env --json | gojq -r .UCX_IB_GID_INDEX; }

several_machines() {
  local bytes
  on 2 other_index
  expect "the index of guest 2's GID is another now ($(index), $(on 2 index))" [ "$(index)" != "$(on 2 index)" ]
  # shellcheck disable=SC2016  # The process's own shell expands it.
  bytes=$(measured mpi -x UCX_TLS=$lab_tls sh -c 'rdma=$(pvrdma-agentctl env) && eval "$rdma" && exec "$@"' sh "${pipe[@]}")
  expect "each process asks its own machine: the messages go by RDMA ($bytes)" by_rdma "$bytes"
}

scenario() {
  prepare 1
  on 2 prepare 2
  on 2 serve_shell
  ucx
  libfabric
  open_mpi
  several_machines
}
