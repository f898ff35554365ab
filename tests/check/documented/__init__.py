# SPDX-License-Identifier: GPL-2.0-or-later
"""The parts of tests/check/documentation, each of which yields complaints."""
