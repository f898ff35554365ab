# SPDX-License-Identifier: GPL-2.0-or-later
# Runs a server in one guest and a client in another, and reads perftest's results. For scenarios with `guests: 2`.
# shellcheck shell=bash

configure() { # NUMBER: ready, with the address 192.168.30.NUMBER
  printf '[[adapter]]\nmatch = { netdev = "ens16f0" }\naddresses = ["192.168.30.%s/24"]\n' "$1" | agent_config
  systemctl restart pvrdma-agent.service
  wait_until 90 "ready, guest $1" health_is ready
  wait_until 15 "its address has a GID" sh -c "grep -qi c0a8:1e0$1 /sys/class/infiniband/rocep0s16f1/ports/1/gids/*"
}
gid_index() { # NUMBER: the index of the address's GID
  local file
  file=$(grep -il "c0a8:1e0$1" /sys/class/infiniband/rocep0s16f1/ports/1/gids/*) && echo "${file##*/}"
}
background() { # NAME COMMAND…: exit status in ./NAME.status, output in ./NAME.out
  rm -f "$1.status"
  {
    local ended=0
    "${@:2}" >"$1.out" 2>&1 || ended=$?
    echo "$ended" >"$1.new"
    mv "$1.new" "$1.status"
  } &
}
serve() { # PORT COMMAND…: starts a server, which ends after one client
  background server "${@:2}"
  wait_until 20 "$2 listens" sh -c "ss -ltn | grep -q ':$1 '"
}
serve_rdma_cm() { # COMMAND…: listeners of rdma_cm are in no list of sockets
  background server "$@"
  wait_until 20 "$1 listens" sh -c "rdma resource show cm_id | grep -q LISTEN"
}
# perftest may distrust its clock after the transfer; that is no failure (lib.sh, bandwidth).
served() {
  wait_until 30 "the server has ended" test -e server.status
  cat server.out
  [[ $(<server.status) == 0 ]] || grep -q 'Correlation coefficient' server.out
}
between() { # NAME COMMAND…: as server in guest 2 and as client in guest 1
  local what=$1 gid=-x
  shift
  [[ $1 != *pingpong ]] || gid=-g
  on 2 serve 18515 "$@" "$gid" "$(on 2 gid_index 2)"
  timeout 60 "$@" "$gid" "$(gid_index 1)" 192.168.30.2 >client.out 2>&1 || grep -q 'Correlation coefficient' client.out ||
    { cat client.out; die "$what: the client"; }
  expect "$what: the server" on 2 served
}
# A column of perftest's result: 3 is the least and 5 the typical latency in microseconds, 4 the average bandwidth in MB/s. If the
# client has no result, the server's is taken.
figure() {
  local found
  found=$(figure_in <client.out "$1")
  [[ $found ]] || found=$(on 2 cat server.out | figure_in "$1")
  echo "$found"
}
figure_in() { awk -v column="$1" '/^ *[0-9]+ +[0-9]+ /{print $column}'; }
at_least() { awk -v got="$1" -v bound="$2" 'BEGIN { exit !(got >= bound) }'; } # FIGURE BOUND
at_most() { awk -v got="$1" -v bound="$2" 'BEGIN { exit !(got != "" && got + 0 <= bound + 0) }'; }

# --- pvrdma-agentctl verify between guest 1, the client, and guest 2 ----------------------------------------------------

other=192.168.30.2
as_nobody() { setpriv --reuid nobody --regid nogroup --clear-groups env HOME=/tmp "$@"; }
listen() { # ARGUMENT…: in the background, for one peer; exit status in ./listener.status, output in ./listener.out
  background listener as_nobody pvrdma-agentctl verify --listen --wait 100s "$@"
  wait_until 30 "it listens" sh -c "ss -ltn | grep -q :18600"
}
listened() { wait_until 60 "the listener has ended" test -e listener.status; cat listener.out; }
# shellcheck disable=SC2034  # Scenarios use it.
verify() { # ARGUMENT…: exit status in $status, output in ./out
  status=0
  as_nobody pvrdma-agentctl verify "$@" "$other" >out 2>&1 || status=$?
  cat out
}
measure() { on 2 listen; verify --duration "$@"; on 2 listened; } # DURATION ARGUMENT…
of() { gojq -r "$1" out; } # FILTER
