// SPDX-License-Identifier: Apache-2.0
// Linkages of the suite "loops", with a state and the accelerations that are known in closed form.
#pragma once

#include "models.h"

namespace bench {

struct Linkage {
	BenchModel model;
	BenchState state;         // on the constraints, positions and speeds
	std::vector<double> udot; // exact
};

// Those that are benchmarked; make_linkage knows fourbarN, feetN, ladderN, netN, trussN, trackN and stewartN for any N.
const std::vector<std::string> &linkage_names();

// model.n() is 0 if there is no such linkage.
Linkage make_linkage(const std::string &name);

} // namespace bench
