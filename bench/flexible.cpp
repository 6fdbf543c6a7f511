// SPDX-License-Identifier: Apache-2.0
// Suite "flexible": cost of flexible bodies against their number of modes, and of time steps of large systems.
//
// Chains: forward dynamics at a random state, by the recursion and by the dense mass matrix; both must agree.
// Stepped systems: first the start without frequency bound must give the reference accelerations that another
// program computed, then with the bound the two solvers must agree; what is timed is Euler-Cromer at 1 ms.
// Rounds and batches as in the suite "trees".
#include "flexible.h"
#include "flexible_system.h"
#include "table.h"
#include "timing.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <exception>

namespace bench {
namespace {

// Of the solvers. Forces: what one's accelerations leave over in the other's equations of motion. The accelerations
// themselves differ by more: the dense factorization loses what the condition of the mass matrix takes.
constexpr double agreement = 1e-10, conditioned_agreement = 1e-8;
constexpr double reference_agreement = 1e-9; // of accelerations with the other program
constexpr double slow_call_s = 50e-3;        // slower evaluations are not timed
constexpr double slow_step_s = 2e-3;         // slower steps are not timed: a run has a thousand
constexpr double step_s = 1e-3, simulated_s = 1;
constexpr double frequency_bound = 2 * 3.14159265358979323846 * 200; // rad/s

constexpr const char *evaluation = "forward_dynamics", *stepping = "step";

struct FlexRow : Row {
	int modes = 0;          // of each flexible body
	double cpu_per_sim = 0; // CPU time over simulated time; 0: not a run
};

struct Contestant {
	const char *name;
	CalSolver solver;
	std::unique_ptr<FlexEngine> engine;
	int calls = 1;          // per batch
	bool timed = false;     //
	std::vector<double> ns; // per call or step, one for each round
};

double batch_seconds(FlexEngine &e, int calls) {
	const double begin = cpu_seconds();
	for (int i = 0; i < calls; i++)
		e.forward_dynamics();
	return cpu_seconds() - begin;
}

class FlexibleSuite {
  public:
	explicit FlexibleSuite(const Options &options) : options_(options) {}

	int run() {
		for (const std::string &name : options_.models.empty() ? flexible_names() : options_.models)
			run_model(name);
		print_tables();
		if (!options_.json.empty() && !write_json({rows_.begin(), rows_.end()}, options_.json)) {
			std::fprintf(stderr, "calder-bench: error: cannot write %s\n", options_.json.c_str());
			return 1;
		}
		if (failures_)
			std::printf("\n%d check(s) FAILED\n", failures_);
		return failures_ ? 1 : 0;
	}

  private:
	void run_model(const std::string &name) {
		const FlexSystem plain = make_flexible(name, 0);
		load(plain);
		std::printf("\n%s: %d bodies, %d speeds, %d modes per flexible body\n", name.c_str(),
		            engines_[0].engine->bodies(), engines_[0].engine->speeds(), plain.modes);
		evaluate();
		for (const Contestant &c : engines_)
			if (!plain.references.empty())
				check_result(c, "udot of the reference", c.engine->disagreement(plain.references), reference_agreement);
		if (plain.stepped) {
			load(make_flexible(name, frequency_bound));
			evaluate();
		}
		FlexEngine &solved = *recursive().engine;
		check_result(recursive(), "forces against dense", solved.residual(*dense().engine), agreement);
		check_result(recursive(), "udot against dense", solved.disagreement(*dense().engine), conditioned_agreement);
		std::fflush(stdout);
		if (plain.stepped)
			time_steps(plain);
		else
			time_evaluations(plain);
	}

	Contestant &dense() { return engines_[0]; }
	Contestant &recursive() { return engines_[1]; }

	void load(const FlexSystem &system) {
		engines_.clear();
		engines_.push_back({"calder-dense", CAL_SOLVER_DENSE, nullptr, 1, false, {}});
		engines_.push_back({"calder-recursive", CAL_SOLVER_RECURSIVE, nullptr, 1, false, {}});
		for (Contestant &c : engines_)
			c.engine = std::make_unique<FlexEngine>(system, c.solver, options_.seed);
	}

	void evaluate() {
		for (Contestant &c : engines_)
			c.engine->forward_dynamics();
	}

	void check_result(const Contestant &c, const char *what, double error, double limit) {
		const bool good = c.engine->sound() && error <= limit;
		std::printf("  %-17s %-22s %.1e  %s\n", c.name, what, error, good ? "agrees" : "FAILED");
		failures_ += !good;
	}

	// Whether to time it, given what one call takes.
	bool eligible(const Contestant &c, double seconds, double limit) {
		if (!options_.engines.empty() && !contains(options_.engines, c.name))
			return false;
		if (seconds > limit)
			std::printf("  %-17s not timed: %.1f ms per call\n", c.name, 1e3 * seconds);
		return seconds <= limit;
	}

