"""The parts of tests/check/documentation, each of which yields complaints."""
