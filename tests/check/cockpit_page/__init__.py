# SPDX-License-Identifier: GPL-2.0-or-later
"""The parts of tests/check/cockpit: the guest with the agent and Cockpit, the browser outside of it."""
