# summary: verify mesh: three guests meet and measure every pair; a lost machine costs its own pairs, and what was measured is gone on with
# guests: 3
# timeout: 900

# shellcheck source=tests/lab/guest/pair.sh
. /run/lab/pair.sh
meeting=192.168.30.1:18650
prepare() { # NUMBER: nobody may measure the MTU
  configure "$1"
  sysctl -q net.ipv4.ping_group_range="0 2147483647"
}
take_part() { # ARGUMENT…: in the background
  setpriv --reuid nobody --regid nogroup --clear-groups env HOME=/tmp pvrdma-agentctl verify mesh \
    --rendezvous "$meeting" --duration 2s "$@" >mesh.out 2>&1 &
}
hold() { # ARGUMENT…: exit status in $status, output in ./out
  status=0
  pvrdma-agentctl --json verify mesh --rendezvous "$meeting" --duration 2s "$@" >out 2>&1 || status=$?
  cat out
}
of() { jq -r "$1" out; }

scenario() {
  prepare 1
  on 2 prepare 2
  on 3 prepare 3
  on 2 take_part --size 3
  on 3 take_part --size 3
  hold --size 3 --output found
  expect "every pair is measured" jq -e '.machines | length == 3' out
  expect_equal "with all figures" "3 true" "$(of '"\(.pairs | length) \([.pairs[].figures | .latency_us, .out_mb_s, .in_mb_s, .mtu_bytes] | all(. > 0))"')"
  expect "neither failed nor unknown" test "$status" -le 1
  expect_equal "kept" "3" "$(grep -c figures found/pairs.jsonl)"
  expect "with a picture" grep -q '<svg' found/mesh.svg
  expect_equal "and a line for each pair" 4 "$(wc -l <found/mesh.csv)"
  expect_equal "nothing listens" "" "$(ss -Hltn 'sport = :18650')"

  # The pair of 2 and 3 is to be measured again; 3 does not come.
  sed -i '/"192.168.30.2".*"192.168.30.3"\|"192.168.30.3".*"192.168.30.2"/d' found/pairs.jsonl
  on 2 take_part --size 3
  hold --size 3 --output found --resume --wait 15s
  expect_equal "a machine is missing" 2 "$status"
  expect_equal "the other pair is that of before" "1" "$(of '.pairs | length')"
  on 2 take_part --size 3
  on 3 take_part --size 3
  hold --size 3 --output found --resume
  expect_equal "one pair was left to measure" "3" "$(grep -c figures found/pairs.jsonl)"
  expect_equal "and all are there" "3" "$(of '.pairs | length')"
  hold --size 3 --output found
  expect_equal "an earlier mesh is not overwritten" 3 "$status"
}
