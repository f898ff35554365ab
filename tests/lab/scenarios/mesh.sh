# SPDX-License-Identifier: GPL-2.0-or-later
# summary: verify mesh: three guests, started by a real srun and by a real Ansible over ssh, measure every pair; a lost machine affects only its own pairs, and --resume goes on with the measured ones
# guests: 3
# start: snapshot
# programs: slurmctld slurmd slurm-client openssh-server ansible-core
# timeout: ${PVRDMA_LAB_TIMEOUT:-900}

# shellcheck source=tests/lab/guest/pair.sh
. /run/lab/pair.sh
# shellcheck source=tests/lab/guest/slurm.sh
. /run/lab/slurm.sh
meeting=192.168.30.1:18650
examples=/usr/share/doc/pvrdma-agent/examples
machines=(192.168.30.{1,2,3})

# --- each machine: ready, in Slurm's cluster, and open to Ansible -------------------------------------------------------

prepare() { # NUMBER KEY: the key of root and of each host, in base64
  [[ -e /run/programs/usr ]] || use_programs
  hostname "vm$1"
  printf '192.168.30.%s\n' '1 vm1' '2 vm2' '3 vm3' >>/etc/hosts
  configure "$1"
  # The user nobody may measure the MTU.
  sysctl -q net.ipv4.ping_group_range="0 2147483647"
  open_to_ssh "$2"
  configure_slurm <<<$'SlurmctldHost=vm1(192.168.30.1)\nNodeName=vm[1-3] NodeAddr=192.168.30.[1-3] CPUs=1 State=UNKNOWN'
  [[ $1 != 1 ]] || systemctl start slurmctld.service
  systemctl start slurmd.service
}
open_to_ssh() { # KEY
  local key=/etc/ssh/ssh_host_ed25519_key public
  base64 -d <<<"$1" | install -m 600 /dev/stdin $key
  public=$(ssh-keygen -y -f $key)
  install -d -m 700 /root/.ssh
  echo "$public" >/root/.ssh/authorized_keys
  echo "192.168.30.* $public" >/root/.ssh/known_hosts
  install -m 600 $key /root/.ssh/id_ed25519
  # A maintainer script would make user and configuration. PAM would wait for logind, which does not run here. The usual exchange of
  # keys, with sntrup761, takes an emulated CPU a second longer.
  echo 'sshd:x:110:65534::/run/sshd:/usr/sbin/nologin' >>/etc/passwd
  printf '%s\n' 'UsePAM no' 'KexAlgorithms curve25519-sha256' >/etc/ssh/sshd_config
  systemctl start ssh.service
}
# All three guests are prepared at the same time.
begin() { { status=0; ("$@") >begun.out 2>&1 & wait $! || status=$?; echo "$status" >begun.status; } & } # COMMAND…
begun() { wait_until 240 "the guest is prepared" test -s begun.status; cat begun.out; return "$(<begun.status)"; }
prepare_all() {
  local key
  use_programs
  ssh-keygen -q -t ed25519 -N "" -C lab -f new
  key=$(base64 -w 0 new)
  on 2 begin prepare 2 "$key"
  on 3 begin prepare 3 "$key"
  prepare 1 "$key"
  on 2 begun
  on 3 begun
  printf '%s\n' "${machines[@]}" '[all:vars]' ansible_python_interpreter=/usr/bin/python3 >machines
  wait_until 60 "Slurm has three idle nodes" idle_are 3
}
idle_are() { [[ $(sinfo -h -t idle -o %D) == "$1" ]]; } # NUMBER

# --- by hand, and by engines --------------------------------------------------------------------------------------------

