// SPDX-License-Identifier: Apache-2.0
// calder-bench: times Calder beside its peers on the same models, in the same process, interleaved.
#include "derivatives.h"
#include "engine.h"
#include "flexible.h"
#include "loops.h"
#include "options.h"
#include "parallel.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace {

struct Suite {
	const char *name;
	const char *summary;
	bench::SuiteFunction run;
	const std::vector<std::string> &(*models)();
};

// One line per suite.
constexpr Suite suites[] = {
	{"trees", "forward and inverse dynamics, mass matrix, its inverse and Jacobians of tree mechanisms",
     bench::run_trees, bench::model_names},
#ifdef BENCH_CALDER
	{"flexible", "cost against the number of modes, and time steps of large flexible systems", bench::run_flexible,
     bench::flexible_names},
	{"loops", "forward dynamics of linkages and time steps of a closed flexible system", bench::run_loops,
     bench::loop_names},
	{"derivatives", "derivatives of forward dynamics against differences of it", bench::run_derivatives,
     bench::derivative_names},
	{"parallel", "time steps of one model by several threads", bench::run_parallel, bench::parallel_names},
#endif
};

void print_usage() {
	std::puts(
		"usage: calder-bench [SUITE] [--models A,B] [--engines A,B] [--rounds N] [--threads 1,2,4] [--branches N] [--quick] [--instructions] [--json FILE]\n"
		"example: calder-bench trees --models chain32,humanoid --json trees.json\n\nsuites:");
	for (const Suite &s : suites) {
		std::printf("  %-10s %s\n            ", s.name, s.summary);
		for (const std::string &name : s.models())
			std::printf(" %s", name.c_str());
		std::printf("\n");
	}
	std::printf("engines:  ");
	for (const bench::EngineEntry &e : bench::engines())
		std::printf(" %s%s", e.name.c_str(), e.by_default ? "" : " (when named)");
	std::printf("\n");
}

std::vector<std::string> split(const std::string &text) {
	std::vector<std::string> out;
	for (std::size_t at = 0; at <= text.size();) {
		const std::size_t end = std::min(text.find(',', at), text.size());
		if (end > at)
			out.push_back(text.substr(at, end - at));
		at = end + 1;
	}
	return out;
}

const Suite *find_suite(const char *name) {
	for (const Suite &s : suites)
		if (!std::strcmp(name, s.name))
			return &s;
	return nullptr;
}

int usage_error(const char *what, const char *which) {
	std::fprintf(stderr, "calder-bench: error: %s '%s'; see --help\n", what, which);
	return 2;
}

} // namespace

int main(int argc, char **argv) {
	bench::Options options;
	const Suite *suite = &suites[0];
	for (int i = 1; i < argc; i++) {
		const std::string arg = argv[i];
		if (arg == "--help" || arg == "-h")
			return print_usage(), 0;
		if (arg == "--quick") {
			options.rounds = 5;
			continue;
		}
		if (arg == "--instructions" || arg == "--marks") {
			(arg == "--marks" ? options.marks : options.instructions) = true;
			continue;
		}
		if (arg[0] != '-') {
			suite = find_suite(argv[i]);
			if (!suite)
				return usage_error("no such suite", argv[i]);
			continue;
		}
		if (i + 1 == argc)
			return usage_error("unknown option, or its value is missing:", argv[i]);
		const std::string value = argv[++i];
		if (arg == "--json")
			options.json = value;
		else if (arg == "--models")
			options.models = split(value);
		else if (arg == "--engines")
			options.engines = split(value);
		else if (arg == "--threads")
			for (const std::string &n : split(value))
				options.threads.push_back(std::max(1, std::atoi(n.c_str())));
		else if (arg == "--branches")
			options.branches = std::max(0, std::atoi(value.c_str()));
		else if (arg == "--rounds")
			options.rounds = std::max(1, std::atoi(value.c_str()));
		else
			return usage_error("unknown option", argv[i - 1]);
	}
	return suite->run(options);
}
