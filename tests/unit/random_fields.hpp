// SPDX-License-Identifier: GPL-2.0-or-later
// Seeded random input for properties: fields of a Snapshot, some of them missing.
#pragma once

#include <random>

#include "agent/model/field.hpp"

namespace pvrdma::test {

using Random = std::mt19937;

inline bool chance(Random& random, unsigned percent) { return random() % 100 < percent; }

// Sometimes makes the field absent or unreadable.
template <typename T>
void lose(Random& random, Field<T>& field) {
  if (chance(random, 12)) field = Field<T>::absent();
  if (chance(random, 10)) field = Field<T>::unreadable({5, "reading", "something"});
}

}  // namespace pvrdma::test