	void time_evaluations(const FlexSystem &system) {
		for (Contestant &c : engines_) {
			c.timed = eligible(c, batch_seconds(*c.engine, 1), slow_call_s);
			while (c.timed && batch_seconds(*c.engine, c.calls) < options_.batch_s)
				c.calls *= 2;
		}
		for (int round = 0; round < options_.rounds; round++)
			for (Contestant &c : engines_)
				if (c.timed)
					c.ns.push_back(1e9 * batch_seconds(*c.engine, c.calls) / c.calls);
		for (Contestant &c : engines_)
			if (c.timed)
				add_row(system, evaluation, c);
	}

	void time_steps(const FlexSystem &system) {
		for (Contestant &c : engines_)
			c.timed = eligible(c, batch_seconds(*c.engine, 1), slow_step_s);
		for (int round = 0; round < options_.rounds; round++)
			for (Contestant &c : engines_) {
				if (!c.timed)
					continue;
				c.engine->start();
				const double begin = cpu_seconds();
				c.engine->simulate(simulated_s, step_s);
				c.ns.push_back(1e9 * (cpu_seconds() - begin) / simulated_s * step_s);
				if (c.engine->sound())
					continue;
				std::printf("  %-17s FAILED: not finite within %g s\n", c.name, simulated_s);
				failures_++, c.timed = false;
			}
		for (Contestant &c : engines_)
			if (c.timed)
				add_row(system, stepping, c);
	}

	void add_row(const FlexSystem &system, const char *algorithm, Contestant &c) {
		std::sort(c.ns.begin(), c.ns.end());
		FlexRow r;
		r.suite = "flexible";
		r.algorithm = algorithm;
		r.model = system.name;
		r.engine = c.name;
		r.version = cal_version();
		r.n = c.engine->bodies();
		r.modes = system.modes;
		r.ns_best = c.ns.front();
		r.ns_median = c.ns[c.ns.size() / 2];
		r.more = {{"modes", system.modes}};
		if (system.stepped)
			r.more.emplace_back("cpu_per_sim", r.cpu_per_sim = 1e-9 * r.ns_best / step_s);
		std::printf("  %-17s %12.0f ns per call (median %.0f), %.1f ns per body\n", c.name, r.ns_best, r.ns_median,
		            r.ns_best / r.n);
		std::fflush(stdout);
		rows_.push_back(r);
	}

	const FlexRow *find(const std::string &model, const std::string &engine) const {
		for (const FlexRow &r : rows_)
			if (r.model == model && r.engine == engine)
				return &r;
		return nullptr;
	}

	void print_tables() const {
		const std::vector<Row> plain(rows_.begin(), rows_.end());
		print_table(plain, evaluation);
		for (const char *engine : {"calder-dense", "calder-recursive"})
			print_growth(engine);
		print_table(plain, stepping);
		for (const FlexRow &r : rows_)
			if (r.cpu_per_sim > 0)
				std::printf("%-12s %-17s CPU time / simulated time %.4f\n", r.model.c_str(), r.engine.c_str(),
				            r.cpu_per_sim);
	}

	// The exponent of cost ~ modes^p, a least-squares line in logarithms, and four modes against none.
	void print_growth(const char *engine) const {
		double n = 0, sx = 0, sy = 0, sxx = 0, sxy = 0;
		for (const int modes : {16, 32, 64, 128})
			if (const FlexRow *r = find("flexchain16_m" + std::to_string(modes), engine)) {
				const double x = std::log(modes), y = std::log(r->ns_best);
				n++, sx += x, sy += y, sxx += x * x, sxy += x * y;
			}
		if (n == 4)
			std::printf("%s: cost grows as modes^%.2f from 16 to 128\n", engine,
			            (n * sxy - sx * sy) / (n * sxx - sx * sx));
		const FlexRow *rigid = find("rigidchain16", engine), *four = find("flexchain16_m4", engine);
		if (rigid && four)
			std::printf("%s: a body with 4 modes costs %.2f rigid ones\n", engine, four->ns_best / rigid->ns_best);
	}

	const Options &options_;
	std::vector<Contestant> engines_;
	std::vector<FlexRow> rows_;
	int failures_ = 0;
};

bool known_names(const Options &options) {
	for (const std::string &m : options.models)
		if (!contains(flexible_names(), m))
			return std::fprintf(stderr, "calder-bench: error: no model '%s' in suite flexible\n", m.c_str()), false;
	for (const std::string &e : options.engines)
		if (e != "calder-recursive" && e != "calder-dense")
			return std::fprintf(stderr, "calder-bench: error: no engine '%s' in suite flexible\n", e.c_str()), false;
	return true;
}

} // namespace

int run_flexible(const Options &options) {
	if (!known_names(options))
		return 2;
	try {
		return FlexibleSuite(options).run();
	} catch (const std::exception &e) {
		std::fprintf(stderr, "calder-bench: error: %s\n", e.what());
		return 1;
	}
}

} // namespace bench
