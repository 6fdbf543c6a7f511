// SPDX-License-Identifier: Apache-2.0
// Suite "loops": forward dynamics of linkages, and time steps of a large flexible system whose loops are closed.
//
// Linkages: every engine that closes loops must give the accelerations of the closed form; then it is timed, in rounds
// as in the suite "trees". Steps: the start without frequency bound must give the accelerations that another program
// computed; what is timed is Euler-Cromer at 1 ms, with the bound, and at the end the loops must still be closed.
#include "loops.h"
#include "engine.h"
#include "flexible_system.h"
#include "loop_models.h"
#include "table.h"
#include "timing.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <exception>
#include <iterator>

namespace bench {
namespace {

constexpr double agreement = 1e-9; // of accelerations, with the closed form or the other program
constexpr double closed = 1e-11;   // residuals of the loops after a run [m, rad; m/s, rad/s]
constexpr double slow_call_s = 2;  // slower calls are not timed
constexpr double rounds_s = 10;    // for the rounds of one model: with slow engines there are fewer
constexpr int least_rounds = 3;    //
constexpr double step_s = 1e-3, simulated_s = 1;
constexpr double frequency_bound = 2 * 3.14159265358979323846 * 200; // rad/s

constexpr const char *evaluation = "loop_forward", *stepping = "step";

struct LoopRow : Row {
	int loops = 0;
	double error = 0;       // of accelerations, relative
	double cpu_per_sim = 0; // CPU time over simulated time; 0: not a run

	double ns_per_loop() const { return ns_best / loops; }
};

// A way to hold the loops of a stepped system: one row each.
struct Way {
	const char *name;
	FlexSystem (*make)(const std::string &model, double frequency_bound);
	double residual; // at most, after a run [m, rad; m/s, rad/s]
};

constexpr Way ways[] = {
	{"calder", make_flexible, closed},            // as the integrator does it: projection after each step
	{"calder-stabilised", make_stabilised, 1e-5}, // loops drift a little, and are pulled back
};

// An engine on one linkage, or one way to step a system.
struct Contestant {
	std::string name, version;
	std::unique_ptr<Engine> engine;      // of a linkage
	std::unique_ptr<FlexEngine> stepper; // of a system in time
	double error = 0;
	int calls = 1;          // per batch
	std::vector<double> ns; // per call or step, one for each round
};

const Way &way_of(const Contestant &c) {
	return *std::find_if(std::begin(ways), std::end(ways), [&](const Way &way) { return c.name == way.name; });
}

double relative_error(const std::vector<double> &x, const std::vector<double> &exact) {
	double worst = x.size() == exact.size() ? 0 : HUGE_VAL;
	for (std::size_t i = 0; i < x.size() && std::isfinite(worst); i++)
		worst = std::isfinite(x[i]) ? std::max(worst, std::fabs((x[i] - exact[i]) / exact[i])) : HUGE_VAL;
	return worst;
}

double batch_seconds(Engine &e, int calls) {
	const double begin = cpu_seconds();
	for (int i = 0; i < calls; i++)
		e.forward_dynamics();
	return cpu_seconds() - begin;
}

class LoopSuite {
  public:
	explicit LoopSuite(const Options &options) : options_(options) {}

