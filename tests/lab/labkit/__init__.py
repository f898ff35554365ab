"""The lab: guests with emulated PVRDMA adapters, booted by QEMU, in which the agent is put to the test.

From the bottom up:  paths, console, cache, suites, host  →  image, standin  →  mux, qmp, machine
→  faults, payload, scenario  →  guest, install, runner  →  the commands (cmd_*).
"""
