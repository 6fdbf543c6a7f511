// SPDX-License-Identifier: Apache-2.0
// Suite "trees": forward dynamics and its derivatives, inverse dynamics, mass matrix, its inverse and Jacobians of trees.
//
// For each model and algorithm: every engine that loaded the model computes the result once, and must
// agree with the first of them; then those that agree are timed, in rounds, one batch of calls per engine
// and round, so that a disturbance of the machine hits all alike. The best batch counts.
#include "engine.h"
#include "instruction_count.h"
#include "options.h"
#include "table.h"
#include "timing.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

namespace bench {
namespace {

constexpr double agreement = 1e-9;      // max|d| / max|reference|
constexpr int marked_bodies = 1000;     // instructions are counted up to here
constexpr double slow_call_s = 50e-3;   // slower calls are not timed
constexpr int mass_matrix_bodies = 128; // dense matrices are formed up to here

// Where an engine is known to fall short of `agreement`, with what it reaches instead.
struct KnownLimit {
	const char *engine;
	const char *model;
	double reaches;
	const char *why;
};

constexpr KnownLimit known_limits[] = {
	{"mujoco", "chain1000", 1e-7, "factorizes the mass matrix, whose condition grows with the chain"},
};

struct Contestant {
	std::unique_ptr<Engine> engine;
	std::vector<double> result; // of the algorithm at hand, neutral conventions
	int calls = 1;              // per batch
	std::vector<double> ns;     // per call, one for each round
};

void call(Engine &e, Algorithm a) {
	switch (a) {
	case Algorithm::forward_dynamics:
		return e.forward_dynamics();
	case Algorithm::inverse_dynamics:
		return e.inverse_dynamics();
	case Algorithm::mass_matrix:
		return e.mass_matrix();
	case Algorithm::mass_inverse:
		return e.mass_inverse();
	case Algorithm::jacobian:
		return e.jacobian();
	case Algorithm::forward_derivatives:
		return e.forward_derivatives();
	}
}

std::vector<double> result(const Engine &e, Algorithm a) {
	switch (a) {
	case Algorithm::forward_dynamics:
		return e.udot();
	case Algorithm::inverse_dynamics:
		return e.tau();
	case Algorithm::mass_matrix:
		return e.M();
	case Algorithm::mass_inverse:
		return e.Minv();
	case Algorithm::jacobian:
		return e.J();
	case Algorithm::forward_derivatives:
		return e.derivatives();
	}
	return {};
}

double batch_seconds(Engine &e, Algorithm a, int calls) {
	const double start = cpu_seconds();
	for (int i = 0; i < calls; i++)
		call(e, a);
	return cpu_seconds() - start;
}

double disagreement(const std::vector<double> &x, const std::vector<double> &reference) {
	if (x.size() != reference.size())
		return HUGE_VAL;
	double worst = 0, scale = 0;
	for (std::size_t i = 0; i < x.size(); i++) {
		if (!std::isfinite(x[i]))
			return HUGE_VAL;
		worst = std::max(worst, std::fabs(x[i] - reference[i]));
		scale = std::max(scale, std::fabs(reference[i]));
	}
	return worst / scale;
}

const KnownLimit *find_limit(const std::string &engine, const std::string &model) {
	for (const KnownLimit &k : known_limits)
		if (engine == k.engine && model == k.model)
			return &k;
	return nullptr;
}

class TreeSuite {
  public:
	explicit TreeSuite(const Options &options) : options_(options) {}

	int run() {
		for (const std::string &name : options_.models.empty() ? model_names() : options_.models)
			run_model(name);
		if (options_.marks)
			return 0;
		if (options_.instructions && !count_instructions(options_, rows_))
			failures_++;
		for (const Algorithm a : all_algorithms)
			print_table(rows_, to_string(a));
		if (!options_.json.empty() && !write_json(rows_, options_.json)) {
			std::fprintf(stderr, "calder-bench: error: cannot write %s\n", options_.json.c_str());
			return 1;
		}
		if (failures_)
			std::printf("\n%d result(s) FAILED\n", failures_);
		return failures_ ? 1 : 0;
	}

  private:
	void run_model(const std::string &name) {
		model_ = make_model(name, options_.seed);
		state_ = make_state(model_, options_.seed);
		std::printf("\n%s: %d bodies, %d speeds\n", name.c_str(), model_.n(), model_.nu);
		load_engines();
		for (const Algorithm a : all_algorithms)
			if (!is_dense(a) || model_.n() <= mass_matrix_bodies)
				options_.marks ? mark_algorithm(a) : run_algorithm(a);
	}

	static bool is_dense(Algorithm a) {
		return a == Algorithm::mass_matrix || a == Algorithm::mass_inverse || a == Algorithm::forward_derivatives;
	}

