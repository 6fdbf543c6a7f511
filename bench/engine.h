// SPDX-License-Identifier: Apache-2.0
// What an engine must offer to take part. A timed call is everything the engine must do from
// (q, u, tau), already in its own arrays and conventions, to the result in its own arrays: kinematics
// included, translation of conventions excluded, no work saved from the call before.
#pragma once

#include "models.h"

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace bench {

enum class Algorithm { forward_dynamics, inverse_dynamics, mass_matrix, mass_inverse, jacobian, forward_derivatives };

inline constexpr Algorithm all_algorithms[] = {Algorithm::forward_dynamics, Algorithm::inverse_dynamics,
                                               Algorithm::mass_matrix,      Algorithm::mass_inverse,
                                               Algorithm::jacobian,         Algorithm::forward_derivatives};

inline const char *to_string(Algorithm a) {
	switch (a) {
	case Algorithm::forward_dynamics:
		return "forward_dynamics";
	case Algorithm::inverse_dynamics:
		return "inverse_dynamics";
	case Algorithm::mass_matrix:
		return "mass_matrix";
	case Algorithm::mass_inverse:
		return "mass_inverse";
	case Algorithm::jacobian:
		return "jacobian";
	case Algorithm::forward_derivatives:
		return "forward_derivatives";
	}
	return "";
}

class Engine {
  public:
	virtual ~Engine() = default;

	virtual std::string name() const = 0;
	virtual std::string version() const = 0;

	// Whether it can load a model with loops, and then obeys them in forward dynamics, exactly.
	virtual bool closes_loops() const { return false; }

	// Builds the engine's own model. On failure returns false and says why.
	virtual bool load(const BenchModel &model, std::string &reason) = 0;

	// Whether this build of the engine has the algorithm; if not, says why.
	virtual bool supports(Algorithm a, std::string &reason) const {
		reason = "no derivatives of forward dynamics";
		return a != Algorithm::forward_derivatives;
	}

	// Hands over state and inputs; untimed. Precedes every check and every batch of timed calls, and the
	// first call after it must use exactly this state.
	virtual void set_state(const BenchState &state) = 0;

	// The timed calls.
	virtual void forward_dynamics() = 0;  // (q, u, tau)  -> udot
	virtual void inverse_dynamics() = 0;  // (q, u, udot) -> tau
	virtual void mass_matrix() = 0;       // q            -> dense M
	virtual void mass_inverse() {}        // q            -> dense M^-1
	virtual void jacobian() {}            // q            -> dense J of the origin of the last body
	virtual void forward_derivatives() {} // (q, u, tau)  -> dense dudot/dq, dudot/du and M^-1

	// Results of the last call, in neutral conventions; untimed.
	virtual std::vector<double> udot() const = 0;
	virtual std::vector<double> tau() const = 0;
	virtual std::vector<double> M() const = 0;              // nu x nu, row-major
	virtual std::vector<double> Minv() const { return {}; } // nu x nu, row-major
	virtual std::vector<double> J() const { return {}; }    // 6 x nu, row-major: angular, then linear, world axes
	// dudot/dq, dudot/du, M^-1, each nu x nu, row-major; q is changed along a speed: its column is the speed's.
	virtual std::vector<double> derivatives() const { return {}; }
};

struct EngineEntry {
	std::string name;
	bool by_default; // false: runs only when named in --engines
	std::function<std::unique_ptr<Engine>()> make;
};

// Every engine of this build; the first that loads a model is the reference of the agreement check.
const std::vector<EngineEntry> &engines();

} // namespace bench
