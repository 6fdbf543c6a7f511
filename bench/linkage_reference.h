// SPDX-License-Identifier: Apache-2.0
// Accelerations of a linkage at rest by other means than those of any engine.
#pragma once

#include "models.h"

namespace bench {

// Newton and Euler for each body by itself, with the forces of hinges and loops as unknowns, in one dense system. Without
// speeds; joints are hinges or free. In a plane, loops are held by two forces, in space by five.
std::vector<double> accelerations_at_rest(const BenchModel &model, const std::vector<double> &q);

} // namespace bench