	// One call of each engine between two marks, after one of the same kind (instruction_count.h).
	void mark_algorithm(Algorithm a) {
		for (Contestant &c : contestants_) {
			std::string reason;
			if (model_.n() > marked_bodies || !c.engine->supports(a, reason))
				continue;
			c.engine->set_state(state_);
			call(*c.engine, a);
			mark_begin();
			call(*c.engine, a);
			mark_end(to_string(a), model_.name, c.engine->name());
		}
	}

	bool wanted(const EngineEntry &entry) const {
		const std::vector<std::string> &named = options_.engines;
		return named.empty() ? entry.by_default : std::count(named.begin(), named.end(), entry.name) > 0;
	}

	void load_engines() {
		contestants_.clear();
		for (const EngineEntry &entry : engines()) {
			if (!wanted(entry))
				continue;
			Contestant c;
			c.engine = entry.make();
			std::string reason;
			if (c.engine->load(model_, reason))
				contestants_.push_back(std::move(c));
			else
				std::printf("  %-13s skipped: %s\n", entry.name.c_str(), reason.c_str());
		}
	}

	void run_algorithm(Algorithm a) {
		std::printf("  %s\n", to_string(a));
		std::vector<Contestant *> agreeing = check(a);
		for (int round = 0; round < options_.rounds; round++)
			for (Contestant *c : agreeing) {
				c->engine->set_state(state_);
				c->ns.push_back(1e9 * batch_seconds(*c->engine, a, c->calls) / c->calls);
			}
		for (Contestant *c : agreeing)
			add_row(a, *c);
	}

	// Compares everyone with the first; returns those to be timed, with their batches sized.
	std::vector<Contestant *> check(Algorithm a) {
		std::vector<Contestant *> agreeing;
		const std::vector<double> *reference = nullptr;
		for (Contestant &c : contestants_) {
			std::string reason;
			if (!c.engine->supports(a, reason)) {
				std::printf("    %-13s skipped: %s\n", c.engine->name().c_str(), reason.c_str());
				continue;
			}
			c.engine->set_state(state_);
			call(*c.engine, a);
			c.result = result(*c.engine, a);
			if (!reference)
				reference = &c.result;
			if (agrees(*c.engine, disagreement(c.result, *reference), reference == &c.result) && size_batch(c, a))
				agreeing.push_back(&c);
		}
		return agreeing;
	}

	bool agrees(const Engine &e, double error, bool is_reference) {
		const KnownLimit *limit = find_limit(e.name(), model_.name);
		const bool good = error <= agreement, known = !good && limit && error <= limit->reaches;
		const char *verdict = is_reference ? "reference" : good ? "agrees" : known ? "known limit: " : "FAILED";
		std::printf("    %-13s %-10s %.1e  %s%s\n", e.name().c_str(), e.version().c_str(), error, verdict,
		            known ? limit->why : "");
		if (!good && !known)
			failures_++;
		return good || known;
	}

	// Calls per batch, by doubling; false if a single call is too slow to be timed.
	bool size_batch(Contestant &c, Algorithm a) {
		c.ns.clear();
		c.engine->set_state(state_);
		const double one = batch_seconds(*c.engine, a, 1);
		if (one > slow_call_s) {
			std::printf("    %-13s not timed: %.0f ms per call\n", c.engine->name().c_str(), 1e3 * one);
			return false;
		}
		for (c.calls = 1; batch_seconds(*c.engine, a, c.calls) < options_.batch_s;)
			c.calls *= 2;
		return true;
	}

	void add_row(Algorithm a, Contestant &c) {
		std::sort(c.ns.begin(), c.ns.end());
		Row r;
		r.suite = "trees";
		r.algorithm = to_string(a);
		r.model = model_.name;
		r.engine = c.engine->name();
		r.version = c.engine->version();
		r.n = model_.n();
		r.ns_best = c.ns.front();
		r.ns_median = c.ns[c.ns.size() / 2];
		std::printf("    %-13s %12.0f ns per call (median %.0f), %.1f ns per body\n", r.engine.c_str(), r.ns_best,
		            r.ns_median, r.ns_best / r.n);
		std::fflush(stdout);
		rows_.push_back(r);
	}

	const Options &options_;
	BenchModel model_;
	BenchState state_;
	std::vector<Contestant> contestants_;
	std::vector<Row> rows_;
	int failures_ = 0;
};

bool known_names(const Options &options) {
	for (const std::string &m : options.models)
		if (make_model(m, 0).n() == 0)
			return std::fprintf(stderr, "calder-bench: error: no model '%s'\n", m.c_str()), false;
	for (const std::string &e : options.engines) {
		const auto same = [&](const EngineEntry &entry) { return entry.name == e; };
		if (std::none_of(engines().begin(), engines().end(), same))
			return std::fprintf(stderr, "calder-bench: error: no engine '%s' in this build\n", e.c_str()), false;
	}
	return true;
}

} // namespace

int run_trees(const Options &options) {
	if (!known_names(options))
		return 2;
	return TreeSuite(options).run();
}

} // namespace bench
