// SPDX-License-Identifier: Apache-2.0
// Suite "parallel": a step of one model by several threads against the same step by one, which knows nothing of branches.
//
// Before timing, accelerations by branches must agree with those of the whole model, and be the same to the bit with any
// number of threads. Wall-clock time, since several processors work; rounds with different numbers of threads alternate.
#include "parallel.h"
#include "flexible_system.h"
#include "table.h"
#include "timing.h"

#include <algorithm>
#include <cstdio>
#include <exception>
#include <thread>

namespace bench {
namespace {

constexpr double agreement = 1e-12; // of forces, by branches and in one piece
constexpr double step_s = 1e-3;
constexpr int steps_before = 100, steps_awake = 50;
constexpr double batch_s = 20e-3;
// Everything moves a little from the start: far from the only load, numbers would otherwise be so small (below 1e-308) that
// some processors take a hundred times as long for them.
constexpr double stir = 1e-2;
constexpr double frequency_bound = 2 * 3.14159265358979323846 * 200; // rad/s

struct Contestant {
	int threads;
	std::unique_ptr<FlexEngine> engine;
	int steps = 16;         // per batch
	std::vector<double> ns; // per step, one for each round
};

// The first steps wake the threads, and are not counted.
double batch_seconds(FlexEngine &e, int steps) {
	e.start();
	e.simulate(steps_awake * step_s, step_s);
	const double begin = wall_seconds();
	e.simulate(steps * step_s, step_s);
	return wall_seconds() - begin;
}

class ParallelSuite {
  public:
	explicit ParallelSuite(const Options &options) : options_(options) {}

	int run() {
		for (const std::string &name : options_.models.empty() ? parallel_names() : options_.models)
			run_model(name);
		print_table();
		if (!options_.json.empty() && !write_json(rows_, options_.json)) {
			std::fprintf(stderr, "calder-bench: error: cannot write %s\n", options_.json.c_str());
			return 1;
		}
		if (failures_)
			std::printf("\n%d check(s) FAILED\n", failures_);
		return failures_ ? 1 : 0;
	}

  private:
	std::vector<int> thread_counts() const {
		if (!options_.threads.empty())
			return options_.threads;
		std::vector<int> counts{1};
		const int most = static_cast<int>(std::max(1u, std::thread::hardware_concurrency()));
		for (int n = 2; n <= most && n <= 16; n *= 2)
			counts.push_back(n);
		return counts;
	}

	void run_model(const std::string &name) {
		const FlexSystem system = make_flexible(name, frequency_bound);
		std::vector<Contestant> engines;
		bool first = true; // the one without branches
		for (const int threads : thread_counts()) {
			engines.push_back({threads, nullptr, 16, {}});
			engines.back().engine = std::make_unique<FlexEngine>(system, CAL_SOLVER_RECURSIVE, options_.seed,
			                                                     first               ? 0
			                                                     : options_.branches ? options_.branches
			                                                                         : threads,
			                                                     threads, stir);
			first = false;
		}
		FlexEngine &whole = *engines.front().engine;
		std::printf("\n%s: %d bodies, %d speeds\n", name.c_str(), whole.bodies(), whole.speeds());
		for (Contestant &c : engines) {
			c.engine->start();
			whole.start();
			whole.simulate(steps_before * step_s, step_s);
			c.engine->take_state(whole);
			whole.forward_dynamics();
			if (&c == &engines.front())
				continue;
			c.engine->forward_dynamics();
			const double error = c.engine->inverse_residual(whole);
			const bool good = error <= agreement;
			std::printf("  %2d threads: %2d branches, forces differ by %.1e, accelerations by %.1e  %s\n", c.threads,
			            c.engine->branches(), error, c.engine->disagreement(whole), good ? "agree" : "FAILED");
			failures_ += !good;
		}
		time(name, engines);
	}

	void time(const std::string &name, std::vector<Contestant> &engines) {
		for (Contestant &c : engines)
			while (batch_seconds(*c.engine, c.steps) < batch_s && c.steps < 1 << 13)
				c.steps *= 2;
		for (int round = 0; round < options_.rounds; round++)
			for (Contestant &c : engines)
				c.ns.push_back(1e9 * batch_seconds(*c.engine, c.steps) / c.steps);
		for (Contestant &c : engines) {
			if (!c.engine->sound()) {
				std::printf("  %d threads: FAILED, not finite\n", c.threads);
				failures_++;
			}
			add_row(name, c);
		}
	}

	void add_row(const std::string &name, Contestant &c) {
		std::sort(c.ns.begin(), c.ns.end());
		Row r;
		r.suite = "parallel";
		r.algorithm = "step";
		r.model = name;
		r.engine = "calder";
		r.version = cal_version();
		r.n = c.engine->bodies();
		r.ns_best = c.ns.front();
		r.ns_median = c.ns[c.ns.size() / 2];
		r.threads = c.threads;
		r.more = {{"branches", c.engine->branches()}};
		rows_.push_back(r);
		const double one = r.ns_best, base = base_of(name);
		std::printf("  %2d threads %12.0f ns per step (median %.0f), %.2f times one thread\n", c.threads, one,
		            r.ns_median, base / one);
		std::fflush(stdout);
	}

	double base_of(const std::string &name) const {
		for (const Row &r : rows_)
			if (r.model == name)
				return r.ns_best;
		return 0;
	}

	void print_table() const {
		std::printf("\n%-16s %8s %9s %12s %9s\n", "model", "threads", "branches", "ns per step", "speed-up");
		for (const Row &r : rows_)
			std::printf("%-16s %8d %9.0f %12.0f %9.2f\n", r.model.c_str(), r.threads, r.more[0].second, r.ns_best,
			            base_of(r.model) / r.ns_best);
	}

	const Options &options_;
	std::vector<Row> rows_;
	int failures_ = 0;
};

} // namespace

const std::vector<std::string> &parallel_names() {
	static const std::vector<std::string> names = {"jsc128", "star128", "flexchain1024", "chain32"};
	return names;
}

int run_parallel(const Options &options) {
	for (const std::string &m : options.models)
		if (!contains(parallel_names(), m))
			return std::fprintf(stderr, "calder-bench: error: no model '%s' in suite parallel\n", m.c_str()), 2;
	try {
		return ParallelSuite(options).run();
	} catch (const std::exception &e) {
		std::fprintf(stderr, "calder-bench: error: %s\n", e.what());
		return 1;
	}
}

} // namespace bench
