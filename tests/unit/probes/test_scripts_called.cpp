// SPDX-License-Identifier: GPL-2.0-or-later
// The scripts that a command line runs.
#include "tests/unit/catch.hpp"
#include "tests/unit/probes/recipe_lines.hpp"

using namespace pvrdma::probes;
using pvrdma::test::Lines;

TEST_CASE("scripts that a line calls, by absolute path, of no package") {
  CHECK(scripts_called("sudo -n /opt/a.sh arg; [ -x /opt/b ] && /opt/b || . /opt/c.sh") ==
        Lines{"/opt/a.sh", "/opt/b", "/opt/c.sh"});
  CHECK(scripts_called("/bin/bash -x '/opt/d.sh' >/tmp/log & cat /opt/e") == Lines{"/opt/d.sh"});
  CHECK(scripts_called("/usr/bin/true; ./f.sh; cp /opt/g /opt/h; /etc/init.d/rdma start").empty());
}

TEST_CASE("the words of a wrapper before the command are not the script") {
  for (const char* line : {"flock -n /run/rdma.lock /opt/a.sh",
                           "flock /opt /opt/a.sh",
                           "flock -w 10 9.lock /opt/a.sh",
                           "/usr/bin/flock -xE 4 /run/rdma.lock -c '/opt/a.sh -v'",
                           "flock --wait 5 /l /opt/a.sh",
                           "sudo -u root /opt/a.sh",
                           "sudo -nu root -- /opt/a.sh",
                           "sudo -uroot /opt/a.sh",
                           "sudo --user root /opt/a.sh",
                           "timeout -s KILL 60 /opt/a.sh",
                           "timeout --signal=KILL -k 5 $LIMIT /opt/a.sh",
                           "timeout 1m sudo -g adm /opt/a.sh",
                           "ionice -c idle nice -n 19 /opt/a.sh",
                           "ionice -c3 -n 7 /opt/a.sh",
                           "env -i -u LANG PATH=/bin /opt/a.sh",
                           "bash -euo pipefail /opt/a.sh",
                           "nohup setsid flock -n /run/l sh -c \"/opt/a.sh\" &",
                           "time -o /tmp/t /opt/a.sh",
                           "su - root -c '/opt/a.sh'",
                           "su -c '/opt/a.sh' root",
                           "runuser -u root -- /opt/a.sh",
                           "systemd-cat -t rdma /opt/a.sh",
                           "/usr/bin/python3 -u /opt/a.sh",
                           "/usr/libexec/platform-python -W ignore /opt/a.sh",
                           "/usr/bin/python3.9 -W ignore /opt/a.sh",
                           "perl -w /opt/a.sh",
                           "ksh /opt/a.sh",
                           "systemd-run --no-block -p Nice=5 /opt/a.sh",
                           "systemd-run --wait --unit rdma /opt/a.sh"}) {
    INFO(line);
    CHECK(scripts_called(line) == Lines{"/opt/a.sh"});
  }
  for (const char* line :
       {"flock -n 9 || exit 1", "flock -u /opt/l", "sudo -u", "timeout 60", "flock"})
    CHECK(scripts_called(line).empty());
  CHECK(scripts_called("flock /l; /opt/a.sh") == Lines{"/opt/a.sh"});
}
