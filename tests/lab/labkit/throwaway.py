# SPDX-License-Identifier: GPL-2.0-or-later
"""Tests that change a whole system: each is a command, run as root and without network, in a copy that is thrown away."""

import subprocess
import tempfile

# The arguments are folders of the copy, and what is mounted there. The system, a folder or an image of a file system, may have other
# ones above it, which add files.
IN_COPY = r"""
set -e
mount -t tmpfs none "$work"
mkdir "$work/upper" "$work/work" "$work/root"
lower=
IFS=:
for part in $system; do
  if [ -f "$part" ]; then
    mkdir "$work/${part##*/}"
    mount -o ro,loop,noload "$part" "$work/${part##*/}"
    part=$work/${part##*/}
  fi
  lower=$part${lower:+:$lower}
done
mount -t overlay overlay -o "lowerdir=$lower,upperdir=$work/upper,workdir=$work/work" "$work/root"
cd "$work/root"
mount -t proc proc proc
mount -t tmpfs none run
mount --rbind /dev dev
while (($#)); do
  mkdir -p "$1"
  mount --bind "$2" "$1"
  shift 2
done
exec chroot . /usr/bin/env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LC_ALL=C.UTF-8 bash -euo pipefail -c "$command"
"""


def run(command, system, mounts, timeout):
    """The exit status, 124 after `timeout` seconds, and the output of the command in a copy of the `system`, a path, or several with
    colons; `mounts`: {folder of the copy: path}."""
    words = [str(word) for mount in mounts.items() for word in mount]
    with tempfile.TemporaryDirectory() as work:
        argv = ["unshare", "--mount", "--net", "--pid", "--fork", "--kill-child", "bash", "-c", IN_COPY, "bash", *words]
        try:
            done = subprocess.run(argv, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                  check=False, timeout=timeout,
                                  env={"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "work": work, "system": system, "command": command})
            status, output = done.returncode, done.stdout
        except subprocess.TimeoutExpired as error:
            status, output = 124, (error.stdout or b"") + f"\nnot done within {timeout} s".encode()
    return status, output.decode(errors="replace")


def run_all(tests, system, mounts, timeout):
    """Runs each of {name: command}, and prints its verdict, with the output of those that fail. The number of these."""
    failed = 0
    for name, command in tests.items():
        status, output = run(command, system, mounts, timeout)
        failed += status != 0
        print(f"{'FAIL' if status else 'PASS'} {name}", flush=True)
        if status:
            print("".join(f"  | {line}\n" for line in output.splitlines()), end="", flush=True)
    return failed
