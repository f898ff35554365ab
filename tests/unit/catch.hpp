// SPDX-License-Identifier: GPL-2.0-or-later
// Catch2, version 3 or 2, whichever is installed.
#pragma once

#if __has_include(<catch2/catch_all.hpp>)
#include <catch2/catch_all.hpp>
#else
#include <catch2/catch.hpp>
#endif