mesh=(pvrdma-agentctl verify mesh --rendezvous "$meeting")
take_part() { as_nobody "${mesh[@]}" --duration 1s --wait 3min "$@" >mesh.out 2>&1 & } # ARGUMENT…: in the background
hold() { # ARGUMENT…: exit status in $status, output in ./out
  status=0
  as_nobody "${mesh[@]}" --json --duration 1s "$@" >out 2>&1 || status=$?
  cat out
}
by_example() { # ARGUMENT…: the user nobody gets three nodes, and the example for Slurm has srun start a task on each
  status=0
  as_nobody salloc -N3 --ntasks-per-node=1 --immediate=30 --chdir=/tmp "$examples/slurm-verify-mesh" "$@" >engine.out 2>&1 || status=$?
  cat engine.out
  cp /tmp/mesh-1/mesh.json out
}
by_srun() { # FOLDER ARGUMENT…: one task on each of three nodes, as the user nobody; exit status in $status, result in ./out
  local folder=$1
  shift
  status=0
  as_nobody srun -N3 --ntasks-per-node=1 --immediate=30 --chdir=/tmp "${mesh[@]}" --size 3 --wait 3min --output "$folder" "$@" >engine.out 2>&1 ||
    status=$?
  cat engine.out
  cp "$folder/mesh.json" out
}
by_ansible() { # FOLDER ARGUMENT…: as root; result in ./out
  local folder=$1
  shift
  # Ansible's exit status only says whether each command ended with 0, which those of a mesh with outliers do not.
  LC_ALL=C.UTF-8 ANSIBLE_PIPELINING=1 ANSIBLE_TIMEOUT=60 ansible all -i machines -f 3 -m command \
    -a "${mesh[*]} --size 3 --wait 3min --output $folder $*" >engine.out 2>&1 || true
  cat engine.out
  expect_equal "Ansible reached all" "${machines[*]}" "$(sed -n 's/^\([0-9.]*\) | [A-Z]* | rc=[01] >>$/\1/p' engine.out | sort | paste -sd ' ')"
  cp "$folder/mesh.json" out
}
kept() { grep -c figures "$1/pairs.jsonl"; } # FOLDER
all_measured() { # FOLDER
  expect "every pair is measured" gojq -e '.machines | length == 3' out
  expect_equal "each pair has all figures" "3 true" "$(of '"\(.pairs | length) \([.pairs[].figures | .latency_us, .out_mb_s, .in_mb_s, .mtu_bytes] | all(. > 0))"')"
  expect_equal "kept" "3" "$(kept "$1")"
  expect_equal "nothing listens" "" "$(ss -Hltn 'sport = :18650')"
}

# --- strangers ----------------------------------------------------------------------------------------------------------

come_as_strangers() { setpriv --reuid 12345 --regid 12345 --clear-groups /run/lab/files/strangers "${meeting%:*}" "${meeting#*:}" >strangers.out & }
strangers_came() { # NUMBER: at least so many
  local came
  pkill -U 12345 || true
  wait_until 10 "the strangers have gone" no_strangers
  came=$(awk '{ came += $1 } END { print came + 0 }' strangers.out)
  expect "strangers came: $came" [ "$came" -ge "$1" ]
}
no_strangers() { ! pgrep -U 12345; }
shared_token() { printf 'one secret' | install -m 600 -o nobody /dev/stdin token; }
# Strangers of two machines have no token, and come to the rendezvous before its members and while these measure.
among_strangers() { # FOLDER
  on 2 shared_token
  on 3 shared_token
  shared_token
  on 3 come_as_strangers
  come_as_strangers
  on 2 take_part --size 3 --token-file token
  on 3 take_part --size 3 --token-file token
  hold --size 3 --wait 2min --token-file token --output "$1"
  expect "the mesh neither failed nor is unknown" test "$status" -le 1
  all_measured "$1"
  on 3 strangers_came 20
  strangers_came 20
}

# The long test repeats the meshes.
soak() { # ROUNDS
  local round
  for ((round = 1; round <= $1; round++)); do
    echo "=== round $round"
    by_srun "/tmp/srun-$round" --duration 10s
    expect "the mesh neither failed nor is unknown" test "$status" -le 1
    all_measured "/tmp/srun-$round"
    by_ansible "/tmp/ansible-$round" --duration 10s
    all_measured "/tmp/ansible-$round"
    among_strangers "/tmp/strangers-$round"
    wait_until 30 "Slurm's nodes are free" idle_are 3
  done
}

scenario() {
  prepare_all
  by_example --duration 1s --wait 3min
  expect "the mesh neither failed nor is unknown" test "$status" -le 1
  all_measured /tmp/mesh-1
  expect_equal "two of three tasks only took part" 2 "$(grep -c '^measured with 2 machines; vm1 has the figures$' engine.out)"
  expect "there is a picture" grep -q '<svg' /tmp/mesh-1/mesh.svg
  expect_equal "the table has a line for each pair" 4 "$(wc -l </tmp/mesh-1/mesh.csv)"

  # The pair of 2 and 3 has to be measured again, but 3 is missing.
  sed -i '/"192.168.30.2".*"192.168.30.3"\|"192.168.30.3".*"192.168.30.2"/d' /tmp/mesh-1/pairs.jsonl
  on 2 take_part --size 3
  hold --size 3 --output /tmp/mesh-1 --resume --wait 30s
  expect_equal "a machine is missing" 2 "$status"
  expect_equal "the other pair is kept" "1" "$(of '.pairs | length')"
  by_ansible /tmp/mesh-1 --duration 1s --resume
  expect_equal "one pair was left to measure" 2 "$(grep -c '^measured with 1 machine; 192.168.30.1 has the figures$' engine.out)"
  all_measured /tmp/mesh-1
  hold --size 3 --output /tmp/mesh-1
  expect_equal "an earlier mesh is not overwritten" 3 "$status"
  soak "${PVRDMA_LAB_ROUNDS:-0}"
}
