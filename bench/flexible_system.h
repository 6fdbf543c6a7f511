// SPDX-License-Identifier: Apache-2.0
// A system of flexible_models.h, compiled for one solver: its start, its input, one evaluation, one run.
#pragma once

#include "flexible_models.h"

namespace bench {

class FlexEngine {
  public:
	// Throws std::runtime_error if the system does not compile.
	// branches 0: in one piece, by one thread; else partitioned for so many, by `threads`. stir: size of the first speeds.
	FlexEngine(const FlexSystem &system, CalSolver solver, unsigned long long seed, int branches = 0, int threads = 1,
	           double stir = 0);
	~FlexEngine();
	FlexEngine(const FlexEngine &) = delete;
	FlexEngine &operator=(const FlexEngine &) = delete;

	int bodies() const { return cal_model_body_count(model_); }
	int speeds() const { return cal_model_u_count(model_); }
	int loops() const { return cal_model_loop_count(model_); }

	void start();                                                                                // back to the start
	void take_state(const FlexEngine &other) { cal_state_copy(model_, &other.state_, &state_); } // of the same system
	int branches() const { return branches_ ? cal_branches_count(branches_) : 1; }
	void forward_dynamics() {
		status_ = branches_ ? cal_branches_forward(branches_, &state_, &input_, udot_.data())
		                    : cal_forward_dynamics(model_, &state_, &input_, work_, udot_.data());
	}
	void simulate(double time, double step); // Euler-Cromer, from the present state

	bool sound() const; // the last call succeeded, and every number is finite
	// Largest difference of the accelerations over the largest one, the worse of joints and modes.
	double disagreement(const FlexEngine &reference) const;
	// How well these accelerations satisfy the equations of motion that the reference's do: the largest force that
	// is left over a row's inertia forces, |M d| / (|M| |udot|). Does not grow with the condition of M.
	double residual(const FlexEngine &reference);
	// The same by inverse dynamics, relative to the largest force that accelerations of that size, all of one sign, need on
	// its kind of coordinate: for systems of any size.
	double inverse_residual(const FlexEngine &reference);
	// Largest residual of the loops at the present state, positions and speeds; 0 without loops.
	double loop_residual();
	// Disagreement with the system's reference accelerations of bodies.
	double disagreement(const std::vector<FlexReference> &references) const;

  private:
	void choose_random(const FlexSystem &system, unsigned long long seed);
	void choose_start(const FlexSystem &system);
	static int give_input(void *user, const CalModel *model, const CalState *state, CalInput *input);

	CalModel *model_ = nullptr;
	CalWork *work_ = nullptr;
	CalBranches *branches_ = nullptr; // by one thread: none
	CalIntegrator *integrator_ = nullptr;
	CalState state_{}, start_{};
	CalInput input_{};
	CalStatus status_ = CAL_OK;
	std::vector<CalWrench> wrenches_;
	std::vector<double> tau_, udot_;
	std::vector<bool> modal_; // [speeds]
};

} // namespace bench
