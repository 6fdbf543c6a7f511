// SPDX-License-Identifier: Apache-2.0
// One measurement, and the ways to show many of them.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace bench {

struct Row {
	std::string suite, algorithm, model, engine, version;
	int n = 0; // bodies
	int threads = 1;
	double ns_best = 0;   // per call, least over the rounds
	double ns_median = 0; // per call

	std::vector<std::pair<std::string, double>> more; // further fields of the suite, for the file
};

// Time of this row over that of the fastest other engine on the same model and algorithm; nothing if there is none.
void print_ratio(const std::vector<Row> &rows, const Row &row);

// Models down, engines across, ns per body; where there is a row for "calder", its ratio to the fastest
// other engine (below 1: calder is faster).
void print_table(const std::vector<Row> &rows, const std::string &algorithm);

// The file appears whole or not at all (calder/output.h). Returns false if it could not be written.
bool write_json(const std::vector<Row> &rows, const std::string &path);

} // namespace bench
