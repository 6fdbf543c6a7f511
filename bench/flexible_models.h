// SPDX-License-Identifier: Apache-2.0
// Mechanisms of the suite "flexible", and the flexible ones of "loops", described for Calder, with their start and what
// acts on them.
#pragma once

#include "flexible_shapes.h"

#include <map>
#include <memory>

namespace bench {

struct DescDeleter {
	void operator()(CalDesc *desc) const { cal_desc_destroy(desc); }
};

// A wrench at a node, world axes.
struct FlexLoad {
	std::string node; // "body" or "body/node"
	CalSpatial f;
};

// What an independent program computed for the start: classical acceleration of a body's frame, world axes.
struct FlexReference {
	std::string body;
	CalSpatial a;
};

struct FlexSystem {
	std::string name;
	std::unique_ptr<CalDesc, DescDeleter> desc;
	bool stepped = false;                 // driven through time; otherwise: one evaluation at a random state
	int modes = 0;                        // of each flexible body
	std::vector<double> deflection;       // [modes] size of the modal coordinates in a random state
	std::map<std::string, double> angles; // start, by body; at rest. Stepped systems
	std::map<std::string, double> torques;
	std::vector<FlexLoad> loads;
	std::vector<FlexReference> references; // without a frequency bound
	int projection = 0;                    // of CalIntegratorOptions
};

// Stepped systems with loops, for the suite "loops"; those of "flexible" are flexible_names().
const std::vector<std::string> &closed_names();

// desc is empty if there is no such system. Throws std::runtime_error with Calder's message.
FlexSystem make_flexible(const std::string &name, double frequency_bound);
// The same for closed_names(), with its loops stabilised, and projected on every 150th step only.
FlexSystem make_stabilised(const std::string &name, double frequency_bound);

} // namespace bench
