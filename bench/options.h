// SPDX-License-Identifier: Apache-2.0
// Command line options shared by the suites, and the list of suites.
#pragma once

#include <string>
#include <vector>

namespace bench {

struct Options {
	std::string json;                 // file to write, empty for none
	std::vector<std::string> models;  // empty for all
	std::vector<std::string> engines; // empty for those that run by default
	std::vector<int> threads;         // of the suite "parallel"; empty: 1, 2, 4, ... as the machine has
	int branches = 0;                 // of the suite "parallel": to partition for; 0: the number of threads
	int rounds = 25;                  // interleaved rounds of timing
	double batch_s = 2e-3;            // least CPU time of a batch
	bool instructions = false;        // of the suite "trees": count them too, under callgrind
	bool marks = false;               // one call of everything between marks, for the count; nothing is timed
	unsigned long long seed = 20240229;
};

// 0: ran and agreed, 1: a check failed, 2: usage.
using SuiteFunction = int (*)(const Options &);

int run_trees(const Options &options);

} // namespace bench
