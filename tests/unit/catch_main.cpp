// SPDX-License-Identifier: GPL-2.0-or-later
// The main function that Catch2 2 leaves to its user.
#define CATCH_CONFIG_MAIN
#include <catch2/catch.hpp>