	int run() {
		for (const std::string &name : options_.models.empty() ? loop_names() : options_.models) {
			contestants_.clear();
			if (make_linkage(name).model.n() > 0)
				run_linkage(make_linkage(name));
			else
				run_steps(name);
		}
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
	bool wanted(const std::string &name, bool by_default) const {
		return options_.engines.empty() ? by_default : contains(options_.engines, name);
	}

	bool check_result(const Contestant &c, const char *what, double error, double limit) {
		const bool good = error <= limit;
		std::printf("  %-13s %-10s %-22s %.1e  %s\n", c.name.c_str(), c.version.c_str(), what, error,
		            good ? "agrees" : "FAILED");
		std::fflush(stdout);
		failures_ += !good;
		return good;
	}

	// How many rounds, when one takes so long.
	int rounds(double seconds) const {
		const double fit = rounds_s / std::max(seconds, 1e-6);
		return fit >= options_.rounds ? options_.rounds : std::min(options_.rounds, std::max(least_rounds, int(fit)));
	}

	/* ---- linkages ------------------------------------------------------------------------------ */

	void run_linkage(const Linkage &linkage) {
		const BenchModel &model = linkage.model;
		std::printf("\n%s: %d bodies, %zu loops\n", model.name.c_str(), model.n(), model.loops.size());
		load_engines(linkage);
		double round_s = 0;
		for (Contestant &c : contestants_)
			round_s += batch_seconds(*c.engine, c.calls);
		for (int round = rounds(round_s); round > 0; round--)
			for (Contestant &c : contestants_) {
				c.engine->set_state(linkage.state);
				c.ns.push_back(1e9 * batch_seconds(*c.engine, c.calls) / c.calls);
			}
		for (Contestant &c : contestants_)
			add_row(evaluation, model.name, model.n(), static_cast<int>(model.loops.size()), c);
	}

	// Those that load the linkage, are right and are not too slow, with their batches sized.
	void load_engines(const Linkage &linkage) {
		for (const EngineEntry &entry : engines()) {
			Contestant c;
			c.engine = entry.make();
			if (!wanted(entry.name, entry.by_default) || !c.engine->closes_loops())
				continue;
			c.name = entry.name;
			c.version = c.engine->version();
			std::string reason;
			if (!c.engine->load(linkage.model, reason)) {
				std::printf("  %-13s FAILED to load: %s\n", c.name.c_str(), reason.c_str());
				failures_++;
				continue;
			}
			c.engine->set_state(linkage.state);
			const double seconds = batch_seconds(*c.engine, 1);
			c.error = relative_error(c.engine->udot(), linkage.udot);
			if (!check_result(c, "udot of the closed form", c.error, agreement))
				continue;
			if (seconds > slow_call_s) {
				std::printf("  %-13s not timed: %.0f ms per call\n", c.name.c_str(), 1e3 * seconds);
				continue;
			}
			if (seconds < options_.batch_s)
				while (batch_seconds(*c.engine, c.calls) < options_.batch_s)
					c.calls *= 2;
			contestants_.push_back(std::move(c));
		}
	}

	/* ---- steps --------------------------------------------------------------------------------- */

	// One contestant for each way to hold the loops.
	void load_steppers(const std::string &name, double bound) {
		contestants_.clear();
		for (const Way &way : ways) {
			if (!wanted(way.name, true))
				continue;
			Contestant c;
			c.name = way.name;
			c.version = cal_version();
			c.stepper = std::make_unique<FlexEngine>(way.make(name, bound), CAL_SOLVER_AUTO, options_.seed);
			contestants_.push_back(std::move(c));
		}
	}

	void run_steps(const std::string &name) {
		const std::vector<double> errors = check_start(name);
		load_steppers(name, frequency_bound);
		for (std::size_t i = 0; i < contestants_.size(); i++)
			contestants_[i].error = errors[i];
		double round_s = 0;
		for (Contestant &c : contestants_)
			round_s += simulate(c);
		for (Contestant &c : contestants_)
			check_result(c, "loops after the run", c.stepper->sound() ? c.stepper->loop_residual() : HUGE_VAL,
			             way_of(c).residual);
		for (int round = rounds(round_s); round > 0; round--)
			for (Contestant &c : contestants_)
				c.ns.push_back(1e9 * simulate(c) / simulated_s * step_s);
		for (Contestant &c : contestants_)
			if (c.stepper->sound())
				add_row(stepping, name, c.stepper->bodies(), c.stepper->loops(), c);
	}

	// Errors against the references, which know no frequency bound.
	std::vector<double> check_start(const std::string &name) {
		std::vector<double> errors;
		load_steppers(name, 0);
		for (Contestant &c : contestants_) {
			FlexEngine &e = *c.stepper;
			if (&c == &contestants_.front())
				std::printf("\n%s: %d bodies, %d speeds, %d loops\n", name.c_str(), e.bodies(), e.speeds(), e.loops());
			e.forward_dynamics();
			errors.push_back(e.sound() ? e.disagreement(make_flexible(name, 0).references) : HUGE_VAL);
			check_result(c, "udot of the reference", errors.back(), agreement);
		}
		return errors;
	}

	double simulate(Contestant &c) {
		c.stepper->start();
		const double begin = cpu_seconds();
		c.stepper->simulate(simulated_s, step_s);
		return cpu_seconds() - begin;
	}

	/* ---- rows ---------------------------------------------------------------------------------- */

	void add_row(const char *algorithm, const std::string &model, int bodies, int loops, Contestant &c) {
		std::sort(c.ns.begin(), c.ns.end());
		LoopRow r;
		r.suite = "loops";
		r.algorithm = algorithm;
		r.model = model;
		r.engine = c.name;
		r.version = c.version;
		r.n = bodies;
		r.loops = loops;
		r.ns_best = c.ns.front();
		r.ns_median = c.ns[c.ns.size() / 2];
		r.error = c.error;
		r.more = {{"loops", loops}, {"ns_per_loop", r.ns_per_loop()}, {"error", r.error}};
		if (c.stepper)
			r.more.emplace_back("cpu_per_sim", r.cpu_per_sim = 1e-9 * r.ns_best / step_s);
		std::printf("  %-13s %12.0f ns per call (median %.0f), %.1f ns per loop, best of %zu\n", c.name.c_str(),
		            r.ns_best, r.ns_median, r.ns_per_loop(), c.ns.size());
		std::fflush(stdout);
		rows_.push_back(r);
	}

	void print_tables() const {
		if (rows_.empty())
			return;
		const std::vector<Row> plain(rows_.begin(), rows_.end());
		std::printf("\n%-13s %-13s %-13s %13s %13s %9s %12s\n", "algorithm", "model", "engine", "ns per call",
		            "ns per loop", "error", "CPU/sim time");
		for (const LoopRow &r : rows_) {
			std::printf("%-13s %-13s %-13s %13.0f %13.1f %9.1e", r.algorithm.c_str(), r.model.c_str(), r.engine.c_str(),
			            r.ns_best, r.ns_per_loop(), r.error);
			if (r.cpu_per_sim > 0)
				std::printf(" %12.4f", r.cpu_per_sim);
			if (r.engine == "calder")
				print_ratio(plain, r);
			std::printf("\n");
		}
		print_growth();
	}

	// Of each engine and each kind of linkage: the exponent of the cost from the smallest to the largest; 1 is linear.
	void print_growth() const {
		const auto kind = [](const LoopRow &r) { return r.model.substr(0, r.model.find_first_of("0123456789")); };
		for (const LoopRow &small : rows_) {
			const LoopRow *large = &small;
			bool smallest = small.algorithm == evaluation;
			for (const LoopRow &r : rows_) {
				if (r.engine != small.engine || r.algorithm != evaluation || kind(r) != kind(small))
					continue;
				smallest = smallest && r.loops >= small.loops;
				large = r.loops > large->loops ? &r : large;
			}
			if (smallest && large != &small)
				std::printf("%s: cost of %s grows with the number of loops to the power %.2f from %d to %d\n",
				            small.engine.c_str(), kind(small).c_str(),
				            std::log(large->ns_best / small.ns_best) / std::log(double(large->loops) / small.loops),
				            small.loops, large->loops);
		}
	}

	const Options &options_;
	std::vector<Contestant> contestants_;
	std::vector<LoopRow> rows_;
	int failures_ = 0;
};

bool known_names(const Options &options) {
	for (const std::string &m : options.models)
		if (make_linkage(m).model.n() == 0 && !contains(closed_names(), m))
			return std::fprintf(stderr, "calder-bench: error: no model '%s' in suite loops\n", m.c_str()), false;
	for (const std::string &e : options.engines) {
		const auto same = [&](const EngineEntry &entry) { return entry.name == e && entry.make()->closes_loops(); };
		const auto steps = [&](const Way &way) { return way.name == e; };
		if (std::none_of(engines().begin(), engines().end(), same) &&
		    std::none_of(std::begin(ways), std::end(ways), steps))
			return std::fprintf(stderr, "calder-bench: error: no engine '%s' in suite loops\n", e.c_str()), false;
	}
	return true;
}

} // namespace

const std::vector<std::string> &loop_names() {
	static const auto names = [] {
		std::vector<std::string> list = linkage_names();
		list.insert(list.end(), closed_names().begin(), closed_names().end());
		return list;
	}();
	return names;
}

int run_loops(const Options &options) {
	if (!known_names(options))
		return 2;
	try {
		return LoopSuite(options).run();
	} catch (const std::exception &e) {
		std::fprintf(stderr, "calder-bench: error: %s\n", e.what());
		return 1;
	}
}

} // namespace bench
