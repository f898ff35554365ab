# SPDX-License-Identifier: GPL-2.0-or-later
# summary: unattended-upgrades installs a new version, needrestart restarts outdated services: neither disturbs a job
# adapters: 1
# start: snapshot
# loaders: yes
# install: manual
# previous: yes
# programs: needrestart unattended-upgrades
# timeout: 500

# To install both programs would take an emulated CPU 20 s. So their files are copied, and the configuration that a maintainer script
# would make. use_programs would not do, because needrestart compares the inodes of mapped files, and those of an overlay differ.
copy_programs() {
  mount_programs
  cp -an /run/programs/usr /run/programs/etc /
  cp /usr/share/unattended-upgrades/50unattended-upgrades /etc/apt/apt.conf.d/
}
# The packages of ./debs as a repository in a folder: the guest has no network.
repository() {
  local folder=/srv/repository deb
  mkdir -p "$folder"
  cp debs/*.deb "$folder"
  for deb in "$folder"/*.deb; do
    dpkg-deb -f "$deb"
    printf 'Filename: ./%s\nSize: %s\nSHA256: %s\n\n' "${deb##*/}" "$(stat -c %s "$deb")" "$(sha256sum <"$deb" | cut -d' ' -f1)"
  done >"$folder/Packages"
  printf 'Origin: pvrdma-lab\nSHA256:\n %s %s Packages\n' "$(sha256sum <"$folder/Packages" | cut -d' ' -f1)" \
    "$(stat -c %s "$folder/Packages")" >"$folder/Release"
  rm -f /etc/apt/sources.list /etc/apt/sources.list.d/*
  echo "deb [trusted=yes] file:$folder ./" >/etc/apt/sources.list.d/lab.list
  echo 'Unattended-Upgrade::Origins-Pattern:: "origin=pvrdma-lab";' >/etc/apt/apt.conf.d/60lab
}
# Unlike Debian's default, which asks or only reports, outdated services are restarted at once, as on Ubuntu.
restart_at_will() {
  # shellcheck disable=SC2016  # Perl
  echo '$nrconf{restart} = "a"; 1;' >/etc/needrestart/conf.d/lab.conf
}
# Replaces a library that both the agent and the executor have mapped, as a security update does.
renew_library() {
  local library
  library=$(readlink -f /usr/lib/x86_64-linux-gnu/libnl-3.so.200)
  cp -a "$library" "$library.new"
  mv "$library.new" "$library"
}
version() { dpkg-query -W -f '${Version}' pvrdma-agent; }
nothing_happened() { # WORD
  expect_equal "$1: the job has seen no event" 0 "$(grep -c event_type events || true)"
  expect "$1: the job goes on" kill -0 "$job"
  expect_equal "$1: the driver was not reloaded" "$driver" "$(stat -c %i /sys/module/vmw_pvrdma)"
  wait_until 30 "$1: health says ready" health_is ready
}
executor=pvrdma-agent-executor.service
# Starts the executor, which stays while it has a client.
hold_executor() {
  systemctl start "$executor"
  python3 -c 'import socket, time; s = socket.socket(socket.AF_UNIX); s.connect("/run/pvrdma-agent-executor/io.pvrdma.Executor"); time.sleep(120)' &
}

scenario() {
  wait_boot
  copy_programs
  dpkg -i previous/*.deb
  repository
  restart_at_will
  wait_until 60 "installed: health says ready" health_is ready
  start_job 0
  local driver pid executor_pid
  driver=$(stat -c %i /sys/module/vmw_pvrdma)

  apt-get -q update
  unattended-upgrade -v
  expect_equal "the new version" "$(dpkg-deb -f debs/pvrdma-agent_*.deb Version)" "$(version)"
  nothing_happened unattended-upgrades

  # stop-in-reload stops the executor during a reload.
  hold_executor
  pid=$(agent_pid) executor_pid=$(main_pid "$executor")
  renew_library
  needrestart -r a -l 2>&1 | tee needrestart.out
  expect "needrestart restarts the agent" grep -q pvrdma-agent.service needrestart.out
  expect_not "the agent is another process" [ "$pid" = "$(agent_pid)" ]
  expect "needrestart restarts the executor" grep -q "$executor" needrestart.out
  expect_not "the executor is another process, or has gone" [ "$executor_pid" = "$(main_pid "$executor")" ]
  nothing_happened needrestart
  kill "$job"
}
